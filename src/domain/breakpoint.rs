//! Breakpoints and watches: conditions that pause a run or mark a step.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A breakpoint is a condition that pauses the run when it becomes true; a watch is a breakpoint that only marks the
/// step. The condition is journaled as the person typed it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BreakpointConfig {
    /// The condition in the syntax of `docs/BREAKPOINTS.md`, such as `nothing 3` (nothing happened three times in a
    /// row).
    pub condition: String,
    /// Whether this is a watch (typed as `warn`), which marks the step and reports the hit but doesn't pause.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[serde(rename = "warn")]
    pub is_watch: bool,
    /// Whether the first hit disables it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub once: bool,
}

/// A breakpoint mark on a step records that a breakpoint or watch was hit there, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BreakpointMark {
    /// Number of the breakpoint or watch.
    #[serde(rename = "breakpoint")]
    pub breakpoint_number: u32,
    /// Whether it was a watch and didn't pause.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[serde(rename = "warn")]
    pub is_watch: bool,
    /// Why the condition is true: a sentence without its full stop.
    #[serde(rename = "why")]
    pub reason: String,
}

impl fmt::Display for BreakpointConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let warn = if self.is_watch { "warn " } else { "" };
        let once = if self.once { "once " } else { "" };
        write!(f, "{warn}{once}{}", self.condition)
    }
}

impl BreakpointConfig {
    /// Returns "watch" or "breakpoint".
    pub fn kind_name(&self) -> &'static str {
        if self.is_watch { "watch" } else { "breakpoint" }
    }
}
