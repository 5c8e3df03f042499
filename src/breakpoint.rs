//! Breakpoints and watches: parsing one-line conditions, and checking whether an event made one true. Pure; never
//! panics, whatever is typed. `docs/BREAKPOINTS.md` lists the forms.
//!
//! A condition is checked when the event that could make it true is about to be written
//! ([`crate::engine::Engine::breakpoint_events`]). The check reads the last step, the detectors' notes and the tallies
//! in the state, and never walks back through an episode.

mod complete;
mod condition;
mod forms;
mod matcher;
mod number;
mod parse;
mod proposal;
mod reason;

pub use complete::{CompletionContext, Suggestion, suggestions};
pub use condition::{BreakpointSpec, Condition, Pattern, RepeatedPart, SpendLimit, SpendScope, TextPart};
pub use forms::{FORMS, Form, hint};
pub use parse::{MAX_CONDITION_CHARS, ParseError, parse, parse_checked};
pub use proposal::{judge_proposal, parse_proposal_condition};

use crate::engine::{BreakpointRules, CommandError};
use std::sync::Arc;

/// Returns the breakpoint rules of an engine's policy. `read` parses what a person types; it can check detector names
/// with [`parse_checked`]. Patterns are compiled once per condition.
pub fn breakpoint_rules(read: fn(&str) -> Result<BreakpointSpec, ParseError>) -> BreakpointRules {
    let cache = matcher::ConditionCache::default();
    BreakpointRules {
        parse: Arc::new(move |text| {
            read(text)
                .map(|spec| spec.to_config())
                .map_err(|error| CommandError::new(error.message, error.hint))
        }),
        find_hits: Arc::new(move |before, envelope, after| cache.find_hits(before, envelope, after)),
    }
}

#[cfg(test)]
mod tests;
