//! The way back to a state, and what was seen on the last such ways.

use super::{Fetch, LoadCheckpoint};
use crate::domain::Seq;
use crate::engine::{Envelope, State};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Events fetched at once on a way.
const PIECE: u64 = 1024;
/// Events between two states kept of a long way.
const KEPT_EVERY: u64 = 256;
/// Long ways whose states are kept; the oldest is forgotten.
const LONG_WAYS: usize = 4;

/// The way to a state: where to start, and which events to fold onto it. Walked without holding anybody up.
pub struct FoldPlan {
    pub(super) from: Arc<State>,
    /// A later start, when it can be recalled.
    pub(super) stored: Option<LoadCheckpoint>,
    pub(super) to: Seq,
    pub(super) held: Vec<Arc<Envelope>>,
    pub(super) fetch: Option<Fetch>,
    pub(super) walked: Arc<FoldCache>,
}

/// What the ways of one timeline left behind: states in between, so that the next way there is short, and the last
/// reason why events could not be fetched.
#[derive(Default)]
pub(super) struct FoldCache {
    ways: Mutex<VecDeque<Vec<Arc<State>>>>,
    fault: Mutex<Option<String>>,
}

/// The last of some states, in ascending order of their heads, that is not after an event.
pub(super) fn before(states: &[Arc<State>], seq: Seq) -> Option<&Arc<State>> {
    states.get(states.partition_point(|s| s.head <= seq).checked_sub(1)?)
}

impl FoldPlan {
    /// The event at which it starts.
    #[cfg(test)]
    pub(crate) fn start(&self) -> Seq {
        self.recalled().map_or(self.from.head, |state| state.head)
    }

    fn recalled(&self) -> Option<State> {
        let between = self.from.head..=self.to;
        self.stored.as_ref().and_then(|recall| recall(self.to)).filter(|s| between.contains(&s.head))
    }

    /// Walks it. Where old events cannot be fetched any more, the state is an earlier one; its head says which, and
    /// [`super::Timeline::fault`] why.
    pub fn walk(self) -> Arc<State> {
        let recalled = self.recalled();
        let mut seen = Vec::new();
        let mut state = match recalled {
            Some(state) => {
                seen.push(Arc::new(state.clone()));
                state
            }
            None if self.fetch.is_none() && self.held.is_empty() => return self.from,
            None => State::clone(&self.from),
        };
        let long = self.fetch.is_some() && self.to.0.saturating_sub(self.from.head.0) > PIECE;
        let mut kept = state.head.0;
        while let Some(fetch) = self.fetch.as_ref().filter(|_| state.head < self.to) {
            let piece = self.walked.fetch(fetch, state.head, Seq(self.to.0.min(state.head.0 + PIECE)));
            let whole = fold(&mut state, &piece, |state| {
                if long && state.head.0 >= kept + KEPT_EVERY {
                    kept = state.head.0;
                    seen.push(Arc::new(state.clone()));
                }
            });
            if piece.is_empty() || !whole {
                break;
            }
        }
        fold(&mut state, &self.held, |_| ());
        self.walked.keep(seen);
        Arc::new(state)
    }
}

/// Folds events onto a state as long as they follow it; whether all did.
fn fold(state: &mut State, events: &[Arc<Envelope>], mut after: impl FnMut(&State)) -> bool {
    for envelope in events {
        if envelope.seq <= state.head {
            continue;
        }
        if envelope.seq.0 != state.head.0 + 1 {
            return false;
        }
        state.apply(envelope);
        after(state);
    }
    true
}

impl FoldCache {
    /// Fetches, and notes why not.
    pub(super) fn fetch(&self, fetch: &Fetch, after: Seq, to: Seq) -> Vec<Arc<Envelope>> {
        fetch.all(after, to).unwrap_or_else(|why| {
            *self.fault() = Some(why);
            Vec::new()
        })
    }

    pub(super) fn fault(&self) -> MutexGuard<'_, Option<String>> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last state seen on a way that is not after an event.
    pub(super) fn nearest(&self, seq: Seq) -> Option<Arc<State>> {
        self.ways().iter().filter_map(|way| before(way, seq)).max_by_key(|s| s.head).cloned()
    }

    fn keep(&self, seen: Vec<Arc<State>>) {
        if seen.is_empty() {
            return;
        }
        let mut ways = self.ways();
        ways.push_back(seen);
        if ways.len() > LONG_WAYS {
            ways.pop_front();
        }
    }

    fn ways(&self) -> MutexGuard<'_, VecDeque<Vec<Arc<State>>>> {
        self.ways.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
