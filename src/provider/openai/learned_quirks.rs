//! What was learnt about an endpoint while it was spoken to: fields it refuses, fields it wants in place of others, how
//! its tokens compare to our estimate. It holds for the process and is told when it is learnt.

use super::endpoint::{Api, Endpoint, MaxTokensField};
use super::request_limiter::RequestLimiter;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// So many replies that were empty with stop texts, and not without them, show that it is because of them.
pub(super) const EMPTY_WITH_STOPS: u32 = 2;

/// The most tokens of a reply, as a request says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TokenLimit {
    /// This many.
    Tokens(u32),
    /// None is sent: the server's own holds.
    ServerDefault,
}

/// What is known of an endpoint.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a server")]
pub struct LearnedQuirks {
    /// Fields it refused; they are not sent any more.
    pub dropped_fields: BTreeSet<String>,
    /// It wants the other field for the bound of the answer.
    pub uses_other_max_field: bool,
    /// It wants all speakers in one message.
    pub one_message: bool,
    /// Its answers begin inside of reasoning, without an opening mark.
    pub starts_in_reasoning: bool,
    /// A stop at a newline cuts its answers off before they say what to do: none is sent, and none is kept here.
    pub skip_newline_stop: bool,
    /// Answers that were asked for anew without that stop, and said no more than before.
    pub fruitless_retries: u32,
    /// A stop text ended its reasoning before its reply began: stop texts are not sent, and its replies are cut here.
    pub match_stops_locally: bool,
    /// Replies that were empty with stop texts and not without them, though no reasoning was seen.
    pub empty_with_stops: u32,
    /// The least bound that leaves room for a reply behind its reasoning; none: no reply has shown one.
    pub min_limit: Option<TokenLimit>,
    /// Bounds that cut its replies off, each with the larger one that did not.
    pub raised_limits: BTreeMap<u32, u32>,
    /// Replies that were empty whatever the bound was.
    pub empty_despite_limit: u32,
    /// A reply was empty though no bound was sent.
    pub empty_unbounded: bool,
    /// Bounds that it refused, each with the least prompt (in estimated tokens) for which it did.
    pub refused_bounds: BTreeMap<u32, u64>,
    /// A reply ended for a reason that is not known here, which was told.
    pub odd_ending: bool,
    /// Tokens it counted for each one that we had estimated, over the prompts so far.
    pub token_ratio: Option<f64>,
    /// Whether its streams say how a reply ended (`finish_reason`); none: no whole stream was seen yet.
    pub sends_finish_reason: Option<bool>,
    /// It is asked without a stream.
    pub without_stream: bool,
    /// Calls in a row that were answered only without a stream.
    pub useless_streams: u32,
    /// How often in a row it sent no usage in time after a stop text had ended a reply here.
    pub usage_misses: u32,
    /// Since then: replies that a stop text ended here, and whose usage was not waited for.
    pub usage_skips: u32,
    /// It sent counts of tokens that cannot be true.
    pub impossible_counts: bool,
}

/// The memory of one endpoint, shared by all who speak to it.
#[derive(Debug, Default)]
pub struct QuirkStore {
    learned: Mutex<LearnedQuirks>,
    /// Shared by all models of one server.
    limiter: Arc<RequestLimiter>,
}

impl QuirkStore {
    /// The memory of this endpoint in this process.
    pub fn for_endpoint(endpoint: &Endpoint) -> Arc<Self> {
        type QuirkStores = Mutex<HashMap<(String, String, Api), Arc<QuirkStore>>>;
        static STORES: OnceLock<QuirkStores> = OnceLock::new();
        let key = (endpoint.base_url.clone(), endpoint.model.clone(), endpoint.api);
        let mut all = STORES.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        let gate = all.iter().find(|(known, _)| known.0 == key.0).map(|(_, memory)| memory.limiter.clone());
        let new = || Arc::new(Self { limiter: gate.unwrap_or_default(), ..Self::default() });
        all.entry(key).or_insert_with(new).clone()
    }

    /// Admits requests to the server.
    pub(super) fn limiter(&self) -> &RequestLimiter {
        &self.limiter
    }

    /// A memory that begins with this.
    pub(super) fn from_learned(learnt: LearnedQuirks) -> Self {
        Self { learned: Mutex::new(learnt), ..Self::default() }
    }

    /// What is known now.
    pub fn learned(&self) -> LearnedQuirks {
        self.lock().clone()
    }

    /// Learns something; whether it was new.
    pub(super) fn update(&self, change: impl FnOnce(&mut LearnedQuirks)) -> bool {
        let mut learnt = self.lock();
        let before = learnt.clone();
        change(&mut learnt);
        *learnt != before
    }

    /// Compares the server's count of a prompt with our estimate; later prompts count for a quarter.
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
    /// The field for the bound of the answer.
    pub(super) fn max_tokens_field(&self, endpoint: &Endpoint) -> MaxTokensField {
        let own = endpoint.effective_max_tokens_field();
        if self.uses_other_max_field { own.other() } else { own }
    }

    /// The bound that is sent where `wanted` is asked for.
    pub fn token_limit(&self, wanted: u32) -> TokenLimit {
        let raised = TokenLimit::Tokens(self.raised_limits.get(&wanted).copied().unwrap_or(wanted));
        self.min_limit.map_or(raised, |room| room.max(raised))
    }

