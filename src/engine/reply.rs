//! Replies to the engine's effects.

use super::{Failure, Prefetch};
use crate::domain::{CallId, Sample, SampleRequest, StepResult, ToolCall, Truncation, Usage};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// A reply of a model, an environment, a job or a timer. A reply to a call that is no longer in flight yields no event.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// A model replied.
    Model {
        call: CallId,
        /// The whole text of the reply.
        text: String,
        /// The model's reasoning, if the server reports it separately.
        reasoning: String,
        /// The tools that it called; none of them is run.
        tool_calls: Vec<ToolCall>,
        usage: Usage,
        /// What cut the reply off; `None` if it is complete.
        truncated: Option<Truncation>,
    },
    /// All settings that the model's server doesn't receive or receives with another value, as known after a call. Sent
    /// after every call; yields an event only if they have changed.
    SettingDeviations {
        call: CallId,
        /// One phrase for each setting, including the reason.
        settings: Vec<String>,
    },
    /// A prefetched request was sent, or its status changed. A change yields no event if the state no longer lists the
    /// request ([`State::prefetched`](super::State::prefetched)).
    Prefetch(Box<Prefetch>),
    /// Samples are about to be requested.
    SamplesRequested {
        request: Arc<SampleRequest>,
        /// The texts of its prompt that the session may not have yet, as (hash, text).
        texts: Vec<(String, String)>,
    },
    /// A sample has ended; its reply isn't parsed yet. Yields no event if the state no longer lists it as open.
    Sample(Box<Sample>),
    /// The environment answered a reset or a step.
    World {
        call: CallId,
        result: Box<StepResult>,
        /// The admissible actions, if the call asked for them.
        admissible: Vec<String>,
    },
    /// A job has been computed.
    Computed {
        call: CallId,
        result: Value,
        /// How long it took.
        millis: u64,
    },
    /// A call failed.
    Failed { call: CallId, failure: Failure },
    /// The timer of an episode has run out. The engine ends the episode only if `elapsed` reaches the time limit as it
    /// is now and the episode's clock is running.
    TimeUp {
        episode: u32,
        /// How long the episode has been active, without the time in which it waited for a person.
        elapsed: Duration,
    },
    /// An environment that was rebuilt to resume the session answered a reset or an action differently than the journal
    /// says.
    Diverged {
        episode: u32,
        /// The step whose observation differs; 0 for the reset.
        step: u32,
        /// The recorded observation.
        recorded: String,
        /// The observation of the rebuilt environment.
        actual: String,
    },
}
