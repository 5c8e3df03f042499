//! PDDL problems as text games, byte-identical to AgentBoard's text wrapper.
//!
//! Any STRIPS or ADL problem supported by [`crate::pddl`] can be played; four domains are built in, with generated
//! problems. The quirks of AgentBoard's code are reproduced on purpose (docs/PDDL.md lists them): an action's text is
//! searched for the first verb that is currently applicable at all and for names of objects, in any wording; an action
//! that changes nothing is rejected although it was listed; barman and tyreworld observations mention only what is new.
//!
//! Not supported: files and folders (the caller provides bytes).

mod applicable_entries;
mod environment;
mod game;
mod generate;
mod hint;
mod id;
mod label_problem;
mod limits;
mod listing;
mod picture;
mod published_tasks;
mod sentence_splitter;
mod sentences;
mod tasks;
mod tokenizer;
mod world;

#[cfg(test)]
mod tests;

pub use environment::PddlEnvironment;
pub use game::{Game, GoalSeparator, ObservationScope, ProblemOutline, ProblemSource, Subgoal, short_goal};
pub use generate::{GENERATOR_VERSION, GeneratedProblem, generate, offered_ids, task, task_without_goal};
pub use hint::{Hint, ReferencePlan};
pub use id::{Difficulty, Domain, InvalidTaskId, TaskId};
pub use picture::draw_picture;
pub use published_tasks::{published_key, published_keys};
pub use tasks::{GOAL_OPTION, PddlTasks, task_id_from_files};
pub use world::{Reply, SavedState, World};

/// The environment's name in tasks and journals.
pub const NAME: &str = "pddl";
