//! The branches of a session, in the order of the branch tree.

use crate::domain::{BranchId, EpisodeSummary, Seq};
use std::collections::HashMap;
use std::sync::Arc;

/// A branch of the session, as its header and events describe it.
#[derive(Clone, Debug, PartialEq)]
pub struct BranchInfo {
    pub id: BranchId,
    /// The branch it was forked from, or `None` for the session's first.
    pub parent: Option<BranchId>,
    /// The last event it shares with its parent.
    pub fork_seq: Seq,
    /// The name a person gave it; may be empty.
    pub name: String,
    /// A person's note on it; may be empty.
    pub note: String,
    /// Archived: hidden from the list, but not deleted.
    pub archived: bool,
    /// Its current state, or how it ended.
    pub outcome: String,
    /// Number of ended episodes, including those shared with its parent.
    pub episodes: u32,
    /// Number of steps of the episode that `outcome` is about.
    pub steps: u32,
    /// Tokens of the calls in the same episode.
    pub tokens: u64,
    /// Its last ended episode.
    pub last: Option<Arc<EpisodeSummary>>,
    /// Why it was created.
    pub reason: String,
    /// What differs from the parent in its first events.
    pub first_change: String,
    pub created: String,
}

/// An edit of a branch's metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BranchEdit {
    Name(String),
    Note(String),
    /// Archived, or restored.
    Archived(bool),
}

/// A branch at its position in the tree.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeRow {
    pub branch: BranchInfo,
    /// A bit per level, counted from the root: whether the vertical guide at that level continues below this row. The
    /// highest relevant bit is the branch's own level.
    pub guides: u32,
    /// Number of levels below the root.
    pub depth: u8,
}

impl BranchInfo {
    /// Returns the branch's name, or its id if it has none.
    pub fn display_name(&self) -> &str {
        if self.name.is_empty() { &self.id.0 } else { &self.name }
    }
}

#[cfg(test)]
impl BranchInfo {
    /// Returns a branch without an episode.
    pub(super) fn sample(id: &str, parent: Option<&str>, fork_seq: u64) -> Self {
        Self {
            id: BranchId(id.to_owned()),
            parent: parent.map(|p| BranchId(p.to_owned())),
            fork_seq: Seq(fork_seq),
            name: String::new(),
            note: String::new(),
            archived: false,
            outcome: String::new(),
            episodes: 0,
            steps: 0,
            tokens: 0,
            last: None,
            reason: String::new(),
            first_change: String::new(),
            created: String::new(),
        }
    }
}

impl TreeRow {
    /// Returns whether the vertical guide at a level continues below this row.
    pub fn has_guide(&self, level: u8) -> bool {
        self.guides >> level.min(31) & 1 == 1
    }
}

/// Returns the branches in tree order: each below its parent, and siblings in the order of their forks. Archived
/// branches are left out unless `archived` is set or a visible branch descends from them. Branches whose parent is
/// missing are roots.
pub fn tree_rows(branches: &[BranchInfo], archived: bool) -> Vec<TreeRow> {
    let place: HashMap<&BranchId, usize> = branches.iter().enumerate().map(|(at, t)| (&t.id, at)).collect();
    let parent =
        |t: &BranchInfo| t.parent.as_ref().filter(|p| **p != t.id).and_then(|p| place.get(p)).copied();
    let mut roots = Vec::new();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); branches.len()];
    for (at, branch) in branches.iter().enumerate() {
        parent(branch).map_or(&mut roots, |p| &mut children[p]).push(at);
    }
    // A visible branch keeps its ancestors visible. Each ancestor chain is followed only up to the first branch already
    // marked.
    let mut shown = vec![false; branches.len()];
    for (from, branch) in branches.iter().enumerate().filter(|(_, t)| archived || !t.archived) {
        let mut next = Some((from, branch));
        while let Some((at, branch)) = next.filter(|(at, _)| !shown[*at]) {
            shown[at] = true;
            next = parent(branch).map(|p| (p, &branches[p]));
        }
    }
    for siblings in children.iter_mut().chain([&mut roots]) {
        siblings.retain(|at| shown[*at]);
        siblings.sort_by_key(|at| (branches[*at].fork_seq, &branches[*at].created, &branches[*at].id));
    }
    order_depth_first(branches, &children, &roots)
}

