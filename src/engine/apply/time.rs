//! The clock of the episode, set by every event.

use crate::engine::{Clock, Envelope, Event, State};
use jiff::Timestamp;

impl State {
    /// Counts the time up to an event that is about to be folded.
    pub(super) fn count_time(&mut self, envelope: &Envelope) {
        match envelope.event {
            Event::EpisodeStarted { .. } => {
                let before = &mut self.stops.meter.before;
                *before = before.saturating_add(self.clock.spent);
                self.clock = Clock::default();
            }
            // Nobody was there meanwhile.
            Event::Reopened => {}
            _ => self.clock.spent = self.clock.spent_at(envelope.at),
        }
    }

    /// After an event: the clock goes on from its stamp, or stands.
    pub(super) fn set_clock(&mut self, at: Timestamp) {
        let runs = self.open_episode().is_some() && !self.closed && !self.waits();
        self.clock.since = runs.then_some(at);
    }
}
