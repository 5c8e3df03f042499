//! The lesson lanes. A row has a mark, a number, the text and the source. An Error lesson has two rows: the mistake and
//! what to do instead. A memory also has its observation and action.

mod curve;
mod lesson;
mod mentor_stream;
mod plan;
mod trial_status;

use super::pane_frame;
use crate::catalog::{Lane, LaneFormat, lane_labels, lesson_note, search_histories};
use crate::domain::{Lesson, SameAdvice, SearchHistory};
use crate::engine::State;
use crate::text::{width, wrap};
use crate::ui::canvas::Canvas;
use crate::ui::frame_data::Context;
use crate::ui::glyphs::Glyphs;
use crate::ui::layout::{LaneRows, Pane, PaneArea};
use crate::ui::model::Model;
use crate::ui::selection::selected_lesson_number;
use crate::ui::theme::Role;
use crate::ui::types::Focus;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use std::collections::HashMap;

/// Draws one lane, or the selected lane with the others as tabs.
pub fn draw(model: &Model, context: &Context<'_>, area: &PaneArea, canvas: &mut Canvas<'_>) {
    let lanes = context.lanes();
    let chosen = model.selected_lane_index(context);
    let (place, tabs) = match area.pane {
        Pane::Lane(n) => (n, false),
        _ => (chosen, true),
    };
    let Some(lane) = lanes.get(place) else { return };
    let focused = model.focus == Focus::Lanes && place == chosen;
    let mut body = area.body;
    // The trial status of the task appears once: in the first lane, or in the only visible one.
    let status = if place == 0 || tabs || model.zoomed {
        trial_status::trial_labels(context.displayed_state(), context.glyphs.separator)
    } else {
        Vec::new()
    };
    let labels = if status.is_empty() { lane_labels(context.displayed_state(), lane) } else { Vec::new() };
    let roomy = body.height >= 3;
    let mut above = None;
    if let Some(title) = area.title {
        let room = draw_titles(model, context, title, place, tabs, canvas);
        // The full status goes into the title or, where there is room, a row of its own. If that row is too short,
        // the first part goes into the title and the rest into the row. Otherwise as much as fits.
        let fits = |w: &&str| width(w) + 2 <= usize::from(room);
        let whole = status.first().map(String::as_str).filter(fits);
        let mut right = whole.or_else(|| status.iter().chain(&labels).map(String::as_str).find(fits));
        if let Some(all) = status.first().filter(|_| roomy && status.len() > 1 && whole.is_none()) {
            let in_row = width(all) + 8 <= usize::from(body.width);
            (right, above) = match all.split_once(&format!(" {} ", context.glyphs.separator)) {
                Some((first, rest)) if !in_row && width(rest) + 8 <= usize::from(body.width) => {
                    (Some(first), Some(rest))
                }
                // Too narrow for both: show what fits in the title.
                _ if !in_row => (right, None),
                _ => (None, Some(all.as_str())),
            };
        }
        if let Some(text) = right {
            let right = title.right().saturating_sub(if tabs && lanes.len() > 1 { 8 } else { 2 });
            canvas.put_right(right, title.y, room, &format!(" {text} "), canvas.style(Role::Muted));
        }
    }
    let state = context.displayed_state();
    if let Some(text) = above {
        canvas.put(body.x + 7, body.y, body.width.saturating_sub(8), text, canvas.style(Role::Muted));
        body = without_first_row(body);
    }
    if let Some(same) = repeated_advice(state, lane).filter(|_| body.height > 1) {
        let style = canvas.style(Role::Warning);
        canvas.put(body.x + 1, body.y, 1, context.glyphs.mistake, style);
        canvas.put(body.x + 7, body.y, body.width.saturating_sub(8), &same.describe(), style);
        body = without_first_row(body);
    }
    let writing = mentor_stream::streaming_reply_rows(context, lane, body, model.reduced_motion);
    for row in &writing {
        draw_row(row, false, None, Rect { height: body.height.min(1), ..body }, canvas);
        body = without_first_row(body);
    }
    let picked = selected_lesson_number(model, state, lane);
    let search = searched(state, lane);
    let curve_rows =
        if search.is_some() { curve::rows(body.height, record_rows(context, lane, picked, body)) } else { 0 };
    let (mut lessons, mut folded) = listed_lessons(state, lane, picked.filter(|_| focused));
    let unfolded = Some(lane.newest_first(state)).filter(|_| (1..MIN_FOLDED_LESSONS).contains(&folded));
    // A few take only the rows that are left.
    if let Some(all) = unfolded.filter(|all| rows_of_all(context, lane, all, body) <= body.height) {
        (lessons, folded) = (all, 0);
    }
    let fold_rows = u16::from(folded > 0 && body.height > curve_rows);
    let list = Rect { height: body.height - curve_rows - fold_rows, ..body };
    let rows = visible_rows(context, lane, &lessons, picked, list);
    if fold_rows > 0 {
        let (y, style) = (body.y + rows.len() as u16, canvas.style(Role::Muted));
        let tasks = if folded == 1 { "another task" } else { "other tasks" };
        let text = format!("{} {folded} about {tasks}", context.glyphs.ellipsis);
        canvas.put(body.x + 7, y, body.width.saturating_sub(8), &text, style);
    }
    if rows.is_empty() && folded == 0 && writing.is_empty() && body.height > 0 {
        let lines = empty_lane_lines(state, lane, body.width);
        for (line, y) in lines.iter().zip(body.top()..body.bottom()) {
            canvas.put(body.x + 7, y, body.width.saturating_sub(8), line, canvas.style(Role::Muted));
        }
    }
    let numbers: Vec<u32> = lessons.iter().map(|l| l.number).collect();
    let marks = overflow_marks(&numbers, &rows, canvas.glyphs);
    for (place, row) in rows.iter().enumerate() {
        let y = body.y + place as u16;
        let at = Rect { y, height: 1, ..body };
        let mark = marks.iter().rev().find(|mark| mark.0 == place).map(|mark| mark.1);
        draw_row(row, focused && Some(row.lesson) == picked, mark, at, canvas);
    }
    if let Some(search) = search.filter(|_| !rows.is_empty() && body.width > 2) {
        let used = rows.len() as u16;
        // Apart from the records where there is room.
        let gap = u16::from(used + curve_rows < body.height);
        let (x, y) = (body.x + 1, body.y + used + gap);
        curve::draw(&search, Rect { x, y, width: body.width - 2, height: curve_rows }, canvas);
    }
}

