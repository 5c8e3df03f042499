//! The configuration of an endpoint: URL, API, authentication and request parameters.

use super::redactor::Redactor;
use super::secret::{KeySource, Secret};
use crate::domain::setting_words;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

setting_words! {
    /// The API of a server.
    #[derive(Default, Hash)]
    pub enum Api {
        /// Chat completions: messages with roles.
        #[default]
        Chat = "chat",
        /// Completions: the model continues the prompt as one text (as in ReAct's and Reflexion's code).
        Completions = "completions",
    }
}

/// How the key is sent to the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Auth {
    /// `Authorization: Bearer KEY`.
    #[default]
    Bearer,
    /// A header of this name contains the key (Azure: `api-key`).
    Header(String),
    /// No key is sent.
    None,
}

/// The field that limits the length of a reply; servers differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MaxTokensField {
    /// The older one, which nearly all servers know.
    #[default]
    MaxTokens,
    /// Used by hosted reasoning models.
    MaxCompletionTokens,
}

impl MaxTokensField {
    /// Returns the field's name in the request.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }

    /// Returns the other field.
    pub fn other(self) -> Self {
        match self {
            Self::MaxTokens => Self::MaxCompletionTokens,
            Self::MaxCompletionTokens => Self::MaxTokens,
        }
    }
}

/// The names of the repetition penalty: that of most servers, then that of llama.cpp.
pub(super) const PENALTY_NAMES: [&str; 2] = ["repetition_penalty", "repeat_penalty"];

/// Sampling parameters. Those that are not set are not sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampling {
    /// The papers use 0.
    pub temperature: Option<f64>,
    /// OmniReflect's paper uses 0.7.
    pub top_p: Option<f64>,
    /// OmniReflect's paper uses 50. Many servers reject it, so only some profiles send it.
    pub top_k: Option<u32>,
    /// OmniReflect's paper uses 1. Sent by the same profiles as `top_k`.
    pub repetition_penalty: Option<f64>,
    /// Maximum number of tokens in a reply. None: 256 for the actor, 1024 for the mentor.
    pub max_tokens: Option<u32>,
    /// Texts that end a reply, instead of the request's own.
    pub stop: Option<Vec<String>>,
    /// Send the seed.
    pub seed: bool,
}

impl Default for Sampling {
    fn default() -> Self {
        Self {
            temperature: Some(0.0),
            top_p: Some(0.7),
            top_k: None,
            repetition_penalty: None,
            max_tokens: None,
            stop: None,
            seed: true,
        }
    }
}

/// The timeouts of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For connecting.
    pub connect: Duration,
    /// For the first content of the reply, and between pieces with content while only empty ones (keep-alives) arrive.
    /// Long, because a server may load its model first.
    pub first_piece: Duration,
    /// For the next byte of a stream that has begun.
    pub idle: Duration,
    /// For data after the end of the reply (usage).
    pub tail: Duration,
    /// For the whole call.
    pub total: Option<Duration>,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_piece: Duration::from_secs(180),
            idle: Duration::from_secs(60),
            tail: Duration::from_secs(2),
            total: None,
        }
    }
}

/// How often, and with what delays, a failed request is retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    pub max_retries: u32,
    /// Limit after status 500, which the request itself may cause.
    pub max_retries_after_500: u32,
    /// The first wait, which doubles with each retry.
    pub first_wait: Duration,
    /// Limit for a single wait, unless the server asks for a longer one.
    pub max_wait: Duration,
    /// Limit for all waits of a call together.
    pub max_total_wait: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            max_retries: 4,
            max_retries_after_500: 2,
            first_wait: Duration::from_millis(500),
            max_wait: Duration::from_secs(20),
            max_total_wait: Duration::from_secs(120),
        }
    }
}

/// Prices per million tokens, in any currency.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Prices {
    pub prompt_per_million: f64,
    /// Price of reply tokens, reasoning included.
    pub reply_per_million: f64,
}

impl Prices {
    /// Returns the price of a call, in billionths of the currency.
    pub fn cost_nano(&self, prompt_tokens: u64, reply_tokens: u64) -> u64 {
        // A price of 1 per million tokens is 1000 billionths per token.
        ((prompt_tokens as f64 * self.prompt_per_million + reply_tokens as f64 * self.reply_per_million)
            * 1000.0)
            .round() as u64
    }
}

/// How reasoning is separated from the reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reasoning {
    /// Fields beside `content` that contain reasoning; the first non-empty one is used.
    pub fields: Vec<String>,
    /// Opening and closing tags around reasoning inside the content.
    pub tags: Vec<(String, String)>,
    /// The server's chat template opens the reasoning: replies start inside it, without the opening tag.
    pub opened: bool,
}

