//! The mouse: a click focuses a pane and chooses what is under it, the wheel scrolls what is under it.

use super::{cursor, over, scroll};
use crate::ui::layout::Pane;
use crate::ui::look::Look;
use crate::ui::model::{Focus, Model};
use crate::ui::msg::Request;
use crate::ui::view::Scratch;
use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};

/// Rows a turn of the wheel scrolls.
const NOTCH: i32 = 3;

pub(super) fn update(
    model: &mut Model,
    look: &Look<'_>,
    scratch: &Scratch,
    event: MouseEvent,
) -> Vec<Request> {
    if !model.overlays.is_empty() {
        return over(model, |top| top.mouse(event, look));
    }
    let Some(block) = scratch.plan.at(event.column, event.row) else { return Vec::new() };
    let under = scroll::focus_of(block.pane, model.lane);
    match event.kind {
        MouseEventKind::Down(MouseButton::Left) => {
            (model.focus, model.lane) = under;
            model.first_lane = model.lane(look.lanes());
            if let Some((_, _, step)) =
                scratch.hits.iter().find(|(p, row, _)| *p == block.pane && *row == event.row)
                && let Some(to) = cursor::after_step(look, *step)
                && *step != look.moment.chosen()
            {
                cursor::go(model, look, to);
            }
            Vec::new()
        }
        MouseEventKind::ScrollUp | MouseEventKind::ScrollDown => {
            let by = if event.kind == MouseEventKind::ScrollUp { -NOTCH } else { NOTCH };
            let before = (model.focus, model.lane);
            (model.focus, model.lane) = under;
            let by =
                if matches!(block.pane, Pane::Tabs | Pane::Lane(_) | Pane::Time) { by.signum() } else { by };
            let wants = scroll::rows(model, look, scratch, by);
            // The wheel scrolls without taking the keys away from where they are.
            if before.0 != Focus::Lanes || under.0 != Focus::Lanes {
                (model.focus, model.lane) = before;
            }
            wants
        }
        _ => Vec::new(),
    }
}
