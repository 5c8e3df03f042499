//! PDDL, from text to a grounded task and its states. One core for every world that is written in PDDL.
//!
//! Promises: the product of the parameter domains is never enumerated (action instances are found by joining facts that are
//! reachable when deletes are ignored); every limit on size is a named constant; nothing here panics on any text.
//! Does not do: numeric fluents (costs are read and dropped), derived predicates (refused).
//!
//! The way through: [`Model::read`] parses domain and problem, [`Task::ground`] finds the facts and the action instances,
//! a [`SignalState`] of the task knows at any time which instances apply and whether the goal holds, incrementally; a [`Planner`]
//! looks for a way to the goal.

mod atoms;
mod bits;
mod condition;
mod error;
mod gates;
mod ground;
mod hash;
mod ids;
mod join;
mod lexer;
pub mod limits;
mod model;
mod names;
mod normalize;
mod parse;
mod planner;
mod reachability;
mod schema;
mod state;
mod task;
mod types;

#[cfg(test)]
mod tests;

pub use bits::Bits;
pub use error::{PddlError, PddlText};
pub use hash::{FastMap, FastSet};
pub use ids::{ActionId, FactId, ObjectId, OpId, PredicateId};
pub use model::{Action, Effect, Formula, GroundAtom, Model, Object, Predicate, Term, Variable};
pub use names::{Name, Names};
pub use planner::{Planner, SearchLimits, SearchOutcome};
pub use state::{Change, Flip, State};
pub use task::{OpEffect, Task};
pub use types::{TypeId, Types};
