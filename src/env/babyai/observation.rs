//! What a view says: the things in it from near to far, and the sentence of an observation.

use super::thing::{CellCode, Kind, Pose, Thing};
use super::view::{Image, VIEW_SIDE, offset_in_view};
use std::fmt::Write as _;

/// Something seen: a thing or a wall.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SeenCell {
    pub(super) code: CellCode,
    /// Steps ahead, and to the right.
    pub(super) ahead: i16,
    pub(super) right: i16,
    pub(super) x: i16,
    pub(super) y: i16,
}

impl SeenCell {
    fn distance(self) -> usize {
        (self.ahead + self.right.abs()) as usize
    }
}

/// What stands in the agent's own column and is named there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Barrier {
    pub(super) is_box: bool,
    pub(super) distance: i16,
}

/// The content of a view.
#[derive(Clone, Debug)]
pub(super) struct Observation {
    /// Things and walls, from near to far; equally far ones as the view is scanned.
    seen_cells: [SeenCell; VIEW_SIDE * VIEW_SIDE],
    count: usize,
    /// The nearest wall or box straight ahead.
    pub(super) barrier: Option<Barrier>,
}

impl Observation {
    /// Reads a view. What has a negative coordinate does not count, as in the original; nor does the agent's own cell.
    pub(super) fn from_image(image: &Image, agent: Pose) -> Self {
        const FARTHEST: usize = VIEW_SIDE + VIEW_SIDE / 2;
        let mut sight =
            Self { seen_cells: [SeenCell::default(); VIEW_SIDE * VIEW_SIDE], count: 0, barrier: None };
        // Counting sort: how many there are of each distance, then where each distance begins.
        let mut found = [SeenCell::default(); VIEW_SIDE * VIEW_SIDE];
        let (mut many, mut next) = (0, [0_usize; FARTHEST + 1]);
        for (index, &code) in image.iter().enumerate() {
            if code <= CellCode::EMPTY {
                continue;
            }
            let (ahead, right) = offset_in_view(index);
            let (x, y) = agent.offset(ahead, right);
            if x < 0 || y < 0 || (ahead, right) == (0, 0) {
                continue;
            }
            let spot = SeenCell { code, ahead, right, x, y };
            next[spot.distance() + 1] += 1;
            found[many] = spot;
            many += 1;
            let is_box = code.kind() == Some(Kind::Box);
            let nearer = sight.barrier.is_none_or(|b| ahead < b.distance);
            if right == 0 && nearer && (is_box || code == CellCode::WALL) {
                sight.barrier = Some(Barrier { is_box, distance: ahead });
            }
        }
        for distance in 1..next.len() {
            next[distance] += next[distance - 1];
        }
        for spot in &found[..many] {
            let place = &mut next[spot.distance()];
            sight.seen_cells[*place] = *spot;
            *place += 1;
        }
        sight.count = many;
        sight
    }

    /// Everything seen.
    pub(super) fn seen(&self) -> &[SeenCell] {
        &self.seen_cells[..self.count]
    }

    /// Everything seen but the walls.
    pub(super) fn things(&self) -> impl Iterator<Item = &SeenCell> {
        self.seen().iter().filter(|spot| spot.code != CellCode::WALL)
    }

    /// Writes the observation.
    pub(super) fn write_text(&self, carried: Option<Thing>, out: &mut String) {
        // Writing to a string cannot fail.
        if self.count == 0 {
            out.push_str("You cannot see any objects within sight.");
        } else {
            out.push_str("In front of you in this room, you can see several objects: ");
        }
        let mut count = NameCounts::default();
        for spot in self.things() {
            out.push_str("There is a ");
            spot.code.write_name(out);
            let number = count.next(spot.code);
            let _ = match spot.right {
                0 => write!(out, " {number} right in front of you {} steps away.  ", spot.ahead),
                right => {
                    let hand = if right > 0 { "right" } else { "left" };
                    let aside = right.abs();
                    write!(
                        out,
                        " {number} {} steps in front of you and {aside} steps to your {hand}.  ",
                        spot.ahead
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

/// Running numbers, one series a full name.
pub(super) struct NameCounts([u8; 256]);

impl Default for NameCounts {
    fn default() -> Self {
        Self([0; 256])
    }
}

impl NameCounts {
    /// The last number of a name; 0 before the first.
    pub(super) fn last(&self, code: CellCode) -> u8 {
        self.0[usize::from(code.0)]
    }

    /// Counts one more of a name.
    pub(super) fn next(&mut self, code: CellCode) -> u8 {
        let count = &mut self.0[usize::from(code.0)];
        *count += 1;
        *count
    }
}
