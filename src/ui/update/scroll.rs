//! Scrolls the panes and moves the focus between them.

use super::{cursor, lesson};
use crate::ui::frame_data::Context;
use crate::ui::layout::{Arrangement, Pane};
use crate::ui::model::Model;
use crate::ui::msg::Request;
use crate::ui::types::Focus;
use crate::ui::view::cache::ViewCache;
use crate::ui::view::rows::PaneContent;

/// The most rows that the stored measurement of a demo is scrolled by: it has few more than a low screen.
const MAX_STILL_SCROLL: i32 = 20;

/// Scrolls the focused pane down by a number of rows (negative: up). In a lane the selection moves, on the timeline
/// the cursor.
pub(super) fn scroll_rows(
    model: &mut Model,
    context: &Context<'_>,
    cache: &ViewCache,
    by: i32,
) -> Vec<Request> {
    if model.shown_measurement(context).is_some() {
        let to = i32::from(model.scroll.still) + by;
        model.scroll.still = to.clamp(0, MAX_STILL_SCROLL) as u16;
        return Vec::new();
    }
    match model.focus {
        Focus::Story => {
            let parts =
                if has_separate_panes(model) { PaneContent::ThoughtsAndActions } else { PaneContent::All };
            model.scroll.story = clamp_offset(model.scroll.story - by, cache, parts);
        }
        Focus::Observations => {
            model.scroll.observations =
                clamp_offset(model.scroll.observations - by, cache, PaneContent::Observations);
        }
        Focus::World => {
            let to = i32::from(model.scroll.world) + by;
            model.scroll.world = to.clamp(0, i32::from(cache.world_max_scroll)) as u16;
        }
        Focus::Lanes => lesson::move_selection(model, context, by as isize),
        Focus::Timeline => return cursor::move_steps(model, context, i64::from(by)),
    }
    Vec::new()
}

/// Scrolls the focused pane by a number of pages.
pub(super) fn scroll_page(
    model: &mut Model,
    context: &Context<'_>,
    cache: &ViewCache,
    by: i32,
) -> Vec<Request> {
    let height = cache
        .layout
        .area_for(model.focus, model.selected_lane_index(context))
        .map_or(10, |b| i32::from(b.body.height));
    let rows_of_page = match model.focus {
        Focus::Lanes => (height / 2).max(1),
        Focus::Timeline => 10,
        _ => (height - 2).max(1),
    };
    scroll_rows(model, context, cache, by * rows_of_page)
}

fn clamp_offset(to: i32, cache: &ViewCache, parts: PaneContent) -> i32 {
    let (up, down) = cache.scroll_limits.get(&parts).copied().unwrap_or_default();
    to.clamp(-down.max(0), up.max(0))
}

fn has_separate_panes(model: &Model) -> bool {
    model.arrangement() == Arrangement::ThreeColumns
}

/// Returns the visible panes in the order in which Tab visits them. Where the lanes share one area, the visit begins
/// with the lane shown there and the others follow.
fn tab_order(model: &Model, context: &Context<'_>, cache: &ViewCache, by: isize) -> Vec<(Focus, usize)> {
    let (lane, lanes) = (model.selected_lane_index(context), context.lanes().len());
    let seen = |focus| {
        let blocks = &cache.layout.areas;
        model.zoomed || blocks.is_empty() || blocks.iter().any(|b| b.pane.focus() == focus)
    };
    let mut order = vec![(Focus::Story, lane)];
    if has_separate_panes(model) {
        order.push((Focus::Observations, lane));
    }
    let first = match (model.arrangement(), model.focus) {
        (Arrangement::TwoColumns | Arrangement::ThreeColumns, _) => 0,
        (Arrangement::OneColumn, Focus::Lanes) => model.first_visited_lane,
        // Going backwards, the lane shown comes last in the order, so that it is visited first.
        (Arrangement::OneColumn, _) => lane + usize::from(by < 0),
    };
    order.extend((0..lanes).map(|n| (Focus::Lanes, (first + n) % lanes.max(1))));
    order.push((Focus::World, lane));
    order.retain(|(focus, _)| seen(*focus));
    order
}

/// Moves the focus to the next or previous pane, counting every lane as a pane.
pub(super) fn focus_next_pane(
    model: &mut Model,
    context: &Context<'_>,
    cache: &ViewCache,
    by: isize,
) -> Vec<Request> {
    let order = tab_order(model, context, cache, by);
    let lane = model.selected_lane_index(context);
    let is_current =
        |&(focus, index): &(Focus, usize)| focus == model.focus && (focus != Focus::Lanes || index == lane);
    let at = order.iter().position(is_current).unwrap_or(0);
    let to = (at.cast_signed() + by).rem_euclid(order.len().max(1).cast_signed()).cast_unsigned();
    if let Some(&(focus, lane)) = order.get(to) {
        if focus == Focus::Lanes && model.focus != Focus::Lanes {
            let first = order.iter().find(|(focus, _)| *focus == Focus::Lanes);
            model.first_visited_lane = first.map_or(0, |(_, lane)| *lane);
        }
        model.focus = focus;
        model.selected_lane = (focus == Focus::Lanes).then_some(lane).or(model.selected_lane);
    }
    Vec::new()
}

/// Focuses a pane by its digit: 1 Story, 2 World, from 3 the lanes, then Observations and Timeline.
pub(super) fn focus_pane(model: &mut Model, context: &Context<'_>, number: u8) -> Vec<Request> {
    let lanes = context.lanes().len();
    match usize::from(number) {
        1 => model.focus = Focus::Story,
        2 => model.focus = Focus::World,
        n if n >= 3 && n < 3 + lanes => {
            model.focus = Focus::Lanes;
            (model.selected_lane, model.first_visited_lane) = (Some(n - 3), n - 3);
        }
        n if n == 3 + lanes => {
            model.focus = if has_separate_panes(model) { Focus::Observations } else { Focus::Story }
        }
        n if n == 4 + lanes => model.focus = Focus::Timeline,
        _ => {}
    }
    Vec::new()
}

/// Returns the focus and the selected lane for a pane. If the pane isn't a lane, the selected lane stays `lane`.
pub(super) fn focus_for_pane(pane: Pane, lane: Option<usize>) -> (Focus, Option<usize>) {
    (pane.focus(), if let Pane::Lane(n) = pane { Some(n) } else { lane })
}
