//! What the outside answers.

use super::{Failure, Prefetch};
use crate::domain::{CallId, StepResult, Truncation, Usage};
use std::time::Duration;

/// An answer to an effect. A reply whose call is not in flight yields no event.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// A model has answered.
    Model {
        /// The call.
        call: CallId,
        /// The whole text.
        text: String,
        /// Its reasoning, where the server keeps it apart.
        reasoning: String,
        /// What it cost.
        usage: Usage,
        /// What ended it early; none: it is complete.
        truncated: Option<Truncation>,
    },
    /// What is not sent to the model's server of the settings, as it was learnt up to and with this call.
    UnsentSettings {
        /// The call.
        call: CallId,
        /// Each in words with its reason.
        settings: Vec<String>,
    },
    /// How it stands with a question that was asked ahead. One that is not open yields no event.
    Prefetch(Box<Prefetch>),
    /// The world has answered a reset or a step.
    World {
        /// The call.
        call: CallId,
        /// The answer.
        result: Box<StepResult>,
        /// The admissible actions, when the call asked for them.
        admissible: Vec<String>,
    },
    /// A call failed.
    Failed {
        /// The call.
        call: CallId,
        /// What happened.
        failure: Failure,
    },
    /// An episode has moved for so long. It counts where that is the bound in force, and the episode still moves.
    TimeUp {
        /// The episode's number.
        episode: u32,
        /// The wall time it has taken, without the time in which it waited for a person.
        elapsed: Duration,
    },
    /// After a resume, the rebuilt world answered other than the journal says.
    Diverged {
        /// Episode.
        episode: u32,
        /// Step whose observation differs (0: the reset).
        step: u32,
        /// What the journal holds.
        recorded: String,
        /// What the world says now.
        actual: String,
    },
}
