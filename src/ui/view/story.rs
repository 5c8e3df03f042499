//! Story, Thoughts & actions, Observations: the steps around the chosen one, walked from it outward, so that the
//! length of the episode costs nothing.

use super::ViewCache;
use super::lanes::without_underline;
use super::live::live_rows;
use super::rows::{Offer, PaneContent, Row, RowLayout, reset_rows};
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::layout::PaneArea;
use crate::ui::model::Model;
use crate::ui::theme::Role;
use ratatui::layout::Rect;
use std::collections::VecDeque;
use std::sync::Arc;

/// Draws the steps.
pub(super) fn draw(
    model: &Model,
    look: &Context<'_>,
    parts: PaneContent,
    block: &PaneArea,
    scratch: &mut ViewCache,
    canvas: &mut Canvas<'_>,
) {
    let area = block.body;
    if area.is_empty() {
        return;
    }
    let scroll =
        if parts == PaneContent::Observations { model.scroll.observations } else { model.scroll.story };
    let rows = visible_rows(model, look, parts, area, scroll, scratch);
    let chosen = look.frame.selected_step();
    for (place, row) in rows.iter().enumerate() {
        let y = area.y + place as u16;
        scratch.step_hits.push((block.pane, y, row.step));
        draw_row(row, chosen, look.frame.is_in_past(), Rect { y, height: 1, ..area }, canvas);
    }
}

fn draw_row(row: &Row, chosen: u32, past: bool, area: Rect, canvas: &mut Canvas<'_>) {
    // What lies after the chosen moment has not happened there yet.
    let later = past && row.step > chosen;
    let paint = |role| if later { Role::Muted } else { role };
    let mut x = area.x;
    for (place, (role, text)) in row.pieces.iter().enumerate() {
        let role = if place == 0 && row.step == chosen { Role::TitleFocus } else { paint(*role) };
        let style = if place == 0 { without_underline(canvas.style(role)) } else { canvas.style(role) };
        x += canvas.put(x, area.y, area.right().saturating_sub(x), text, style);
    }
    if let Some((role, text)) = &row.tail {
        let room = area.right().saturating_sub(x + 2);
        canvas.put_right(area.right().saturating_sub(1), area.y, room, text, canvas.style(paint(*role)));
    }
    if row.step == chosen && !row.pieces.is_empty() && chosen > 0 {
        canvas.put(area.x, area.y, 1, canvas.glyphs.selection_edge, canvas.style(Role::TitleFocus));
    }
}

/// The rows that lie in the area.
fn visible_rows(
    model: &Model,
    look: &Context<'_>,
    parts: PaneContent,
    area: Rect,
    scroll: i32,
    scratch: &mut ViewCache,
) -> Vec<Row> {
    let Some(episode) = look.episode() else {
        return live_rows(look, RowLayout { content: parts, columns: area.width, digits: 1 }, model);
    };
    let last = episode.steps.len() as u32;
    let digits = last.max(10).ilog10() as u16 + 1;
    let measure = RowLayout { content: parts, columns: area.width, digits };
    let chosen = look.frame.selected_step().min(last);
    let height = usize::from(area.height);
    let mut source = RowSource { look, layout: measure, height, last, scratch, model };

    // In the past the chosen step lies at two thirds, so that what came of it can be read below.
    let below_wanted = if look.frame.is_in_past() { height / 3 } else { height };
    let mut below: VecDeque<Row> = VecDeque::new();
    let wanted_down = below_wanted.saturating_add((-scroll.min(0)) as usize);
    let mut next = chosen + 1;
    while below.len() < wanted_down && next <= last + 1 {
        below.extend(source.rows(next).iter().cloned());
        next += 1;
    }
    // In the present the end of what is going on is what can be done now: that is never cut off.
    if look.frame.is_in_past() || chosen < last {
        below.truncate(wanted_down);
    }

    let mut above: VecDeque<Row> = VecDeque::new();
    let wanted_up = height + scroll.max(0) as usize;
    let mut back = i64::from(chosen);
    while above.len() < wanted_up && back >= 0 {
        for row in source.rows(back as u32).iter().rev() {
            above.push_front(row.clone());
        }
        back -= 1;
    }
    // Where the beginning is near, more of what follows fits.
    while above.len() + below.len() < height && next <= last + 1 {
        below.extend(source.rows(next).iter().cloned());
        next += 1;
    }
    let below_rows = below.len();
    let mut rows: Vec<Row> = above.into();
    rows.extend(below);
    let surplus = rows.len().saturating_sub(height);
    let shift = (scroll.max(0) as usize).min(surplus);
    let from = surplus - shift;
    // How far this could be scrolled: without end while there are steps that were not walked.
    let up = if back >= 0 { i32::MAX } else { saturating_i32(surplus) };
    let down =
        if next <= last + 1 { i32::MAX } else { saturating_i32(below_rows.saturating_sub(below_wanted)) };
    source.scratch.scroll_limits.insert(parts, (up, if look.frame.is_in_past() { down } else { 0 }));
    rows.into_iter().skip(from).take(height).collect()
}

/// Of a failed call whose rows don't fit, the first two stay, which say what failed, and the last, which have the keys.
fn with_head(mut rows: Vec<Row>, height: usize, look: &Context<'_>) -> Vec<Row> {
    const HEAD: usize = 2;
    if look.frame.head.failed_call.is_some() && height > 2 * HEAD && rows.len() > height {
        rows.drain(HEAD..rows.len() - (height - HEAD));
        if let Some((_, text)) = rows.get_mut(HEAD - 1).and_then(|row| row.pieces.last_mut()) {
            *text = format!("{}{}", text.trim_end(), look.glyphs.ellipsis);
        }
    }
    rows
}

fn saturating_i32(rows: usize) -> i32 {
    i32::try_from(rows).unwrap_or(i32::MAX)
}

/// Where rows come from, by step number; the place after the last is what is going on just now.
struct RowSource<'a, 'b> {
    look: &'a Context<'b>,
    layout: RowLayout,
    height: usize,
    last: u32,
    scratch: &'a mut ViewCache,
    model: &'a Model,
}

impl RowSource<'_, '_> {
    fn rows(&mut self, number: u32) -> Arc<[Row]> {
        let Some(episode) = self.look.episode() else { return Arc::default() };
        let glyphs = self.look.glyphs;
        if number == 0 {
            let text =
                episode.first_observation.as_ref().map_or("", |r| r.agent_view.as_deref().unwrap_or(&r.raw));
            return reset_rows(text, self.layout, glyphs).into();
        }
        if number > self.last {
            return with_head(live_rows(self.look, self.layout, self.model), self.height, self.look).into();
        }
        let Some(step) = self.look.step(number) else { return Arc::default() };
        let state = self.look.state_for_step(number);
        let offer = Offer::of(step, self.look);
        self.scratch.cached_step_rows(step, state, offer.as_ref(), self.layout, glyphs)
    }
}
