//! What a process learns about an endpoint from its responses: fields that it rejects or expects under another name,
//! how its token counts compare to our estimates. The person is notified when something is learned.

use super::endpoint::{Api, Endpoint, MaxTokensField};
use super::request_limiter::RequestLimiter;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// After this many replies that were empty with stop sequences but not without them, the stop sequences are to blame.
pub(super) const EMPTY_REPLIES_TO_BLAME_STOPS: u32 = 2;

/// The token limit of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TokenLimit {
    Tokens(u32),
    /// No limit is sent; the server's default applies.
    ServerDefault,
}

/// What is known about an endpoint.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a server")]
pub struct LearnedQuirks {
    /// Fields that the server rejected; they are no longer sent.
    pub dropped_fields: BTreeSet<String>,
    /// The server expects the token limit in the other field.
    pub uses_other_max_field: bool,
    /// The server accepts only a single message.
    pub one_message: bool,
    /// Replies start inside their reasoning, without an opening tag.
    pub starts_in_reasoning: bool,
    /// Newline stops cut replies off before the action; such stops are neither sent nor applied locally.
    pub skip_newline_stop: bool,
    /// Number of retries, sent without stops, that did not improve the reply.
    pub fruitless_retries: u32,
    /// Stop sequences end the reasoning before the reply begins: they are not sent, and replies are truncated locally.
    pub match_stops_locally: bool,
    /// Number of replies that were empty with stop sequences but not without them, although no reasoning was seen.
    pub empty_with_stops: u32,
    /// The smallest limit known to leave room for a reply after the reasoning.
    pub min_limit: Option<TokenLimit>,
    /// Limits that cut replies off, each with the larger one that did not.
    pub raised_limits: BTreeMap<u32, u32>,
    /// Number of replies that stayed empty with a larger limit.
    pub empty_despite_limit: u32,
    /// A reply was empty although no limit was sent.
    pub empty_without_limit: bool,
    /// Limits that the server rejected, each with the smallest prompt (in estimated tokens) for which it did.
    pub rejected_limits: BTreeMap<u32, u64>,
    /// A reply had an unknown finish reason, and the person was notified.
    pub has_unknown_finish_reason: bool,
    /// The server's token count divided by our estimate, averaged over the prompts so far.
    pub token_ratio: Option<f64>,
    /// Whether streams contain a `finish_reason`. None: no complete stream was seen yet.
    pub sends_finish_reason: Option<bool>,
    /// Requests do not ask for a stream.
    pub without_stream: bool,
    /// Number of consecutive calls that got a reply only without streaming.
    pub failed_streams: u32,
    /// Number of consecutive replies truncated locally at a stop sequence for which no usage arrived in time.
    pub usage_misses: u32,
    /// Number of replies since the last miss that were truncated locally and whose usage was not awaited.
    pub usage_skips: u32,
    /// The server sent impossible token counts.
    pub impossible_counts: bool,
}

/// The learned quirks of one endpoint, shared by all its providers.
#[derive(Debug, Default)]
pub struct QuirkStore {
    learned: Mutex<LearnedQuirks>,
    /// Shared by all models of one server.
    limiter: Arc<RequestLimiter>,
}

impl QuirkStore {
    /// Returns this process's store for an endpoint.
    pub fn for_endpoint(endpoint: &Endpoint) -> Arc<Self> {
        type QuirkStores = Mutex<HashMap<(String, String, Api), Arc<QuirkStore>>>;
        static STORES: OnceLock<QuirkStores> = OnceLock::new();
        let key = (endpoint.base_url.clone(), endpoint.model.clone(), endpoint.api);
        let mut all = STORES.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        let limiter = all.iter().find(|(known, _)| known.0 == key.0).map(|(_, store)| store.limiter.clone());
        let new = || Arc::new(Self { limiter: limiter.unwrap_or_default(), ..Self::default() });
        all.entry(key).or_insert_with(new).clone()
    }

    /// Returns the limiter that admits requests to the server.
    pub(super) fn limiter(&self) -> &RequestLimiter {
        &self.limiter
    }

