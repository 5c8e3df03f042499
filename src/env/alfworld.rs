//! ALFWorld's text games, implemented natively: plays a `game.tw-pddl` with output that is byte-identical to the Python
//! stack.
//!
//! A game file contains its own PDDL domain and its own grammar, so neither is built in: [`Game::load`] grounds the
//! domain and compiles the grammar, and a [`World`] plays the game. The quirks of the Python stack are reproduced on
//! purpose: commands are accepted only if they equal an admissible one; object numbers run in the opposite order of the
//! ids; a grammar condition reads a second fact store that remembers explicit deletions; texts lose leading white space
//! and end silently at a character that the parser cannot use.
//!
//! Not supported: files and folders (the caller provides bytes), experts, domain randomisation.

mod commands;
mod entities;
mod environment;
mod expand;
mod game;
mod grammar;
mod limits;
mod located_error;
mod older_wording;
mod picture;
mod progress;
mod query;
mod shown;
mod subgoals;
mod targets;
mod task_type_names;
mod tasks;
mod truth;
mod world;

#[cfg(test)]
mod tests;

pub use game::Game;
pub use grammar::check as check_grammar;
pub use older_wording::{has_older_wording, to_older_wording};
pub use picture::draw_picture;
pub use subgoals::Subgoals;
pub use targets::{Targets, TaskType};
pub use task_type_names::{published_key, published_keys, rated_difficulty, short_type, subgoals};
pub use tasks::AlfWorldTasks;
pub use world::{Reply, SavedState, World};

/// The environment's name in tasks and journals.
pub const NAME: &str = "alfworld";
