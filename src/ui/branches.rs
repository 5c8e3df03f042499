//! The branches of a session as the screen lists them.

use crate::domain::{BranchId, Seq};
use std::collections::HashMap;

/// One branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchInfo {
    /// Which.
    pub id: BranchId,
    /// The one it left; none: the session's first.
    pub parent: Option<BranchId>,
    /// The last event it shares with its parent.
    pub fork_seq: Seq,
    /// The name a person gave it; may be empty.
    pub name: String,
    /// A person's note on it; may be empty.
    pub note: String,
    /// It is put away, not deleted.
    pub archived: bool,
    /// How it stands, or how it ended.
    pub outcome: String,
    /// Ended episodes on its line.
    pub episodes: u32,
    /// Steps of its open or last episode.
    pub steps: u32,
    /// Tokens of all calls on its line.
    pub tokens: u64,
    /// What it was made for.
    pub reason: String,
    /// What changed at its root.
    pub root_change: String,
    /// When it was made.
    pub created: String,
}

/// A change of what people call a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BranchEdit {
    /// Another name.
    Name(String),
    /// Another note.
    Note(String),
    /// Put away, or taken out again.
    Archived(bool),
}

/// A branch in its place in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeRow<'t> {
    /// The branch.
    pub branch: &'t BranchInfo,
    /// For each level from the root on, whether the line beside it goes on below; the last one is the branch's own.
    pub guides: u32,
    /// How many levels below the root it hangs.
    pub depth: u8,
}

/// A row of the tree that is kept: a branch by its place in the list it was made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeIndex {
    /// The branch's place.
    pub branch_index: usize,
    /// As [`TreeRow::lines`].
    pub lines: u32,
    /// As [`TreeRow::depth`].
    pub depth: u8,
}

impl BranchInfo {
    /// What it is called: its name, else its id.
    pub fn display_name(&self) -> &str {
        if self.name.is_empty() { &self.id.0 } else { &self.name }
    }
}

impl TreeRow<'_> {
    /// Whether the line at a level goes on below this row.
    pub fn has_guide(&self, level: u8) -> bool {
        self.guides >> level.min(31) & 1 == 1
    }
}

/// The branches in the order of the tree: each below its parent, those of one parent in the order in which they left it.
/// Archived ones are left out unless they are wanted, or others that are shown hang on them. Total: branches that hang on
/// nothing stand at the end.
pub fn tree_rows(twigs: &[BranchInfo], archived: bool) -> Vec<TreeIndex> {
    let place: HashMap<&BranchId, usize> = twigs.iter().enumerate().map(|(at, t)| (&t.id, at)).collect();
    let parent =
        |t: &BranchInfo| t.parent.as_ref().filter(|p| **p != t.id).and_then(|p| place.get(p)).copied();
    let mut roots = Vec::new();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); twigs.len()];
    for (at, twig) in twigs.iter().enumerate() {
        parent(twig).map_or(&mut roots, |p| &mut children[p]).push(at);
    }
    // One that is shown keeps the line it hangs on. Each line is walked only as far as no other has been.
    let mut shown = vec![false; twigs.len()];
    for (from, twig) in twigs.iter().enumerate().filter(|(_, t)| archived || !t.archived) {
        let mut next = Some((from, twig));
        while let Some((at, twig)) = next.filter(|(at, _)| !shown[*at]) {
            shown[at] = true;
            next = parent(twig).map(|p| (p, &twigs[p]));
        }
    }
    for of_one in children.iter_mut().chain([&mut roots]) {
        of_one.retain(|at| shown[*at]);
        of_one.sort_by_key(|at| (twigs[*at].fork_seq, &twigs[*at].created, &twigs[*at].id));
    }
    order_depth_first(&children, &roots)
}

/// Hangs each branch below its parent. What hangs on itself, by a detour, is reached from no root and left out.
fn order_depth_first(children: &[Vec<usize>], roots: &[usize]) -> Vec<TreeIndex> {
    /// Deeper ones are drawn at this level; a session of a person hardly gets there.
    const MAX_DEPTH: u8 = 24;
    let mut limbs = Vec::new();
    // The last one is the next: those of one parent are pushed from the last to the first.
    let mut due: Vec<(usize, u8, u32)> = roots.iter().rev().map(|at| (*at, 0, 0)).collect();
    while let Some((at, depth, lines)) = due.pop() {
        limbs.push(TreeIndex { branch_index: at, lines, depth });
        let depth = (depth + 1).min(MAX_DEPTH);
        for (nth, child) in children[at].iter().rev().enumerate() {
            let lines = if nth > 0 { lines | 1 << depth } else { lines & !(1 << depth) };
            due.push((*child, depth, lines));
        }
    }
    limbs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(twigs: &[BranchInfo], archived: bool) -> Vec<TreeRow<'_>> {
        let rows = tree_rows(twigs, archived).into_iter();
        rows.map(|TreeIndex { branch_index: twig, lines, depth }| TreeRow {
            branch: &twigs[twig],
            guides: lines,
            depth,
        })
        .collect()
    }

    fn branch(id: &str, parent: Option<&str>, at: u64, archived: bool) -> BranchInfo {
        BranchInfo {
            id: BranchId(id.to_owned()),
            parent: parent.map(|p| BranchId(p.to_owned())),
            fork_seq: Seq(at),
            name: String::new(),
            note: String::new(),
            archived,
            outcome: String::new(),
            episodes: 1,
            steps: 0,
            tokens: 0,
            reason: String::new(),
            root_change: String::new(),
            created: String::new(),
        }
    }

    fn display_names(twigs: &[BranchInfo], archived: bool) -> Vec<String> {
        tree(twigs, archived)
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
        let limbs = tree(&all, false);
        assert!(limbs[1].has_guide(1) && limbs[2].has_guide(1), "the line goes on to the later one");
        assert!(!limbs[3].has_guide(1));
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
        // A line of half of them, and as many on one: neither the stack nor the time may grow with what was known before.
        let name = |n: usize| format!("b{n}");
        let of = |n: usize| if n < 20_000 { name(n - 1) } else { name(0) };
        let all: Vec<BranchInfo> = (0..40_000)
            .map(|n| branch(&name(n), (n > 0).then(|| of(n)).as_deref(), n as u64, n % 3 == 1))
            .collect();
        let begun = std::time::Instant::now();
        assert_eq!(tree(&all, true).len(), all.len());
        // Of the line only what nothing hangs on may be hidden, of the others each third.
        let hidden = (20_000..40_000).filter(|n| n % 3 == 1).count();
        assert_eq!(tree(&all, false).len(), all.len() - hidden - usize::from(19_999 % 3 == 1));
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
