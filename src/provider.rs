//! Who answers prompts: a model behind a server, the built-in rules, a recording, a script. Prompt in, text out.

mod recorded;
pub mod rules;
mod scripted;

pub use recorded::Recorded;
pub use scripted::{Script, Scripted};

use crate::domain::{Asked, CallId, Prompt, Usage};
use futures_util::stream::BoxStream;
use std::sync::Arc;

/// A question with all that an answer may depend on.
#[derive(Clone, Debug)]
pub struct Request {
    /// The call it belongs to; never part of the question itself.
    pub call: CallId,
    /// Which role is asked.
    pub asked: Asked,
    /// The prompt.
    pub prompt: Arc<Prompt>,
    /// Seed of the sampling.
    pub seed: u64,
    /// Texts that end the answer; they are not part of it.
    pub stop: Vec<String>,
}

/// A piece of an answer under way.
#[derive(Clone, Debug, PartialEq)]
pub enum Delta {
    /// The work has come to this stage.
    Phase(Phase),
    /// More reasoning, kept apart from the answer.
    Reasoning(String),
    /// More of the answer.
    Text(String),
    /// What it cost; sent once, at the end.
    Usage(Usage),
}

/// What a model is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// The connection is being made.
    #[default]
    Connecting,
    /// The request is out; no token has come.
    Waiting,
    /// Reasoning comes in.
    Reasoning,
    /// The answer comes in.
    Answering,
}

/// Why no answer came, in words for a person.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct ProviderError {
    /// What happened.
    pub what: String,
    /// What to do next.
    pub next: String,
}

/// Somebody who answers prompts. Dropping the stream breaks the call off.
pub trait Provider: Send + Sync {
    /// Its name on the screen; a stand-in says that it is one.
    fn name(&self) -> String;

    /// The answer, piece by piece.
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Delta, ProviderError>>;
}
