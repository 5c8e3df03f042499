//! Breakpoints and watches: reading their one-line conditions, and looking whether an event made one true. Pure, and never a
//! panic, whatever is typed. `docs/BREAKPOINTS.md` lists the forms.
//!
//! A condition is looked at when the event that could make it true is about to be written ([`crate::engine::Engine::watched`]).
//! It reads the last step, the detectors' notes and the tallies of the fold, and never walks back through an episode.

mod complete;
mod condition;
mod forms;
mod look;
mod near;
mod number;
mod parse;
mod why;

pub use complete::{Known, Offer, offers};
pub use condition::{Condition, Meant, Part, Pattern, Same, Scope, Spend};
pub use forms::{FORMS, Form, hint};
pub use parse::{Bad, LONGEST, check, parse};

use crate::engine::{BreakpointRules, CommandError};
use std::sync::Arc;

/// The rules that an engine's policy looks with, and how it reads what a person types; whoever knows the detectors holds
/// their names to it with [`check`]. Patterns are compiled once for each condition.
pub fn rules(read: fn(&str) -> Result<Meant, Bad>) -> BreakpointRules {
    let kept = look::Kept::default();
    BreakpointRules {
        parse: Arc::new(move |text| {
            read(text).map(|meant| meant.stop()).map_err(|bad| CommandError::new(bad.what, bad.next))
        }),
        find_hits: Arc::new(move |before, envelope, after| kept.look(before, envelope, after)),
    }
}

#[cfg(test)]
mod tests;
