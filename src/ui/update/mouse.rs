//! The mouse: a click focuses a pane and selects the row under it, the wheel scrolls the pane under it, and dragging
//! along the timeline moves through the steps.

use super::scroll;
use crate::ui::frame_data::Context;
use crate::ui::layout::Pane;
use crate::ui::model::Model;
use crate::ui::msg::Request;
use crate::ui::position::cursor_after_step;
use crate::ui::types::Focus;
use crate::ui::view::cache::ViewCache;
use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};

/// Rows scrolled per wheel event.
const WHEEL_ROWS: i32 = 3;

/// Handles a mouse event.
pub(super) fn on_mouse(
    model: &mut Model,
    context: &Context<'_>,
    cache: &ViewCache,
    event: MouseEvent,
) -> Vec<Request> {
    match event.kind {
        MouseEventKind::Drag(MouseButton::Left) if model.scrubbing.is_some() => {
            model.scrubbing = model.scrubbing.map(|ruler| ruler.scrolled_by_drag(event.column));
            return scrub_to(model, context, event.column);
        }
        MouseEventKind::Up(_) => model.scrubbing = None,
        _ => {}
    }
    let Some(block) = cache.layout.area_at(event.column, event.row) else { return Vec::new() };
    let under = scroll::focus_for_pane(block.pane, model.selected_lane);
    match event.kind {
        MouseEventKind::Down(MouseButton::Left) => {
            (model.focus, model.selected_lane) = under;
            model.first_visited_lane = model.selected_lane_index(context);
            if block.pane == Pane::Timeline {
                // A click on the title only focuses the pane; one on the bar also selects the step.
                model.scrubbing = cache.ruler.filter(|_| event.row >= block.body.y);
                return scrub_to(model, context, event.column);
            } else if let Some((_, _, step)) =
                cache.step_hits.iter().find(|(p, row, _)| *p == block.pane && *row == event.row)
                && let Some(to) = cursor_after_step(context, *step)
                && *step != context.frame.selected_step()
            {
                return vec![Request::MoveCursor(to)];
            }
            Vec::new()
        }
        MouseEventKind::ScrollUp | MouseEventKind::ScrollDown => {
            let by = if event.kind == MouseEventKind::ScrollUp { -WHEEL_ROWS } else { WHEEL_ROWS };
            let before = (model.focus, model.selected_lane);
            (model.focus, model.selected_lane) = under;
            let by = if matches!(block.pane, Pane::LaneTabs | Pane::Lane(_) | Pane::Timeline) {
                by.signum()
            } else {
                by
            };
            let requests = scroll::scroll_rows(model, context, cache, by);
            // The wheel scrolls without moving the focus, except from lane to lane.
            if before.0 != Focus::Lanes || under.0 != Focus::Lanes {
                (model.focus, model.selected_lane) = before;
            }
            requests
        }
        _ => Vec::new(),
    }
}

/// Moves to the step under a column of the timeline.
fn scrub_to(model: &Model, context: &Context<'_>, column: u16) -> Vec<Request> {
    let step = model.scrubbing.map(|ruler| ruler.step_at(column));
    let step = step.filter(|step| *step != context.frame.selected_step());
    let cursor = step.and_then(|step| cursor_after_step(context, step));
    cursor.map(Request::MoveCursor).into_iter().collect()
}
