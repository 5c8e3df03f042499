//! Parsers for the sentences of grid worlds (in the words of BabyAI's code): observations and goals.
//!
//! This is a leaf module shared by the detectors and the rule-based actor, which don't depend on each other. It works
//! on the text alone.

mod goal;
mod view;

pub use goal::{Clause, ObjectDesc, parse_clauses};
pub use view::{View, VisibleObject};
