//! Commands about breakpoints and watches.

use super::LineAction;
use crate::domain::pluralize;
use crate::engine::{Command, State};
use crate::text::with_program_name;
use std::fmt::Write as _;

/// Interprets a command about breakpoints; returns `None` for any other word.
pub(super) fn parse_breakpoint_line(
    word: &str,
    rest: &str,
    state: &State,
) -> Option<Result<LineAction, String>> {
    let one = |command: Command| Ok(LineAction::Commands(vec![command]));
    let set = |text: String| {
        if rest.is_empty() {
            return Ok(LineAction::Print(format!(
                "missing argument; usage: {word} CONDITION\n{}",
                with_program_name(&crate::breakpoint::hint(""))
            )));
        }
        // The engine rejects an invalid condition, with a message.
        one(Command::SetBreakpoint { text, replaces: None })
    };
    Some(match word {
        "break" | "b" => set(rest.to_owned()),
        "watch" | "warn" => set(format!("warn {rest}")),
        "breaks" => Ok(LineAction::Print(list_breakpoints(state))),
        "break-edit" => split_number(rest, "break-edit N CONDITION").and_then(|(number, text)| {
            if text.is_empty() {
                return Err("missing argument; usage: break-edit N CONDITION".to_owned());
            }
            one(Command::SetBreakpoint { text: text.to_owned(), replaces: Some(number) })
        }),
        "break-on" | "break-off" => split_number(rest, &format!("{word} N")).and_then(|(breakpoint, _)| {
            one(Command::SwitchBreakpoint { breakpoint, enabled: word == "break-on" })
        }),
        "break-delete" => split_number(rest, "break-delete N")
            .and_then(|(number, _)| one(Command::RemoveBreakpoint(number))),
        _ => return None,
    })
}

fn split_number<'a>(rest: &'a str, usage: &str) -> Result<(u32, &'a str), String> {
    let (number, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let number = number.parse().map_err(|_| format!("usage: {usage}; `breaks` lists the numbers"))?;
    Ok((number, rest.trim()))
}

/// Lists all breakpoints and watches, one per line.
fn list_breakpoints(state: &State) -> String {
    let mut out = String::new();
    for b in state.breakpoints.all.iter() {
        let off = if b.enabled { "" } else { ", off" };
        let last = b.last.as_ref().map_or_else(String::new, |h| format!("; last: {}", h.reason));
        let times = pluralize(b.hits.into(), "hit");
        let _ = writeln!(out, "{} {}: {} ({times}{off}{last})", b.number, b.config.kind_name(), b.config);
    }
    if out.is_empty() { "no breakpoints yet; `break nothing 3` sets one".to_owned() } else { out }
}
