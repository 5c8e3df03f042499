//! The wall time of an episode: the time in which it moves. It does not run while the session waits for a person, nor
//! between the last event before a stop and the event that takes the session up again.

use super::State;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long the open or last episode has been moving, read off the stamps of its events alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// The time up to the last event.
    pub elapsed: Duration,
    /// The stamp of the last event, while the clock runs.
    pub running_since: Option<Timestamp>,
}

impl Clock {
    /// The time up to `at`.
    pub fn elapsed_at(&self, at: Timestamp) -> Duration {
        // A clock of the machine that was set back adds nothing.
        let more = self.running_since.and_then(|since| Duration::try_from(at.duration_since(since)).ok());
        self.elapsed.saturating_add(more.unwrap_or_default())
    }
}

impl State {
    /// What is left of the wall time of the open episode at `at`, while its clock runs and its time is bounded.
    pub fn time_left(&self, at: Timestamp) -> Option<(u32, Duration)> {
        let seconds = self.run.as_ref()?.limits.wall_seconds?;
        self.clock.running_since?;
        let left = Duration::from_secs(seconds).saturating_sub(self.clock.elapsed_at(at));
        Some((self.open_episode()?.number, left))
    }
}