/// Returns the search whose rewards a lane records, the last one of a run with several types of tasks.
fn searched(state: &State, lane: &Lane) -> Option<SearchHistory> {
    if lane.format == LaneFormat::Record { search_histories(state).pop() } else { None }
}

/// Returns how many rows the selected record of a lane needs, or the newest one.
fn record_rows(context: &Context<'_>, lane: &Lane, picked: Option<u32>, area: Rect) -> u16 {
    let state = context.displayed_state();
    let records = lane.newest_first(state);
    let record = records.iter().find(|record| Some(record.number) == picked).or(records.first());
    let rows =
        |lesson| lesson::lesson_rows(lesson, context, lane.format, area.width, digits(state), MAX_TEXT_LINES);
    record.map_or(0, |record| rows(record).len() as u16)
}

/// Returns how the last advice of a lane on the present task repeats what was said before, if it does.
fn repeated_advice(state: &State, lane: &Lane) -> Option<SameAdvice> {
    let task = &state.episode.as_deref()?.task;
    lane.kinds.iter().find_map(|kind| state.last_advice(*kind, task)?.repeated_advice())
}

/// The most rows that a lane wants for its records.
const MAX_RECORD_ROWS: u16 = 6;
/// The most lines of a lesson's text.
const MAX_TEXT_LINES: usize = 8;

/// Returns the number of digits of the lessons' numbers, at least 2.
fn digits(state: &State) -> usize {
    state.pool.len().max(10).ilog10() as usize + 1
}

/// The rows of a lesson of which the method knows something: its text, and what is known.
const NOTED_ROWS: u16 = 3;

/// The rows that the lane with the focus keeps, without its title: room for the selected lesson and what was measured of it.
const FOCUSED_ROWS: u16 = 8;

