//! Who answers prompts: a model behind a server, the built-in rules, a recording, a script. Prompt in, text out.

mod cached;
mod error;
pub mod openai;
mod recorded;
pub mod rules;
mod scripted;

pub use cached::{CacheMode, CachedProvider};
pub use error::{FailureKind, ProviderError};
pub use recorded::RecordedProvider;
pub use scripted::{Script, ScriptedProvider};

use crate::domain::{CallId, ModelRole, Prompt, Truncation, Usage};
use futures_util::stream::BoxStream;
use serde_json::{Map, Value};
use std::sync::Arc;

/// A question with all that an answer may depend on.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The call it belongs to; never part of the question itself.
    pub call: CallId,
    /// Which role is asked.
    pub role: ModelRole,
    /// The prompt.
    pub prompt: Arc<Prompt>,
    /// Seed of the sampling.
    pub seed: u64,
    /// Texts that end the answer; they are not part of it.
    pub stop: Vec<String>,
    /// How an answer is told that a stop at a newline has cut off before it said what to do: it is asked for anew without
    /// that stop. None: such a stop never cuts anything off.
    pub newline_stop_check: Option<NewlineStopCheck>,
    /// Its last answer could not be used: one that was kept is not taken again, and the new one takes its place.
    pub refresh_cache: bool,
    /// How the answer is sampled, where this question wants it otherwise than its endpoint does.
    pub sampling: SamplingOverrides,
    /// A reply that the token limit cut off is delivered as it is, without a second request with a larger limit (setting
    /// `accept_truncated`).
    pub accept_truncated: bool,
}

/// What a stop at a newline does to an answer.
#[derive(Clone, Copy, Debug)]
pub struct NewlineStopCheck {
    /// The answer seems to end before it says what to do.
    pub is_cut_short: fn(&str) -> bool,
    /// What the answer says to do.
    pub action: fn(&str) -> Option<String>,
    /// The answer, which its bound cut off, may be reasoning that nothing marks.
    pub may_be_reasoning: fn(&str) -> bool,
}

/// What one question wants of the sampling; what is not set is the endpoint's own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SamplingOverrides {
    /// Temperature.
    pub temperature: Option<f64>,
    /// So much warmer than would be sent without, up to 1 (Reflexion's ladder after empty replies); where no temperature is
    /// sent, none is because of it.
    pub temperature_increase: f64,
    /// The most tokens an answer may have.
    pub max_tokens: Option<u32>,
    /// What a person wants otherwise, by the names of the request's fields; `false`: it is left away. What is above
    /// goes before it.
    pub user_fields: Map<String, Value>,
}

impl SamplingOverrides {
    /// A field that a person wants otherwise: none where it is left away, else its value.
    pub fn user_field(&self, name: &str) -> Option<Option<&Value>> {
        self.user_fields.get(name).map(|value| Some(value).filter(|v| **v != Value::Bool(false)))
    }

    /// All of it as text, for what an answer depends on. What nobody has chosen adds nothing: answers that were kept
    /// before there was such a choice are found again.
    pub fn identity(&self) -> String {
        let chosen = if self.user_fields.is_empty() {
            String::new()
        } else {
            format!(" {}", Value::Object(self.user_fields.clone()))
        };
        let Self { temperature, max_tokens, temperature_increase: warmer, .. } = self;
        let warmer = if *warmer > 0.0 { format!(" {warmer} warmer") } else { String::new() };
        format!("SamplingWish {{ temperature: {temperature:?}, max_tokens: {max_tokens:?} }}{warmer}{chosen}")
    }
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
    /// What was sent as the answer so far was reasoning: its closing tag has come, and no opening one before it.
    WasReasoning,
    /// What was sent so far is no part of the answer, which is asked for anew.
    Restarted,
    /// A sentence for the person that is no part of the answer: a setting that the server refused, a second try.
    Notice(String),
    /// Something came in that says nothing: the server is there.
    KeepAlive,
    /// The answer ended early, for this reason; sent behind its last piece. An answer without it is complete.
    Truncated(Truncation),
    /// What it cost so far: at the end, and of an answer that was of no use before the question goes out again. The newest
    /// counts, and has those before in it.
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

/// Somebody who answers prompts. Dropping the stream breaks the call off.
pub trait Provider: Send + Sync {
    /// Its name on the screen; a stand-in says that it is one.
    fn name(&self) -> String;

    /// What of the settings it was given it does not send, each in words with the reason.
    fn unsent_settings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Takes in what an earlier process told with [`unsent`](Self::unsent) of the same server, so that it is not learnt again
    /// at the price of an answer.
    fn restore_quirks(&self, _unsent: &[String]) {}

    /// Whether a text holds one of its secrets: such a text is not to be journaled.
    fn contains_secret(&self, _text: &str) -> bool {
        false
    }

    /// Every answer is kept, so that one may be asked for before it is wanted.
    fn has_write_cache(&self) -> bool {
        false
    }

    /// The answer, piece by piece.
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Delta, ProviderError>>;
}
