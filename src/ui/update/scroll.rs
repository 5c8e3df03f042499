//! Moving inside the panes and between them.

use super::{cursor, lesson};
use crate::ui::layout::{Arrangement, Pane};
use crate::ui::look::Look;
use crate::ui::model::{Focus, Model};
use crate::ui::msg::Request;
use crate::ui::view::Scratch;
use crate::ui::view::rows::Parts;

/// One row up or down in the focused pane.
pub(super) fn rows(model: &mut Model, look: &Look<'_>, scratch: &Scratch, by: i32) -> Vec<Request> {
    match model.focus {
        Focus::Story => {
            let parts = if separate(model) { Parts::Done } else { Parts::All };
            model.scrolls.story = bounded(model.scrolls.story - by, scratch, parts);
        }
        Focus::Observations => {
            model.scrolls.observations = bounded(model.scrolls.observations - by, scratch, Parts::Seen);
        }
        Focus::World => {
            let to = i32::from(model.scrolls.world) + by;
            model.scrolls.world = to.clamp(0, i32::from(scratch.world_most)) as u16;
        }
        Focus::Lanes => lesson::choose(model, look, by as isize),
        Focus::Time => return cursor::step(model, look, i64::from(by)),
    }
    Vec::new()
}

/// A page of the focused pane.
pub(super) fn page(model: &mut Model, look: &Look<'_>, scratch: &Scratch, by: i32) -> Vec<Request> {
    let height =
        scratch.plan.find(model.focus, model.lane(look.lanes())).map_or(10, |b| i32::from(b.body.height));
    let rows_of_page = match model.focus {
        Focus::Lanes => (height / 2).max(1),
        Focus::Time => 10,
        _ => (height - 2).max(1),
    };
    rows(model, look, scratch, by * rows_of_page)
}

fn bounded(to: i32, scratch: &Scratch, parts: Parts) -> i32 {
    let (up, down) = scratch.room.get(&parts).copied().unwrap_or_default();
    to.clamp(-down.max(0), up.max(0))
}

fn separate(model: &Model) -> bool {
    model.arrangement() == Arrangement::Triple
}

/// The panes in the order in which Tab visits them.
fn order(model: &Model, look: &Look<'_>) -> Vec<(Focus, usize)> {
    let lane = model.lane(look.lanes());
    let mut order = vec![(Focus::Story, lane)];
    order.extend((0..look.lanes().len()).map(|lane| (Focus::Lanes, lane)));
    if separate(model) {
        order.insert(1, (Focus::Observations, lane));
    }
    order.push((Focus::World, lane));
    order
}

/// To the next or previous pane; every lane is a stop.
pub(super) fn next_pane(model: &mut Model, look: &Look<'_>, by: isize) -> Vec<Request> {
    let order = order(model, look);
    let here = |&(focus, lane): &(Focus, usize)| {
        focus == model.focus && (focus != Focus::Lanes || lane == model.lane(look.lanes()))
    };
    let at = order.iter().position(here).unwrap_or(0);
    let to = (at.cast_signed() + by).rem_euclid(order.len().cast_signed()).cast_unsigned();
    if let Some((focus, lane)) = order.get(to) {
        model.focus = *focus;
        model.lane = (*focus == Focus::Lanes).then_some(*lane).or(model.lane);
    }
    Vec::new()
}

/// A pane by its digit: 1 Story, 2 World, 3 and on the lanes, then Observations and Time.
pub(super) fn pane(model: &mut Model, look: &Look<'_>, number: u8) -> Vec<Request> {
    let lanes = look.lanes().len();
    match usize::from(number) {
        1 => model.focus = Focus::Story,
        2 => model.focus = Focus::World,
        n if n >= 3 && n < 3 + lanes => {
            model.focus = Focus::Lanes;
            model.lane = Some(n - 3);
        }
        n if n == 3 + lanes => model.focus = if separate(model) { Focus::Observations } else { Focus::Story },
        n if n == 4 + lanes => model.focus = Focus::Time,
        _ => {}
    }
    Vec::new()
}

/// The pane and lane that a block of the screen belongs to.
pub(super) fn focus_of(pane: Pane, lane: Option<usize>) -> (Focus, Option<usize>) {
    (pane.focus(), if let Pane::Lane(n) = pane { Some(n) } else { lane })
}
