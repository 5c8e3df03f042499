//! The clock of the episode, set by every event.

use crate::engine::{Clock, Envelope, Event, State};
use jiff::Timestamp;

impl State {
    /// Counts the time up to an event that is about to be folded.
    pub(super) fn count_time(&mut self, envelope: &Envelope) {
        match envelope.event {
            Event::EpisodeStarted { .. } => {
                let before = &mut self.breakpoints.baseline.earlier_time;
                *before = before.saturating_add(self.clock.elapsed);
                self.clock = Clock::default();
            }
            // Nobody was there meanwhile.
            Event::Reopened => {}
            _ => self.clock.elapsed = self.clock.elapsed_at(envelope.timestamp),
        }
    }

    /// After an event: the clock goes on from its stamp, or stands.
    pub(super) fn set_clock(&mut self, at: Timestamp) {
        let runs = self.open_episode().is_some() && !self.closed && !self.is_waiting();
        self.clock.running_since = runs.then_some(at);
    }
}
