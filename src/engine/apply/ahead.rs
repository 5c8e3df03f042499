//! Questions that were asked ahead. What of them was for nothing is part of what the run has spent, and of no episode.

use crate::domain::Usage;
use crate::engine::{AheadNow, AskedAhead, Event, State};

impl State {
    pub(super) fn ask_ahead(&mut self, told: &AskedAhead) {
        let place = self.early.iter().position(|e| e.number == told.number);
        match (told.now, place) {
            (AheadNow::Dropped, Some(place)) => {
                self.early.remove(place);
                self.spent.ahead.drop_one(&told.usage);
            }
            (AheadNow::Dropped, None) => {}
            (_, Some(place)) => self.early[place] = told.clone(),
            (_, None) => {
                self.spent.ahead.asked = self.spent.ahead.asked.saturating_add(1);
                self.early.push(told.clone());
            }
        }
    }

    /// What an event says of them without naming them: the call that one was taken for has come to something, or nobody is
    /// there any more who would want the answer.
    pub(super) fn settle_early(&mut self, event: &Event) {
        if self.early.is_empty() {
            return;
        }
        let gone = |early: &AskedAhead| match event {
            Event::ReplyReceived { call, .. }
            | Event::CallFailed { call, .. }
            | Event::CallCancelled { call, .. } => early.call == Some(*call),
            Event::EpisodeEnded { .. } => early.call.is_some(),
            // The program that asked them is no more, or drives another line.
            Event::Reopened => true,
            _ => false,
        };
        let (gone, stays): (Vec<_>, Vec<_>) = std::mem::take(&mut self.early).into_iter().partition(gone);
        self.early = stays;
        for early in gone {
            // What came of a call until it was broken off was given to it, and is counted there where it is known.
            let given = matches!(event, Event::CallCancelled { came, .. } if came.usage.is_some());
            if given || matches!(event, Event::ReplyReceived { .. }) {
                self.spent.ahead.used = self.spent.ahead.used.saturating_add(1);
            } else if matches!(event, Event::CallFailed { .. }) && early.usage.estimated {
                // As with every failed call: what nobody counted was not spent, as far as anybody knows.
                self.spent.ahead.drop_one(&Usage::default());
            } else {
                self.spent.ahead.drop_one(&early.usage);
            }
        }
    }
}