impl Default for Reasoning {
    fn default() -> Self {
        let tag = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        Self {
            fields: ["reasoning_content", "reasoning", "thinking"].map(str::to_owned).to_vec(),
            tags: vec![
                tag("<think>", "</think>"),
                tag("<thinking>", "</thinking>"),
                tag("[THINK]", "[/THINK]"),
            ],
            opened: false,
        }
    }
}

/// A model behind a server.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a server")]
pub struct Endpoint {
    /// The model's name on the server.
    pub model: String,
    /// The address without `/chat/completions`.
    pub base_url: String,
    pub api: Api,
    pub auth: Auth,
    pub key: Option<Secret>,
    /// Where the key comes from, for error messages.
    pub key_source: KeySource,
    /// Additional headers; their values may be secrets.
    pub headers: Vec<(String, Secret)>,
    /// Additional query parameters; their values may be secrets.
    pub query: Vec<(String, Secret)>,
    /// A file of trusted CA certificates (PEM), in addition to the system's.
    pub ca_file: Option<PathBuf>,
    pub sampling: Sampling,
    /// The profile itself states `top_p`, so it is sent with methods whose paper doesn't.
    pub states_top_p: bool,
    pub max_tokens_field: MaxTokensField,
    /// Send `stream_options.include_usage`.
    pub send_usage_option: bool,
    /// Fields that are never sent.
    pub omit: BTreeSet<String>,
    /// JSON merged into the request at its top level.
    pub extra: Map<String, Value>,
    pub reasoning: Reasoning,
    /// Send the prompt as a single user message, for chat templates without a system message.
    pub one_message: bool,
    /// Always send one request at a time. (Otherwise this starts only after the server interrupted a reply because
    /// another request arrived.)
    pub one_at_a_time: bool,
    pub timeouts: Timeouts,
    pub retry: Retry,
    pub prices: Option<Prices>,
    /// A proxy in front of the server counts the tokens, so the counts are not used to correct our estimates.
    pub counted_by_proxy: bool,
}

impl Endpoint {
    /// Creates an endpoint with default settings. White space around the URL, trailing slashes and the API's path are
    /// removed.
    pub fn new(base_url: &str, model: &str) -> Self {
        let mut base = base_url.trim().trim_end_matches('/');
        for path in ["/chat/completions", "/completions"] {
            base = base.strip_suffix(path).unwrap_or(base).trim_end_matches('/');
        }
        Self {
            model: model.to_owned(),
            base_url: base.to_owned(),
            api: Api::default(),
            auth: Auth::default(),
            key: None,
            key_source: KeySource::default(),
            headers: Vec::new(),
            query: Vec::new(),
            ca_file: None,
            sampling: Sampling::default(),
            states_top_p: false,
            max_tokens_field: MaxTokensField::default(),
            send_usage_option: true,
            omit: BTreeSet::new(),
            extra: Map::new(),
            reasoning: Reasoning::default(),
            one_message: false,
            one_at_a_time: false,
            timeouts: Timeouts::default(),
            retry: Retry::default(),
            prices: None,
            counted_by_proxy: false,
        }
    }

    /// Returns a redactor for all secrets of the endpoint and of the proxies set in environment variables.
    pub(super) fn redactor(&self) -> Redactor {
        let proxies = super::proxy::credentials(&|name| std::env::var(name).ok());
        let values = self.headers.iter().chain(&self.query).map(|(name, value)| (name.as_str(), value));
        let tags = self.reasoning.tags.iter().flat_map(|(open, close)| [open.as_str(), close.as_str()]);
        let own = values.chain(self.key.iter().map(|key| ("key", key)));
        Redactor::new(own.chain(proxies.iter().map(|secret| ("proxy-authorization", secret))), tags)
    }

