//! The mouse: a click focuses a pane and chooses what is under it, the wheel scrolls what is under it, and along the time
//! bar the chosen turn can be drawn.

use super::{cursor, over, scroll};
use crate::ui::context::Context;
use crate::ui::layout::Pane;
use crate::ui::model::{Focus, Model};
use crate::ui::msg::Request;
use crate::ui::view::Scratch;
use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};

/// Rows a turn of the wheel scrolls.
const NOTCH: i32 = 3;

pub(super) fn update(
    model: &mut Model,
    look: &Context<'_>,
    scratch: &Scratch,
    event: MouseEvent,
) -> Vec<Request> {
    if !model.overlays.is_empty() {
        return over(model, |top| top.mouse(event, look));
    }
    match event.kind {
        MouseEventKind::Drag(MouseButton::Left) if model.scrubbing.is_some() => {
            model.scrubbing = model.scrubbing.map(|ruler| ruler.drawn_to(event.column));
            scrub(model, look, event.column);
            return Vec::new();
        }
        MouseEventKind::Up(_) => model.scrubbing = None,
        _ => {}
    }
    let Some(block) = scratch.plan.at(event.column, event.row) else { return Vec::new() };
    let under = scroll::focus_of(block.pane, model.lane);
    match event.kind {
        MouseEventKind::Down(MouseButton::Left) => {
            (model.focus, model.lane) = under;
            model.first_lane = model.lane(look.lanes());
            if block.pane == Pane::Time {
                // The title chooses the pane; the bar chooses the turn as well.
                model.scrubbing = scratch.ruler.filter(|_| event.row >= block.body.y);
                scrub(model, look, event.column);
            } else if let Some((_, _, step)) =
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

/// Goes to the turn under a column of the time bar.
fn scrub(model: &mut Model, look: &Context<'_>, column: u16) {
    let step = model.scrubbing.map(|ruler| ruler.step_at(column));
    if let Some(step) = step.filter(|step| *step != look.moment.chosen())
        && let Some(to) = cursor::after_step(look, step)
    {
        cursor::go(model, look, to);
    }
}
