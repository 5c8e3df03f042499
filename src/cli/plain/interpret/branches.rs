//! Commands about branches and past steps.

use super::LineAction;
use crate::cli::plain::seek::Seek;
use crate::domain::ShownAs;
use crate::engine::{Command, State};
use crate::journal::LabelChange;

/// Interprets a command about branches; returns `None` for any other word.
pub(super) fn parse_branch_line(word: &str, rest: &str, state: &State) -> Option<Result<LineAction, String>> {
    Some(match word {
        "back" | "left" => parse_seek(rest, Seek::Back),
        "forward" | "right" => parse_seek(rest, Seek::Forward),
        "live" | "present" => Ok(LineAction::Seek(Seek::Live)),
        "fork" => parse_fork(rest, state),
        "switch" | "branch" if rest.is_empty() => Ok(LineAction::Branches),
        "branches" | "tree" => Ok(LineAction::Branches),
        "switch" | "branch" => Ok(LineAction::Switch(rest.to_owned())),
        "branch-name" => parse_label(rest, "branch-name BRANCH NAME", |text| LabelChange::Name(Some(text))),
        "branch-note" => parse_label(rest, "branch-note BRANCH TEXT", |text| LabelChange::Note(Some(text))),
        "archive" if !rest.is_empty() => Ok(LineAction::Label(rest.to_owned(), LabelChange::Archived(true))),
        "unarchive" if !rest.is_empty() => {
            Ok(LineAction::Label(rest.to_owned(), LabelChange::Archived(false)))
        }
        "thought" => {
            parse_step_edit(rest, "thought N TEXT", |step, text| Command::EditThought { step, text })
        }
        "observation" => {
            parse_step_edit(rest, "observation N TEXT", |step, text| Command::EditObservation { step, text })
        }
        _ => return None,
    })
}

/// Parses the number after `back` and `forward`, 1 by default.
fn parse_seek(rest: &str, seek: impl FnOnce(u32) -> Seek) -> Result<LineAction, String> {
    let steps = if rest.is_empty() { Ok(1) } else { rest.parse() };
    steps
        .map(|steps| LineAction::Seek(seek(steps)))
        .map_err(|_| format!("{rest:?} is not a number of steps; usage: back N or forward N"))
}

/// Parses `fork 12` and `fork 12 go to shelf 1`: fork at the proposal of a step, optionally overriding it.
fn parse_fork(rest: &str, state: &State) -> Result<LineAction, String> {
    let (number, action) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let step: u32 = number.parse().map_err(|_| "missing argument; usage: fork N [ACTION]".to_owned())?;
    let action = action.trim();
    let commands = match action {
        "" => Vec::new(),
        action => vec![super::override_command(action.to_owned(), ShownAs::AgentAction, state)],
    };
    Ok(LineAction::Fork { step, commands })
}

fn parse_label(
    rest: &str,
    usage: &str,
    change: impl FnOnce(String) -> LabelChange,
) -> Result<LineAction, String> {
    let (branch, text) =
        rest.split_once(char::is_whitespace).ok_or(format!("missing argument; usage: {usage}"))?;
    Ok(LineAction::Label(branch.to_owned(), change(text.trim().to_owned())))
}

fn parse_step_edit(
    rest: &str,
    usage: &str,
    command: impl FnOnce(u32, String) -> Command,
) -> Result<LineAction, String> {
    let error = || format!("missing argument; usage: {usage}");
    let (number, text) = rest.split_once(char::is_whitespace).ok_or_else(error)?;
    let step = number.parse().map_err(|_| error())?;
    Ok(LineAction::Commands(vec![command(step, text.trim().to_owned())]))
}
