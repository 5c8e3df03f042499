//! Commands about branches and past steps.

use super::LineAction;
use super::typed_verb::{TypedVerb, parse_action};
use crate::cli::plain::seek::Seek;
use crate::engine::Command;
use crate::journal::LabelChange;

/// Parses the number after `back` and `forward`, 1 by default.
pub(super) fn parse_seek(typed: TypedVerb<'_>, seek: impl FnOnce(u32) -> Seek) -> Result<LineAction, String> {
    let rest = typed.rest;
    let steps = if rest.is_empty() { Ok(1) } else { rest.parse() };
    steps
        .map(|steps| LineAction::Seek(seek(steps)))
        .map_err(|_| typed.with_usage(&format!("{rest:?} is not a number of steps")))
}

/// Parses `fork 12` and `fork 12 go to shelf 1`: fork where a step awaits its decision, optionally with another action.
pub(super) fn parse_fork(typed: TypedVerb<'_>) -> Result<LineAction, String> {
    let (number, action) = typed.split_first();
    let step: u32 = number.parse().map_err(|_| typed.missing_argument())?;
    let action = if action.is_empty() { None } else { Some(parse_action(action)?) };
    Ok(LineAction::Fork { step, action })
}

/// Parses `B TEXT`: a branch and its new label.
pub(super) fn parse_label(
    typed: TypedVerb<'_>,
    change: impl FnOnce(String) -> LabelChange,
) -> Result<LineAction, String> {
    let (branch, text) = typed.split_first();
    if text.is_empty() {
        return Err(typed.missing_argument());
    }
    Ok(LineAction::Label(branch.to_owned(), change(text.to_owned())))
}

/// Parses `N TEXT`: a step and its new text.
pub(super) fn parse_step_edit(
    typed: TypedVerb<'_>,
    command: impl FnOnce(u32, String) -> Command,
) -> Result<Command, String> {
    let (number, text) = typed.split_first();
    let step = number.parse().ok().filter(|_| !text.is_empty());
    Ok(command(step.ok_or_else(|| typed.missing_argument())?, text.to_owned()))
}
