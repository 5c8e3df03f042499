//! Playing a recorded session, and the pace of a live one.

use std::time::{Duration, Instant};

/// The time between two steps at normal speed, in milliseconds.
const NORMAL_MILLIS: u64 = 1200;
/// The time to read one character of a caption at normal speed, in milliseconds.
const CHARACTER_MILLIS: u64 = 45;

/// All speeds: percent of the normal one, and the label. The last waits for nothing.
const SPEEDS: [(u64, &str); 7] =
    [(25, "0.25x"), (50, "0.5x"), (100, "1x"), (200, "2x"), (400, "4x"), (800, "8x"), (0, "full speed")];

/// How fast steps follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Speed(usize);

impl Speed {
    /// One step after the other, as one reads.
    pub const NORMAL: Self = Self(2);
    /// The fastest speed that waits between steps.
    pub const FASTEST: Self = Self(5);
    /// Without waiting.
    pub const FULL: Self = Self(6);

    /// Returns the next faster speed, at most `limit`.
    #[must_use]
    pub fn faster(self, limit: Self) -> Self {
        Self((self.0 + 1).min(limit.0))
    }

    /// Returns the next slower speed.
    #[must_use]
    pub fn slower(self) -> Self {
        Self(self.0.saturating_sub(1))
    }

    /// Returns the speed that has a label, with or without its `x`: one of [`Self::labels`].
    pub fn from_label(label: &str) -> Option<Self> {
        let label = label.trim_end_matches('x');
        Self::labels().iter().position(|known| known.trim_end_matches('x') == label).map(Self)
    }

    /// Returns the labels of all speeds that wait between steps.
    pub fn labels() -> Vec<&'static str> {
        SPEEDS.iter().filter(|(percent, _)| *percent > 0).map(|(_, label)| *label).collect()
    }

    /// Returns the label, such as `2x`.
    pub fn label(self) -> &'static str {
        SPEEDS[self.0].1
    }

    /// Returns the time between two steps; zero at full speed.
    pub fn delay(self) -> Duration {
        self.scaled(NORMAL_MILLIS)
    }

    /// Returns the time to read a caption; at least that of a step.
    pub fn reading_time(self, caption: &str) -> Duration {
        self.scaled((caption.chars().count() as u64 * CHARACTER_MILLIS).max(NORMAL_MILLIS))
    }

    fn scaled(self, millis: u64) -> Duration {
        Duration::from_millis((millis * 100).checked_div(SPEEDS[self.0].0).unwrap_or(0))
    }
}

impl Default for Speed {
    /// A live run waits for nothing.
    fn default() -> Self {
        Self::FULL
    }
}

/// Whether the screen moves through the past by itself, and how fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Playback {
    pub speed: Speed,
    /// When the next step is due; `None` while nothing plays.
    pub due: Option<Instant>,
    /// How long the step is shown that it moved to last, from when it is there: loading it may take time.
    pub stay: Duration,
}

impl Default for Playback {
    fn default() -> Self {
        Self { speed: Speed::NORMAL, due: None, stay: Duration::ZERO }
    }
}

impl Playback {
    /// Returns whether it plays.
    pub fn is_playing(&self) -> bool {
        self.due.is_some()
    }

    /// Shows a step for this long from now on.
    pub fn show_for(&mut self, stay: Duration, now: Instant) {
        (self.stay, self.due) = (stay, Some(now + stay));
    }

    /// Stops at the step that is shown.
    pub fn stop(&mut self) {
        self.due = None;
    }
}
