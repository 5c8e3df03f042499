//! Words about branches: going on from the past, and with another branch.

use super::Said;
use crate::cli::plain::look::Look;
use crate::domain::ShownAs;
use crate::engine::{Command, State};
use crate::journal::LabelChange;

/// What a line about branches means; none for any other word.
pub(super) fn understand(word: &str, rest: &str, state: &State) -> Option<Result<Said, String>> {
    Some(match word {
        "back" | "left" => look(rest, Look::Back),
        "forward" | "right" => look(rest, Look::Forward),
        "live" | "present" => Ok(Said::Look(Look::Live)),
        "fork" => fork(rest, state),
        "switch" | "branch" if rest.is_empty() => Ok(Said::Branches),
        "branches" | "tree" => Ok(Said::Branches),
        "switch" | "branch" => Ok(Said::Switch(rest.to_owned())),
        "branch-name" => label(rest, "branch-name BRANCH NAME", |text| LabelChange::Name(Some(text))),
        "branch-note" => label(rest, "branch-note BRANCH TEXT", |text| LabelChange::Note(Some(text))),
        "archive" if !rest.is_empty() => Ok(Said::Label(rest.to_owned(), LabelChange::Archived(true))),
        "unarchive" if !rest.is_empty() => Ok(Said::Label(rest.to_owned(), LabelChange::Archived(false))),
        "thought" => edit(rest, "thought N TEXT", |step, text| Command::EditThought { step, text }),
        "observation" => {
            edit(rest, "observation N TEXT", |step, text| Command::EditObservation { step, text })
        }
        _ => return None,
    })
}

/// `back`, `back 3`.
fn look(rest: &str, to: impl FnOnce(u32) -> Look) -> Result<Said, String> {
    let by = if rest.is_empty() { Ok(1) } else { rest.parse() };
    by.map(|by| Said::Look(to(by))).map_err(|_| "how many steps? back N, forward N".to_owned())
}

/// `fork 12`, `fork 12 go to shelf 1`: back to the proposal of a step, and there this action in its place.
fn fork(rest: &str, state: &State) -> Result<Said, String> {
    let (number, action) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let step: u32 = number.parse().map_err(|_| "something is missing: fork N [ACTION]".to_owned())?;
    let action = action.trim();
    let then = match action {
        "" => Vec::new(),
        action => vec![super::over(action.to_owned(), ShownAs::Own, state)],
    };
    Ok(Said::Fork { step, then })
}

fn label(rest: &str, usage: &str, change: impl FnOnce(String) -> LabelChange) -> Result<Said, String> {
    let (branch, text) =
        rest.split_once(char::is_whitespace).ok_or(format!("something is missing: {usage}"))?;
    Ok(Said::Label(branch.to_owned(), change(text.trim().to_owned())))
}

fn edit(rest: &str, usage: &str, command: impl FnOnce(u32, String) -> Command) -> Result<Said, String> {
    let wrong = || format!("something is missing: {usage}");
    let (number, text) = rest.split_once(char::is_whitespace).ok_or_else(wrong)?;
    let step = number.parse().map_err(|_| wrong())?;
    Ok(Said::Do(vec![command(step, text.trim().to_owned())]))
}
