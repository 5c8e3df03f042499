//! Computes an earlier state, and caches the states passed on the way.

use super::{EventFetcher, LoadCheckpoint};
use crate::domain::Seq;
use crate::engine::{Envelope, State};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Events fetched at once.
const CHUNK_EVENTS: u64 = 1024;
/// Events between two cached states of a long fold.
const CACHE_EVERY: u64 = 256;
/// Number of long folds whose states are cached; the oldest is dropped.
const MAX_CACHED_FOLDS: usize = 4;

/// A plan for computing a state: where to start, and which events to fold onto it. Executing it blocks nobody else.
pub struct FoldPlan {
    pub(super) start_state: Arc<State>,
    /// A later start, if it can be loaded.
    pub(super) load_checkpoint: Option<LoadCheckpoint>,
    pub(super) target: Seq,
    pub(super) recent_events: Vec<Arc<Envelope>>,
    pub(super) fetcher: Option<EventFetcher>,
    pub(super) fold_cache: Arc<FoldCache>,
}

/// Intermediate states of a timeline's earlier folds, which shorten later ones, and the last error in fetching events.
#[derive(Default)]
pub(super) struct FoldCache {
    folds: Mutex<VecDeque<Vec<Arc<State>>>>,
    fetch_error: Mutex<Option<String>>,
}

/// Returns the last state that is not after an event; `states` are in ascending order of their heads.
pub(super) fn latest_up_to(states: &[Arc<State>], seq: Seq) -> Option<&Arc<State>> {
    states.get(states.partition_point(|s| s.head <= seq).checked_sub(1)?)
}

impl FoldPlan {
    /// Returns the event at which the fold starts.
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

    /// Computes the state. If old events can no longer be fetched, an earlier state is returned; its head says which,
    /// and [`super::Timeline::take_fetch_error`] why.
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

/// Folds events onto a state as long as they follow it. Returns whether all did.
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
    /// Fetches events, recording the error if that fails.
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

    /// Returns the last cached state that is not after an event.
    pub(super) fn latest_up_to(&self, seq: Seq) -> Option<Arc<State>> {
        self.lock_folds().iter().filter_map(|fold| latest_up_to(fold, seq)).max_by_key(|s| s.head).cloned()
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
