//! Resolves descriptions to objects, once at the start.

use super::level_start::{LevelStart, RoomLayout};
use super::mission::{Description, Side};
use super::thing::{Cell, Colour, DIRECTIONS, Pose, Thing, ThingId};
use std::sync::Arc;

/// A grid in which descriptions are looked up, relative to the agent's pose.
#[derive(Clone, Copy)]
pub(super) struct MatchContext<'a> {
    pub(super) cells: &'a [Cell],
    pub(super) things: &'a [Thing],
    pub(super) width: i16,
    pub(super) rooms: RoomLayout,
    pub(super) agent: Pose,
}

impl MatchContext<'_> {
    /// Returns the matching objects and their positions, column by column.
    pub(super) fn find_things(self, wanted: &Description) -> Vec<(ThingId, (i16, i16))> {
        let mut found = Vec::new();
        self.for_each_cell(wanted, |cell, place| {
            let Cell::Thing(id) = cell else { return };
            let Some(thing) = self.things.get(usize::from(id.0)) else { return };
            if matches_thing(wanted, *thing) {
                found.push((id, place));
            }
        });
        found
    }

    /// Returns the matching walls. Walls match if the description has no kind and its colour is `None` or grey.
    fn find_walls(self, wanted: &Description) -> Vec<(i16, i16)> {
        let mut found = Vec::new();
        if wanted.kind.is_none() && wanted.colour.is_none_or(|colour| colour == Colour::Grey) {
            self.for_each_cell(wanted, |cell, place| {
                if cell == Cell::Wall {
                    found.push(place);
                }
            });
        }
        found
    }

    /// Visits every cell on the described side, column by column.
    fn for_each_cell(self, wanted: &Description, mut visit: impl FnMut(Cell, (i16, i16))) {
        let width = (self.width as usize).max(1);
        let height = self.cells.len() / width;
        for x in 0..width {
            for y in 0..height {
                let place = (x as i16, y as i16);
                if wanted.side.is_none_or(|side| self.is_on_side(place, side)) {
                    visit(self.cells[y * width + x], place);
                }
            }
        }
    }

    /// Returns whether a cell is on this side of the agent and in its room (including the walls).
    fn is_on_side(self, (x, y): (i16, i16), side: Side) -> bool {
        let pitch = (self.rooms.size - 1).max(1);
        let corner = |at: i16, many: i16| (at / pitch).clamp(0, (many - 1).max(0)) * pitch;
        let (left, top) = (corner(self.agent.x, self.rooms.cols), corner(self.agent.y, self.rooms.rows));
        let room = 0..=pitch;
        if !room.contains(&(x - left)) || !room.contains(&(y - top)) {
            return false;
        }
        let (dx, dy) = (x - self.agent.x, y - self.agent.y);
        let along = |dir: u8| {
            let (ax, ay) = DIRECTIONS[usize::from(dir & 3)];
            dx * ax + dy * ay
        };
        match side {
            Side::Front => along(self.agent.direction) > 0,
            Side::Behind => along(self.agent.direction) < 0,
            Side::Right => along(self.agent.direction + 1) > 0,
            Side::Left => along(self.agent.direction + 1) < 0,
        }
    }
}

/// Returns whether an object has the described kind and colour.
fn matches_thing(wanted: &Description, thing: Thing) -> bool {
    wanted.kind.is_none_or(|kind| kind == thing.kind)
        && wanted.colour.is_none_or(|colour| colour == thing.colour)
}

/// Matches those descriptions of a level whose entry in `to_match` is true, in the order of the clauses, and records
/// the positions of their objects.
pub(super) fn match_descriptions(start: &mut LevelStart, to_match: &[bool]) {
    let context = MatchContext {
        cells: &start.cells,
        things: &start.things,
        width: start.width,
        rooms: start.rooms,
        agent: start.agent,
    };
    let known_positions = Arc::make_mut(&mut start.known_positions);
    let descriptions = start.instruction.clauses_mut().flat_map(super::mission::Clause::descriptions_mut);
    for (description, _) in descriptions.zip(to_match).filter(|(_, to_match)| **to_match) {
        let found = context.find_things(description);
        description.things = found.iter().map(|(id, _)| *id).collect();
        description.walls = context.find_walls(description);
        // A carried object has no position, so it cannot match a side.
        let carried = start.carrying.filter(|_| description.side.is_none());
        let held = |id: &ThingId| matches_thing(description, start.things[usize::from(id.0)]);
        let held: Vec<ThingId> = carried.filter(held).into_iter().collect();
        description.things.extend(held);
        for (id, place) in found {
            known_positions[usize::from(id.0)] = Some(place);
        }
    }
}
