//! Story, Thoughts & actions, Observations: draws the steps around the selected one. It walks outward from there, so
//! the cost doesn't grow with the episode.

use super::lanes::without_underline;
use super::live::live_rows;
use super::rows::{Offer, PaneContent, Row, RowLayout, start_rows};
use crate::text::width;
use crate::ui::canvas::Canvas;
use crate::ui::frame_data::Context;
use crate::ui::layout::PaneArea;
use crate::ui::model::Model;
use crate::ui::theme::Role;
use crate::ui::view::cache::ViewCache;
use ratatui::layout::Rect;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Draws the steps.
pub(super) fn draw(
    model: &Model,
    context: &Context<'_>,
    content: PaneContent,
    pane: &PaneArea,
    cache: &mut ViewCache,
    canvas: &mut Canvas<'_>,
) {
    let area = pane.body;
    if area.is_empty() {
        return;
    }
    let scroll =
        if content == PaneContent::Observations { model.scroll.observations } else { model.scroll.story };
    let rows = visible_rows(model, context, content, area, scroll, cache);
    let chosen = context.frame.selected_step();
    for (place, row) in rows.iter().enumerate() {
        let y = area.y + place as u16;
        cache.step_hits.push((pane.pane, y, row.step));
        let line = Rect { y, height: 1, ..area };
        // Steps after the selected one haven't happened yet at that point.
        let time = match row.step {
            step if step == chosen => RowTime::Selected,
            step if step > chosen && context.frame.is_in_past() => RowTime::Later,
            _ => RowTime::Other,
        };
        draw_row(row, time, line, canvas);
        if row.step == chosen && !row.pieces.is_empty() && chosen > 0 {
            let style = without_underline(canvas.style(Role::TitleFocus));
            canvas.put(line.x, y, 1, canvas.glyphs.selection_edge, style);
        }
    }
}

/// Which step a row is of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RowTime {
    Selected,
    /// One after the selected one, in the past; it is dimmed.
    Later,
    Other,
}

/// Draws a row.
pub(super) fn draw_row(row: &Row, time: RowTime, area: Rect, canvas: &mut Canvas<'_>) {
    let paint = |role| if time == RowTime::Later { Role::Muted } else { role };
    let mut x = area.x;
    for (place, (role, text)) in row.pieces.iter().enumerate() {
        let role = if place == 0 && time == RowTime::Selected { Role::TitleFocus } else { paint(*role) };
        // An underlined margin would be a line of its own.
        let style = if place == 0 { without_underline(canvas.style(role)) } else { canvas.style(role) };
        x += canvas.put(x, area.y, area.right().saturating_sub(x), text, style);
    }
    let right = area.right().saturating_sub(1);
    let tail_columns: usize = row.tail.iter().map(|(_, text)| width(text)).sum();
    let mut x = right.saturating_sub(tail_columns as u16).max(x + 1);
    for (role, text) in &row.tail {
        x += canvas.put(x, area.y, right.saturating_sub(x), text, canvas.style(paint(*role)));
    }
}

fn row_layout(content: PaneContent, columns: u16, digits: u16, model: &Model) -> RowLayout {
    RowLayout { content, columns, digits, shows_reasoning: model.show_reasoning, observation_rows: 0 }
}

