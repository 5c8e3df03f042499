//! PDDL, from text to a grounded task and its states. Shared by every environment that is defined in PDDL.
//!
//! Guarantees: the product of the parameter domains is never enumerated (ground actions are found by joining facts that
//! are reachable under delete relaxation); every size limit is a named constant; no input text causes a panic.
//! Not supported: numeric fluents (costs are parsed and ignored) and derived predicates (rejected). The reference
//! implementation that comments mention is Fast Downward, as TextWorld uses it.
//!
//! [`Model::parse`] parses a domain and a problem, [`Task::ground`] finds the facts and the action instances, a
//! [`State`] of the task incrementally tracks which instances are applicable and whether the goal holds, and a
//! [`Planner`] searches for a plan.

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
