//! Providers turn a prompt into a reply: a model behind a server, the built-in rules, a recording, a script.

mod cached;
mod error;
pub mod openai;
mod recorded;
mod request_preview;
mod rule_based;
mod scripted;

pub use cached::{CacheMode, CachedProvider};
pub use error::{FailureKind, ProviderError};
pub use recorded::RecordedProvider;
pub use request_preview::RequestPreview;
pub use rule_based::RuleBasedActor;
pub use scripted::{Script, ScriptedProvider};

use crate::domain::{
    ActionVerbs, CallId, CallPhase, ModelRole, Prompt, Question, ToolCall, Truncation, Usage,
};
use futures_util::stream::BoxStream;
use serde_json::{Map, Value};
use std::sync::Arc;

/// A prompt to complete, with everything the reply may depend on.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The call that this request belongs to. It identifies the reply and never affects it.
    pub call: CallId,
    pub role: ModelRole,
    /// What a mentor is asked for. A model sees only the prompt.
    pub question: Option<Question>,
    pub prompt: Arc<Prompt>,
    /// Seed for sampling.
    pub seed: u64,
    /// Texts that end the reply. The reply does not include them.
    pub stop: Vec<String>,
    /// Detects replies that a newline stop cut off before they named an action; such a reply is requested again without
    /// that stop. None: newline stops never cut an action off.
    pub newline_stop_check: Option<NewlineStopCheck>,
    /// The words with which the actions begin that the reply may name. They never affect the reply itself.
    pub action_verbs: Arc<ActionVerbs>,
    /// The last reply to this request was unusable: a cached reply is ignored and then replaced by the new one.
    pub refresh_cache: bool,
    /// Sampling parameters of this request that differ from the endpoint's.
    pub sampling: SamplingOverrides,
    /// The token limit of a reply that needs more room than others of its role. It is tried if the configured limit is
    /// smaller; where the server rejects it, the configured one applies.
    pub long_reply_tokens: Option<u32>,
    /// A reply cut off by the token limit is delivered as it is, without a second request with a larger limit (setting
    /// `accept_truncated`).
    pub accept_truncated: bool,
}

/// Judges whether a stop at a newline cut a reply short.
#[derive(Clone, Copy, Debug)]
pub struct NewlineStopCheck {
    /// Whether the reply seems to end before it names an action.
    pub is_cut_short: fn(&str, &ActionVerbs) -> bool,
    /// The action that the reply names.
    pub action: fn(&str, &ActionVerbs) -> Option<String>,
    /// Whether a reply that reached its token limit may be reasoning without tags.
    pub may_be_reasoning: fn(&str) -> bool,
}

/// Sampling parameters of one request. Those that are not set come from the endpoint.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SamplingOverrides {
    pub temperature: Option<f64>,
    /// Added to the temperature that would otherwise be sent, up to a sum of 1 (Reflexion's public code raises it after empty
    /// replies). Has no effect if no temperature is sent.
    pub temperature_increase: f64,
    /// Maximum number of tokens in the reply.
    pub max_tokens: Option<u32>,
    /// Fields that a person set, by their names in the request; `false` omits a field. The fields above take
    /// precedence.
    pub user_fields: Map<String, Value>,
}

impl SamplingOverrides {
    /// Returns the value that a person set for a field, `Some(None)` if they omitted the field, or `None` if they did
    /// not set it.
    pub fn user_field(&self, name: &str) -> Option<Option<&Value>> {
        self.user_fields.get(name).map(|value| Some(value).filter(|v| **v != Value::Bool(false)))
    }

    /// Returns the overrides as text for cache keys. Fields that are not set add nothing, so that entries written
    /// before such a field existed are still found.
    pub fn identity(&self) -> String {
        let user_fields = if self.user_fields.is_empty() {
            String::new()
        } else {
            format!(" {}", Value::Object(self.user_fields.clone()))
        };
        let Self { temperature, max_tokens, temperature_increase: increase, .. } = self;
        let warmer = if *increase > 0.0 { format!(" {increase} warmer") } else { String::new() };
        format!(
            "SamplingWish {{ temperature: {temperature:?}, max_tokens: {max_tokens:?} }}{warmer}{user_fields}"
        )
    }
}

/// A piece of a reply as it arrives.
#[derive(Clone, Debug, PartialEq)]
pub enum Delta {
    /// The call entered this phase.
    Phase(CallPhase),
    /// More reasoning, separate from the reply's text.
    Reasoning(String),
    /// More of the reply's text.
    Text(String),
    /// All text so far was reasoning: a closing tag arrived without an opening one.
    WasReasoning,
    /// Everything so far is discarded; the reply is requested again.
    Restarted,
    /// A message for the person, not part of the reply: a parameter that the server rejected, a retry.
    Notice(String),
    /// Data without content arrived: the server is alive.
    KeepAlive,
    /// All tools that the model called, sent after the reply's text; nothing runs them.
    ToolCalls(Vec<ToolCall>),
    /// The reply ended early, for this reason; sent after its last piece. A reply without it is complete.
    Truncated(Truncation),
    /// Usage so far, earlier attempts included: sent at the end, and after each attempt that is discarded. The latest
    /// value replaces those before it.
    Usage(Usage),
}

/// A source of replies. Dropping the stream cancels the call.
pub trait Provider: Send + Sync {
    /// Returns the name shown on screen; a stand-in for a model says that it is one.
    fn name(&self) -> String;

    /// Returns the settings that are not sent, or not as given, each as a phrase with the reason.
    fn setting_deviations(&self) -> Vec<String> {
        Vec::new()
    }

    /// Restores what an earlier process learned about the same server and reported with
    /// [`setting_deviations`](Self::setting_deviations), so that learning it again does not cost a reply.
    fn restore_quirks(&self, _unsent: &[String]) {}

    /// Returns whether a text contains one of the provider's secrets. Such a text must not be journaled.
    fn contains_secret(&self, _text: &str) -> bool {
        false
    }

    /// Returns whether every reply is cached, so that prefetched replies are not lost.
    fn has_write_cache(&self) -> bool {
        false
    }

    /// Returns whether replies take no time, unlike those of a model. A person may slow down a run with such an actor.
    fn answers_at_once(&self) -> bool {
        false
    }

    /// Returns the price of a call, in billionths of the currency; 0 if prices aren't configured.
    fn call_price_nano(&self, _prompt_tokens: u64, _reply_tokens: u64) -> u64 {
        0
    }

    /// Returns the request that would be sent, without secrets.
    fn preview_request(&self, request: &Request) -> RequestPreview {
        RequestPreview::without_server(request)
    }

    /// Returns the reply as a stream of pieces.
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Delta, ProviderError>>;
}
