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
    pub at: Seq,
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
    pub root: String,
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
    pub twig: &'t BranchInfo,
    /// For each level from the root on, whether the line beside it goes on below; the last one is the branch's own.
    pub lines: u32,
    /// How many levels below the root it hangs.
    pub depth: u8,
}

/// A row of the tree that is kept: a branch by its place in the list it was made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeIndex {
    /// The branch's place.
    pub twig: usize,
    /// As [`TreeRow::lines`].
    pub lines: u32,
    /// As [`TreeRow::depth`].
    pub depth: u8,
}

impl BranchInfo {
    /// What it is called: its name, else its id.
    pub fn called(&self) -> &str {
        if self.name.is_empty() { &self.id.0 } else { &self.name }
    }
}

impl TreeRow<'_> {
    /// Whether the line at a level goes on below this row.
    pub fn goes_on(&self, level: u8) -> bool {
        self.lines >> level.min(31) & 1 == 1
    }
}

/// The branches in the order of the tree: each below its parent, those of one parent in the order in which they left it.
/// Archived ones are left out unless they are wanted, or others that are shown hang on them. Total: branches that hang on
/// nothing stand at the end.
pub fn hung(twigs: &[BranchInfo], archived: bool) -> Vec<TreeIndex> {
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
        of_one.sort_by_key(|at| (twigs[*at].at, &twigs[*at].created, &twigs[*at].id));
    }
    hang(&children, &roots)
}

/// Hangs each branch below its parent. What hangs on itself, by a detour, is reached from no root and left out.
fn hang(children: &[Vec<usize>], roots: &[usize]) -> Vec<TreeIndex> {
    /// Deeper ones are drawn at this level; a session of a person hardly gets there.
    const DEEPEST: u8 = 24;
    let mut limbs = Vec::new();
    // The last one is the next: those of one parent are pushed from the last to the first.
    let mut due: Vec<(usize, u8, u32)> = roots.iter().rev().map(|at| (*at, 0, 0)).collect();
    while let Some((at, depth, lines)) = due.pop() {
        limbs.push(TreeIndex { twig: at, lines, depth });
        let depth = (depth + 1).min(DEEPEST);
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
        let rows = hung(twigs, archived).into_iter();
        rows.map(|TreeIndex { twig, lines, depth }| TreeRow { twig: &twigs[twig], lines, depth }).collect()
    }

    fn twig(id: &str, parent: Option<&str>, at: u64, archived: bool) -> BranchInfo {
        BranchInfo {
            id: BranchId(id.to_owned()),
            parent: parent.map(|p| BranchId(p.to_owned())),
            at: Seq(at),
            name: String::new(),
            note: String::new(),
            archived,
            outcome: String::new(),
            episodes: 1,
            steps: 0,
            tokens: 0,
            reason: String::new(),
            root: String::new(),
            created: String::new(),
        }
    }

    fn told(twigs: &[BranchInfo], archived: bool) -> Vec<String> {
        tree(twigs, archived).iter().map(|l| format!("{}{}", " ".repeat(l.depth.into()), l.twig.id)).collect()
    }

    #[test]
    fn each_branch_hangs_below_its_parent_in_the_order_of_leaving() {
        let all = [
            twig("late", Some("trunk"), 90, false),
            twig("trunk", None, 0, false),
            twig("early", Some("trunk"), 20, false),
            twig("of-early", Some("early"), 30, false),
        ];
        assert_eq!(told(&all, false), ["trunk", " early", "  of-early", " late"]);
        let limbs = tree(&all, false);
        assert!(limbs[1].goes_on(1) && limbs[2].goes_on(1), "the line goes on to the later one");
        assert!(!limbs[3].goes_on(1));
    }

    #[test]
    fn archived_ones_are_hidden_unless_something_hangs_on_them() {
        let all = [
            twig("trunk", None, 0, false),
            twig("gone", Some("trunk"), 20, true),
            twig("kept", Some("trunk"), 30, true),
            twig("on-kept", Some("kept"), 40, false),
        ];
        assert_eq!(told(&all, false), ["trunk", " kept", "  on-kept"]);
        assert_eq!(told(&all, true), ["trunk", " gone", " kept", "  on-kept"]);
    }

    #[test]
    fn a_parent_that_is_not_there_loses_no_branch() {
        let all = [twig("trunk", None, 0, false), twig("orphan", Some("lost"), 20, false)];
        assert_eq!(told(&all, false), ["trunk", "orphan"]);
    }

    #[test]
    fn many_branches_are_put_in_order_at_once() {
        // A line of half of them, and as many on one: neither the stack nor the time may grow with what was known before.
        let name = |n: usize| format!("b{n}");
        let of = |n: usize| if n < 20_000 { name(n - 1) } else { name(0) };
        let all: Vec<BranchInfo> = (0..40_000)
            .map(|n| twig(&name(n), (n > 0).then(|| of(n)).as_deref(), n as u64, n % 3 == 1))
            .collect();
        let begun = std::time::Instant::now();
        assert_eq!(tree(&all, true).len(), all.len());
        // Of the line only what nothing hangs on may be hidden, of the others each third.
        let hidden = (20_000..40_000).filter(|n| n % 3 == 1).count();
        assert_eq!(tree(&all, false).len(), all.len() - hidden - usize::from(19_999 % 3 == 1));
        assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    }

    #[test]
    fn branches_that_hang_on_one_another_do_not_hang_the_screen() {
        let all =
            [twig("a", Some("b"), 0, false), twig("b", Some("a"), 0, false), twig("trunk", None, 0, false)];
        assert_eq!(told(&all, false), ["trunk"]);
    }
}