    /// Creates a store that starts with the given quirks.
    pub(super) fn from_learned(learned: LearnedQuirks) -> Self {
        Self { learned: Mutex::new(learned), ..Self::default() }
    }

    /// Returns what is known now.
    pub fn learned(&self) -> LearnedQuirks {
        self.lock().clone()
    }

    /// Applies a change. Returns whether it changed anything.
    pub(super) fn update(&self, change: impl FnOnce(&mut LearnedQuirks)) -> bool {
        let mut learned = self.lock();
        let before = learned.clone();
        change(&mut learned);
        *learned != before
    }

    /// Updates the token ratio with the server's count for a prompt. After the first prompt, each new one has a weight
    /// of a quarter.
    pub(super) fn calibrate(&self, estimated: u64, counted: u64) {
        if estimated == 0 || counted == 0 {
            return;
        }
        let ratio = counted as f64 / estimated as f64;
        self.update(|l| l.token_ratio = Some(l.token_ratio.map_or(ratio, |old| old * 0.75 + ratio * 0.25)));
    }

    fn lock(&self) -> MutexGuard<'_, LearnedQuirks> {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LearnedQuirks {
    /// Returns the field that holds the token limit.
    pub(super) fn max_tokens_field(&self, endpoint: &Endpoint) -> MaxTokensField {
        let own = endpoint.effective_max_tokens_field();
        if self.uses_other_max_field { own.other() } else { own }
    }

    /// Returns the limit that is sent for a configured limit of `wanted`.
    pub fn token_limit(&self, wanted: u32) -> TokenLimit {
        let raised = TokenLimit::Tokens(self.raised_limits.get(&wanted).copied().unwrap_or(wanted));
        self.min_limit.map_or(raised, |least| least.max(raised))
    }

    /// Returns whether the server rejected a limit of at most `limit` for a prompt of at most `prompt` tokens.
    pub(super) fn rejects_limit(&self, limit: u32, prompt: u64) -> bool {
        self.rejected_limits.range(..=limit).any(|(_, least)| *least <= prompt)
    }

    /// Returns notes on how requests to this model (`m at http://h/v1`) differ because of its replies. Notes are
    /// recorded in sessions and parsed by [`restore`](Self::restore), so their texts must not change.
    pub(super) fn describe(&self, model_and_url: &str) -> Vec<String> {
        let mut notes = Vec::new();
        if self.match_stops_locally {
            notes.push(if self.starts_in_reasoning {
                starts_in_reasoning_note(model_and_url)
            } else if self.empty_with_stops > 0 {
                empty_reply_note(model_and_url)
            } else {
                stop_note(model_and_url)
            });
        }
        notes.extend(self.without_stream.then(|| without_stream_note(model_and_url)));
        notes.extend(self.min_limit.map(|limit| match limit {
            TokenLimit::Tokens(n) => format!("max_tokens: at least {n}{}", min_limit_note(model_and_url)),
            TokenLimit::ServerDefault => format!("max_tokens: left out{}", min_limit_note(model_and_url)),
        }));
        let raised = self.raised_limits.iter();
        notes.extend(raised.map(|(cut, n)| {
            format!("max_tokens: {n} in place of {cut}{}", raised_limit_note(model_and_url))
        }));
        notes
    }

    /// Restores what an earlier process noted about the same model at the same URL.
    pub(super) fn restore(&mut self, model_and_url: &str, notes: &[String]) {
        for note in notes {
            let opened = *note == starts_in_reasoning_note(model_and_url);
            self.starts_in_reasoning |= opened;
            let empty = *note == empty_reply_note(model_and_url);
            self.empty_with_stops =
                self.empty_with_stops.max(u32::from(empty) * EMPTY_REPLIES_TO_BLAME_STOPS);
            self.match_stops_locally |= opened || empty || *note == stop_note(model_and_url);
            self.without_stream |= *note == without_stream_note(model_and_url);
            let Some(rest) = note.strip_prefix("max_tokens: ") else { continue };
            if let Some(limit) = rest.strip_suffix(&min_limit_note(model_and_url)) {
                let tokens =
                    limit.strip_prefix("at least ").and_then(|n| n.parse().ok()).map(TokenLimit::Tokens);
                let limit = tokens.or((limit == "left out").then_some(TokenLimit::ServerDefault));
                self.min_limit = self.min_limit.max(limit);
            } else if let Some((n, cut)) = rest
                .strip_suffix(&raised_limit_note(model_and_url))
                .and_then(|limits| limits.split_once(" in place of "))
                && let (Ok(n), Ok(cut)) = (n.parse::<u32>(), cut.parse())
            {
                let raised = self.raised_limits.entry(cut).or_insert(n);
                *raised = n.max(*raised);
            }
        }
    }

