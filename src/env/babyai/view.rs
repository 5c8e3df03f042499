//! The 7×7 cells in front of the agent, and which of them it sees.

use super::thing::{Cell, Code, Pose, Thing, ThingId, cell, code};

/// Cells along a side of the view. The agent stands in the middle of the last row.
pub const SIDE: usize = 7;
/// The cell of the agent.
const OWN: usize = (SIDE - 1) * SIDE + SIDE / 2;

/// What is seen, row by row from the farthest to the agent's own, each from left to right.
pub type Image = [Code; SIDE * SIDE];

/// How far ahead and how far to the right a cell of the view lies.
pub(super) fn place_in_view(index: usize) -> (i16, i16) {
    ((SIDE - 1 - index / SIDE) as i16, (index % SIDE) as i16 - (SIDE / 2) as i16)
}

impl Pose {
    /// The cell at a row and a column of the agent's view.
    pub fn in_view(self, row: usize, column: usize) -> (i16, i16) {
        let (ahead, right) = place_in_view(row * SIDE + column);
        self.offset(ahead, right)
    }
}

/// A grid to look at.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) cells: &'a [Cell],
    pub(super) things: &'a [Thing],
    pub(super) width: i16,
    pub(super) height: i16,
}

impl Scene<'_> {
    /// What the agent sees; its own cell shows what it carries.
    pub(super) fn look(self, agent: Pose, carrying: Option<ThingId>) -> Image {
        let mut image = [Code::UNSEEN; SIDE * SIDE];
        let (left_x, left_y) = agent.offset((SIDE - 1) as i16, -((SIDE / 2) as i16));
        // One step to the right in the view, and one row nearer.
        let (right, near) = (agent.step_right(), agent.step_back());
        for row in 0..SIDE as i16 {
            for col in 0..SIDE as i16 {
                let x = left_x + right.0 * col + near.0 * row;
                let y = left_y + right.1 * col + near.1 * row;
                image[row as usize * SIDE + col as usize] =
                    code(self.things, cell(self.cells, self.width, self.height, x, y));
            }
        }
        let seen = visible(&image);
        for (index, code) in image.iter_mut().enumerate() {
            if seen >> index & 1 == 0 {
                *code = Code::UNSEEN;
            }
        }
        image[OWN] = match carrying {
            Some(ThingId(id)) => code(self.things, Cell::Of(ThingId(id))),
            None => Code::EMPTY,
        };
        image
    }
}

/// Which cells are seen, one bit each. Sight spreads from the agent's cell row by row away from it, first to the right and
/// then to the left, to the side and to the two cells beyond, and ends at what is opaque.
fn visible(image: &Image) -> u64 {
    let mut clear = 0_u64;
    for (index, code) in image.iter().enumerate() {
        clear |= u64::from(!code.is_opaque()) << index;
    }
    let mut seen = 1_u64 << OWN;
    for row in (0..SIDE).rev() {
        let base = row * SIDE;
        let spread = |from: usize, to: usize, seen: &mut u64| {
            if *seen & clear & 1 << (base + from) != 0 {
                *seen |= 1 << (base + to);
                if row > 0 {
                    *seen |= 1 << (base - SIDE + to) | 1 << (base - SIDE + from);
                }
            }
        };
        for col in 0..SIDE - 1 {
            spread(col, col + 1, &mut seen);
        }
        for col in (1..SIDE).rev() {
            spread(col, col - 1, &mut seen);
        }
    }
    seen
}
