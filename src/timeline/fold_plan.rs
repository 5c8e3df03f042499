//! Computes an earlier state.

use super::history::History;
use super::progress::{ReportProgress, no_progress};
use super::{EventFetcher, LoadCheckpoint};
use crate::domain::Seq;
use crate::engine::{Envelope, State};
use std::sync::Arc;

/// Events fetched at once.
const CHUNK_EVENTS: u64 = 1024;
/// Events between two cached states of a long fold.
const CACHE_EVERY: u64 = 256;

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
    pub(super) history: Arc<History>,
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
        self.fold(&no_progress).0
    }

    /// Computes the state like [`Self::execute`], and reports how many events have been folded.
    ///
    /// # Errors
    /// Returns the error of `report`, which stops the fold. What has been folded stays in memory.
    pub fn execute_reporting(self, report: &ReportProgress<'_>) -> Result<Arc<State>, String> {
        let (state, result) = self.fold(report);
        result.map(|()| state)
    }

    fn fold(self, report: &ReportProgress<'_>) -> (Arc<State>, Result<(), String>) {
        if self.load_checkpoint.is_some()
            && let Err(error) = report(0, 1)
        {
            return (self.start_state, Err(error));
        }
        let checkpoint = self.stored_checkpoint();
        let mut states_to_cache = Vec::new();
        let mut state = match checkpoint {
            Some(state) => {
                states_to_cache.push(Arc::new(state.clone()));
                state
            }
            None if self.fetcher.is_none() && self.recent_events.is_empty() => {
                return (self.start_state, Ok(()));
            }
            None => State::clone(&self.start_state),
        };
        let is_long =
            self.fetcher.is_some() && self.target.0.saturating_sub(self.start_state.head.0) > CHUNK_EVENTS;
        let (first, mut last_cached) = (state.head.0, state.head.0);
        let mut result = Ok(());
        while let Some(fetch) = self.fetcher.as_ref().filter(|_| state.head < self.target) {
            result = report(state.head.0 - first, self.target.0 - first);
            if result.is_err() {
                break;
            }
            let chunk = self.history.fetch_or_record_error(
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
        self.history.keep_fold(states_to_cache);
        let state = Arc::new(state);
        self.history.keep_state(state.clone());
        (state, result)
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
