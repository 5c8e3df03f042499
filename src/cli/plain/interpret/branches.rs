//! Commands about branches and past steps.

use super::{LineAction, missing_argument};
use crate::actions::Verb;
use crate::cli::plain::seek::Seek;
use crate::domain::ShownAs;
use crate::engine::{Command, State};
use crate::journal::LabelChange;

/// Parses the number after `back` and `forward`, 1 by default.
pub(super) fn parse_seek(rest: &str, seek: impl FnOnce(u32) -> Seek) -> Result<LineAction, String> {
    let steps = if rest.is_empty() { Ok(1) } else { rest.parse() };
    steps
        .map(|steps| LineAction::Seek(seek(steps)))
        .map_err(|_| format!("{rest:?} is not a number of steps; usage: back N or forward N"))
}

/// Parses `fork 12` and `fork 12 go to shelf 1`: fork at the proposal of a step, optionally overriding it.
pub(super) fn parse_fork(verb: Verb, rest: &str, state: &State) -> Result<LineAction, String> {
    let (number, action) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let step: u32 = number.parse().map_err(|_| missing_argument(verb))?;
    let action = action.trim();
    let commands = match action {
        "" => Vec::new(),
        action => vec![super::override_command(action.to_owned(), ShownAs::AgentAction, state)],
    };
    Ok(LineAction::Fork { step, commands })
}

/// Parses `B TEXT`: a branch and its new label.
pub(super) fn parse_label(
    verb: Verb,
    rest: &str,
    change: impl FnOnce(String) -> LabelChange,
) -> Result<LineAction, String> {
    let (branch, text) = rest.split_once(char::is_whitespace).ok_or_else(|| missing_argument(verb))?;
    Ok(LineAction::Label(branch.to_owned(), change(text.trim().to_owned())))
}

/// Parses `N TEXT`: a step and its new text.
pub(super) fn parse_step_edit(
    verb: Verb,
    rest: &str,
    command: impl FnOnce(u32, String) -> Command,
) -> Result<Command, String> {
    let error = || missing_argument(verb);
    let (number, text) = rest.split_once(char::is_whitespace).ok_or_else(error)?;
    let step = number.parse().map_err(|_| error())?;
    Ok(command(step, text.trim().to_owned()))
}
