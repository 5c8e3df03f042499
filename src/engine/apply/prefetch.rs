//! Folds prefetched requests. Requests that no call uses count towards the run's cost but not towards any episode.

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

    /// Removes and counts the prefetches that an event other than `PrefetchChanged` ends: the call that used a prefetch
    /// has ended, or no call can use its reply any more.
    pub(super) fn settle_prefetches(&mut self, event: &Event) {
        if self.prefetched.is_empty() {
            return;
        }
        let is_settled = |prefetch: &Prefetch| match event {
            Event::ReplyReceived { call, .. }
            | Event::CallFailed { call, .. }
            | Event::CallCancelled { call, .. } => prefetch.call == Some(*call),
            Event::EpisodeEnded { .. } => prefetch.call.is_some(),
            // The program that sent the requests has ended or now works on another branch.
            Event::Reopened => true,
            _ => false,
        };
        let (settled, pending): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.prefetched).into_iter().partition(is_settled);
        self.prefetched = pending;
        for prefetch in settled {
            // If the partial reply of a cancelled call reports its usage, `cancel_call` counts the tokens.
            let is_counted_with_call =
                matches!(event, Event::CallCancelled { partial_reply, .. } if partial_reply.usage.is_some());
            if is_counted_with_call || matches!(event, Event::ReplyReceived { .. }) {
                self.usage.prefetch.used = self.usage.prefetch.used.saturating_add(1);
            } else if matches!(event, Event::CallFailed { .. }) && prefetch.usage.estimated {
                // As with every failed call, tokens that are only estimated count as not spent.
                self.usage.prefetch.count_dropped(&Usage::default());
            } else {
                self.usage.prefetch.count_dropped(&prefetch.usage);
            }
        }
    }
}
