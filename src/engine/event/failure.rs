//! Reasons for a pause, and failures of calls.

use crate::domain::{FailureKind, Usage};
use serde::{Deserialize, Serialize};

/// Why a session is paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PauseReason {
    /// A person paused it.
    Person,
    /// A call failed, or a rebuilt environment diverged from the journal.
    Failure,
    /// A person requested a single step or stage while the session was running.
    StepDone,
    /// The episode ended before a granted step or stage was complete.
    EpisodeEnd,
    /// The session was resumed.
    Resume,
    /// A breakpoint's condition became true.
    Breakpoint,
    /// The method makes no progress; the warning before it says how.
    MethodStalled,
}

/// The failure of a call, described for people.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What happened.
    #[serde(rename = "what")]
    pub message: String,
    /// Where it happened: in the actor, the mentor or the environment.
    #[serde(rename = "place")]
    pub source: String,
    /// What the person can do next.
    #[serde(rename = "next")]
    pub hint: String,
    /// The kind of failure, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<FailureKind>,
    /// The beginning of the partial reply, if any had arrived. It is never used as a reply.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[serde(rename = "came")]
    pub partial_text: String,
    /// Tokens and cost of the failed call, including earlier unusable replies and the partial reply; `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

impl Failure {
    /// The maximum length of `partial_text`, in characters.
    pub const MAX_PARTIAL_TEXT: usize = 2000;

    /// Cuts a text that is longer than [`Self::MAX_PARTIAL_TEXT`] to that many characters and appends its original
    /// length.
    pub fn shorten(text: &str) -> String {
        let length = text.chars().count();
        if length <= Self::MAX_PARTIAL_TEXT {
            return text.to_owned();
        }
        let head: String = text.chars().take(Self::MAX_PARTIAL_TEXT).collect();
        format!("{head}... ({length} characters)")
    }
}
