//! Breakpoints and watches: reading their one-line conditions, and looking whether an event made one true. Pure, and never a
//! panic, whatever is typed. `docs/BREAKPOINTS.md` lists the forms.
//!
//! A condition is looked at when the event that could make it true is about to be written ([`crate::engine::Engine::watched`]).
//! It reads the last step, the detectors' notes and the tallies of the fold, and never walks back through an episode.

mod complete;
mod condition;
mod forms;
mod matcher;
mod number;
mod parse;
mod reason;
mod similar;

pub use complete::{CompletionContext, Suggestion, suggestions};
pub use condition::{BreakpointSpec, Condition, Pattern, RepeatedPart, SpendLimit, SpendScope, TextPart};
pub use forms::{FORMS, Form, hint};
pub use parse::{MAX_CONDITION_CHARS, ParseError, parse, parse_checked};

use crate::engine::{BreakpointRules, CommandError};
use std::sync::Arc;

/// The rules that an engine's policy looks with, and how it reads what a person types; whoever knows the detectors holds
/// their names to it with [`check`]. Patterns are compiled once for each condition.
pub fn breakpoint_rules(read: fn(&str) -> Result<BreakpointSpec, ParseError>) -> BreakpointRules {
    let kept = matcher::ConditionCache::default();
    BreakpointRules {
        parse: Arc::new(move |text| {
            read(text).map(|meant| meant.to_record()).map_err(|bad| CommandError::new(bad.message, bad.hint))
        }),
        find_hits: Arc::new(move |before, envelope, after| kept.find_hits(before, envelope, after)),
    }
}

#[cfg(test)]
mod tests;
