//! Commands about lessons.

use super::typed_verb::TypedVerb;
use crate::catalog::{kind_of_new_lesson, lesson_kinds};
use crate::cli::lesson_kinds::{parse_kind, parse_scope};
use crate::domain::{Lesson, LessonStatus, LessonText, ReflectionKind, pluralize};
use crate::engine::{Command, LessonCommand, State};
use crate::report::dropped_texts;
use std::fmt::Write as _;

/// Accepts the mentor's newest discarded text that isn't a lesson yet.
pub(super) fn accept_discarded_text(state: &State) -> Result<LessonCommand, String> {
    let steps = state.episode.iter().flat_map(|episode| episode.steps.iter().rev());
    let mut texts = steps.flat_map(|step| dropped_texts(step, state));
    let unaccepted = texts.find(|text| text.lesson(state).is_none());
    Ok(unaccepted.ok_or("no discarded mentor text that isn't a lesson already")?.accept())
}

fn parse_lesson_text(text: &str) -> LessonText {
    match text.split_once(" -> ").or_else(|| text.split_once(" → ")) {
        Some((mistake, solution)) => LessonText::error(mistake.trim(), solution.trim()),
        None => LessonText::plain(text),
    }
}

/// Parses a new lesson. Without a kind, `mistake -> solution` is an Error, and other text what it would be on the screen.
pub(super) fn parse_new_lesson(typed: TypedVerb<'_>, state: &State) -> Result<LessonCommand, String> {
    let text = typed.argument()?;
    let named = text
        .split_once(':')
        .and_then(|(word, rest)| parse_kind(word.trim()).ok().map(|kind| (kind, rest.trim())));
    let (kind, text) = match named {
        Some((_, "")) => return Err(typed.missing_argument()),
        Some((kind, rest)) => (kind, parse_lesson_text(rest)),
        None => match parse_lesson_text(&text) {
            pair if pair.solution.is_some() => (ReflectionKind::Error, pair),
            text => {
                let method = state.run.as_ref().map_or("", |run| run.method.as_str());
                (kind_of_new_lesson(method), text)
            }
        },
    };
    Ok(LessonCommand::add(kind, kind.scope_of_new_lesson(), text, String::new()))
}

/// Returns a warning if a new lesson has a kind that the run's method shows in none of its prompts.
pub(in crate::cli::plain) fn unshown_kind_warning(command: &Command, state: &State) -> Option<String> {
    let Command::Lesson(LessonCommand::Add { kind, .. }) = command else { return None };
    let method = &state.run.as_ref()?.method;
    let shown = lesson_kinds(method);
    // A method without lanes is one that this program doesn't have.
    if shown.is_empty() || shown.contains(kind) {
        return None;
    }
    let names: Vec<String> = shown.iter().map(|kind| kind.name().to_lowercase()).collect();
    Some(format!(
        "warning: no prompt of {method} shows {} lessons, only lessons of kind {}; `lesson KIND: TEXT` sets the kind",
        kind.name(),
        names.join(", ")
    ))
}

/// Splits off the number of a lesson. Returns the lesson and what follows.
fn split_lesson<'a, 'b>(rest: &'a str, state: &'b State) -> Result<(&'b Lesson, &'a str), String> {
    let (number, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let lesson = number.parse().ok().and_then(|n| state.pool.by_number(n));
    Ok((lesson.ok_or_else(|| format!("no lesson {number:?}; `lessons` lists them"))?, rest.trim()))
}

/// Parses `N`: gives lesson N this status.
pub(super) fn parse_status(status: LessonStatus, rest: &str, state: &State) -> Result<LessonCommand, String> {
    let (lesson, _) = split_lesson(rest, state)?;
    Ok(LessonCommand::Status { id: lesson.id.clone(), status })
}

/// Parses `N SCOPE`.
pub(super) fn parse_new_scope(rest: &str, state: &State) -> Result<LessonCommand, String> {
    let (lesson, rest) = split_lesson(rest, state)?;
    let scope = parse_scope(rest).map_err(|f| format!("{}; {}", f.message, f.hint))?;
    Ok(LessonCommand::Rescope { id: lesson.id.clone(), scope })
}

/// Parses `N PLACE`.
pub(super) fn parse_move(typed: TypedVerb<'_>, state: &State) -> Result<LessonCommand, String> {
    let (lesson, rest) = split_lesson(typed.rest, state)?;
    let position = rest.parse().ok().filter(|p: &usize| *p > 0);
    let position = position.ok_or_else(|| format!("usage: {}; places count from 1", typed.usage()))?;
    Ok(LessonCommand::Move { id: lesson.id.clone(), to: position - 1 })
}

/// Parses `N TEXT`. A text without a solution leaves the solution as it is.
pub(super) fn parse_edit(typed: TypedVerb<'_>, state: &State) -> Result<LessonCommand, String> {
    let (lesson, rest) = split_lesson(typed.rest, state)?;
    if rest.is_empty() {
        return Err(typed.missing_argument());
    }
    let mut text = parse_lesson_text(rest);
    if text.solution.is_none() {
        text.solution.clone_from(&lesson.text().solution);
    }
    Ok(LessonCommand::Edit { id: lesson.id.clone(), text })
}

pub(super) fn list_lessons(state: &State) -> String {
    let mut out = String::new();
    for lesson in state.pool.all().filter(|l| l.status != LessonStatus::Retired) {
        let _ = writeln!(out, "{}", format_lesson(lesson));
    }
    if out.is_empty() { "no lessons yet; `lesson TEXT` adds one".to_owned() } else { out }
}

fn format_lesson(lesson: &Lesson) -> String {
    let text = lesson.text();
    let solution = text.solution.as_ref().map(|s| format!(" -> {s}")).unwrap_or_default();
    let status = match lesson.status {
        LessonStatus::Pinned => ", pinned",
        LessonStatus::Off => ", off",
        LessonStatus::On | LessonStatus::Retired => "",
    };
    format!(
        "{} {}: {}{solution} (in {}{status})",
        lesson.number,
        lesson.kind.name(),
        text.text,
        pluralize(lesson.uses.into(), "prompt")
    )
}