/// Returns for each lane the rows that its lessons could use in a column of an area; with an empty one, nothing is measured. Of
/// records the newest ones matter, and their curve; of lessons with a note the newest and the selected one. The lane with the focus
/// keeps some rows more than others.
pub(super) fn wanted_rows(model: &Model, context: &Context<'_>, area: Rect) -> Vec<LaneRows> {
    let focused = (model.focus == Focus::Lanes).then(|| model.selected_lane_index(context));
    let with_focus = |(place, lane): (usize, &Lane)| {
        let rows = rows_wanted(context, lane, area);
        if focused != Some(place) || rows.is_empty || rows.keeps_more() {
            return rows;
        }
        LaneRows { least: rows.least.max(rows.wanted.min(FOCUSED_ROWS) + 1), ..rows }
    };
    context.lanes().iter().enumerate().map(with_focus).collect()
}

/// Returns the rows that the lessons of a lane could use in a column of an area.
fn rows_wanted(context: &Context<'_>, lane: &Lane, area: Rect) -> LaneRows {
    let state = context.displayed_state();
    let wanted = content_rows(context, lane, area);
    let newest = lane.lessons(state).next_back();
    if lane.format == LaneFormat::Record && newest.is_some() {
        let wanted = wanted.min(MAX_RECORD_ROWS) + curve::WANTED_ROWS;
        // Long lanes of advice leave it two records, the curve, and the title.
        return LaneRows { least: 2 + curve::WANTED_ROWS + 1, ..LaneRows::wanting(wanted) };
    }
    let noted = newest.filter(|_| lane.format == LaneFormat::Plain);
    if noted.is_some_and(|newest| lesson_note(state, newest).is_some()) {
        let kept = NOTED_ROWS * if lane.lessons(state).nth(1).is_some() { 2 } else { 1 };
        return LaneRows { least: kept + 1, ..LaneRows::wanting(wanted) };
    }
    let is_used = newest.is_some()
        || repeated_advice(state, lane).is_some()
        || mentor_stream::lane_calls(context, lane).next().is_some();
    if is_used { LaneRows::wanting(wanted) } else { LaneRows::of_text(wanted) }
}

/// Returns how many rows of an area show all that a lane has, at most its height.
fn content_rows(context: &Context<'_>, lane: &Lane, area: Rect) -> u16 {
    if area.is_empty() {
        return 0;
    }
    let state = context.displayed_state();
    let (lessons, folded) = listed_lessons(state, lane, None);
    if lessons.is_empty() && folded == 0 {
        return empty_lane_lines(state, lane, area.width).len() as u16;
    }
    let above = u16::from(repeated_advice(state, lane).is_some()) + u16::from(folded > 0);
    above.saturating_add(rows_of_all(context, lane, &lessons, area)).min(area.height)
}

/// Returns how many rows lessons need without a cut; of those that need more than an area has, at least one more than it has.
fn rows_of_all(context: &Context<'_>, lane: &Lane, lessons: &[&Lesson], area: Rect) -> u16 {
    let (digits, longest) = (digits(context.displayed_state()), longest_lesson(lane, area));
    let mut rows = 0_u16;
    for lesson in lessons {
        if rows > area.height {
            break;
        }
        let all = lesson::lesson_rows(lesson, context, lane.format, area.width, digits, longest).len();
        rows = rows.saturating_add(all as u16);
    }
    rows
}

/// Returns the most lines of a lesson: the text is bounded; a plan has as many rows as fit.
fn longest_lesson(lane: &Lane, area: Rect) -> usize {
    if lane.format == LaneFormat::Actions { usize::from(area.height).max(1) } else { MAX_TEXT_LINES }
}

/// Returns why a lane is empty, in lines.
fn empty_lane_lines(state: &State, lane: &Lane, columns: u16) -> Vec<String> {
    let columns = usize::from(columns).saturating_sub(8).max(4);
    wrap(&trial_status::empty_lane_text(state, lane, columns), columns)
}

/// Returns the rows with a mark at the right edge: there are lessons above or below the visible rows, or between the newest one and
/// the others.
fn overflow_marks(all: &[u32], rows: &[LaneRow], glyphs: &Glyphs) -> Vec<(usize, &'static str)> {
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Vec::new() };
    let [above, below] = glyphs.scroll_arrows;
    let second = rows.iter().position(|row| row.lesson != first.lesson);
    let hidden_above = if all.first() == Some(&first.lesson) {
        second.filter(|place| all.get(1) != Some(&rows[*place].lesson))
    } else {
        Some(0)
    };
    let hidden_below = (all.last() != Some(&last.lesson)).then(|| rows.len() - 1);
    let marks = [hidden_above.map(|place| (place, above)), hidden_below.map(|place| (place, below))];
    marks.into_iter().flatten().collect()
}

