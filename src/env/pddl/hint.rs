//! A way to the goal from where a world stands, for a person who asks.

use super::game::Game;
use super::world::World;
use crate::pddl::{Planner, SearchLimits, SearchOutcome, State};

/// What a search for a plan came to, in the texts of actions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// These actions reach the goal. Short, not shortest; none where it is reached.
    Plan(Vec<String>),
    /// No listed actions reach it from here.
    Impossible,
    /// The search gave up after so many states; there may be a way.
    GaveUp {
        /// States looked at.
        states: usize,
    },
}

/// The yardstick for an agent's own way: what a search for a plan from the start came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferencePlan {
    /// A plan of so many actions. Short, not shortest.
    Plan(usize),
    /// No listed actions reach the goal.
    Impossible,
    /// The search gave up after so many states; there may be a way.
    GaveUp {
        /// States looked at.
        states: usize,
    },
}

impl Game {
    /// Looks for a plan from a state of this game, with the actions that are listed.
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

    /// Looks for a plan from the start, within the effort.
    pub fn reference_plan(&self, effort: SearchLimits) -> ReferencePlan {
        match self.plan_from(&self.task.initial(), effort) {
            Hint::Plan(plan) => ReferencePlan::Plan(plan.len()),
            Hint::Impossible => ReferencePlan::Impossible,
            Hint::GaveUp { states } => ReferencePlan::GaveUp { states },
        }
    }
}

impl World {
    /// Looks for a plan from where the world stands. The world does not move.
    pub fn hint(&self, effort: SearchLimits) -> Hint {
        self.game().plan_from(self.state(), effort)
    }
}
