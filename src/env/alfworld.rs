//! ALFWorld's text games, natively: a `game.tw-pddl` is read and played with the text that the Python stack prints, to the byte.
//!
//! A game file carries its own PDDL domain and its own grammar, so nothing of either is built in: [`Game::load`] grounds the
//! one and compiles the other, and a [`World`] plays it. What the stack does, quirks included, is kept on purpose:
//! commands are accepted only when they equal an admissible one; numbers run against the order of ids; a grammar's
//! condition reads a second fact store that remembers explicit deletions; texts lose white space at their start and
//! end silently at a character their parser cannot use.
//!
//! Does not do: files and folders (the caller brings bytes), experts, domain randomisation.

mod commands;
mod entities;
mod environment;
mod expand;
mod game;
mod grammar;
mod limits;
mod located_error;
mod progress;
mod query;
mod shown;
mod subgoals;
mod targets;
mod truth;
mod world;

#[cfg(test)]
mod tests;

pub use game::Game;
pub use grammar::check as check_grammar;
pub use subgoals::Subgoals;
pub use targets::{Targets, TaskType};
pub use world::{AdmissibleCommands, Reply, SavedState, World};