/// Returns the visible rows.
fn visible_rows(
    model: &Model,
    context: &Context<'_>,
    content: PaneContent,
    area: Rect,
    scroll: i32,
    cache: &mut ViewCache,
) -> Vec<Row> {
    let Some(episode) = context.episode() else {
        return live_rows(context, row_layout(content, area.width, 1, model), model);
    };
    let last = episode.steps.len() as u32;
    let digits = last.max(10).ilog10() as u16 + 1;
    let layout = row_layout(content, area.width, digits, model);
    let chosen = context.frame.selected_step().min(last);
    let height = usize::from(area.height);
    let mut source =
        RowSource { context, layout, height, last, observation_rows: HashMap::new(), cache, model };
    if content == PaneContent::ThoughtsAndActions {
        source.fill_with_observations();
    }

    let mut above: VecDeque<Row> = VecDeque::new();
    let is_in_past = context.frame.is_in_past();
    // Of a step that is higher than the pane, the past shows the head first.
    let own_rows = if is_in_past { source.rows(chosen).len() } else { 0 };
    let head_scroll = saturating_i32(own_rows.saturating_sub(height));
    let scroll = scroll.saturating_add(head_scroll);
    let wanted_up = height + scroll.max(0) as usize;
    let mut back = i64::from(chosen);
    while above.len() < wanted_up && back >= 0 {
        for row in source.rows(back as u32).iter().rev() {
            above.push_front(row.clone());
        }
        back -= 1;
    }
    // In the past the selected step lies at two thirds of the height, so that what followed is visible below; near the
    // beginning, more of that fits, and of a high step less.
    let below_wanted = if is_in_past {
        (height / 3).max(height.saturating_sub(above.len())).min(height.saturating_sub(own_rows))
    } else {
        height
    };
    let wanted_down = below_wanted.saturating_add((-scroll.min(0)) as usize);
    let mut below: Vec<Row> = Vec::new();
    let mut next = chosen + 1;
    while below.len() < wanted_down && next <= last + 1 {
        below.extend(source.rows(next).iter().cloned());
        next += 1;
    }
    let below_rows = below.len();
    // In the present the last rows say what can be done now, so they are never cut off.
    if is_in_past || chosen < last {
        below.truncate(wanted_down);
    }
    let mut rows: Vec<Row> = above.into();
    rows.extend(below);
    let surplus = rows.len().saturating_sub(height);
    let shift = (scroll.max(0) as usize).min(surplus);
    let from = surplus - shift;
    // The scroll limits: unlimited while there are steps that were not visited.
    let up = if back >= 0 { i32::MAX } else { saturating_i32(surplus) - head_scroll };
    let down = if next <= last + 1 {
        i32::MAX
    } else {
        saturating_i32(below_rows.saturating_sub(below_wanted)).saturating_add(head_scroll)
    };
    source.cache.scroll_limits.insert(content, (up, if is_in_past { down } else { 0 }));
    rows.into_iter().skip(from).take(height).collect()
}

/// Shortens the rows of a failed call that don't fit: keeps the first two, which say what failed, and the last, which
/// name the keys.
fn with_head(mut rows: Vec<Row>, height: usize, context: &Context<'_>) -> Vec<Row> {
    const HEAD: usize = 2;
    if context.frame.head.failed_call.is_some() && height > 2 * HEAD && rows.len() > height {
        rows.drain(HEAD..rows.len() - (height - HEAD));
        if let Some((_, text)) = rows.get_mut(HEAD - 1).and_then(|row| row.pieces.last_mut()) {
            *text = format!("{}{}", text.trim_end(), context.glyphs.ellipsis);
        }
    }
    rows
}

fn saturating_i32(rows: usize) -> i32 {
    i32::try_from(rows).unwrap_or(i32::MAX)
}

/// Supplies rows by step number; the number after the last step stands for the live rows.
struct RowSource<'a, 'b> {
    context: &'a Context<'b>,
    layout: RowLayout,
    height: usize,
    last: u32,
    /// The most rows of the observations that are shown among thoughts and actions, by step.
    observation_rows: HashMap<u32, usize>,
    cache: &'a mut ViewCache,
    model: &'a Model,
}

impl RowSource<'_, '_> {
    /// Fills the rows that the whole episode leaves free with observations, those of the newest steps first. The last one is cut to
    /// what is left: as an episode grows, its oldest observations make room and its newest rows stay at the bottom of the pane.
    fn fill_with_observations(&mut self) {
        let mut spare = self.height;
        for number in (0..=self.last + 1).rev() {
            let rows = self.rows(number).len();
            if rows >= spare {
                return;
            }
            spare -= rows;
        }
        for number in (0..=self.last).rev() {
            let folded = self.rows(number).len();
            let mut most = usize::MAX;
            // What stands at the right edge may need a row more.
            let added = loop {
                self.observation_rows.insert(number, most);
                let added = self.rows(number).len().saturating_sub(folded);
                if added <= spare {
                    break added;
                }
                most = spare.min(most - 1);
            };
            spare -= added;
            if spare == 0 {
                return;
            }
        }
    }

    fn rows(&mut self, number: u32) -> Arc<[Row]> {
        let Some(episode) = self.context.episode() else { return Arc::default() };
        let glyphs = self.context.glyphs;
        let observation_rows = self.observation_rows.get(&number).copied().unwrap_or(0);
        let layout = RowLayout { observation_rows, ..self.layout };
        if number == 0 {
            let state = self.context.state_for_step(0);
            return start_rows(episode, state, layout, glyphs).into();
        }
        if number > self.last {
            return with_head(live_rows(self.context, self.layout, self.model), self.height, self.context)
                .into();
        }
        let Some(step) = self.context.step(number) else { return Arc::default() };
        let state = self.context.state_for_step(number);
        let offer = Offer::for_step(step, self.context);
        self.cache.cached_step_rows(step, state, offer.as_ref(), layout, glyphs)
    }
}
