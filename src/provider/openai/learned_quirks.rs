//! What was learnt about an endpoint while it was spoken to: fields it refuses, fields it wants in place of others, how
//! its tokens compare to our estimate. It holds for the process and is told when it is learnt.

use super::endpoint::{Api, Endpoint, MaxTokensField};
use super::gate::Gate;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// So many replies that were empty with stop texts, and not without them, show that it is because of them.
pub(super) const EMPTY_WITH_STOPS: u32 = 2;

/// The most tokens of a reply, as a request says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bound {
    /// This many.
    Tokens(u32),
    /// None is sent: the server's own holds.
    Server,
}

/// What is known of an endpoint.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a server")]
pub struct Learnt {
    /// Fields it refused; they are not sent any more.
    pub dropped: BTreeSet<String>,
    /// It wants the other field for the bound of the answer.
    pub other_max_field: bool,
    /// It wants all speakers in one message.
    pub one_message: bool,
    /// Its answers begin inside of reasoning, without an opening mark.
    pub opened: bool,
    /// A stop at a newline cuts its answers off before they say what to do: none is sent, and none is kept here.
    pub lines: bool,
    /// Answers that were asked for anew without that stop, and said no more than before.
    pub fruitless: u32,
    /// A stop text ended its reasoning before its reply began: stop texts are not sent, and its replies are cut here.
    pub stop_here: bool,
    /// Replies that were empty with stop texts and not without them, though no reasoning was seen.
    pub empty_with_stops: u32,
    /// The least bound that leaves room for a reply behind its reasoning; none: no reply has shown one.
    pub room: Option<Bound>,
    /// Bounds that cut its replies off, each with the larger one that did not.
    pub raised: BTreeMap<u32, u32>,
    /// Replies that were empty whatever the bound was.
    pub starved: u32,
    /// A reply was empty though no bound was sent.
    pub empty_unbounded: bool,
    /// Bounds that it refused, each with the least prompt (in estimated tokens) for which it did.
    pub refused_bounds: BTreeMap<u32, u64>,
    /// A reply ended for a reason that is not known here, which was told.
    pub odd_ending: bool,
    /// Tokens it counted for each one that we had estimated, over the prompts so far.
    pub ratio: Option<f64>,
    /// Whether its streams say how a reply ended (`finish_reason`); none: no whole stream was seen yet.
    pub finish_reasons: Option<bool>,
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
pub struct Memory {
    learnt: Mutex<Learnt>,
    /// Shared by all models of one server.
    gate: Arc<Gate>,
}

impl Memory {
    /// The memory of this endpoint in this process.
    pub fn of(endpoint: &Endpoint) -> Arc<Self> {
        type Known = Mutex<HashMap<(String, String, Api), Arc<Memory>>>;
        static ALL: OnceLock<Known> = OnceLock::new();
        let key = (endpoint.base_url.clone(), endpoint.model.clone(), endpoint.api);
        let mut all = ALL.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        let gate = all.iter().find(|(known, _)| known.0 == key.0).map(|(_, memory)| memory.gate.clone());
        let new = || Arc::new(Self { gate: gate.unwrap_or_default(), ..Self::default() });
        all.entry(key).or_insert_with(new).clone()
    }

    /// Admits requests to the server.
    pub(super) fn gate(&self) -> &Gate {
        &self.gate
    }

    /// A memory that begins with this.
    pub(super) fn with(learnt: Learnt) -> Self {
        Self { learnt: Mutex::new(learnt), ..Self::default() }
    }

    /// What is known now.
    pub fn learnt(&self) -> Learnt {
        self.lock().clone()
    }

    /// Learns something; whether it was new.
    pub(super) fn learn(&self, change: impl FnOnce(&mut Learnt)) -> bool {
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
        self.learn(|l| l.ratio = Some(l.ratio.map_or(ratio, |old| old * 0.75 + ratio * 0.25)));
    }

