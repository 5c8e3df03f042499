//! An endpoint as data: where it is, how it is spoken to, what it takes and what it does not.

use super::redactor::Redactor;
use super::secret::{KeySource, Secret};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

/// Which of the two interfaces is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Api {
    /// Chat completions: messages by speaker.
    #[default]
    Chat,
    /// Completions: the prompt as one text that is continued (as ReAct's and Reflexion's code did).
    Completions,
}

/// How the key is shown to the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Auth {
    /// `Authorization: Bearer KEY`.
    #[default]
    Bearer,
    /// A header of this name holds the key (Azure: `api-key`).
    Header(String),
    /// No key is sent.
    None,
}

/// Which field bounds the answer's length; servers differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MaxTokensField {
    /// The old one, that nearly all know.
    #[default]
    MaxTokens,
    /// The one of hosted reasoning models.
    MaxCompletionTokens,
}

impl MaxTokensField {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }

    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Self::MaxTokens => Self::MaxCompletionTokens,
            Self::MaxCompletionTokens => Self::MaxTokens,
        }
    }
}

/// The names of the penalty of repetition, the one of most servers first; llama.cpp has the other.
pub(super) const PENALTY_NAMES: [&str; 2] = ["repetition_penalty", "repeat_penalty"];

/// How answers are sampled. What is not set is not sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampling {
    /// Temperature; the papers: 0.
    pub temperature: Option<f64>,
    /// Nucleus; OmniReflect: 0.7.
    pub top_p: Option<f64>,
    /// Only the most likely K; OmniReflect: 50. Many servers refuse it, so only some profiles send it.
    pub top_k: Option<u32>,
    /// Penalty of repetition; OmniReflect: 1. Sent as `top_k` is.
    pub repetition_penalty: Option<f64>,
    /// The most tokens of an answer; none: 256 for the actor, 1024 for the mentor.
    pub max_tokens: Option<u32>,
    /// Texts that end an answer, in place of the question's own.
    pub stop: Option<Vec<String>>,
    /// The seed is sent.
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

/// How long is waited for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For the connection.
    pub connect: Duration,
    /// For the first piece of the answer, and from one piece to the next where only signs of life come in between. Long:
    /// a server may load its model first.
    pub first_piece: Duration,
    /// For the next byte of a stream that has begun.
    pub idle: Duration,
    /// For what may still come after the answer's end (its usage).
    pub after_end: Duration,
    /// For all of it; none by default.
    pub total: Option<Duration>,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_piece: Duration::from_secs(180),
            idle: Duration::from_secs(60),
            after_end: Duration::from_secs(2),
            total: None,
        }
    }
}

/// When and how often a failed request is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// How often at most.
    pub max_retries: u32,
    /// How often at most after a 500, which may be the request's own fault.
    pub max_retries_after_500: u32,
    /// The first wait; it doubles.
    pub first_wait: Duration,
    /// The longest wait of our own choice.
    pub max_wait: Duration,
    /// The longest wait in all.
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

/// Prices in any unit for a million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Prices {
    /// Of prompts.
    pub prompt_per_million: f64,
    /// Of replies, reasoning among them.
    pub reply_per_million: f64,
}

impl Prices {
    /// The price of a call, in billionths of the unit.
    pub fn cost_nano(&self, prompt_tokens: u64, reply_tokens: u64) -> u64 {
        // A million tokens cost the price, so one token costs a thousand billionths of it.
        ((prompt_tokens as f64 * self.prompt_per_million + reply_tokens as f64 * self.reply_per_million)
            * 1000.0)
            .round() as u64
    }
}

/// How reasoning is told from the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reasoning {
    /// Fields beside `content` that hold it; the first that is filled counts.
    pub fields: Vec<String>,
    /// Opening and closing marks around it inside the content.
    pub tags: Vec<(String, String)>,
    /// The server's template opens it: an answer begins inside of it, without the opening mark.
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
    /// The model's name there.
    pub model: String,
    /// The address up to and without `/chat/completions`.
    pub base_url: String,
    /// Which interface.
    pub api: Api,
    /// How the key is shown.
    pub auth: Auth,
    /// The key.
    pub key: Option<Secret>,
    /// Where the key comes from, for whoever has to mend it.
    pub key_source: KeySource,
    /// More headers; their values may be secrets.
    pub headers: Vec<(String, Secret)>,
    /// More query parameters; their values may be secrets.
    pub query: Vec<(String, Secret)>,
    /// A file of certificates (PEM) whose authorities are believed beside the system's.
    pub ca_file: Option<PathBuf>,
    /// The sampling.
    pub sampling: Sampling,
    /// Which field bounds the answer.
    pub max_tokens_field: MaxTokensField,
    /// `stream_options.include_usage` is sent.
    pub send_usage_option: bool,
    /// Fields that are never sent.
    pub omit: BTreeSet<String>,
    /// JSON merged into the request at its top level.
    pub extra: Map<String, Value>,
    /// Reasoning.
    pub reasoning: Reasoning,
    /// All speakers in one message of the user: for templates that know no system message.
    pub one_message: bool,
    /// The server gets one request at a time, also before it has broken a reply off because another one arrived.
    pub one_at_a_time: bool,
    /// Time-outs.
    pub timeouts: Timeouts,
    /// Retries.
    pub retry: Retry,
    /// Prices.
    pub prices: Option<Prices>,
    /// A proxy counts the tokens.
    pub counted_by_proxy: bool,
}

