//! The rows of one lesson.

use super::LaneRow;
use crate::domain::{Lesson, LessonOrigin, LessonStatus, LessonText, ReflectionKind, Scope, Transition};
use crate::engine::State;
use crate::text::{fits, one_line, prefix, truncate, width, wrap_at_most};
use crate::ui::context::Context;
use crate::ui::lane::LaneFormat;
use crate::ui::theme::Role;
use std::borrow::Cow;

/// A lesson in rows of so many columns, with at most so many lines of words.
pub(super) fn lesson_rows(
    lesson: &Lesson,
    look: &Context<'_>,
    form: LaneFormat,
    columns: u16,
    digits: usize,
    most: usize,
) -> Vec<LaneRow> {
    let g = look.glyphs;
    let fresh = lesson.uses == 0 && lesson.learnt_at != (0, 0);
    let mark = match lesson.status {
        LessonStatus::Off | LessonStatus::Retired => (Role::Muted, g.off),
        LessonStatus::Pinned => (Role::LessonPinned, g.pin),
        LessonStatus::On if fresh => (Role::LessonNew, g.new_lesson),
        LessonStatus::On => (Role::Muted, " "),
    };
    let off = lesson.status == LessonStatus::Off;
    let paint = |role| if off { Role::LessonOff } else { role };
    let lead = format!(" {:>digits$}  ", lesson.number);
    let indent = width(&lead);
    let text = &*current_text(lesson, look.displayed_state());
    let words = text.solution.as_deref().unwrap_or(&text.text);
    let arrow = if text.solution.is_some() { 2 } else { 0 };
    let room = usize::from(columns).saturating_sub(indent + arrow + 3).max(4);
    let shown = look.displayed_state().episode.as_ref().map_or(0, |e| e.number);
    let (long, short) = source_labels(lesson, form, look.displayed_state(), shown, g.separator);
    let roomy = room >= 56 && fits(&one_line(bounded_prefix(words)), room.saturating_sub(width(&long) + 3));
    let source = if roomy { long } else { short };
    let room = room.saturating_sub(width(&source) + 2).max(4);
    // What may be more than a line is given to the mistake first: it comes before what to do instead.
    let mistake = text.solution.is_some().then(|| {
        wrap_words(&text.text, usize::from(columns).saturating_sub(indent + 3).max(4), most, g.ellipsis)
    });
    let most = most - mistake.as_ref().map_or(0, |m| m.len() - 1);
    let mut lines = wrap_words(words, room, most, g.ellipsis);
    let first = lines.remove(0);
    if form == LaneFormat::Actions && words.lines().nth(1).is_some() {
        return super::plan::plan_rows(lesson, words, look, mark, (&lead, &source), columns, most);
    }
    let row = |mark, lead, role, text, source| LaneRow {
        lesson: lesson.number,
        mark,
        lead,
        text: (role, text),
        source,
    };
    let blank = (Role::Muted, " ");
    let mut rows = Vec::new();
    if let Some(mistake) = mistake {
        for (place, line) in mistake.into_iter().enumerate() {
            let (mark, lead) = if place == 0 { (mark, lead.clone()) } else { (blank, " ".repeat(indent)) };
            rows.push(row(mark, lead, paint(Role::Lesson), line, None));
        }
        let lead = format!("{:indent$}{} ", "", g.solution);
        rows.push(row(blank, lead, paint(Role::LessonSolution), first, Some(source)));
    } else {
        rows.push(row(mark, lead, paint(Role::Lesson), first, Some(source)));
    }
    let role = paint(if text.solution.is_some() { Role::LessonSolution } else { Role::Lesson });
    let rest = lines.into_iter().map(|line| row(blank, " ".repeat(indent + arrow), role, line, None));
    rows.extend(rest);
    if form == LaneFormat::Tuples
        && let Some(moment) = &lesson.transition
    {
        // The mark, the lead of five letters, and the right edge.
        let tuple = memory_rows(moment, usize::from(columns).saturating_sub(indent + 8).max(4), g.ellipsis);
        let rest = tuple.into_iter().map(|(lead, role, line)| {
            row(blank, format!("{:indent$}{lead:<5}", ""), paint(role), line, None)
        });
        rows.extend(rest);
    }
    rows
}

