//! What has been loaded of a branch's past. All copies of a timeline share it: a screen, a search and a comparison that ask
//! for the same state fold it once. Besides it, a timeline has its checkpoints, which it makes as the branch grows, and whoever
//! uses a state keeps it as long as they show it.

use super::EventFetcher;
use crate::domain::Seq;
use crate::engine::{Envelope, State};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Number of long folds whose intermediate states are kept.
const MAX_FOLDS: usize = 4;
/// Number of states kept besides those.
const MAX_STATES: usize = 16;
/// Number of events kept, in all loaded ranges together.
const MAX_EVENTS: usize = 16 * 1024;

/// Past states and events in memory, and the last error in fetching events. Whatever exceeds the limits is dropped,
/// oldest first.
#[derive(Default)]
pub(super) struct History {
    loaded: Mutex<Loaded>,
    fetch_error: Mutex<Option<String>>,
    load_count: AtomicU64,
}

#[derive(Default)]
struct Loaded {
    /// The intermediate states of each long fold, in ascending order of their heads. They shorten later folds.
    folds: VecDeque<Vec<Arc<State>>>,
    /// The states that were asked for.
    states: VecDeque<Arc<State>>,
    /// The ranges of events that were loaded: the number before the first event, and the events.
    ranges: VecDeque<(Seq, Vec<Arc<Envelope>>)>,
}

/// Returns the last state that is not after an event; `states` are in ascending order of their heads.
pub(super) fn latest_up_to(states: &[Arc<State>], seq: Seq) -> Option<&Arc<State>> {
    states.get(states.partition_point(|s| s.head <= seq).checked_sub(1)?)
}

impl History {
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

    /// Returns the last state in memory that is not after an event.
    pub(super) fn latest_up_to(&self, seq: Seq) -> Option<Arc<State>> {
        let loaded = self.lock();
        let of_folds = loaded.folds.iter().filter_map(|fold| latest_up_to(fold, seq));
        let asked_for = loaded.states.iter().filter(|state| state.head <= seq);
        of_folds.chain(asked_for).max_by_key(|state| state.head).cloned()
    }

    /// Keeps the intermediate states of a fold, in ascending order of their heads.
    pub(super) fn keep_fold(&self, states: Vec<Arc<State>>) {
        if states.is_empty() {
            return;
        }
        let mut loaded = self.lock();
        loaded.folds.push_back(states);
        let surplus = if loaded.folds.len() > MAX_FOLDS { loaded.folds.pop_front() } else { None };
        // Dropping large states takes a while.
        drop(loaded);
        drop(surplus);
    }

    /// Returns how many parts of the past (states or ranges of events) have been loaded.
    pub(super) fn load_count(&self) -> u64 {
        self.load_count.load(Ordering::Relaxed)
    }

    /// Counts a loaded part of the past.
    pub(super) fn count_load(&self) {
        self.load_count.fetch_add(1, Ordering::Relaxed);
    }

    /// Keeps a state that was asked for.
    pub(super) fn keep_state(&self, state: Arc<State>) {
        let mut loaded = self.lock();
        loaded.states.retain(|kept| kept.head != state.head);
        loaded.states.push_back(state);
        let surplus = if loaded.states.len() > MAX_STATES { loaded.states.pop_front() } else { None };
        drop(loaded);
        drop(surplus);
    }

    /// Keeps the events after `after`.
    pub(super) fn keep_events(&self, after: Seq, events: Vec<Arc<Envelope>>) {
        let mut loaded = self.lock();
        loaded.ranges.push_back((after, events));
        while loaded.ranges.iter().map(|(_, events)| events.len()).sum::<usize>() > MAX_EVENTS {
            loaded.ranges.pop_front();
        }
    }

    /// Returns the events after `after` up to and including `to`, if all are in memory.
    pub(super) fn events_between(&self, after: Seq, to: Seq) -> Option<Vec<Arc<Envelope>>> {
        let loaded = self.lock();
        let (before_first, events) = loaded.ranges.iter().rev().find(|(before_first, events)| {
            *before_first <= after && before_first.0 + events.len() as u64 >= to.0
        })?;
        let position = |seq: Seq| usize::try_from(seq.0.checked_sub(before_first.0)?).ok();
        Some(events.get(position(after)?..position(to)?)?.to_vec())
    }

    fn lock(&self) -> MutexGuard<'_, Loaded> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
