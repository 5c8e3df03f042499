//! Commands about breakpoints and watches.

use super::LineAction;
use super::typed_verb::TypedVerb;
use crate::domain::pluralize;
use crate::engine::{Command, State};
use crate::text::with_program_name;
use std::fmt::Write as _;

/// Sets a breakpoint or watch with the condition `text`; without one, prints how to write conditions.
pub(super) fn set_breakpoint(typed: TypedVerb<'_>, text: String) -> LineAction {
    if typed.rest.is_empty() {
        let hint = crate::breakpoint::hint("");
        return LineAction::Print(format!("{}\n{}", typed.missing_argument(), with_program_name(&hint)));
    }
    // The engine rejects an invalid condition, with a message.
    LineAction::Commands(vec![Command::SetBreakpoint { text, replaces: None }])
}

/// Parses `N CONDITION`.
pub(super) fn parse_edit(typed: TypedVerb<'_>) -> Result<Command, String> {
    let (number, text) = split_number(&typed)?;
    if text.is_empty() {
        return Err(typed.missing_argument());
    }
    Ok(Command::SetBreakpoint { text: text.to_owned(), replaces: Some(number) })
}

/// Parses `N`: switches breakpoint N on or off.
pub(super) fn parse_switch(typed: TypedVerb<'_>, enabled: bool) -> Result<Command, String> {
    Ok(Command::SwitchBreakpoint { breakpoint: split_number(&typed)?.0, enabled })
}

/// Parses `N`: deletes breakpoint N.
pub(super) fn parse_removal(typed: TypedVerb<'_>) -> Result<Command, String> {
    Ok(Command::RemoveBreakpoint(split_number(&typed)?.0))
}

/// Splits off the number of a breakpoint. Returns it and what follows.
fn split_number<'a>(typed: &TypedVerb<'a>) -> Result<(u32, &'a str), String> {
    let (number, rest) = typed.split_first();
    let number = number.parse();
    let number = number.map_err(|_| format!("usage: {}; `breaks` lists the numbers", typed.usage()))?;
    Ok((number, rest))
}

/// Lists all breakpoints and watches, one per line.
pub(super) fn list_breakpoints(state: &State) -> String {
    let mut out = String::new();
    for b in state.breakpoints.all.iter() {
        let off = if b.enabled { "" } else { ", off" };
        let last = b.last.as_ref().map_or_else(String::new, |h| format!("; last: {}", h.reason));
        let times = pluralize(b.hits.into(), "hit");
        let _ = writeln!(out, "{} {}: {} ({times}{off}{last})", b.number, b.config.kind_name(), b.config);
    }
    if out.is_empty() { "no breakpoints yet; `break nothing 3` sets one".to_owned() } else { out }
}
