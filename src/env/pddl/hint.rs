//! Searches for a plan from the current state, for a person who asks for a hint.

use super::game::Game;
use super::world::World;
use crate::pddl::{Planner, SearchLimits, SearchOutcome, State};

/// The result of a search for a plan, with actions as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// These actions reach the goal. Short, but not necessarily shortest; empty if the goal is reached.
    Plan(Vec<String>),
    /// No sequence of listed actions reaches the goal from here.
    Impossible,
    /// The search gave up; there may be a plan.
    GaveUp {
        /// Number of distinct states generated.
        states: usize,
    },
}

/// The reference that an agent's own solution is compared with: the result of a search from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferencePlan {
    /// The number of actions of a plan. Short, but not necessarily shortest.
    Plan(usize),
    /// No sequence of listed actions reaches the goal.
    Impossible,
    /// The search gave up; there may be a plan.
    GaveUp {
        /// Number of distinct states generated.
        states: usize,
    },
}

impl Game {
    /// Searches for a plan from a state of this game, using only listed actions.
    pub(super) fn plan_from(&self, state: &State, effort: SearchLimits) -> Hint {
        let mut planner = Planner::new(&self.task, |op| self.listing.is_listed(op));
        match planner.find_plan(state, effort) {
            SearchOutcome::Found(plan) => {
                Hint::Plan(plan.into_iter().map(|op| self.listing.op_text(op).to_owned()).collect())
            }
            SearchOutcome::Impossible => Hint::Impossible,
            SearchOutcome::GaveUp { states } => Hint::GaveUp { states },
        }
    }

    /// Searches for a plan from the start, within the given limits.
    pub fn reference_plan(&self, effort: SearchLimits) -> ReferencePlan {
        match self.plan_from(&self.task.initial(), effort) {
            Hint::Plan(plan) => ReferencePlan::Plan(plan.len()),
            Hint::Impossible => ReferencePlan::Impossible,
            Hint::GaveUp { states } => ReferencePlan::GaveUp { states },
        }
    }
}

impl World {
    /// Searches for a plan from the current state, which stays unchanged.
    pub fn hint(&self, effort: SearchLimits) -> Hint {
        self.game().plan_from(self.state(), effort)
    }
}
