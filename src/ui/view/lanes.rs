//! The lanes: what has been learnt, by kind. A row is mark, number, text and where it comes from; an error has two
//! rows, the mistake and what to do instead.

use super::frame;
use crate::domain::{Kind, Lesson, LessonOrigin, LessonStatus, LessonText};
use crate::engine::State;
use crate::text::{one_line, truncate, width, wrap_at_most};
use crate::ui::canvas::Canvas;
use crate::ui::layout::{Block, Pane};
use crate::ui::look::Look;
use crate::ui::model::{Focus, Model, lane_title};
use crate::ui::theme::Role;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use std::borrow::Cow;
use std::collections::HashMap;

/// Draws one lane, or the chosen lane with the others as tabs.
pub fn draw(model: &Model, look: &Look<'_>, block: &Block, canvas: &mut Canvas<'_>) {
    let lanes = look.lanes();
    let chosen = model.lane(lanes);
    let (lane, tabs) = match block.pane {
        Pane::Lane(n) => (n, false),
        _ => (chosen, true),
    };
    let Some(kind) = lanes.get(lane).copied() else { return };
    let focused = model.focus == Focus::Lanes && lane == chosen;
    if let Some(area) = block.title {
        titles(model, look, area, lane, tabs, canvas);
    }
    let state = look.shown();
    let picked = picked(model, state, kind);
    let rows = window(look, kind, picked, block.body);
    if rows.is_empty() && block.body.height > 0 {
        let words = match kind {
            _ if state.pool.all().any(|l| l.kind == kind) => "none is left: all were deleted",
            Kind::Abstract => "nothing learnt yet",
            Kind::Error => "no mistake noted yet",
            Kind::Progress => "no progress noted yet",
            _ => "nothing yet",
        };
        canvas.put(
            block.body.x + 7,
            block.body.y,
            block.body.width.saturating_sub(8),
            words,
            canvas.style(Role::Dim),
        );
    }
    for (place, row) in rows.iter().enumerate() {
        let y = block.body.y + place as u16;
        let at = Rect { y, height: 1, ..block.body };
        draw_row(row, focused && Some(row.lesson) == picked, at, canvas);
    }
    let numbers: Vec<u32> = newest_first(state, kind).map(|l| l.number).collect();
    more(&numbers, &rows, block.body, canvas);
}

/// At the right edge a mark where lessons stand above or below what is to be seen.
fn more(all: &[u32], rows: &[Row], area: Rect, canvas: &mut Canvas<'_>) {
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return };
    let (x, style) = (area.right().saturating_sub(1), canvas.style(Role::Dim));
    let [above, below] = canvas.glyphs.beyond;
    if all.first() != Some(&first.lesson) {
        canvas.put(x, area.y, 1, above, style);
    }
    if all.last() != Some(&last.lesson) {
        canvas.put(x, area.y + rows.len() as u16 - 1, 1, below, style);
    }
}

