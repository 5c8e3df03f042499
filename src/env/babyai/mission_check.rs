//! Checks a mission after each primitive action and keeps the state that the check needs.
//!
//! Success is not permanent: a completed mission can be completed again, as in minigrid.

use super::mission::{Clause, ClauseAction, Description, Mission, MissionPart, SequenceOrder};
use super::primitive_actions::PrimitiveAction;
use super::thing::{DoorState, ThingId};

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MissionStatus {
    /// The mission is still in progress.
    Continue,
    Success,
    /// The mission can no longer be completed.
    Failure,
}

/// The state that mission checks carry from one action to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MissionMemory {
    /// For each clause, the object that was carried at its last check.
    carried: [Option<ThingId>; 4],
    /// For each clause of a pair, whether it has been done.
    done: [bool; 4],
    /// Whether the half of a sequence that comes first is done.
    is_first_half_done: bool,
}

/// The input of a check: the world after an action.
pub(super) struct ActionFacts<'a> {
    pub(super) action: PrimitiveAction,
    pub(super) front: (i16, i16),
    /// The object in front of the agent; `door` is its state if it is a door.
    pub(super) thing_in_front: Option<ThingId>,
    pub(super) door: Option<DoorState>,
    pub(super) carrying: Option<ThingId>,
    /// Whether this action dropped an object.
    pub(super) has_dropped: bool,
    pub(super) last_known_positions: &'a [Option<(i16, i16)>],
}

impl ActionFacts<'_> {
    /// Iterates over the known positions of the described objects, including walls, which count as grey objects.
    fn known_positions(&self, described: &Description) -> impl Iterator<Item = (i16, i16)> {
        let position = |id: &ThingId| self.last_known_positions.get(usize::from(id.0)).copied().flatten();
        described.things.iter().filter_map(position).chain(described.walls.iter().copied())
    }
}

impl MissionMemory {
    /// Returns whether each clause is done, in the order of the mission's text, for the world pane. For a mission of
    /// one clause this is always false: that clause is done when the mission is.
    pub(super) fn done_clauses(&self, mission: &Mission) -> Vec<bool> {
        let part = |part: &MissionPart, at: usize, is_part_done: bool| match part {
            MissionPart::One(_) => vec![is_part_done],
            MissionPart::Both(..) => vec![is_part_done || self.done[at], is_part_done || self.done[at + 1]],
        };
        match mission {
            Mission::Part(only) => part(only, 0, false),
            Mission::Sequence { order, named_first: a, named_second: b, .. } => {
                let mut done = part(a, 0, self.is_first_half_done && *order == SequenceOrder::Before);
                done.extend(part(b, 2, self.is_first_half_done && *order == SequenceOrder::After));
                done
            }
        }
    }

    /// Checks the mission after an action.
    pub(super) fn check_mission(&mut self, mission: &Mission, facts: &ActionFacts) -> MissionStatus {
        let (order, is_strict, a, b) = match mission {
            Mission::Part(part) => return self.check_part(part, 0, facts),
            Mission::Sequence { order, is_strict, named_first: a, named_second: b } => {
                (order, is_strict, a, b)
            }
        };
        let (first, second) = match order {
            SequenceOrder::Before => ((a, 0), (b, 2)),
            SequenceOrder::After => ((b, 2), (a, 0)),
        };
        if !self.is_first_half_done {
            match self.check_part(first.0, first.1, facts) {
                // Falls through: the second half is checked against the same action.
                MissionStatus::Success => self.is_first_half_done = true,
                MissionStatus::Failure => return MissionStatus::Failure,
                MissionStatus::Continue => {
                    let is_out_of_order =
                        *is_strict && self.check_part(second.0, second.1, facts) == MissionStatus::Success;
                    return if is_out_of_order { MissionStatus::Failure } else { MissionStatus::Continue };
                }
            }
        }
        self.check_part(second.0, second.1, facts)
    }

    fn check_part(&mut self, part: &MissionPart, at: usize, facts: &ActionFacts) -> MissionStatus {
        match part {
            MissionPart::One(clause) => self.check_clause(clause, at, facts),
            MissionPart::Both(first, second) => {
                for (clause, at) in [(first, at), (second, at + 1)] {
                    // A failed clause doesn't fail the pair; it is checked again after the next action.
                    if !self.done[at] {
                        self.done[at] = self.check_clause(clause, at, facts) == MissionStatus::Success;
                    }
                }
                if self.done[at] && self.done[at + 1] {
                    MissionStatus::Success
                } else {
                    MissionStatus::Continue
                }
            }
        }
    }

    fn check_clause(&mut self, clause: &Clause, at: usize, facts: &ActionFacts) -> MissionStatus {
        let carried = std::mem::replace(&mut self.carried[at], facts.carrying);
        let (done, failed) = match &clause.action {
            ClauseAction::GoTo(goal) => {
                (facts.known_positions(goal).any(|position| position == facts.front), false)
            }
            ClauseAction::Open(goal) if facts.action == PrimitiveAction::Toggle => {
                let is_open = facts.door == Some(DoorState::Open);
                (
                    is_open && facts.thing_in_front.is_some_and(|t| goal.things.contains(&t)),
                    facts.door.is_some(),
                )
            }
            ClauseAction::PickUp(goal) if facts.action == PrimitiveAction::PickUp => {
                let taken = facts.carrying.is_some_and(|t| goal.things.contains(&t));
                (carried.is_none() && taken, facts.carrying.is_some())
            }
            ClauseAction::PutNext(..) if facts.action == PrimitiveAction::PickUp => {
                (false, facts.carrying.is_some())
            }
            ClauseAction::PutNext(moved, fixed) if facts.action == PrimitiveAction::Drop => {
                let is_moved_dropped =
                    facts.has_dropped && carried.is_some_and(|t| moved.things.contains(&t));
                let is_adjacent =
                    |(x, y): (i16, i16)| x.abs_diff(facts.front.0) + y.abs_diff(facts.front.1) == 1;
                (is_moved_dropped && facts.known_positions(fixed).any(is_adjacent), false)
            }
            _ => (false, false),
        };
        match (done, failed && clause.is_strict) {
            (true, _) => MissionStatus::Success,
            (false, true) => MissionStatus::Failure,
            (false, false) => MissionStatus::Continue,
        }
    }
}
