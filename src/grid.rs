//! What the sentences of grid worlds (BabyAI's text) say: what is in front of the agent, and what the goal asks for.
//!
//! A leaf: detectors and the built-in actor read the same sentences with it, and neither knows the other. It looks at words alone.

mod goal;
mod view;

pub use goal::{Clause, ObjectDesc, parse_clauses};
pub use view::{View, VisibleObject};
