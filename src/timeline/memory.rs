//! Reading the past without waiting for a disk.

use super::Timeline;
use super::history::latest_up_to;
use crate::domain::Seq;
use crate::engine::{Envelope, State};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of events that are folded for a state. Longer folds take milliseconds: [`Timeline::load`] does them
/// on another thread.
const MAX_FOLDED_EVENTS: u64 = 2048;

/// A part of a branch's past.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PastPart {
    /// The state after an event.
    StateAt(Seq),
    /// The events after one event up to and including another.
    Events {
        /// The event before the first.
        after: Seq,
        /// The last event.
        to: Seq,
    },
}

/// Reads the past. Returns `None` for what isn't available.
pub trait ReadPast {
    /// Returns the state after an event.
    fn state_at(&self, seq: Seq) -> Option<Arc<State>>;

    /// Returns the events after one event up to and including another.
    fn events_between(&self, after: Seq, to: Seq) -> Option<Vec<Arc<Envelope>>>;

    /// Returns an event by its number.
    fn event(&self, seq: Seq) -> Option<Arc<Envelope>> {
        self.events_between(Seq(seq.0.checked_sub(1)?), seq)?.pop()
    }
}

/// A timeline that reads only memory. It notes what it doesn't have; [`Timeline::load`] of any copy of the timeline loads
/// that.
#[derive(Clone, Default)]
pub struct MemoryTimeline {
    timeline: Timeline,
    missing: Arc<Mutex<Vec<PastPart>>>,
}

impl MemoryTimeline {
    /// Restricts a timeline to what is in memory.
    pub fn new(timeline: Timeline) -> Self {
        Self { timeline, missing: Arc::default() }
    }

    /// Returns what was read since the last call and isn't in memory.
    pub fn take_missing(&self) -> Vec<PastPart> {
        std::mem::take(&mut self.lock_missing())
    }

    /// Returns whether something that was read isn't in memory.
    pub fn is_missing(&self) -> bool {
        !self.lock_missing().is_empty()
    }

    /// Returns how many parts have been loaded so far: when it changes, reading again may find more.
    pub fn load_count(&self) -> u64 {
        self.timeline.history.load_count()
    }

    fn note_missing<T>(&self, part: PastPart) -> Option<T> {
        let mut missing = self.lock_missing();
        if !missing.contains(&part) {
            missing.push(part);
        }
        None
    }

    fn lock_missing(&self) -> MutexGuard<'_, Vec<PastPart>> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReadPast for MemoryTimeline {
    fn state_at(&self, seq: Seq) -> Option<Arc<State>> {
        let Timeline { recent, checkpoints, head, history, .. } = &self.timeline;
        if seq >= head.head {
            return Some(head.clone());
        }
        let near = latest_up_to(checkpoints, seq).cloned().unwrap_or_default();
        let start = history.latest_up_to(seq).filter(|state| state.head > near.head).unwrap_or(near);
        if start.head == seq {
            return Some(start);
        }
        if start.head.0 < recent.dropped_through() || seq.0 - start.head.0 > MAX_FOLDED_EVENTS {
            return self.note_missing(PastPart::StateAt(seq));
        }
        let mut state = State::clone(&start);
        for envelope in recent.between(start.head, seq) {
            state.apply(envelope);
        }
        let state = Arc::new(state);
        history.keep_state(state.clone());
        Some(state)
    }

    fn events_between(&self, after: Seq, to: Seq) -> Option<Vec<Arc<Envelope>>> {
        let to = to.min(self.timeline.head.head);
        if after >= to {
            return Some(Vec::new());
        }
        if after.0 >= self.timeline.recent.dropped_through() {
            return Some(self.timeline.recent.between(after, to).cloned().collect());
        }
        let loaded = self.timeline.history.events_between(after, to);
        loaded.or_else(|| self.note_missing(PastPart::Events { after, to }))
    }
}

/// Waits for the disk if it must, so everything that can still be read is available.
impl ReadPast for Timeline {
    fn state_at(&self, seq: Seq) -> Option<Arc<State>> {
        Some(Self::state_at(self, seq))
    }

    fn events_between(&self, after: Seq, to: Seq) -> Option<Vec<Arc<Envelope>>> {
        Some(Self::events_between(self, after, to))
    }
}
