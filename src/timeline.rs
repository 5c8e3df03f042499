//! The state at any point of a branch: its events, and a checkpoint every few of them.

use crate::domain::Seq;
use crate::engine::{Envelope, State};
use std::sync::Arc;

/// Events between two checkpoints. States share what grows, so a checkpoint costs little more than the open step.
const STRIDE: u64 = 64;

/// The events of a branch, and the way back to every state it had.
#[derive(Default)]
pub struct Timeline {
    events: Vec<Arc<Envelope>>,
    /// In ascending order of their heads.
    checkpoints: Vec<Arc<State>>,
    head: Arc<State>,
}

impl Timeline {
    /// Appends a batch of events and the state after it.
    pub fn push(&mut self, batch: impl IntoIterator<Item = Arc<Envelope>>, after: Arc<State>) {
        self.events.extend(batch);
        let kept = self.checkpoints.last().map_or(0, |s| s.head.0);
        if after.head.0 >= kept + STRIDE {
            self.checkpoints.push(after.clone());
        }
        self.head = after;
    }

    /// The state after the last event.
    pub fn head(&self) -> &Arc<State> {
        &self.head
    }

    /// How many events there are; the last has this number.
    pub fn len(&self) -> u64 {
        self.events.len() as u64
    }

    /// There is no event yet.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// An event by its number.
    pub fn event(&self, seq: Seq) -> Option<&Arc<Envelope>> {
        self.events.get(usize::try_from(seq.0.checked_sub(1)?).ok()?)
    }

    /// The events with numbers above `after`.
    pub fn since(&self, after: Seq) -> &[Arc<Envelope>] {
        let from = usize::try_from(after.0).unwrap_or(usize::MAX).min(self.events.len());
        &self.events[from..]
    }

    /// The state after an event: the nearest checkpoint before it, and the events since folded onto it.
    pub fn state_at(&self, seq: Seq) -> Arc<State> {
        if seq >= self.head.head {
            return self.head.clone();
        }
        let earlier = self.checkpoints.partition_point(|s| s.head <= seq);
        let base = earlier.checked_sub(1).and_then(|i| self.checkpoints.get(i));
        let mut state = base.map_or_else(State::default, |s| State::clone(s));
        for envelope in self.since(state.head) {
            if envelope.seq > seq {
                break;
            }
            state.apply(envelope);
        }
        Arc::new(state)
    }
}
