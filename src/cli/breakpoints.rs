//! Breakpoints and watches from flags and the configuration.

use super::config::{Config, keys};
use super::error::CliError;
use crate::breakpoint::FORMS;
use crate::catalog::parse_condition;
use crate::driver::Handle;
use crate::engine::{Command, State};
use std::fmt::Write as _;

/// Returns the long help of `--break`, with every form of a condition.
pub(super) fn break_flag_help() -> String {
    let mut text = String::from(
        "Set a breakpoint: stop when a condition becomes true. May be repeated; the session keeps its breakpoints. `warn` \
         before a condition makes it a watch, which marks the step but doesn't pause; `once` disables it after its first \
         hit. Without a screen, a hit ends the program with exit code 3, and `resume` continues after it.\n\nConditions:\n",
    );
    for form in FORMS {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "  {:<26} {}", form.syntax, form.meaning);
    }
    text
}

/// Returns the initial breakpoints of a run: those of `--break`, else those of the configuration.
///
/// # Errors
/// Fails if any condition is invalid: a run never starts without a breakpoint that was asked for.
pub(super) fn initial_breakpoints(config: &Config, flags: &[String]) -> Result<Vec<String>, CliError> {
    if !flags.is_empty() {
        return checked_conditions(flags);
    }
    config.invalid_breakpoints.first().map_or_else(|| Ok(config.get(keys::BREAKS)), |bad| Err(bad.clone()))
}

/// Checks the conditions of `--break` and returns them. A resumed session adds only these to its own.
pub(super) fn checked_conditions(flags: &[String]) -> Result<Vec<String>, CliError> {
    for text in flags {
        parse_condition(text).map_err(|bad| CliError::usage(format!("--break {}", bad.message), bad.hint))?;
    }
    Ok(flags.to_vec())
}

/// Sets breakpoints in a resumed session before it continues. The engine ignores those it already has.
pub(super) fn add_breakpoints(handle: &Handle, breaks: &[String]) {
    for text in breaks {
        handle.send(Command::SetBreakpoint { text: text.clone(), replaces: None });
    }
}

/// Disables all breakpoints of the session.
pub(super) fn disable_all(handle: &Handle) {
    for breakpoint in handle.store.head().breakpoints.all.iter().filter(|b| b.enabled) {
        handle.send(Command::SwitchBreakpoint { breakpoint: breakpoint.number, enabled: false });
    }
}

/// Describes the breakpoint hit that holds the session, if any.
pub(super) fn current_hit(state: &State) -> Option<String> {
    state.breakpoints.current_hit.as_ref().map(|hit| hit.describe())
}
