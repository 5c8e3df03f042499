//! PDDL problems as text games, equal to the byte to the text wrapper that AgentBoard put around them.
//!
//! Any STRIPS or ADL problem that [`crate::pddl`] understands can be played; four domains are ours, with generated
//! problems. What the original does, quirks included, is kept on purpose (docs/PDDL.md lists it): an action's text is
//! searched for the first verb that can be used at all just now and for names of objects, in any wording; an action that
//! changes nothing is refused though it was listed; bars and tyres tell only what is new.
//!
//! Does not do: files and folders (the caller brings bytes).

mod applicable_entries;
mod environment;
mod game;
mod generate;
mod hint;
mod id;
mod limits;
mod listing;
mod sentences;
mod tokenizer;
mod world;

#[cfg(test)]
mod tests;

pub use environment::PddlEnvironment;
pub use game::{Game, GoalSeparator, ObservationScope, ProblemOutline, ProblemSource, Subgoal};
pub use generate::{GENERATION, GeneratedProblem, generate, offered_ids, task, task_without_goal};
pub use hint::{Hint, ReferencePlan};
pub use id::{BadTaskId, Difficulty, Domain, TaskId};
pub use world::{Reply, SavedState, World};
