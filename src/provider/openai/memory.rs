//! What was learnt about an endpoint while it was spoken to: fields it refuses, fields it wants in place of others, how
//! its tokens compare to our estimate. It holds for the process and is told when it is learnt.

use super::endpoint::{Api, Endpoint, MaxTokensField};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

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
    /// Tokens it counted for each one that we had estimated, over the prompts so far.
    pub ratio: Option<f64>,
}

/// The memory of one endpoint, shared by all who speak to it.
#[derive(Debug, Default)]
pub struct Memory(Mutex<Learnt>);

impl Memory {
    /// The memory of this endpoint in this process.
    pub fn of(endpoint: &Endpoint) -> Arc<Self> {
        type Known = Mutex<HashMap<(String, String, Api), Arc<Memory>>>;
        static ALL: OnceLock<Known> = OnceLock::new();
        let key = (endpoint.base_url.clone(), endpoint.model.clone(), endpoint.api);
        let mut all = ALL.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(key).or_default().clone()
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
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Learnt {
    /// The field for the bound of the answer.
    pub(super) fn max_field(&self, endpoint: &Endpoint) -> MaxTokensField {
        let own = endpoint.bound();
        if self.other_max_field { own.other() } else { own }
    }

    /// Our estimate, made as the server counts.
    pub fn scaled(&self, estimate: u64) -> u64 {
        self.ratio.map_or(estimate, |ratio| (estimate as f64 * ratio).round() as u64)
    }
}
