//! Detectors and the rules behind symbolic reflections, for household environments, grid worlds and planning problems.
//! They call no model (`docs/SYMBOLIC.md`).
//!
//! Responsibilities: [`detect()`] finds what a step shows, as notes with the text that proves them; [`reflect`] turns
//! notes into Abstract, Error and Progress lessons. Not here: when to reflect, which the method decides. Neither ever
//! reads `truth`, and the cost of both depends on the steps examined, not on the length of the episode.

mod cause;
mod detect;
mod evidence;
mod failure;
mod goal;
mod grid;
mod names;
mod parsing;
mod planning;
mod rules;
mod situation;
pub mod thresholds;

pub use cause::{cause_text, main_cause};
pub use detect::detect;
pub use goal::{Goal, Subgoal, Treatment};
pub use names::DETECTORS;
pub use rules::{NoteRange, PLANNABLE_ENVS, answer_question, reflect};

#[cfg(test)]
mod tests;
