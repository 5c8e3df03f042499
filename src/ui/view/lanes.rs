//! The lanes: what has been learnt, by kind. A row is mark, number, text and where it comes from; an error has two
//! rows, the mistake and what to do instead.

use super::Scratch;
use super::frame;
use super::rows::head;
use crate::domain::{Kind, Lesson, LessonOrigin, LessonStatus};
use crate::engine::State;
use crate::ui::canvas::{Canvas, fit};
use crate::ui::clean::{clean, width, wrap};
use crate::ui::layout::{Block, Pane};
use crate::ui::look::Look;
use crate::ui::model::{Focus, Model, lane_title};
use crate::ui::theme::Role;
use ratatui::layout::Rect;

/// Draws one lane, or the chosen lane with the others as tabs.
pub fn draw(model: &Model, look: &Look<'_>, block: &Block, scratch: &mut Scratch, canvas: &mut Canvas<'_>) {
    let lanes = look.lanes();
    let chosen = model.lane.min(lanes.len().saturating_sub(1));
    let (lane, tabs) = match block.pane {
        Pane::Lane(n) => (n, false),
        _ => (chosen, true),
    };
    let Some(kind) = lanes.get(lane).copied() else { return };
    let focused = model.focus == Focus::Lanes && lane == chosen;
    if let Some(area) = block.title {
        titles(model, look, area, lane, tabs, canvas);
    }
    let rows = rows(look, kind, block.body.width, usize::from(block.body.height));
    let state = look.shown();
    let picked = picked(model, state, kind);
    let offset = offset(&rows, picked, usize::from(block.body.height));
    scratch.lanes.insert(lane, usize::from(block.body.height));
    if rows.is_empty() && block.body.height > 0 {
        let words = match kind {
            Kind::Abstract => "nothing learnt yet",
            Kind::Error => "no mistake noted yet",
            Kind::Progress => "no progress noted yet",
            _ => "nothing yet",
        };
        canvas.put(
            block.body.x + 3,
            block.body.y,
            block.body.width.saturating_sub(4),
            words,
            canvas.style(Role::Dim),
        );
    }
    for (place, row) in rows.iter().skip(offset).take(usize::from(block.body.height)).enumerate() {
        let y = block.body.y + place as u16;
        let at = Rect { y, height: 1, ..block.body };
        draw_row(row, focused && Some(row.lesson) == picked, at, canvas);
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
        canvas.put(area.x, area.y, 1, canvas.glyphs.edge, canvas.style(Role::Chosen));
    }
    canvas.put(area.x + 1, area.y, 1, row.mark.1, canvas.style(row.mark.0));
    let lead_role = if picked { Role::Chosen } else { Role::Dim };
    let mut x = area.x + 2;
    x += canvas.put(x, area.y, right.saturating_sub(x), &row.lead, canvas.style(lead_role));
    x += canvas.put(x, area.y, right.saturating_sub(x), &row.text.1, canvas.style(row.text.0));
    if let Some(source) = &row.source {
        canvas.put_right(right, area.y, right.saturating_sub(x + 1), source, canvas.style(Role::Dim));
    }
}

fn titles(model: &Model, look: &Look<'_>, area: Rect, lane: usize, tabs: bool, canvas: &mut Canvas<'_>) {
    let state = look.shown();
    let focused = model.focus == Focus::Lanes && (tabs || lane == model.lane);
    let name = |kind: Kind| {
        let fresh = state.pool.in_force(kind).any(|l| l.uses == 0 && l.learnt_at != (0, 0));
        let new = if fresh { format!(" {}", look.glyphs.new) } else { String::new() };
        format!("{} {}{new}", lane_title(look.method(), kind), state.pool.of(kind).count())
    };
    let own = if focused { Role::Focus } else { Role::Title };
    if !tabs {
        let Some(kind) = look.lanes().get(lane) else { return };
        frame::title(area, &[(own, &name(*kind))], canvas);
        return;
    }
    let mut pieces: Vec<(Role, String)> = Vec::new();
    let Some(kind) = look.lanes().get(lane) else { return };
    pieces.push((own, format!("[{}]", name(*kind))));
    for (place, other) in look.lanes().iter().enumerate() {
        if place != lane {
            pieces.push((Role::Dim, format!("  {}", name(*other))));
        }
    }
    let pieces: Vec<(Role, &str)> = pieces.iter().map(|(r, t)| (*r, t.as_str())).collect();
    frame::title(area, &pieces, canvas);
    if look.lanes().len() > 1 {
        let key = look.keymap.label(crate::ui::keymap::Action::NextPane).unwrap_or_default();
        frame::aside(area, Role::Dim, &key, canvas);
    }
}

