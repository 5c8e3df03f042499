//! Computes an earlier state, and caches intermediate states of the fold.

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

/// A plan for computing a state: the state to start from, and the events to fold onto it. Executing it holds no lock on
/// the timeline.
pub struct FoldPlan {
    pub(super) start_state: Arc<State>,
    /// Loads a stored checkpoint, which may be a later start.
    pub(super) load_checkpoint: Option<LoadCheckpoint>,
    /// The last event to fetch; `recent_events` follow it.
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
        let range = self.start_state.head..=self.target;
        self.load_checkpoint.as_ref().and_then(|load| load(self.target)).filter(|s| range.contains(&s.head))
    }

    /// Computes the state. If old events can no longer be fetched, returns the state after the last event that could;
    /// [`super::Timeline::take_fetch_error`] then returns the cause.
    pub fn execute(self) -> Arc<State> {
        let checkpoint = self.stored_checkpoint();
        let mut states_to_cache = Vec::new();
        let mut state = match checkpoint {
            Some(state) => {
                states_to_cache.push(Arc::new(state.clone()));
                state
            }
            None if self.fetcher.is_none() && self.recent_events.is_empty() => return self.start_state,
            None => State::clone(&self.start_state),
        };
        let is_long =
            self.fetcher.is_some() && self.target.0.saturating_sub(self.start_state.head.0) > CHUNK_EVENTS;
        let mut last_cached = state.head.0;
        while let Some(fetch) = self.fetcher.as_ref().filter(|_| state.head < self.target) {
            let chunk = self.fold_cache.fetch_or_record_error(
                fetch,
                state.head,
                Seq(self.target.0.min(state.head.0 + CHUNK_EVENTS)),
            );
            let all_folded = fold_events(&mut state, &chunk, |state| {
                if is_long && state.head.0 >= last_cached + CACHE_EVERY {
                    last_cached = state.head.0;
                    states_to_cache.push(Arc::new(state.clone()));
                }
            });
            if chunk.is_empty() || !all_folded {
                break;
            }
        }
        fold_events(&mut state, &self.recent_events, |_| ());
        self.fold_cache.store(states_to_cache);
        Arc::new(state)
    }
}

/// Folds events onto a state until one doesn't follow it directly. Returns whether all could be folded.
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
        fetch.fetch_all(after, to).unwrap_or_else(|error| {
            *self.lock_fetch_error() = Some(error);
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

    fn store(&self, states: Vec<Arc<State>>) {
        if states.is_empty() {
            return;
        }
        let mut folds = self.lock_folds();
        folds.push_back(states);
        if folds.len() > MAX_CACHED_FOLDS {
            folds.pop_front();
        }
    }

    fn lock_folds(&self) -> MutexGuard<'_, VecDeque<Vec<Arc<State>>>> {
        self.folds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
