//! Replies to the engine's effects.

use super::{Failure, Prefetch};
use crate::domain::{CallId, StepResult, Truncation, Usage};
use std::time::Duration;

/// A reply to an effect. A reply whose call isn't in flight yields no event.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// A model replied.
    Model {
        call: CallId,
        /// The whole text.
        text: String,
        /// The model's reasoning, if the server reports it separately.
        reasoning: String,
        usage: Usage,
        /// What ended it early; `None` if it is complete.
        truncated: Option<Truncation>,
    },
    /// The settings that are no longer sent to the model's server, or are sent with another value, as known after this
    /// call.
    SettingDeviations {
        call: CallId,
        /// Each as a phrase with its reason.
        settings: Vec<String>,
    },
    /// The status of a prefetched request changed. Yields no event if the request isn't open.
    Prefetch(Box<Prefetch>),
    /// The environment answered a reset or a step.
    World {
        call: CallId,
        result: Box<StepResult>,
        /// The admissible actions, if the call asked for them.
        admissible: Vec<String>,
    },
    /// A call failed.
    Failed { call: CallId, failure: Failure },
    /// The episode has been active for `elapsed`. The engine ends it only if `elapsed` reaches the current limit and
    /// the episode is still active.
    TimeUp {
        episode: u32,
        /// The active time, without the time in which it waited for a person.
        elapsed: Duration,
    },
    /// After a resume, the rebuilt environment answered differently from the journal.
    Diverged {
        episode: u32,
        /// The step whose observation differs; 0 is the reset.
        step: u32,
        /// The recorded observation.
        recorded: String,
        /// The observation of the rebuilt environment.
        actual: String,
    },
}
