//! The text of a lesson.

use serde::{Deserialize, Serialize};

/// The text of a lesson is one sentence; an Error lesson also has a solution.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LessonText {
    /// The lesson; for an Error, the mistake.
    pub text: String,
    /// For an Error, what to do instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solution: Option<String>,
}

impl LessonText {
    /// Creates the text of a lesson without a solution.
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), solution: None }
    }

    /// Returns the text by which lessons are compared: the solution, or else the lesson, in lower case and without the
    /// final full stop.
    pub fn normalized(&self) -> String {
        let text = self.solution.as_deref().unwrap_or(&self.text);
        text.trim().trim_end_matches('.').to_lowercase()
    }

    /// Creates the text of an Error: a mistake and what to do instead.
    pub fn error(mistake: impl Into<String>, solution: impl Into<String>) -> Self {
        Self { text: mistake.into(), solution: Some(solution.into()) }
    }
}