impl Endpoint {
    /// A model at an address, all else by default. The address may be given with a blank or a slash too many, or with the
    /// path of the interface.
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

    /// All its secrets.
    pub(super) fn redactor(&self) -> Redactor {
        let proxies = super::proxy::credentials(&|name| std::env::var(name).ok());
        let values = self.headers.iter().chain(&self.query).map(|(name, value)| (name.as_str(), value));
        let marks = self.reasoning.tags.iter().flat_map(|(open, close)| [open.as_str(), close.as_str()]);
        let own = values.chain(self.key.iter().map(|key| ("key", key)));
        Redactor::new(own.chain(proxies.iter().map(|secret| ("proxy-authorization", secret))), marks)
    }

    /// A header of this name is given.
    pub(super) fn has_header(&self, name: &str) -> bool {
        self.headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name))
    }

    /// Which field bounds the answer: the one that stands in `extra`, else the profile's.
    pub(super) fn effective_max_tokens_field(&self) -> MaxTokensField {
        let named = [MaxTokensField::MaxCompletionTokens, MaxTokensField::MaxTokens];
        named.into_iter().find(|f| self.extra.contains_key(f.name())).unwrap_or(self.max_tokens_field)
    }

    /// A number of the sampling as it is sent by itself: what is merged into the request counts more, and llama.cpp has a
    /// name of its own for one of them. None: it is not sent.
    pub fn sampling_number(&self, name: &str) -> Option<f64> {
        let set = match name {
            "temperature" => self.sampling.temperature,
            "top_p" => self.sampling.top_p,
            "top_k" => self.sampling.top_k.map(f64::from),
            "repetition_penalty" => self.sampling.repetition_penalty,
            _ => None,
        };
        let names: &[&str] = if name == PENALTY_NAMES[0] { &PENALTY_NAMES } else { &[name] };
        let extra = names.iter().find_map(|n| self.extra.get(*n)?.as_f64());
        extra.or(set).filter(|_| !self.omit.contains(name))
    }

    /// The server as it is shown: host and port.
    pub fn host(&self) -> &str {
        let after = self.base_url.split_once("://").map_or(self.base_url.as_str(), |p| p.1);
        let place = after.split(['/', '?', '#']).next().unwrap_or(after);
        // A name and password may stand before it.
        place.rsplit_once('@').map_or(place, |(_, host)| host)
    }

    /// The address as it is shown and kept: without what may be a secret in it.
    pub fn display_url(&self) -> String {
        crate::text::redact_url(&self.base_url)
    }

    /// The server is on this machine.
    pub fn is_loopback(&self) -> bool {
        let host = self.host();
        let name = match host.strip_prefix('[') {
            Some(six) => six.split(']').next().unwrap_or(six),
            None => host.split(':').next().unwrap_or(host),
        };
        name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }

    /// The papers' settings and ours that are not sent, or with another value, in words.
    pub fn unsent_settings(&self) -> Vec<String> {
        let (sampling, none) = (&self.sampling, "not part of this endpoint's profile");
        let papers = [("temperature", 0.0), ("top_p", 0.7), ("top_k", 50.0), ("repetition_penalty", 1.0)];
        let numbers = papers.map(|(name, papers)| (name, papers, self.sampling_number(name)));
        let differs = |(name, papers, sent): &(&str, f64, Option<f64>)| match sent {
            Some(sent) if (sent - papers).abs() < 1e-9 => None,
            Some(sent) => Some(format!("{name} {papers}: {sent} is sent")),
            None => Some(format!("{name} {papers}: {none}")),
        };
        let mut unsent: Vec<String> = numbers.iter().filter_map(differs).collect();
        let left_out = |name: &str| self.omit.contains(name) && !self.extra.contains_key(name);
        if left_out("stop") {
            unsent.push(format!("stop: {none}; answers are cut here"));
        }
        if !sampling.seed || left_out("seed") {
            unsent.push(format!("seed: {none}"));
        }
        unsent
    }

    /// Everything that an answer depends on beside the question, without any secret; part of a cache's key.
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
    fn what_is_not_sent_is_said_and_what_is_sent_otherwise() {
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
                &["temperature 0: 0.6 is sent", "top_k 50: 20 is sent"],
            ),
            (
                |e| e.omit.extend(["temperature", "top_p", "stop"].map(str::to_owned)),
                &[
                    "temperature 0: not part of",
                    "top_p 0.7: not part of",
                    "top_k 50: not part of",
                    "repetition_penalty 1: not part of",
                    "stop: not part of this endpoint's profile; answers are cut here",
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
