//! Questions that were asked ahead. What of them was for nothing is part of what the run has spent, and of no episode.

use crate::domain::Usage;
use crate::engine::{Event, Prefetch, PrefetchStatus, State};

impl State {
    pub(super) fn record_prefetch(&mut self, told: &Prefetch) {
        let place = self.prefetched.iter().position(|e| e.number == told.number);
        match (told.status, place) {
            (PrefetchStatus::Dropped, Some(place)) => {
                self.prefetched.remove(place);
                self.usage.prefetch.count_dropped(&told.usage);
            }
            (PrefetchStatus::Dropped, None) => {}
            (_, Some(place)) => self.prefetched[place] = told.clone(),
            (_, None) => {
                self.usage.prefetch.requested = self.usage.prefetch.requested.saturating_add(1);
                self.prefetched.push(told.clone());
            }
        }
    }

    /// What an event says of them without naming them: the call that one was taken for has come to something, or nobody is
    /// there any more who would want the answer.
    pub(super) fn settle_prefetches(&mut self, event: &Event) {
        if self.prefetched.is_empty() {
            return;
        }
        let gone = |early: &Prefetch| match event {
            Event::ReplyReceived { call, .. }
            | Event::CallFailed { call, .. }
            | Event::CallCancelled { call, .. } => early.call == Some(*call),
            Event::EpisodeEnded { .. } => early.call.is_some(),
            // The program that asked them is no more, or drives another line.
            Event::Reopened => true,
            _ => false,
        };
        let (gone, stays): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.prefetched).into_iter().partition(gone);
        self.prefetched = stays;
        for early in gone {
            // What came of a call until it was broken off was given to it, and is counted there where it is known.
            let given =
                matches!(event, Event::CallCancelled { partial_reply, .. } if partial_reply.usage.is_some());
            if given || matches!(event, Event::ReplyReceived { .. }) {
                self.usage.prefetch.used = self.usage.prefetch.used.saturating_add(1);
            } else if matches!(event, Event::CallFailed { .. }) && early.usage.estimated {
                // As with every failed call: what nobody counted was not spent, as far as anybody knows.
                self.usage.prefetch.count_dropped(&Usage::default());
            } else {
                self.usage.prefetch.count_dropped(&early.usage);
            }
        }
    }
}