    /// Scales our estimate of a token count to the server's way of counting.
    pub fn scale_estimate(&self, estimate: u64) -> u64 {
        self.token_ratio.map_or(estimate, |ratio| (estimate as f64 * ratio).round() as u64)
    }
}

fn stop_note(model_and_url: &str) -> String {
    format!(
        "stop: left out for {model_and_url}, where it ended the model's reasoning; replies are cut here instead"
    )
}

fn empty_reply_note(model_and_url: &str) -> String {
    format!(
        "stop: left out for {model_and_url}, whose replies were empty with it; replies are cut here instead"
    )
}

fn without_stream_note(model_and_url: &str) -> String {
    format!("stream: left out for {model_and_url}, whose streams did not bring a whole reply")
}

fn starts_in_reasoning_note(model_and_url: &str) -> String {
    format!(
        "stop: left out for {model_and_url}, whose replies begin inside their reasoning; they are cut here instead"
    )
}

fn min_limit_note(model_and_url: &str) -> String {
    format!(" for {model_and_url}, whose reasoning used up the smaller limit")
}

fn raised_limit_note(model_and_url: &str) -> String {
    format!(" for {model_and_url}, whose replies the smaller limit cut off")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_restore_quirks_only_for_the_same_model_and_url() {
        let known = LearnedQuirks {
            match_stops_locally: true,
            min_limit: Some(TokenLimit::Tokens(4096)),
            ..LearnedQuirks::default()
        };
        let raised = BTreeMap::from([(256, 512), (1024, 4096)]);
        let cases = [
            known.clone(),
            LearnedQuirks {
                starts_in_reasoning: true,
                min_limit: Some(TokenLimit::ServerDefault),
                ..known.clone()
            },
            LearnedQuirks { raised_limits: raised, ..LearnedQuirks::default() },
            LearnedQuirks {
                match_stops_locally: true,
                empty_with_stops: EMPTY_REPLIES_TO_BLAME_STOPS,
                without_stream: true,
                ..LearnedQuirks::default()
            },
        ];
        for learned in cases {
            let (mut same, mut other) = (LearnedQuirks::default(), LearnedQuirks::default());
            same.restore("m at http://h/v1", &learned.describe("m at http://h/v1"));
            assert_eq!(same, learned);
            other.restore("m at http://h/v2", &learned.describe("m at http://h/v1"));
            assert_eq!(other, LearnedQuirks::default());
        }
        // A larger known limit is kept.
        let mut learned =
            LearnedQuirks { min_limit: Some(TokenLimit::ServerDefault), ..LearnedQuirks::default() };
        learned.restore("m", &known.describe("m"));
        assert_eq!(learned.min_limit, Some(TokenLimit::ServerDefault));
    }

    #[test]
    fn token_limit_is_the_largest_known_to_be_needed() {
        let raised = BTreeMap::from([(256, 512)]);
        let cases = [
            (None, 256, TokenLimit::Tokens(512)),
            (None, 1024, TokenLimit::Tokens(1024)),
            (Some(TokenLimit::Tokens(4096)), 256, TokenLimit::Tokens(4096)),
            (Some(TokenLimit::Tokens(4096)), 9000, TokenLimit::Tokens(9000)),
            (Some(TokenLimit::ServerDefault), 9000, TokenLimit::ServerDefault),
        ];
        for (min_limit, wanted, want) in cases {
            let learned =
                LearnedQuirks { min_limit, raised_limits: raised.clone(), ..LearnedQuirks::default() };
            assert_eq!(learned.token_limit(wanted), want, "{min_limit:?} {wanted}");
        }
    }
}