/// Returns the area below its first row.
fn without_first_row(area: Rect) -> Rect {
    let taken = area.height.min(1);
    Rect { y: area.y + taken, height: area.height - taken, ..area }
}

/// A row of a lane.
struct LaneRow {
    lesson: u32,
    mark: (Role, &'static str),
    lead: String,
    text: (Role, String),
    source: Option<(Role, String)>,
}

fn draw_row(row: &LaneRow, picked: bool, mark: Option<&str>, area: Rect, canvas: &mut Canvas<'_>) {
    if area.is_empty() {
        return;
    }
    let right = area.right().saturating_sub(1);
    if picked {
        let style = without_underline(canvas.style(Role::TitleFocus));
        canvas.put(area.x, area.y, 1, canvas.glyphs.selection_edge, style);
    }
    canvas.put(area.x + 1, area.y, 1, row.mark.1, canvas.style(row.mark.0));
    let lead_role = if picked { Role::TitleFocus } else { Role::Muted };
    let mut x = area.x + 2;
    x +=
        canvas.put(x, area.y, right.saturating_sub(x), &row.lead, without_underline(canvas.style(lead_role)));
    x += canvas.put(x, area.y, right.saturating_sub(x), &row.text.1, canvas.style(row.text.0));
    if let Some(mark) = mark {
        canvas.put(right, area.y, 1, mark, canvas.style(Role::Muted));
    }
    // A blank before the mark.
    let right = if mark.is_some() { right.saturating_sub(1) } else { right };
    if let Some((role, source)) = &row.source {
        canvas.put_right(right, area.y, right.saturating_sub(x + 1), source, canvas.style(*role));
    }
}

/// Removes underlining, for blanks and numbers at the edge: underlined blanks look like an input field.
pub(super) fn without_underline(style: Style) -> Style {
    style.remove_modifier(Modifier::UNDERLINED)
}

/// Draws the titles and returns the number of columns left in the row.
fn draw_titles(
    model: &Model,
    context: &Context<'_>,
    area: Rect,
    lane: usize,
    tabs: bool,
    canvas: &mut Canvas<'_>,
) -> u16 {
    let state = context.displayed_state();
    let focused = model.focus == Focus::Lanes && (tabs || lane == model.selected_lane_index(context));
    let name = |lane: &Lane| {
        let has_new = lane.lessons(state).any(|l| l.is_active() && lesson::is_new(l));
        let new = if has_new { format!(" {}", context.glyphs.new_lesson) } else { String::new() };
        format!("{} {}{new}", lane.title, lane.lessons(state).count())
    };
    let own = if focused { Role::TitleFocus } else { Role::Title };
    if !tabs {
        let Some(lane_info) = context.lanes().get(lane) else { return 0 };
        let (digit, name) = (format!("{} ", super::FIRST_LANE + lane), name(lane_info));
        pane_frame::draw_title(area, &[(Role::Muted, &digit), (own, &name)], canvas);
        return area.width.saturating_sub((width(&digit) + width(&name)) as u16 + 6);
    }
    let mut pieces: Vec<(Role, String)> = Vec::new();
    // Keep the order of wide screens, and only move the brackets.
    for (place, other) in context.lanes().iter().enumerate() {
        let gap = if place > 0 { "  " } else { "" };
        pieces.push((Role::Muted, gap.to_owned()));
        pieces.push(if place == lane {
            (own, format!("[{}]", name(other)))
        } else {
            (Role::Muted, name(other))
        });
    }
    let used: usize = pieces.iter().map(|(_, text)| width(text)).sum();
    let pieces: Vec<(Role, &str)> = pieces.iter().map(|(r, t)| (*r, t.as_str())).collect();
    pane_frame::draw_title(area, &pieces, canvas);
    if context.lanes().len() > 1 {
        let key = context.keymap.key_label(crate::ui::keymap::Action::NextPane).unwrap_or_default();
        pane_frame::draw_right_title(area, Role::Muted, &key, canvas);
    }
    area.width.saturating_sub(used as u16 + 12)
}

/// The fewest lessons about other tasks that are folded even if there is room for them.
const MIN_FOLDED_LESSONS: usize = 3;

/// Returns the lessons that a lane lists, newest first, and how many lessons about other tasks it folds: this task's prompts leave
/// them out. If `selected` is one of those, all are listed.
fn listed_lessons<'a>(state: &'a State, lane: &Lane, selected: Option<u32>) -> (Vec<&'a Lesson>, usize) {
    let all = lane.newest_first(state);
    let is_elsewhere = |lesson: &&Lesson| lesson.is_active() && state.is_out_of_scope(lesson);
    let (elsewhere, here): (Vec<&Lesson>, Vec<&Lesson>) = all.iter().copied().partition(is_elsewhere);
    let is_unfolded = elsewhere.iter().any(|lesson| Some(lesson.number) == selected);
    if is_unfolded { (all, 0) } else { (here, elsewhere.len()) }
}

