//! Updates the episode's clock while events are folded.

use crate::engine::{Clock, Envelope, Event, State};
use jiff::Timestamp;

impl State {
    /// Adds the time up to an event that is about to be folded.
    pub(super) fn count_time(&mut self, envelope: &Envelope) {
        match envelope.event {
            Event::EpisodeStarted { .. } => {
                let before = &mut self.breakpoints.baseline.time_before_episode;
                *before = before.saturating_add(self.clock.elapsed);
                self.clock = Clock::default();
            }
            // The session wasn't running in between.
            Event::Reopened => {}
            _ => self.clock.elapsed = self.clock.elapsed_at(envelope.timestamp),
        }
    }

    /// Restarts the clock at the event's timestamp, or stops it.
    pub(super) fn set_clock(&mut self, at: Timestamp) {
        let is_running = self.open_episode().is_some() && !self.closed && !self.is_waiting();
        self.clock.running_since = is_running.then_some(at);
    }
}