/// The words of a lesson without what comes next, where the rules wrote them of an episode that is over.
fn current_text<'a>(lesson: &'a Lesson, state: &State) -> Cow<'a, LessonText> {
    let ended = state.episode.as_ref().is_some_and(|e| e.outcome.is_some());
    let text = lesson.text();
    match text.text.split_once("Next: ") {
        Some((so_far, _))
            if ended
                && lesson.kind == ReflectionKind::Progress
                && lesson.origin == LessonOrigin::Symbolic =>
        {
            let so_far = so_far.trim_end();
            Cow::Owned(LessonText::plain(if so_far.is_empty() { "The episode is over." } else { so_far }))
        }
        _ => Cow::Borrowed(text),
    }
}

/// What the agent saw and did, and its reward.
fn memory_rows(moment: &Transition, room: usize, more: &str) -> [(&'static str, Role, String); 2] {
    let saw = truncate(&one_line(bounded_prefix(&moment.observation)), room, more);
    let reward = format!(", reward {}", moment.reward);
    let did =
        truncate(&one_line(bounded_prefix(&moment.action)), room.saturating_sub(width(&reward)).max(4), more);
    [("saw", Role::Observation, saw), ("did", Role::Action, format!("{did}{reward}"))]
}

/// The words of a lesson in at least one and at most so many lines.
fn wrap_words(words: &str, room: usize, most: usize, more: &str) -> Vec<String> {
    let words = one_line(bounded_prefix(words)).split_whitespace().collect::<Vec<_>>().join(" ");
    let (mut lines, cut) = wrap_at_most(&words, room, most);
    if cut && let Some(last) = lines.pop() {
        let from: usize = lines.iter().map(|l| l.len() + 1).sum();
        let rest = words.get(from..).unwrap_or(&last);
        lines.push(truncate(rest, room, more));
    }
    if lines.is_empty() {
        lines.push(String::new());
    }
    lines
}

/// Columns of the name of a file where there is little room.
const SHORT_FILE_COLUMNS: usize = 16;

/// No lane shows more of a lesson than this.
fn bounded_prefix(text: &str) -> &str {
    prefix(text, 4096)
}

/// Where a lesson comes from, at length and in short. A turn of another episode than the shown one is `episode.turn`.
fn source_labels(
    lesson: &Lesson,
    form: LaneFormat,
    state: &State,
    shown: u32,
    dot: &str,
) -> (String, String) {
    let (long, short) = origin_labels(lesson, shown, dot);
    let place = match (form, lesson.scope) {
        (LaneFormat::Plain | LaneFormat::Actions, _) => {
            let mut numbers: Vec<u32> =
                lesson.parents.iter().filter_map(|id| state.pool.get(id)).map(|l| l.number).collect();
            numbers.sort_unstable();
            let Some(first) = numbers.first() else { return (long, short) };
            let all = numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            let more = if numbers.len() > 1 { format!("+{}", numbers.len() - 1) } else { String::new() };
            return (format!("drawn from {all} {dot} {long}"), format!("from {first}{more}"));
        }
        (LaneFormat::Tuples, Scope::Episode) => "short-term",
        (LaneFormat::Tuples, _) => "long-term",
        (LaneFormat::Other, _) => lesson.kind.name(),
    };
    (format!("{place} {dot} {long}"), format!("{place} {short}"))
}

/// Who wrote it, when, and in how many prompts it was, at length and in short.
fn origin_labels(lesson: &Lesson, shown: u32, dot: &str) -> (String, String) {
    let who = match lesson.origin {
        LessonOrigin::Symbolic => "rules",
        LessonOrigin::Mentor => "mentor",
        LessonOrigin::Person => "you",
        LessonOrigin::File => "file",
    };
    let uses = match (lesson.uses, lesson.status) {
        (_, LessonStatus::Off) => "off".to_owned(),
        (0, _) => "new, in no prompt yet".to_owned(),
        (1, _) => "in 1 prompt".to_owned(),
        (n, _) => format!("in {n} prompts"),
    };
    if let Some(name) = lesson.file_name() {
        return (format!("file {name} {dot} {uses}"), truncate(&one_line(name), SHORT_FILE_COLUMNS, "..."));
    }
    if lesson.learnt_at == (0, 0) {
        return (format!("{who} {dot} {uses}"), who.to_owned());
    }
    let (episode, turn) = lesson.learnt_at;
    if episode != shown {
        return (format!("{who} {dot} turn {episode}.{turn} {dot} {uses}"), format!("t{episode}.{turn}"));
    }
    if turn == 0 {
        return (format!("{who} {dot} before turn 1 {dot} {uses}"), "start".to_owned());
    }
    (format!("{who} {dot} turn {turn} {dot} {uses}"), format!("t{turn}"))
}