    fn lock(&self) -> MutexGuard<'_, Learnt> {
        self.learnt.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Learnt {
    /// The field for the bound of the answer.
    pub(super) fn max_field(&self, endpoint: &Endpoint) -> MaxTokensField {
        let own = endpoint.bound();
        if self.other_max_field { own.other() } else { own }
    }

    /// The bound that is sent where `wanted` is asked for.
    pub fn bound(&self, wanted: u32) -> Bound {
        let raised = Bound::Tokens(self.raised.get(&wanted).copied().unwrap_or(wanted));
        self.room.map_or(raised, |room| room.max(raised))
    }

    /// Whether it has refused a bound that was no larger, for a prompt that was no longer.
    pub(super) fn refuses_bound(&self, bound: u32, prompt: u64) -> bool {
        self.refused_bounds.range(..=bound).any(|(_, least)| *least <= prompt)
    }

    /// What is sent otherwise because of the replies of the model at `place`, in words that [`recall`](Self::recall) reads.
    pub(super) fn told(&self, place: &str) -> Vec<String> {
        let mut told = Vec::new();
        if self.stop_here {
            told.push(if self.opened {
                opened_words(place)
            } else if self.empty_with_stops > 0 {
                empty_words(place)
            } else {
                stop_words(place)
            });
        }
        told.extend(self.without_stream.then(|| stream_words(place)));
        told.extend(self.room.map(|room| match room {
            Bound::Tokens(n) => format!("max_tokens: at least {n}{}", room_words(place)),
            Bound::Server => format!("max_tokens: left out{}", room_words(place)),
        }));
        let raised = self.raised.iter();
        told.extend(
            raised.map(|(cut, n)| format!("max_tokens: {n} in place of {cut}{}", raised_words(place))),
        );
        told
    }

    /// Learns what an earlier process told of the same model at the same place.
    pub(super) fn recall(&mut self, place: &str, told: &[String]) {
        for words in told {
            let opened = *words == opened_words(place);
            self.opened |= opened;
            let empty = *words == empty_words(place);
            self.empty_with_stops = self.empty_with_stops.max(u32::from(empty) * EMPTY_WITH_STOPS);
            self.stop_here |= opened || empty || *words == stop_words(place);
            self.without_stream |= *words == stream_words(place);
            let Some(bound) = words.strip_prefix("max_tokens: ") else { continue };
            if let Some(room) = bound.strip_suffix(&room_words(place)) {
                let tokens = room.strip_prefix("at least ").and_then(|n| n.parse().ok()).map(Bound::Tokens);
                let room = tokens.or((room == "left out").then_some(Bound::Server));
                self.room = self.room.max(room);
            } else if let Some((n, cut)) =
                bound.strip_suffix(&raised_words(place)).and_then(|words| words.split_once(" in place of "))
                && let (Ok(n), Ok(cut)) = (n.parse::<u32>(), cut.parse())
            {
                let raised = self.raised.entry(cut).or_insert(n);
                *raised = n.max(*raised);
            }
        }
    }

    /// Our estimate, made as the server counts.
    pub fn scaled(&self, estimate: u64) -> u64 {
        self.ratio.map_or(estimate, |ratio| (estimate as f64 * ratio).round() as u64)
    }
}

fn stop_words(place: &str) -> String {
    format!("stop: left out for {place}, where it ended the model's reasoning; replies are cut here instead")
}

fn empty_words(place: &str) -> String {
    format!("stop: left out for {place}, whose replies were empty with it; replies are cut here instead")
}

fn stream_words(place: &str) -> String {
    format!("stream: left out for {place}, whose streams did not bring a whole reply")
}

fn opened_words(place: &str) -> String {
    format!(
        "stop: left out for {place}, whose replies begin inside their reasoning; they are cut here instead"
    )
}

fn room_words(place: &str) -> String {
    format!(" for {place}, whose reasoning used up the smaller limit")
}

fn raised_words(place: &str) -> String {
    format!(" for {place}, whose replies the smaller limit cut off")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_learnt_of_stop_and_bound_is_recalled_at_the_same_place_and_at_no_other() {
        let known = Learnt { stop_here: true, room: Some(Bound::Tokens(4096)), ..Learnt::default() };
        let raised = BTreeMap::from([(256, 512), (1024, 4096)]);
        let cases = [
            known.clone(),
            Learnt { opened: true, room: Some(Bound::Server), ..known.clone() },
            Learnt { raised, ..Learnt::default() },
            Learnt {
                stop_here: true,
                empty_with_stops: EMPTY_WITH_STOPS,
                without_stream: true,
                ..Learnt::default()
            },
        ];
        for learnt in cases {
            let (mut same, mut other) = (Learnt::default(), Learnt::default());
            same.recall("m at http://h/v1", &learnt.told("m at http://h/v1"));
            assert_eq!(same, learnt);
            other.recall("m at http://h/v2", &learnt.told("m at http://h/v1"));
            assert_eq!(other, Learnt::default());
        }
        // What is known already is not made smaller.
        let mut learnt = Learnt { room: Some(Bound::Server), ..Learnt::default() };
        learnt.recall("m", &known.told("m"));
        assert_eq!(learnt.room, Some(Bound::Server));
    }

    #[test]
    fn the_bound_is_the_largest_that_a_reply_has_shown_to_be_needed() {
        let raised = BTreeMap::from([(256, 512)]);
        let cases = [
            (None, 256, Bound::Tokens(512)),
            (None, 1024, Bound::Tokens(1024)),
            (Some(Bound::Tokens(4096)), 256, Bound::Tokens(4096)),
            (Some(Bound::Tokens(4096)), 9000, Bound::Tokens(9000)),
            (Some(Bound::Server), 9000, Bound::Server),
        ];
        for (room, wanted, want) in cases {
            let learnt = Learnt { room, raised: raised.clone(), ..Learnt::default() };
            assert_eq!(learnt.bound(wanted), want, "{room:?} {wanted}");
        }
    }
}