/// The number of the lesson that keys act on in a lane.
pub fn picked(model: &Model, state: &State, kind: Kind) -> Option<u32> {
    let chosen = model.lesson.as_ref().and_then(|id| state.pool.of(kind).find(|l| &l.id == id));
    chosen.or_else(|| state.pool.of(kind).next()).map(|l| l.number)
}

/// The first row to show, so that the picked lesson is whole.
fn offset(rows: &[Row], picked: Option<u32>, height: usize) -> usize {
    let Some(picked) = picked else { return 0 };
    let last = rows.iter().rposition(|r| r.lesson == picked).unwrap_or(0);
    let first = rows.iter().position(|r| r.lesson == picked).unwrap_or(0);
    (last + 1).saturating_sub(height).min(first)
}

/// The rows of a lane; lessons beyond those that could be scrolled to are not laid out.
fn rows(look: &Look<'_>, kind: Kind, columns: u16, height: usize) -> Vec<Row> {
    let state = look.shown();
    let mut rows = Vec::new();
    let digits = state.pool.len().max(10).ilog10() as usize + 1;
    for lesson in state.pool.of(kind) {
        lesson_rows(&mut rows, lesson, look, columns, digits, height);
    }
    rows
}

fn lesson_rows(
    rows: &mut Vec<Row>,
    lesson: &Lesson,
    look: &Look<'_>,
    columns: u16,
    digits: usize,
    height: usize,
) {
    let g = look.glyphs;
    let mark = match lesson.status {
        LessonStatus::Off | LessonStatus::Retired => (Role::Dim, g.off),
        LessonStatus::Pinned => (Role::Key, g.pin),
        LessonStatus::On if lesson.uses == 0 && lesson.learnt_at != (0, 0) => (Role::New, g.new),
        LessonStatus::On => (Role::Dim, " "),
    };
    let off = lesson.status == LessonStatus::Off;
    let role = if off { Role::Dim } else { Role::Text };
    let lead = format!(" {:>digits$}  ", lesson.number);
    let indent = width(&lead) + 2;
    let room = usize::from(columns).saturating_sub(indent + 1).max(4);
    let text = lesson.text();
    let wide = room >= 56;
    let (source_long, source_short) = source(lesson, g.dot);
    let number = lesson.number;
    let mut push = |mark, lead: String, role, text: String, source| {
        rows.push(Row { lesson: number, mark, lead, text: (role, text), source });
    };
    let blank = (Role::Dim, " ");
    if let Some(solution) = &text.solution {
        push(mark, lead, role, one_line(&text.text), None);
        let lead = format!("{:width$}{} ", "", g.instead, width = indent - 2);
        let room = room.saturating_sub(2);
        let words = one_line(solution);
        let long = wide && width(&words) + width(&source_long) + 3 <= room;
        let source = if long { source_long } else { source_short };
        let words = fit(&words, room.saturating_sub(width(&source) + 2), g.more);
        push(blank, lead, if off { Role::Dim } else { Role::Good }, words, Some(source));
        return;
    }
    let words = one_line(&text.text);
    let long = wide && width(&words) + width(&source_long) + 3 <= room;
    let source = if long { source_long } else { source_short };
    let first_room = room.saturating_sub(width(&source) + 2).max(4);
    // A lone lane of a tall pane has room for whole sentences.
    let lines = if height >= 8 { wrap(&words, first_room) } else { vec![fit(&words, first_room, g.more)] };
    let most = 4;
    for (place, line) in lines.iter().take(most).enumerate() {
        let lead = if place == 0 { lead.clone() } else { " ".repeat(indent - 2) };
        let mark = if place == 0 { mark } else { blank };
        let source = (place == 0).then(|| source.clone());
        let line = if place + 1 == most && lines.len() > most {
            fit(line, first_room.saturating_sub(1), g.more)
        } else {
            line.clone()
        };
        push(mark, lead, role, line, source);
    }
}

/// Where a lesson comes from, at length and in short.
fn source(lesson: &Lesson, dot: &str) -> (String, String) {
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
    let turn = lesson.learnt_at.1;
    (format!("{who} {dot} turn {turn} {dot} {uses}"), format!("t{turn}"))
}

fn one_line(text: &str) -> String {
    clean(head(text, 600).0).split_whitespace().collect::<Vec<_>>().join(" ")
}
