//! Prefetched requests. Unused ones count towards the run's cost but not towards any episode.

use crate::domain::Usage;
use crate::engine::{Event, Prefetch, PrefetchStatus, State};

impl State {
    pub(super) fn record_prefetch(&mut self, prefetch: &Prefetch) {
        let index = self.prefetched.iter().position(|e| e.number == prefetch.number);
        match (prefetch.status, index) {
            (PrefetchStatus::Dropped, Some(index)) => {
                self.prefetched.remove(index);
                self.usage.prefetch.count_dropped(&prefetch.usage);
            }
            (PrefetchStatus::Dropped, None) => {}
            (_, Some(index)) => self.prefetched[index] = prefetch.clone(),
            (_, None) => {
                self.usage.prefetch.requested = self.usage.prefetch.requested.saturating_add(1);
                self.prefetched.push(prefetch.clone());
            }
        }
    }

    /// Settles prefetches that an event affects without naming them: the call that used one has ended, or nobody can
    /// use the reply any more.
    pub(super) fn settle_prefetches(&mut self, event: &Event) {
        if self.prefetched.is_empty() {
            return;
        }
        let is_settled = |prefetch: &Prefetch| match event {
            Event::ReplyReceived { call, .. }
            | Event::CallFailed { call, .. }
            | Event::CallCancelled { call, .. } => prefetch.call == Some(*call),
            Event::EpisodeEnded { .. } => prefetch.call.is_some(),
            // The program that requested them has ended, or works on another branch.
            Event::Reopened => true,
            _ => false,
        };
        let (settled, pending): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.prefetched).into_iter().partition(is_settled);
        self.prefetched = pending;
        for prefetch in settled {
            // A cancelled call that reports its usage has already counted the tokens of its partial reply.
            let is_counted =
                matches!(event, Event::CallCancelled { partial_reply, .. } if partial_reply.usage.is_some());
            if is_counted || matches!(event, Event::ReplyReceived { .. }) {
                self.usage.prefetch.used = self.usage.prefetch.used.saturating_add(1);
            } else if matches!(event, Event::CallFailed { .. }) && prefetch.usage.estimated {
                // As for every failed call: tokens that nobody counted are assumed not spent.
                self.usage.prefetch.count_dropped(&Usage::default());
            } else {
                self.usage.prefetch.count_dropped(&prefetch.usage);
            }
        }
    }
}