/// Lists each branch below its parent, depth first. Branches in a parent cycle can't be reached from a root and are
/// left out.
fn order_depth_first(branches: &[BranchInfo], children: &[Vec<usize>], roots: &[usize]) -> Vec<TreeRow> {
    /// Deeper branches are drawn at this level; real sessions are rarely that deep.
    const MAX_DEPTH: u8 = 24;
    let mut rows = Vec::new();
    // The last entry is visited next, so children are pushed in reverse order.
    let mut due: Vec<(usize, u8, u32)> = roots.iter().rev().map(|at| (*at, 0, 0)).collect();
    while let Some((at, depth, lines)) = due.pop() {
        rows.push(TreeRow { branch: branches[at].clone(), guides: lines, depth });
        let depth = (depth + 1).min(MAX_DEPTH);
        for (nth, child) in children[at].iter().rev().enumerate() {
            let lines = if nth > 0 { lines | 1 << depth } else { lines & !(1 << depth) };
            due.push((*child, depth, lines));
        }
    }
    rows
}

/// A change of a branch's name, note or archived flag, with the value before it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BranchEditRecord {
    pub(super) branch: BranchId,
    pub(super) before: BranchEdit,
    pub(super) after: BranchEdit,
}

/// Branch edits since the person's last other command, which clears them.
#[derive(Clone, Debug, Default)]
pub struct BranchEditHistory {
    pub(super) done: Vec<BranchEditRecord>,
    /// Each with the number of journaled changes undone after it; those are redone before it.
    pub(super) undone: Vec<(BranchEditRecord, u32)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn branch(id: &str, parent: Option<&str>, at: u64, archived: bool) -> BranchInfo {
        BranchInfo { archived, ..BranchInfo::sample(id, parent, at) }
    }

    fn display_names(branches: &[BranchInfo], archived: bool) -> Vec<String> {
        tree_rows(branches, archived)
            .iter()
            .map(|l| format!("{}{}", " ".repeat(l.depth.into()), l.branch.id))
            .collect()
    }

    #[test]
    fn branches_are_listed_below_their_parent_in_fork_order() {
        let all = [
            branch("late", Some("trunk"), 90, false),
            branch("trunk", None, 0, false),
            branch("early", Some("trunk"), 20, false),
            branch("of-early", Some("early"), 30, false),
        ];
        assert_eq!(display_names(&all, false), ["trunk", " early", "  of-early", " late"]);
        let rows = tree_rows(&all, false);
        assert!(rows[1].has_guide(1) && rows[2].has_guide(1), "the guide continues to the later sibling");
        assert!(!rows[3].has_guide(1));
    }

    #[test]
    fn archived_branches_are_hidden_unless_they_have_children() {
        let all = [
            branch("trunk", None, 0, false),
            branch("gone", Some("trunk"), 20, true),
            branch("kept", Some("trunk"), 30, true),
            branch("on-kept", Some("kept"), 40, false),
        ];
        assert_eq!(display_names(&all, false), ["trunk", " kept", "  on-kept"]);
        assert_eq!(display_names(&all, true), ["trunk", " gone", " kept", "  on-kept"]);
    }

    #[test]
    fn branches_with_a_missing_parent_are_listed() {
        let all = [branch("trunk", None, 0, false), branch("orphan", Some("lost"), 20, false)];
        assert_eq!(display_names(&all, false), ["trunk", "orphan"]);
    }

    #[test]
    fn many_branches_are_sorted_quickly() {
        // Half of the branches form one chain; the other half are children of one branch. Neither the stack depth nor
        // the time per branch may grow with the number of branches.
        let name = |n: usize| format!("b{n}");
        let parent_name = |n: usize| if n < 20_000 { name(n - 1) } else { name(0) };
        let all: Vec<BranchInfo> = (0..40_000)
            .map(|n| branch(&name(n), (n > 0).then(|| parent_name(n)).as_deref(), n as u64, n % 3 == 1))
            .collect();
        let begun = std::time::Instant::now();
        assert_eq!(tree_rows(&all, true).len(), all.len());
        // In the chain, only a childless branch may be hidden; of the children, every third.
        let hidden = (20_000..40_000).filter(|n| n % 3 == 1).count();
        assert_eq!(tree_rows(&all, false).len(), all.len() - hidden - usize::from(19_999 % 3 == 1));
        assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    }

    #[test]
    fn cyclic_parents_do_not_hang_the_screen() {
        let all = [
            branch("a", Some("b"), 0, false),
            branch("b", Some("a"), 0, false),
            branch("trunk", None, 0, false),
        ];
        assert_eq!(display_names(&all, false), ["trunk"]);
    }
}
