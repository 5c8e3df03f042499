//! The mouse: a click focuses a pane and chooses what is under it, the wheel scrolls what is under it, and along the time
//! bar the chosen turn can be drawn.

use super::{cursor, on_top_overlay, scroll};
use crate::ui::context::Context;
use crate::ui::layout::Pane;
use crate::ui::model::{Focus, Model};
use crate::ui::msg::Request;
use crate::ui::view::ViewCache;
use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};

/// Rows a turn of the wheel scrolls.
const WHEEL_ROWS: i32 = 3;

pub(super) fn on_mouse(
    model: &mut Model,
    look: &Context<'_>,
    scratch: &ViewCache,
    event: MouseEvent,
) -> Vec<Request> {
    if !model.overlays.is_empty() {
        return on_top_overlay(model, |top| top.on_mouse(event, look));
    }
    match event.kind {
        MouseEventKind::Drag(MouseButton::Left) if model.scrubbing.is_some() => {
            model.scrubbing = model.scrubbing.map(|ruler| ruler.dragged_to(event.column));
            scrub_to(model, look, event.column);
            return Vec::new();
        }
        MouseEventKind::Up(_) => model.scrubbing = None,
        _ => {}
    }
    let Some(block) = scratch.layout.area_at(event.column, event.row) else { return Vec::new() };
    let under = scroll::focus_for_pane(block.pane, model.selected_lane);
    match event.kind {
        MouseEventKind::Down(MouseButton::Left) => {
            (model.focus, model.selected_lane) = under;
            model.first_visited_lane = model.selected_lane_index(look.lanes());
            if block.pane == Pane::Timeline {
                // The title chooses the pane; the bar chooses the turn as well.
                model.scrubbing = scratch.ruler.filter(|_| event.row >= block.body.y);
                scrub_to(model, look, event.column);
            } else if let Some((_, _, step)) =
                scratch.step_hits.iter().find(|(p, row, _)| *p == block.pane && *row == event.row)
                && let Some(to) = cursor::cursor_after_step(look, *step)
                && *step != look.frame.selected_step()
            {
                cursor::move_to(model, look, to);
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
            let wants = scroll::scroll_rows(model, look, scratch, by);
            // The wheel scrolls without taking the keys away from where they are.
            if before.0 != Focus::Lanes || under.0 != Focus::Lanes {
                (model.focus, model.selected_lane) = before;
            }
            wants
        }
        _ => Vec::new(),
    }
}

/// Goes to the turn under a column of the time bar.
fn scrub_to(model: &mut Model, look: &Context<'_>, column: u16) {
    let step = model.scrubbing.map(|ruler| ruler.step_at(column));
    if let Some(step) = step.filter(|step| *step != look.frame.selected_step())
        && let Some(to) = cursor::cursor_after_step(look, step)
    {
        cursor::move_to(model, look, to);
    }
}
