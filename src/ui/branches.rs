//! The branches of a session as the screen lists them.

use crate::domain::{BranchId, Seq};
use std::collections::BTreeMap;

/// One branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Twig {
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
pub enum Relabel {
    /// Another name.
    Name(String),
    /// Another note.
    Note(String),
    /// Put away, or taken out again.
    Archived(bool),
}

/// A branch in its place in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limb<'t> {
    /// The branch.
    pub twig: &'t Twig,
    /// For each level from the root on, whether the line beside it goes on below; the last one is the branch's own.
    pub lines: u32,
    /// How many levels below the root it hangs.
    pub depth: u8,
}

impl Twig {
    /// What it is called: its name, else its id.
    pub fn called(&self) -> &str {
        if self.name.is_empty() { &self.id.0 } else { &self.name }
    }
}

impl Limb<'_> {
    /// Whether the line at a level goes on below this row.
    pub fn goes_on(&self, level: u8) -> bool {
        self.lines >> level.min(31) & 1 == 1
    }
}

/// The branches in the order of the tree: each below its parent, those of one parent in the order in which they left it.
/// Archived ones are left out unless they are wanted, or others that are shown hang on them. Total: branches that hang on
/// nothing stand at the end.
pub fn tree(twigs: &[Twig], archived: bool) -> Vec<Limb<'_>> {
    let mut children: BTreeMap<Option<&BranchId>, Vec<&Twig>> = BTreeMap::new();
    let known = |id: &BranchId| twigs.iter().any(|t| t.id == *id);
    for twig in twigs {
        let parent = twig.parent.as_ref().filter(|p| known(p) && **p != twig.id);
        children.entry(parent).or_default().push(twig);
    }
    for of_one in children.values_mut() {
        of_one.sort_by_key(|t| (t.at, &t.created, &t.id));
    }
    let mut limbs = Vec::new();
    hang(&children, None, archived, (0, 0), &mut limbs);
    limbs
}

fn hang<'t>(
    children: &BTreeMap<Option<&BranchId>, Vec<&'t Twig>>,
    parent: Option<&BranchId>,
    archived: bool,
    (depth, lines): (u8, u32),
    limbs: &mut Vec<Limb<'t>>,
) {
    /// Deeper ones are drawn at this level; a session of a person hardly gets there.
    const DEEPEST: u8 = 24;
    let shown = |t: &&&Twig| archived || !t.archived || has_shown(children, t, 0);
    let here: Vec<&&Twig> = children.get(&parent).into_iter().flatten().filter(shown).collect();
    for (place, twig) in here.iter().enumerate() {
        let goes_on = place + 1 < here.len() && depth > 0;
        let lines = if goes_on { lines | 1 << depth } else { lines & !(1 << depth) };
        limbs.push(Limb { twig, lines, depth });
        if limbs.len() <= children.values().map(Vec::len).sum() {
            hang(children, Some(&twig.id), archived, ((depth + 1).min(DEEPEST), lines), limbs);
        }
    }
}

fn has_shown(children: &BTreeMap<Option<&BranchId>, Vec<&Twig>>, of: &Twig, level: u8) -> bool {
    let below = children.get(&Some(&of.id)).into_iter().flatten();
    level < u8::MAX && below.into_iter().any(|t| !t.archived || has_shown(children, t, level + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn twig(id: &str, parent: Option<&str>, at: u64, archived: bool) -> Twig {
        Twig {
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

    fn told(twigs: &[Twig], archived: bool) -> Vec<String> {
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
}