    /// Returns whether the profile sets a header of this name.
    pub(super) fn has_header(&self, name: &str) -> bool {
        self.headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name))
    }

    /// Returns the field for the token limit: the one in `extra`, else the profile's.
    pub(super) fn effective_max_tokens_field(&self) -> MaxTokensField {
        let named = [MaxTokensField::MaxCompletionTokens, MaxTokensField::MaxTokens];
        named.into_iter().find(|f| self.extra.contains_key(f.name())).unwrap_or(self.max_tokens_field)
    }

    /// Returns the value that is sent for a numeric sampling parameter, or `None` if it is not sent. A value in `extra`
    /// takes precedence, and may have llama.cpp's name for the repetition penalty.
    pub fn sampling_number(&self, name: &str) -> Option<f64> {
        let configured = match name {
            "temperature" => self.sampling.temperature,
            "top_p" => self.sampling.top_p,
            "top_k" => self.sampling.top_k.map(f64::from),
            "repetition_penalty" => self.sampling.repetition_penalty,
            _ => None,
        };
        let names: &[&str] = if name == PENALTY_NAMES[0] { &PENALTY_NAMES } else { &[name] };
        let extra = names.iter().find_map(|n| self.extra.get(*n)?.as_f64());
        extra.or(configured).filter(|_| !self.omit.contains(name))
    }

    /// Returns whether the profile leaves a sampling parameter as it is by default. Only then does a paper's or a public
    /// code's value replace it: what a profile changes or omits is a fact about the server.
    pub fn has_default(&self, param: &str) -> bool {
        let field = if param == "max_tokens" { self.effective_max_tokens_field().name() } else { param };
        let is_unchanged = match param {
            "max_tokens" => self.sampling.max_tokens.is_none() && !self.extra.contains_key(field),
            _ => self.sampling_number(param) == Self::new("", "").sampling_number(param),
        };
        is_unchanged && !self.omit.contains(field)
    }

    /// Returns the server's host and port, for display.
    pub fn host(&self) -> &str {
        let after = self.base_url.split_once("://").map_or(self.base_url.as_str(), |p| p.1);
        let authority = after.split(['/', '?', '#']).next().unwrap_or(after);
        // A user name and password may precede the host.
        authority.rsplit_once('@').map_or(authority, |(_, host)| host)
    }

    /// Returns the base URL without possible secrets, for display and for the journal.
    pub fn display_url(&self) -> String {
        crate::text::redact_url(&self.base_url)
    }

    /// Returns whether the server is on this machine.
    pub fn is_loopback(&self) -> bool {
        let host = self.host();
        let name = match host.strip_prefix('[') {
            Some(ipv6) => ipv6.split(']').next().unwrap_or(ipv6),
            None => host.split(':').next().unwrap_or(host),
        };
        name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }

    /// Describes how the sent parameters differ from the papers' settings, and whether `stop` and `seed` are left out.
    pub fn unsent_settings(&self) -> Vec<String> {
        let (sampling, none) = (&self.sampling, "not part of this endpoint's profile");
        let papers = [("temperature", 0.0), ("top_p", 0.7), ("top_k", 50.0), ("repetition_penalty", 1.0)];
        let numbers = papers.map(|(name, papers)| (name, papers, self.sampling_number(name)));
        let differs = |(name, papers, sent): &(&str, f64, Option<f64>)| match sent {
            Some(sent) if (sent - papers).abs() < 1e-9 => None,
            Some(sent) => Some(format!("{name}: sent as {sent} instead of {papers}")),
            None => Some(format!("{name} {papers}: {none}")),
        };
        let mut unsent: Vec<String> = numbers.iter().filter_map(differs).collect();
        let left_out = |name: &str| self.omit.contains(name) && !self.extra.contains_key(name);
        if left_out("stop") {
            unsent.push(format!("stop: {none}; replies are truncated locally"));
        }
        if !sampling.seed || left_out("seed") {
            unsent.push(format!("seed: {none}"));
        }
        unsent
    }

    /// Returns everything besides the request that a reply depends on, without secrets. It is part of cache keys, so
    /// its format, including the `Debug` texts in it, must not change.
    pub fn identity(&self) -> String {
        format!(
            "{} {} {:?} {:?} {:?} {} {:?} {:?} {:?}",
            self.base_url,
            self.model,
            self.api,
            self.sampling,
            self.max_tokens_field,
            self.one_message,
            self.omit,
            Value::Object(self.extra.clone()).to_string(),
            self.reasoning,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn differences_from_the_papers_settings_are_described() {
        type Case = (fn(&mut Endpoint), &'static [&'static str]);
        let cases: [Case; 5] = [
            (|_| {}, &["top_k 50: not part of", "repetition_penalty 1: not part of"]),
            (|e| e.extra = json!({"top_k": 50, "repeat_penalty": 1.0}).as_object().unwrap().clone(), &[]),
            (
                |e| {
                    e.sampling.temperature = Some(0.6);
                    e.sampling.top_k = Some(20);
                    e.sampling.repetition_penalty = Some(1.0);
                },
                &["temperature: sent as 0.6 instead of 0", "top_k: sent as 20 instead of 50"],
            ),
            (
                |e| e.omit.extend(["temperature", "top_p", "stop"].map(str::to_owned)),
                &[
                    "temperature 0: not part of",
                    "top_p 0.7: not part of",
                    "top_k 50: not part of",
                    "repetition_penalty 1: not part of",
                    "stop: not part of this endpoint's profile; replies are truncated locally",
                ],
            ),
            (
                |e| e.sampling.seed = false,
                &["top_k 50: not part of", "repetition_penalty 1: not part of", "seed: not part of"],
            ),
        ];
        for (set, want) in cases {
            let mut endpoint = Endpoint::new("http://h/v1", "m");
            set(&mut endpoint);
            let unsent = endpoint.unsent_settings();
            assert_eq!(unsent.len(), want.len(), "{unsent:?}");
            assert!(unsent.iter().zip(want).all(|(got, want)| got.starts_with(want)), "{unsent:?}");
        }
    }
}
