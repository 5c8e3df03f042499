//! Lessons about mistakes that detectors of several environments note.

use crate::domain::{LessonText, Note, Scope};
use crate::symbolic::environment_rules::LessonTemplate;

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
    let text = LessonText { text: mistake.to_owned(), solution: Some(solution.to_owned()) };
    vec![(format!("error.{}", note.detector), Scope::Environment, text)]
}
