//! Moving inside the panes and between them.

use super::{cursor, lesson};
use crate::ui::context::Context;
use crate::ui::layout::{Arrangement, Pane};
use crate::ui::model::{Focus, Model};
use crate::ui::msg::Request;
use crate::ui::view::Scratch;
use crate::ui::view::rows::Parts;

/// One row up or down in the focused pane.
pub(super) fn rows(model: &mut Model, look: &Context<'_>, scratch: &Scratch, by: i32) -> Vec<Request> {
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
pub(super) fn page(model: &mut Model, look: &Context<'_>, scratch: &Scratch, by: i32) -> Vec<Request> {
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

/// The panes in the order in which Tab visits them: those that are to be seen. Of lanes that share one place the visit
/// begins with the one that is shown, and all others follow it.
fn order(model: &Model, look: &Context<'_>, scratch: &Scratch, by: isize) -> Vec<(Focus, usize)> {
    let (lane, lanes) = (model.lane(look.lanes()), look.lanes().len());
    let seen = |focus| {
        let blocks = &scratch.plan.blocks;
        model.zoomed || blocks.is_empty() || blocks.iter().any(|b| b.pane.focus() == focus)
    };
    let mut order = vec![(Focus::Story, lane)];
    if separate(model) {
        order.push((Focus::Observations, lane));
    }
    let first = match (model.arrangement(), model.focus) {
        (Arrangement::Pair | Arrangement::Triple, _) => 0,
        (Arrangement::Column, Focus::Lanes) => model.first_lane,
        // Backwards the one that is shown is the last of the round, so that it is met first.
        (Arrangement::Column, _) => lane + usize::from(by < 0),
    };
    order.extend((0..lanes).map(|n| (Focus::Lanes, (first + n) % lanes.max(1))));
    order.push((Focus::World, lane));
    order.retain(|(focus, _)| seen(*focus));
    order
}

/// To the next or previous pane; every lane is a stop.
pub(super) fn next_pane(model: &mut Model, look: &Context<'_>, scratch: &Scratch, by: isize) -> Vec<Request> {
    let order = order(model, look, scratch, by);
    let lane = model.lane(look.lanes());
    let here = |&(focus, of): &(Focus, usize)| focus == model.focus && (focus != Focus::Lanes || of == lane);
    let at = order.iter().position(here).unwrap_or(0);
    let to = (at.cast_signed() + by).rem_euclid(order.len().max(1).cast_signed()).cast_unsigned();
    if let Some(&(focus, lane)) = order.get(to) {
        if focus == Focus::Lanes && model.focus != Focus::Lanes {
            let first = order.iter().find(|(focus, _)| *focus == Focus::Lanes);
            model.first_lane = first.map_or(0, |(_, lane)| *lane);
        }
        model.focus = focus;
        model.lane = (focus == Focus::Lanes).then_some(lane).or(model.lane);
    }
    Vec::new()
}

/// A pane by its digit: 1 Story, 2 World, 3 and on the lanes, then Observations and Time.
pub(super) fn pane(model: &mut Model, look: &Context<'_>, number: u8) -> Vec<Request> {
    let lanes = look.lanes().len();
    match usize::from(number) {
        1 => model.focus = Focus::Story,
        2 => model.focus = Focus::World,
        n if n >= 3 && n < 3 + lanes => {
            model.focus = Focus::Lanes;
            (model.lane, model.first_lane) = (Some(n - 3), n - 3);
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
