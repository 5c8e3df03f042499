//! Where a run is to stop: a condition in words, and what is done when it comes true.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A condition and what it does when it comes true. Its text is what a person types, and what the journal keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BreakpointConfig {
    /// The condition in its own words (`docs/BREAKPOINTS.md`), such as `nothing 3`.
    pub condition: String,
    /// It is a watch: it tells and marks, and nothing stops.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub warn: bool,
    /// It is switched off by its first hit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub once: bool,
}

/// What a step is marked with where a condition came true.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BreakpointMark {
    /// The number of the breakpoint or watch.
    pub breakpoint: u32,
    /// It only told.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub warn: bool,
    /// Why, as a sentence without its dot.
    #[serde(rename = "why")]
    pub reason: String,
}

impl fmt::Display for BreakpointConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let warn = if self.warn { "warn " } else { "" };
        let once = if self.once { "once " } else { "" };
        write!(f, "{warn}{once}{}", self.condition)
    }
}

impl BreakpointConfig {
    /// The word for what it is.
    pub fn kind_name(&self) -> &'static str {
        if self.warn { "watch" } else { "breakpoint" }
    }
}
