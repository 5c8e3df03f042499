//! The active time of an episode. The clock doesn't run while the session waits for a person, nor between the last
//! event before the program ends and the event that reopens the session.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long the open or last episode has been active, derived from the timestamps of its events alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// The active time up to the last event.
    pub elapsed: Duration,
    /// The timestamp of the last event, while the clock runs.
    pub running_since: Option<Timestamp>,
}

impl Clock {
    /// Returns the active time up to `at`.
    pub fn elapsed_at(&self, at: Timestamp) -> Duration {
        // If the system clock was set back, nothing is added.
        let since_last_event =
            self.running_since.and_then(|since| Duration::try_from(at.duration_since(since)).ok());
        self.elapsed.saturating_add(since_last_event.unwrap_or_default())
    }
}
