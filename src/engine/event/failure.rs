//! Why a session stands still, and why a call failed.

use crate::domain::{FailureKind, Usage};
use serde::{Deserialize, Serialize};

/// Why a session stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PauseReason {
    /// A person asked for it.
    Person,
    /// A call failed.
    Failure,
    /// A step was granted and is done.
    StepDone,
    /// The episode ended.
    EpisodeEnd,
    /// The session was taken up again.
    Resume,
    /// A breakpoint's condition came true.
    Breakpoint,
}

/// A failed call in plain words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What happened.
    #[serde(rename = "what")]
    pub message: String,
    /// Where: the actor, the mentor, the world.
    #[serde(rename = "place")]
    pub source: String,
    /// What can be done.
    #[serde(rename = "next")]
    pub hint: String,
    /// Which kind of failure, where a model's provider knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<FailureKind>,
    /// The beginning of what had come of an answer, where some had; it is no answer.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[serde(rename = "came")]
    pub partial_text: String,
    /// What the call cost: answers that were of no use, and what had come of the one that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

impl Failure {
    /// Characters of `came` at most.
    pub const MAX_PARTIAL_TEXT: usize = 2000;

    /// The beginning of a text, no longer than `came` may be; a longer one says how long it was.
    pub fn shorten(text: &str) -> String {
        let letters = text.chars().count();
        if letters <= Self::MAX_PARTIAL_TEXT {
            return text.to_owned();
        }
        let head: String = text.chars().take(Self::MAX_PARTIAL_TEXT).collect();
        format!("{head}... ({letters} characters)")
    }
}