/// A row of a lane.
struct Row {
    lesson: u32,
    mark: (Role, &'static str),
    lead: String,
    text: (Role, String),
    source: Option<String>,
}

fn draw_row(row: &Row, picked: bool, area: Rect, canvas: &mut Canvas<'_>) {
    let right = area.right().saturating_sub(1);
    if picked {
        canvas.put(area.x, area.y, 1, canvas.glyphs.edge, canvas.style(Role::Focus));
    }
    canvas.put(area.x + 1, area.y, 1, row.mark.1, canvas.style(row.mark.0));
    let lead_role = if picked { Role::Focus } else { Role::Dim };
    let mut x = area.x + 2;
    x += canvas.put(x, area.y, right.saturating_sub(x), &row.lead, unlined(canvas.style(lead_role)));
    x += canvas.put(x, area.y, right.saturating_sub(x), &row.text.1, canvas.style(row.text.0));
    if let Some(source) = &row.source {
        canvas.put_right(right, area.y, right.saturating_sub(x + 1), source, canvas.style(Role::Dim));
    }
}

/// A style for blanks and numbers at the edge: a line under blanks looks like something typed.
pub(super) fn unlined(style: Style) -> Style {
    style.remove_modifier(Modifier::UNDERLINED)
}

fn titles(model: &Model, look: &Look<'_>, area: Rect, lane: usize, tabs: bool, canvas: &mut Canvas<'_>) {
    let state = look.shown();
    let focused = model.focus == Focus::Lanes && (tabs || lane == model.lane(look.lanes()));
    let name = |kind: Kind| {
        let fresh = state.pool.in_force(kind).any(|l| l.uses == 0 && l.learnt_at != (0, 0));
        let new = if fresh { format!(" {}", look.glyphs.new) } else { String::new() };
        format!("{} {}{new}", lane_title(look.method(), kind), state.pool.of(kind).count())
    };
    let own = if focused { Role::Focus } else { Role::Title };
    if !tabs {
        let Some(kind) = look.lanes().get(lane) else { return };
        let digit = format!("{} ", super::FIRST_LANE + lane);
        frame::title(area, &[(Role::Dim, &digit), (own, &name(*kind))], canvas);
        return;
    }
    let mut pieces: Vec<(Role, String)> = Vec::new();
    // The order is that of the wide screens; the brackets alone move.
    for (place, kind) in look.lanes().iter().enumerate() {
        let gap = if place > 0 { "  " } else { "" };
        pieces.push((Role::Dim, gap.to_owned()));
        pieces.push(if place == lane {
            (own, format!("[{}]", name(*kind)))
        } else {
            (Role::Dim, name(*kind))
        });
    }
    let pieces: Vec<(Role, &str)> = pieces.iter().map(|(r, t)| (*r, t.as_str())).collect();
    frame::title(area, &pieces, canvas);
    if look.lanes().len() > 1 {
        let key = look.keymap.label(crate::ui::keymap::Action::NextPane).unwrap_or_default();
        frame::aside(area, Role::Dim, &key, canvas);
    }
}

/// The lessons of a lane from the top: the last in the prompt, which is the newest unless somebody moved it, first.
pub fn newest_first(state: &State, kind: Kind) -> impl Iterator<Item = &Lesson> {
    state.pool.of(kind).rev()
}

/// The number of the lesson that keys act on in a lane.
pub fn picked(model: &Model, state: &State, kind: Kind) -> Option<u32> {
    let chosen = model.lesson.as_ref().and_then(|id| state.pool.of(kind).find(|l| &l.id == id));
    chosen.or_else(|| newest_first(state, kind).next()).map(|l| l.number)
}

/// The rows that lie in the lane: the picked lesson is whole, and what stands before it comes first.
fn window(look: &Look<'_>, kind: Kind, picked: Option<u32>, area: Rect) -> Vec<Row> {
    let height = usize::from(area.height);
    let pool = &look.shown().pool;
    let lessons: Vec<&Lesson> = newest_first(look.shown(), kind).collect();
    let digits = pool.len().max(10).ilog10() as usize + 1;
    let rows = |lesson: &Lesson, most| lesson_rows(lesson, look, area.width, digits, most);
    let most = lines_each(&lessons, picked, height, |l, most| rows(l, most).len());
    let of = |lesson: &Lesson| rows(lesson, most.get(&lesson.number).copied().unwrap_or(1));
    let mut first = lessons.iter().position(|l| Some(l.number) == picked).unwrap_or(0);
    let mut used = lessons.get(first).map_or(0, |l| of(l).len());
    while first > 0 && used < height {
        used += lessons.get(first - 1).map_or(0, |l| of(l).len());
        if used > height {
            break;
        }
        first -= 1;
    }
    let mut rows = Vec::new();
    for lesson in lessons.iter().skip(first) {
        if rows.len() >= height {
            break;
        }
        rows.extend(of(lesson));
    }
    rows.truncate(height);
    rows
}

/// How many lines of words each lesson may have. One each, and where rows are left over they are given away: first to the
/// picked lesson, then from the top, to each as many as its words need.
fn lines_each(
    lessons: &[&Lesson],
    picked: Option<u32>,
    height: usize,
    rows: impl Fn(&Lesson, usize) -> usize,
) -> HashMap<u32, usize> {
    const MOST: usize = 8;
    // A long list is not measured: what does not find room with one row each has nothing to give away.
    let least: usize = if lessons.len() > height { height } else { lessons.iter().map(|l| rows(l, 1)).sum() };
    let mut spare = height.saturating_sub(least);
    let mut most = HashMap::new();
    let is_picked = |l: &&&Lesson| Some(l.number) == picked;
    for lesson in lessons.iter().filter(is_picked).chain(lessons.iter().filter(|l| !is_picked(l))) {
        if spare == 0 {
            break;
        }
        let granted = (rows(lesson, MOST) - rows(lesson, 1)).min(spare);
        spare -= granted;
        most.insert(lesson.number, 1 + granted);
    }
    most
}

fn lesson_rows(lesson: &Lesson, look: &Look<'_>, columns: u16, digits: usize, most: usize) -> Vec<Row> {
    let g = look.glyphs;
    let fresh = lesson.uses == 0 && lesson.learnt_at != (0, 0);
    let mark = match lesson.status {
        LessonStatus::Off | LessonStatus::Retired => (Role::Dim, g.off),
        LessonStatus::Pinned => (Role::LessonPinned, g.pin),
        LessonStatus::On if fresh => (Role::New, g.new),
        LessonStatus::On => (Role::Dim, " "),
    };
    let off = lesson.status == LessonStatus::Off;
    let paint = |role| if off { Role::LessonOff } else { role };
    let lead = format!(" {:>digits$}  ", lesson.number);
    let indent = width(&lead);
    let text = &*still_said(lesson, look.shown());
    let words = text.solution.as_deref().unwrap_or(&text.text);
    let arrow = if text.solution.is_some() { 2 } else { 0 };
    let room = usize::from(columns).saturating_sub(indent + arrow + 3).max(4);
    let shown = look.shown().episode.as_ref().map_or(0, |e| e.number);
    let (long, short) = source(lesson, shown, g.dot);
    let roomy = room >= 56 && width(&one_line(head(words))) + width(&long) + 3 <= room;
    let source = if roomy { long } else { short };
    let room = room.saturating_sub(width(&source) + 2).max(4);
    // What may be more than a line is given to the mistake first: it comes before what to do instead.
    let mistake = text
        .solution
        .is_some()
        .then(|| lines(&text.text, usize::from(columns).saturating_sub(indent + 3).max(4), most, g.more));
    let most = most - mistake.as_ref().map_or(0, |m| m.len() - 1);
    let mut lines = lines(words, room, most, g.more);
    let first = lines.remove(0);
    let row = |mark, lead, role, text, source| Row {
        lesson: lesson.number,
        mark,
        lead,
        text: (role, text),
        source,
    };
    let blank = (Role::Dim, " ");
    let mut rows = Vec::new();
    if let Some(mistake) = mistake {
        for (place, line) in mistake.into_iter().enumerate() {
            let (mark, lead) = if place == 0 { (mark, lead.clone()) } else { (blank, " ".repeat(indent)) };
            rows.push(row(mark, lead, paint(Role::Lesson), line, None));
        }
        let lead = format!("{:indent$}{} ", "", g.instead);
        rows.push(row(blank, lead, paint(Role::Solution), first, Some(source)));
    } else {
        rows.push(row(mark, lead, paint(Role::Lesson), first, Some(source)));
    }
    let role = paint(if text.solution.is_some() { Role::Solution } else { Role::Lesson });
    let rest = lines.into_iter().map(|line| row(blank, " ".repeat(indent + arrow), role, line, None));
    rows.extend(rest);
    rows
}

/// The words of a lesson without what comes next, where the rules wrote them of an episode that is over.
fn still_said<'a>(lesson: &'a Lesson, state: &State) -> Cow<'a, LessonText> {
    let ended = state.episode.as_ref().is_some_and(|e| e.outcome.is_some());
    let text = lesson.text();
    match text.text.split_once("Next: ") {
        Some((so_far, _))
            if ended && lesson.kind == Kind::Progress && lesson.origin == LessonOrigin::Symbolic =>
        {
            let so_far = so_far.trim_end();
            Cow::Owned(LessonText::plain(if so_far.is_empty() { "The episode is over." } else { so_far }))
        }
        _ => Cow::Borrowed(text),
    }
}

/// The words of a lesson in at least one and at most so many lines.
fn lines(words: &str, room: usize, most: usize, more: &str) -> Vec<String> {
    let words = one_line(head(words)).split_whitespace().collect::<Vec<_>>().join(" ");
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

/// No lane shows more of a lesson than this.
fn head(text: &str) -> &str {
    let mut end = text.len().min(4096);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Where a lesson comes from, at length and in short. A turn of another episode than the shown one is `episode.turn`.
fn source(lesson: &Lesson, shown: u32, dot: &str) -> (String, String) {
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
