//! Turns a view into an observation: the visible objects from near to far, and the text.

use super::thing::{CellCode, Kind, Pose, Thing};
use super::view::{Image, VIEW_SIDE, offset_in_view};
use std::fmt::Write as _;

/// A visible object or wall.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SeenCell {
    pub(super) code: CellCode,
    /// Distance in cells ahead and to the right.
    pub(super) ahead: i16,
    pub(super) right: i16,
    /// Position in the grid.
    pub(super) x: i16,
    pub(super) y: i16,
}

impl SeenCell {
    fn distance(self) -> usize {
        (self.ahead + self.right.abs()) as usize
    }
}

/// A wall or box in the agent's own column, named in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Barrier {
    pub(super) is_box: bool,
    pub(super) distance: i16,
}

/// The content of a view.
#[derive(Clone, Debug)]
pub(super) struct Observation {
    /// Objects and walls from near to far; equal distances are in scan order.
    seen_cells: [SeenCell; VIEW_SIDE * VIEW_SIDE],
    count: usize,
    /// The nearest wall or box straight ahead.
    pub(super) barrier: Option<Barrier>,
}

impl Observation {
    /// Reads a view. As in AgentBoard, cells with a negative coordinate and the agent's own cell are ignored.
    pub(super) fn from_image(image: &Image, agent: Pose) -> Self {
        const FARTHEST: usize = VIEW_SIDE + VIEW_SIDE / 2;
        let mut observation =
            Self { seen_cells: [SeenCell::default(); VIEW_SIDE * VIEW_SIDE], count: 0, barrier: None };
        // Counting sort: first the number of entries at each distance, then the offset at which each distance begins.
        let mut found = [SeenCell::default(); VIEW_SIDE * VIEW_SIDE];
        let (mut count, mut next) = (0, [0_usize; FARTHEST + 1]);
        for (index, &code) in image.iter().enumerate() {
            if code <= CellCode::EMPTY {
                continue;
            }
            let (ahead, right) = offset_in_view(index);
            let (x, y) = agent.offset(ahead, right);
            if x < 0 || y < 0 || (ahead, right) == (0, 0) {
                continue;
            }
            let cell = SeenCell { code, ahead, right, x, y };
            next[cell.distance() + 1] += 1;
            found[count] = cell;
            count += 1;
            let is_box = code.kind() == Some(Kind::Box);
            let nearer = observation.barrier.is_none_or(|b| ahead < b.distance);
            if right == 0 && nearer && (is_box || code == CellCode::WALL) {
                observation.barrier = Some(Barrier { is_box, distance: ahead });
            }
        }
        for distance in 1..next.len() {
            next[distance] += next[distance - 1];
        }
        for cell in &found[..count] {
            let index = &mut next[cell.distance()];
            observation.seen_cells[*index] = *cell;
            *index += 1;
        }
        observation.count = count;
        observation
    }

    /// Returns everything visible.
    pub(super) fn seen(&self) -> &[SeenCell] {
        &self.seen_cells[..self.count]
    }

    /// Iterates over everything visible except walls.
    pub(super) fn things(&self) -> impl Iterator<Item = &SeenCell> {
        self.seen().iter().filter(|cell| cell.code != CellCode::WALL)
    }

    /// Writes the observation text.
    pub(super) fn write_text(&self, carried: Option<Thing>, out: &mut String) {
        if self.count == 0 {
            out.push_str("You cannot see any objects within sight.");
        } else {
            out.push_str("In front of you in this room, you can see several objects: ");
        }
        let mut count = NameCounts::default();
        for cell in self.things() {
            out.push_str("There is a ");
            cell.code.write_name(out);
            let number = count.next(cell.code);
            // Writing to a string cannot fail.
            let _ = match cell.right {
                0 => write!(out, " {number} right in front of you {} steps away.  ", cell.ahead),
                right => {
                    let side = if right > 0 { "right" } else { "left" };
                    let aside = right.abs();
                    write!(
                        out,
                        " {number} {} steps in front of you and {aside} steps to your {side}.  ",
                        cell.ahead
                    )
                }
            };
        }
        out.push_str("The room has walls around you. ");
        if let Some(Barrier { is_box, distance }) = self.barrier {
            let name = if is_box { "box" } else { "wall" };
            let _ = write!(out, "You are facing a {name} {distance} steps away. ");
        }
        match carried {
            None => out.push_str("You are not carrying anything."),
            Some(thing) => {
                let _ = write!(out, "You are carrying a {} {}.", thing.colour.word(), thing.kind.word());
            }
        }
    }
}

/// The last number assigned to each full name.
pub(super) struct NameCounts([u8; 256]);

impl Default for NameCounts {
    fn default() -> Self {
        Self([0; 256])
    }
}

impl NameCounts {
    /// Returns the last number assigned to a name, or 0 if there is none.
    pub(super) fn last(&self, code: CellCode) -> u8 {
        self.0[usize::from(code.0)]
    }

    /// Assigns the next number to a name.
    pub(super) fn next(&mut self, code: CellCode) -> u8 {
        let count = &mut self.0[usize::from(code.0)];
        *count += 1;
        *count
    }
}
