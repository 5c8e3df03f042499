//! How long an environment may take.

use std::time::Duration;

/// How long an environment may take for one answer, by what it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLimits {
    /// Opening the environment and its reset, together.
    pub open: Duration,
    /// One action.
    pub step: Duration,
    /// The list of admissible actions, or a hint.
    pub list: Duration,
}

impl TimeLimits {
    /// Returns the same limit for everything.
    pub const fn uniform(limit: Duration) -> Self {
        Self { open: limit, step: limit, list: limit }
    }

    /// Returns the limits with `margin` added to each.
    pub const fn extended_by(self, margin: Duration) -> Self {
        let Self { open, step, list } = self;
        Self {
            open: open.saturating_add(margin),
            step: step.saturating_add(margin),
            list: list.saturating_add(margin),
        }
    }
}
