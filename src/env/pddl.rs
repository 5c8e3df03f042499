//! PDDL problems as text games, equal to the byte to the text wrapper that AgentBoard put around them.
//!
//! Any STRIPS or ADL problem that [`crate::pddl`] understands can be played; four domains are ours, with generated
//! problems. What the original does, quirks included, is kept on purpose (docs/PDDL.md lists it): an action's text is
//! searched for the first verb that can be used at all just now and for names of objects, in any wording; an action that
//! changes nothing is refused though it was listed; bars and tyres tell only what is new.
//!
//! Does not do: files and folders (the caller brings bytes).

mod active;
mod environment;
mod game;
mod generate;
mod hint;
mod id;
mod limits;
mod listing;
mod wording;
mod words;
mod world;

#[cfg(test)]
mod tests;

pub use environment::Playing;
pub use game::{Game, Joining, Outline, Source, Subgoal, Telling};
pub use generate::{GENERATION, GeneratedProblem, generate, offered, task, unread};
pub use hint::{Hint, Yardstick};
pub use id::{BadTaskId, Difficulty, Domain, TaskId};
pub use world::{Place, Reply, World};