    /// Whether it has refused a bound that was no larger, for a prompt that was no longer.
    pub(super) fn refuses_bound(&self, bound: u32, prompt: u64) -> bool {
        self.refused_bounds.range(..=bound).any(|(_, least)| *least <= prompt)
    }

    /// What is sent otherwise because of the replies of the model at `place`, in words that [`recall`](Self::recall) reads.
    pub(super) fn describe(&self, place: &str) -> Vec<String> {
        let mut told = Vec::new();
        if self.match_stops_locally {
            told.push(if self.starts_in_reasoning {
                starts_in_reasoning_note(place)
            } else if self.empty_with_stops > 0 {
                empty_words(place)
            } else {
                stop_note(place)
            });
        }
        told.extend(self.without_stream.then(|| stream_words(place)));
        told.extend(self.min_limit.map(|room| match room {
            TokenLimit::Tokens(n) => format!("max_tokens: at least {n}{}", min_limit_note(place)),
            TokenLimit::ServerDefault => format!("max_tokens: left out{}", min_limit_note(place)),
        }));
        let raised = self.raised_limits.iter();
        told.extend(
            raised.map(|(cut, n)| format!("max_tokens: {n} in place of {cut}{}", raised_limit_note(place))),
        );
        told
    }

    /// Learns what an earlier process told of the same model at the same place.
    pub(super) fn restore(&mut self, place: &str, told: &[String]) {
        for words in told {
            let opened = *words == starts_in_reasoning_note(place);
            self.starts_in_reasoning |= opened;
            let empty = *words == empty_words(place);
            self.empty_with_stops = self.empty_with_stops.max(u32::from(empty) * EMPTY_WITH_STOPS);
            self.match_stops_locally |= opened || empty || *words == stop_note(place);
            self.without_stream |= *words == stream_words(place);
            let Some(bound) = words.strip_prefix("max_tokens: ") else { continue };
            if let Some(room) = bound.strip_suffix(&min_limit_note(place)) {
                let tokens =
                    room.strip_prefix("at least ").and_then(|n| n.parse().ok()).map(TokenLimit::Tokens);
                let room = tokens.or((room == "left out").then_some(TokenLimit::ServerDefault));
                self.min_limit = self.min_limit.max(room);
            } else if let Some((n, cut)) = bound
                .strip_suffix(&raised_limit_note(place))
                .and_then(|words| words.split_once(" in place of "))
                && let (Ok(n), Ok(cut)) = (n.parse::<u32>(), cut.parse())
            {
                let raised = self.raised_limits.entry(cut).or_insert(n);
                *raised = n.max(*raised);
            }
        }
    }

    /// Our estimate, made as the server counts.
    pub fn scale_estimate(&self, estimate: u64) -> u64 {
        self.token_ratio.map_or(estimate, |ratio| (estimate as f64 * ratio).round() as u64)
    }
}

fn stop_note(place: &str) -> String {
    format!("stop: left out for {place}, where it ended the model's reasoning; replies are cut here instead")
}

fn empty_words(place: &str) -> String {
    format!("stop: left out for {place}, whose replies were empty with it; replies are cut here instead")
}

fn stream_words(place: &str) -> String {
    format!("stream: left out for {place}, whose streams did not bring a whole reply")
}

fn starts_in_reasoning_note(place: &str) -> String {
    format!(
        "stop: left out for {place}, whose replies begin inside their reasoning; they are cut here instead"
    )
}

fn min_limit_note(place: &str) -> String {
    format!(" for {place}, whose reasoning used up the smaller limit")
}

fn raised_limit_note(place: &str) -> String {
    format!(" for {place}, whose replies the smaller limit cut off")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_learnt_of_stop_and_bound_is_recalled_at_the_same_place_and_at_no_other() {
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
                empty_with_stops: EMPTY_WITH_STOPS,
                without_stream: true,
                ..LearnedQuirks::default()
            },
        ];
        for learnt in cases {
            let (mut same, mut other) = (LearnedQuirks::default(), LearnedQuirks::default());
            same.restore("m at http://h/v1", &learnt.describe("m at http://h/v1"));
            assert_eq!(same, learnt);
            other.restore("m at http://h/v2", &learnt.describe("m at http://h/v1"));
            assert_eq!(other, LearnedQuirks::default());
        }
        // What is known already is not made smaller.
        let mut learnt =
            LearnedQuirks { min_limit: Some(TokenLimit::ServerDefault), ..LearnedQuirks::default() };
        learnt.restore("m", &known.describe("m"));
        assert_eq!(learnt.min_limit, Some(TokenLimit::ServerDefault));
    }

    #[test]
    fn the_bound_is_the_largest_that_a_reply_has_shown_to_be_needed() {
        let raised = BTreeMap::from([(256, 512)]);
        let cases = [
            (None, 256, TokenLimit::Tokens(512)),
            (None, 1024, TokenLimit::Tokens(1024)),
            (Some(TokenLimit::Tokens(4096)), 256, TokenLimit::Tokens(4096)),
            (Some(TokenLimit::Tokens(4096)), 9000, TokenLimit::Tokens(9000)),
            (Some(TokenLimit::ServerDefault), 9000, TokenLimit::ServerDefault),
        ];
        for (room, wanted, want) in cases {
            let learnt =
                LearnedQuirks { min_limit: room, raised_limits: raised.clone(), ..LearnedQuirks::default() };
            assert_eq!(learnt.token_limit(wanted), want, "{room:?} {wanted}");
        }
    }
}
