//! The way back to a state, and what was seen on the last such ways.

use super::{EventFetcher, LoadCheckpoint};
use crate::domain::Seq;
use crate::engine::{Envelope, State};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Events fetched at once on a way.
const CHUNK_EVENTS: u64 = 1024;
/// Events between two states kept of a long way.
const CACHE_EVERY: u64 = 256;
/// Long ways whose states are kept; the oldest is forgotten.
const MAX_CACHED_FOLDS: usize = 4;

/// The way to a state: where to start, and which events to fold onto it. Walked without holding anybody up.
pub struct FoldPlan {
    pub(super) start_state: Arc<State>,
    /// A later start, when it can be recalled.
    pub(super) load_checkpoint: Option<LoadCheckpoint>,
    pub(super) target: Seq,
    pub(super) recent_events: Vec<Arc<Envelope>>,
    pub(super) fetcher: Option<EventFetcher>,
    pub(super) fold_cache: Arc<FoldCache>,
}

/// What the ways of one timeline left behind: states in between, so that the next way there is short, and the last
/// reason why events could not be fetched.
#[derive(Default)]
pub(super) struct FoldCache {
    folds: Mutex<VecDeque<Vec<Arc<State>>>>,
    fetch_error: Mutex<Option<String>>,
}

/// The last of some states, in ascending order of their heads, that is not after an event.
pub(super) fn latest_not_after(states: &[Arc<State>], seq: Seq) -> Option<&Arc<State>> {
    states.get(states.partition_point(|s| s.head <= seq).checked_sub(1)?)
}

impl FoldPlan {
    /// The event at which it starts.
    #[cfg(test)]
    pub(crate) fn start_seq(&self) -> Seq {
        self.stored_checkpoint().map_or(self.start_state.head, |state| state.head)
    }

    fn stored_checkpoint(&self) -> Option<State> {
        let between = self.start_state.head..=self.target;
        self.load_checkpoint
            .as_ref()
            .and_then(|recall| recall(self.target))
            .filter(|s| between.contains(&s.head))
    }

    /// Walks it. Where old events cannot be fetched any more, the state is an earlier one; its head says which, and
    /// [`super::Timeline::fault`] why.
    pub fn execute(self) -> Arc<State> {
        let recalled = self.stored_checkpoint();
        let mut seen = Vec::new();
        let mut state = match recalled {
            Some(state) => {
                seen.push(Arc::new(state.clone()));
                state
            }
            None if self.fetcher.is_none() && self.recent_events.is_empty() => return self.start_state,
            None => State::clone(&self.start_state),
        };
        let long =
            self.fetcher.is_some() && self.target.0.saturating_sub(self.start_state.head.0) > CHUNK_EVENTS;
        let mut kept = state.head.0;
        while let Some(fetch) = self.fetcher.as_ref().filter(|_| state.head < self.target) {
            let piece = self.fold_cache.fetch_or_record_error(
                fetch,
                state.head,
                Seq(self.target.0.min(state.head.0 + CHUNK_EVENTS)),
            );
            let whole = fold_events(&mut state, &piece, |state| {
                if long && state.head.0 >= kept + CACHE_EVERY {
                    kept = state.head.0;
                    seen.push(Arc::new(state.clone()));
                }
            });
            if piece.is_empty() || !whole {
                break;
            }
        }
        fold_events(&mut state, &self.recent_events, |_| ());
        self.fold_cache.store(seen);
        Arc::new(state)
    }
}

/// Folds events onto a state as long as they follow it; whether all did.
fn fold_events(state: &mut State, events: &[Arc<Envelope>], mut after: impl FnMut(&State)) -> bool {
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
    pub(super) fn fetch_or_record_error(
        &self,
        fetch: &EventFetcher,
        after: Seq,
        to: Seq,
    ) -> Vec<Arc<Envelope>> {
        fetch.fetch_all(after, to).unwrap_or_else(|why| {
            *self.lock_fetch_error() = Some(why);
            Vec::new()
        })
    }

    pub(super) fn lock_fetch_error(&self) -> MutexGuard<'_, Option<String>> {
        self.fetch_error.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last state seen on a way that is not after an event.
    pub(super) fn nearest(&self, seq: Seq) -> Option<Arc<State>> {
        self.lock_folds().iter().filter_map(|way| latest_not_after(way, seq)).max_by_key(|s| s.head).cloned()
    }

    fn store(&self, seen: Vec<Arc<State>>) {
        if seen.is_empty() {
            return;
        }
        let mut ways = self.lock_folds();
        ways.push_back(seen);
        if ways.len() > MAX_CACHED_FOLDS {
            ways.pop_front();
        }
    }

    fn lock_folds(&self) -> MutexGuard<'_, VecDeque<Vec<Arc<State>>>> {
        self.folds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
