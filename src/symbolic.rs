//! Detectors and the rules behind symbolic reflections, for household environments, grid worlds, planning problems, ScienceWorld, questions and programs.
//! They call no model (`docs/SYMBOLIC.md`).
//!
//! Responsibilities: [`SymbolicRules::detect`] finds what a step shows, as notes with the text that proves them;
//! [`SymbolicRules::reflect`] turns notes into Abstract, Error and Progress lessons. Not here: when to reflect, which the method decides. Neither ever
//! reads `truth`, and the cost of both depends on the steps examined, not on the length of the episode.

mod common_findings;
mod common_lessons;
mod environment_rules;
mod evidence;
mod goal;
mod grid;
mod household;
mod parsing;
mod planning;
mod program;
mod question;
mod rules;
mod science;
mod symbolic_rules;

pub use environment_rules::{
    COMMON_DETECTORS, Detector, EnvironmentRules, LessonTemplate, NO_RULES, abstract_lesson, error_lesson,
};
pub use goal::{Goal, Subgoal, Treatment};
pub use grid::{CIRCLE_TURNS, GRID_RULES};
pub use household::{CIRCLE_VISITS, CIRCLE_WINDOW, HOUSEHOLD_RULES};
pub use planning::PLANNING_RULES;
pub use program::PROGRAM_RULES;
pub use question::QUESTION_RULES;
pub use rules::NoteRange;
pub use science::SCIENCE_RULES;
pub use symbolic_rules::SymbolicRules;

#[cfg(test)]
mod tests;
