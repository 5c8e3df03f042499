//! Updates the episode's clock while events are folded.

use crate::engine::{Clock, Envelope, Event, State};
use jiff::Timestamp;

impl State {
    /// Adds the active time between the last event and `envelope`, which is about to be folded. The start of an episode
    /// resets the clock instead.
    pub(super) fn count_time(&mut self, envelope: &Envelope) {
        match envelope.event {
            Event::EpisodeStarted { .. } => {
                let before = &mut self.breakpoints.baseline.time_before_episode;
                *before = before.saturating_add(self.clock.elapsed);
                self.clock = Clock::default();
            }
            // The session wasn't open between the last event and this one.
            Event::Reopened => {}
            _ => self.clock.elapsed = self.clock.elapsed_at(envelope.timestamp),
        }
    }

    /// Lets the clock run from the timestamp of the event just folded, or stops it if no episode is open or the session
    /// is closed or waits for a person.
    pub(super) fn set_clock(&mut self, at: Timestamp) {
        let is_running = self.open_episode().is_some() && !self.closed && !self.is_waiting();
        self.clock.running_since = is_running.then_some(at);
    }
}
