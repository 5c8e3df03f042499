//! Breakpoints and watches from flags and the configuration, on their way into a session.

use super::config::Config;
use super::error::CliError;
use crate::breakpoint::FORMS;
use crate::driver::Handle;
use crate::engine::{Command, State};
use crate::method::parse_condition;
use std::fmt::Write as _;

/// Every form, for `--help`.
pub(super) fn break_flag_help() -> String {
    let mut text = String::from(
        "Stop where a condition comes true. May be given several times; the session keeps them. `warn` before a condition \
         tells it and goes on; `once` switches it off at its first hit. Without a screen a hit ends the program with exit \
         code 3, and `resume` goes on behind it.\n\nConditions:\n",
    );
    for form in FORMS {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "  {:<26} {}", form.syntax, form.meaning);
    }
    text
}

/// What a run begins with: those of `--break`, else those of the configuration. Each was read once before anything starts;
/// a run does not begin without one that was wanted.
pub(super) fn initial_breakpoints(config: &Config, flags: &[String]) -> Result<Vec<String>, CliError> {
    if !flags.is_empty() {
        return checked_conditions(flags);
    }
    config.invalid_breakpoints.first().map_or_else(|| Ok(config.list("run.breaks")), |bad| Err(bad.clone()))
}

/// Those of `--break` alone: a session that goes on has its own.
pub(super) fn checked_conditions(flags: &[String]) -> Result<Vec<String>, CliError> {
    for text in flags {
        parse_condition(text).map_err(|bad| CliError::usage(format!("--break {}", bad.message), bad.hint))?;
    }
    Ok(flags.to_vec())
}

/// Sets them in a resumed session that has not gone on yet. What is there already is not set twice.
pub(super) fn add_breakpoints(handle: &Handle, breaks: &[String]) {
    for text in breaks {
        handle.send(Command::SetBreakpoint { text: text.clone(), replaces: None });
    }
}

/// Switches off what the session holds.
pub(super) fn disable_all(handle: &Handle) {
    for breakpoint in handle.store.head().breakpoints.all.iter().filter(|b| b.enabled) {
        handle.send(Command::SwitchBreakpoint { breakpoint: breakpoint.number, enabled: false });
    }
}

/// The breakpoint for which the session stands still, and why.
pub(super) fn current_hit(state: &State) -> Option<String> {
    state.breakpoints.current_hit.as_ref().map(|hit| hit.describe())
}
