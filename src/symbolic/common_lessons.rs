//! Lessons about mistakes that detectors of several environments note.

use crate::domain::{Note, Scope};
use crate::symbolic::environment_rules::{LessonTemplate, error_lesson};

/// Returns the mistake a note shows, and what to do instead, if the mistake isn't peculiar to one environment.
pub(super) fn error_lessons(note: &Note) -> Vec<LessonTemplate> {
    let (mistake, solution) = match note.detector.as_str() {
        "repeat" => ("Repeated an action that changed nothing.", "Do not repeat an action that did nothing."),
        "took_back" => (
            "Took an object away from where it belonged.",
            "Leave objects that are already where they belong.",
        ),
        "only_thoughts" => ("Thought several times in a row without acting.", "Act after each thought."),
        _ => return Vec::new(),
    };
    error_lesson(note, Scope::Environment, mistake, solution)
}