/// Returns the visible rows: the selected lesson is complete, preceded by as many lessons as fit. A newest one of which the method
/// knows something is above them, even if others are between.
fn visible_rows(
    context: &Context<'_>,
    lane: &Lane,
    lessons: &[&Lesson],
    picked: Option<u32>,
    area: Rect,
) -> Vec<LaneRow> {
    let height = usize::from(area.height);
    let digits = digits(context.displayed_state());
    let rows =
        |lesson: &Lesson, most| lesson::lesson_rows(lesson, context, lane.format, area.width, digits, most);
    // What a title says of a record needs no row.
    let kept = |lesson: &Lesson| match lane.format {
        LaneFormat::Record => 1,
        _ => lesson::noted_lines(lesson, context, area.width, digits),
    };
    let longest = longest_lesson(lane, area);
    let most = lines_per_lesson(lessons, picked, (height, longest), kept, |l, most| rows(l, most).len());
    let lesson_rows = |lesson: &Lesson| rows(lesson, most.get(&lesson.number).copied().unwrap_or(1));
    let place = lessons.iter().position(|l| Some(l.number) == picked).unwrap_or(0);
    let picked_rows = lessons.get(place).map_or(0, |l| lesson_rows(l).len());
    let first_visible = |height: usize| {
        let (mut first, mut used) = (place, picked_rows);
        while first > 0 && used < height {
            used += lessons.get(first - 1).map_or(0, |l| lesson_rows(l).len());
            if used > height {
                break;
            }
            first -= 1;
        }
        first
    };
    let mut first = first_visible(height);
    let mut visible = Vec::new();
    if let Some(newest) = lessons.first().filter(|newest| first > 0 && kept(newest) > 1) {
        let rows = lesson_rows(newest);
        if rows.len() + picked_rows <= height {
            first = first_visible(height - rows.len());
            visible = rows;
        }
    }
    for lesson in lessons.iter().skip(first) {
        if visible.len() >= height {
            break;
        }
        visible.extend(lesson_rows(lesson));
    }
    visible.truncate(height);
    visible
}

/// Returns how many text lines each lesson gets: one, the selected and the newest one as many as `kept` says, plus spare rows,
/// which go first to the selected lesson and then from the top, to each as many as its text needs.
fn lines_per_lesson(
    lessons: &[&Lesson],
    picked: Option<u32>,
    (height, longest): (usize, usize),
    kept: impl Fn(&Lesson) -> usize,
    rows: impl Fn(&Lesson, usize) -> usize,
) -> HashMap<u32, usize> {
    // A long list isn't measured: lessons that don't fit with one row each leave no spare rows.
    let least: usize = if lessons.len() > height { height } else { lessons.iter().map(|l| rows(l, 1)).sum() };
    let mut spare = height.saturating_sub(least);
    let mut most = HashMap::new();
    let is_picked = |l: &&&Lesson| Some(l.number) == picked;
    let selected = lessons.iter().find(is_picked);
    let newest = lessons.first().filter(|newest| !is_picked(newest));
    let mut left = height;
    for lesson in selected.into_iter().chain(newest) {
        let lines = kept(lesson).min(left).max(1);
        left = left.saturating_sub(rows(lesson, lines));
        spare = spare.saturating_sub(lines - 1);
        most.insert(lesson.number, lines);
    }
    for lesson in lessons.iter().filter(is_picked).chain(lessons.iter().filter(|l| !is_picked(l))) {
        if spare == 0 {
            break;
        }
        let lines = most.get(&lesson.number).copied().unwrap_or(1);
        let granted = rows(lesson, longest).saturating_sub(rows(lesson, lines)).min(spare);
        spare -= granted;
        most.insert(lesson.number, lines + granted);
    }
    most
}
