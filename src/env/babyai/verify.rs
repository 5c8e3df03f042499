//! The check of a mission after each low-level action, with what it remembers.
//!
//! Nothing latches: a mission that was done can be done again, as in the original.

use super::mission::{Clause, Deed, Description, Mission, Order, Part};
use super::primitive_actions::Low;
use super::thing::{Leaf, ThingId};

/// What became of a mission with an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It goes on.
    Continue,
    /// It is done.
    Success,
    /// It can no longer be done.
    Failure,
}

/// What a mission remembers between actions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Memory {
    /// For each clause, what was carried when it was last checked.
    carried: [Option<ThingId>; 4],
    /// For each clause of a pair: it was done.
    done: [bool; 4],
    /// The half of a sequence that comes first is done.
    turned: bool,
}

/// What a check looks at: the world after an action.
pub(super) struct Facts<'a> {
    pub(super) action: Low,
    pub(super) front: (i16, i16),
    /// The thing in front, and how it stands if it is a door.
    pub(super) before_it: Option<ThingId>,
    pub(super) door: Option<Leaf>,
    pub(super) carrying: Option<ThingId>,
    /// A thing was laid down by this action.
    pub(super) dropped: bool,
    pub(super) marks: &'a [Option<(i16, i16)>],
}

impl Facts<'_> {
    /// Where what is described is known to lie.
    fn places(&self, described: &Description) -> impl Iterator<Item = (i16, i16)> {
        let mark = |id: &ThingId| self.marks.get(usize::from(id.0)).copied().flatten();
        described.set.iter().filter_map(mark).chain(described.walls.iter().copied())
    }
}

impl Memory {
    /// Which clauses the mission remembers as done, in the order in which they are named: for the world pane. A clause
    /// that stands alone is done when the mission is.
    pub(super) fn done(&self, mission: &Mission) -> Vec<bool> {
        let part = |part: &Part, at: usize, whole: bool| match part {
            Part::One(_) => vec![whole],
            Part::Both(..) => vec![whole || self.done[at], whole || self.done[at + 1]],
        };
        match mission {
            Mission::Part(only) => part(only, 0, false),
            Mission::Sequence { order, a, b, .. } => {
                let mut done = part(a, 0, self.turned && *order == Order::Before);
                done.extend(part(b, 2, self.turned && *order == Order::After));
                done
            }
        }
    }

    /// Checks the mission after an action.
    pub(super) fn verify(&mut self, mission: &Mission, facts: &Facts) -> Verdict {
        let (order, strict, a, b) = match mission {
            Mission::Part(part) => return self.part(part, 0, facts),
            Mission::Sequence { order, strict, a, b } => (order, strict, a, b),
        };
        let (first, second) = match order {
            Order::Before => ((a, 0), (b, 2)),
            Order::After => ((b, 2), (a, 0)),
        };
        if !self.turned {
            match self.part(first.0, first.1, facts) {
                // The second half is checked with this same action.
                Verdict::Success => self.turned = true,
                Verdict::Failure => return Verdict::Failure,
                Verdict::Continue => {
                    let early = *strict && self.part(second.0, second.1, facts) == Verdict::Success;
                    return if early { Verdict::Failure } else { Verdict::Continue };
                }
            }
        }
        self.part(second.0, second.1, facts)
    }

    fn part(&mut self, part: &Part, at: usize, facts: &Facts) -> Verdict {
        match part {
            Part::One(clause) => self.clause(clause, at, facts),
            Part::Both(first, second) => {
                for (clause, at) in [(first, at), (second, at + 1)] {
                    // A failed half is not passed on: it is tried again.
                    if !self.done[at] {
                        self.done[at] = self.clause(clause, at, facts) == Verdict::Success;
                    }
                }
                if self.done[at] && self.done[at + 1] { Verdict::Success } else { Verdict::Continue }
            }
        }
    }

    fn clause(&mut self, clause: &Clause, at: usize, facts: &Facts) -> Verdict {
        let carried = std::mem::replace(&mut self.carried[at], facts.carrying);
        let (done, failed) = match &clause.deed {
            Deed::GoTo(goal) => (facts.places(goal).any(|place| place == facts.front), false),
            Deed::Open(goal) if facts.action == Low::Toggle => {
                let open = facts.door == Some(Leaf::Open);
                (open && facts.before_it.is_some_and(|t| goal.set.contains(&t)), facts.door.is_some())
            }
            Deed::PickUp(goal) if facts.action == Low::PickUp => {
                let taken = facts.carrying.is_some_and(|t| goal.set.contains(&t));
                (carried.is_none() && taken, facts.carrying.is_some())
            }
            Deed::PutNext(..) if facts.action == Low::PickUp => (false, facts.carrying.is_some()),
            Deed::PutNext(moved, fixed) if facts.action == Low::Drop => {
                let laid = facts.dropped && carried.is_some_and(|t| moved.set.contains(&t));
                let beside = |(x, y): (i16, i16)| x.abs_diff(facts.front.0) + y.abs_diff(facts.front.1) == 1;
                (laid && facts.places(fixed).any(beside), false)
            }
            _ => (false, false),
        };
        match (done, failed && clause.strict) {
            (true, _) => Verdict::Success,
            (false, true) => Verdict::Failure,
            (false, false) => Verdict::Continue,
        }
    }
}
