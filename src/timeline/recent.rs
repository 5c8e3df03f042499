//! The newest events of a branch, in a form that is cheap to copy.

use crate::domain::Seq;
use crate::engine::Envelope;
use std::collections::VecDeque;
use std::sync::Arc;

/// Events in a block. A copy of [`RecentEvents`] shares all blocks; only the last one is copied when an event is added
/// while a copy exists.
const BLOCK_EVENTS: usize = 256;

/// Consecutive events: those up to a number are dropped, those after it are held.
#[derive(Clone, Default)]
pub(super) struct RecentEvents {
    /// Events up to this one are not held.
    dropped_through: u64,
    /// All blocks but the last are full.
    blocks: VecDeque<Arc<Vec<Arc<Envelope>>>>,
    /// Number of events held.
    len: usize,
}

impl RecentEvents {
    /// Creates an empty range after an event.
    pub(super) fn after(seq: Seq) -> Self {
        Self { dropped_through: seq.0, ..Self::default() }
    }

    /// Returns the number of the last event that is not held.
    pub(super) fn dropped_through(&self) -> u64 {
        self.dropped_through
    }

    /// Returns the number of events held.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn push(&mut self, event: Arc<Envelope>) {
        match self.blocks.back_mut() {
            Some(block) if block.len() < BLOCK_EVENTS => Arc::make_mut(block).push(event),
            _ => {
                let mut block = Vec::with_capacity(BLOCK_EVENTS);
                block.push(event);
                self.blocks.push_back(Arc::new(block));
            }
        }
        self.len += 1;
    }

    /// Returns the event at a position among those held.
    pub(super) fn get(&self, position: usize) -> Option<&Arc<Envelope>> {
        self.blocks.get(position / BLOCK_EVENTS)?.get(position % BLOCK_EVENTS)
    }

    /// Iterates over the held events with numbers above `after` up to and including `to`.
    pub(super) fn between(&self, after: Seq, to: Seq) -> impl Iterator<Item = &Arc<Envelope>> + '_ {
        let position = |seq: Seq| {
            let offset = seq.0.saturating_sub(self.dropped_through);
            usize::try_from(offset).unwrap_or(usize::MAX).min(self.len)
        };
        let from = position(after);
        (from..position(to).max(from)).filter_map(|position| self.get(position))
    }

    /// Drops the oldest blocks as long as at least `min` events remain.
    pub(super) fn keep_newest(&mut self, min: usize) {
        while let Some(first) = self.blocks.front()
            && self.len - first.len() >= min
        {
            self.len -= first.len();
            self.dropped_through += first.len() as u64;
            self.blocks.pop_front();
        }
    }
}
