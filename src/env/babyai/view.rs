//! The 7×7 cells in front of the agent, and which of them are visible.

use super::thing::{Cell, CellCode, Pose, Thing, ThingId, cell_at, encode_cell};

/// Side of the view, in cells. The agent stands in the middle of the last row.
pub const VIEW_SIDE: usize = 7;
const AGENT_INDEX: usize = (VIEW_SIDE - 1) * VIEW_SIDE + VIEW_SIDE / 2;

/// The view, row by row from the farthest to the agent's own, each from left to right.
pub type Image = [CellCode; VIEW_SIDE * VIEW_SIDE];

/// Returns how far ahead and to the right a cell of the view is.
pub(super) fn offset_in_view(index: usize) -> (i16, i16) {
    ((VIEW_SIDE - 1 - index / VIEW_SIDE) as i16, (index % VIEW_SIDE) as i16 - (VIEW_SIDE / 2) as i16)
}

impl Pose {
    /// Returns the grid cell at a row and column of the agent's view.
    pub fn in_view(self, row: usize, column: usize) -> (i16, i16) {
        let (ahead, right) = offset_in_view(row * VIEW_SIDE + column);
        self.offset(ahead, right)
    }
}

/// The grid data that a view is taken from.
#[derive(Clone, Copy)]
pub(super) struct GridView<'a> {
    pub(super) cells: &'a [Cell],
    pub(super) things: &'a [Thing],
    pub(super) width: i16,
    pub(super) height: i16,
}

impl GridView<'_> {
    /// Returns the agent's view. Its own cell shows what it carries.
    pub(super) fn view(self, agent: Pose, carrying: Option<ThingId>) -> Image {
        let mut image = [CellCode::UNSEEN; VIEW_SIDE * VIEW_SIDE];
        let (left_x, left_y) = agent.offset((VIEW_SIDE - 1) as i16, -((VIEW_SIDE / 2) as i16));
        // Vectors of one column to the right and one row nearer.
        let (right, near) = (agent.step_right(), agent.step_back());
        for row in 0..VIEW_SIDE as i16 {
            for col in 0..VIEW_SIDE as i16 {
                let x = left_x + right.0 * col + near.0 * row;
                let y = left_y + right.1 * col + near.1 * row;
                image[row as usize * VIEW_SIDE + col as usize] =
                    encode_cell(self.things, cell_at(self.cells, self.width, self.height, x, y));
            }
        }
        let seen = visible_cells(&image);
        for (index, code) in image.iter_mut().enumerate() {
            if seen >> index & 1 == 0 {
                *code = CellCode::UNSEEN;
            }
        }
        image[AGENT_INDEX] = match carrying {
            Some(ThingId(id)) => encode_cell(self.things, Cell::Thing(ThingId(id))),
            None => CellCode::EMPTY,
        };
        image
    }
}

/// Returns the visible cells, one bit each. Visibility spreads from the agent's cell row by row, first to the right and
/// then to the left, to the side and to the two cells beyond, and stops at opaque cells.
fn visible_cells(image: &Image) -> u64 {
    let mut clear = 0_u64;
    for (index, code) in image.iter().enumerate() {
        clear |= u64::from(!code.is_opaque()) << index;
    }
    let mut seen = 1_u64 << AGENT_INDEX;
    for row in (0..VIEW_SIDE).rev() {
        let base = row * VIEW_SIDE;
        let spread = |from: usize, to: usize, seen: &mut u64| {
            if *seen & clear & 1 << (base + from) != 0 {
                *seen |= 1 << (base + to);
                if row > 0 {
                    *seen |= 1 << (base - VIEW_SIDE + to) | 1 << (base - VIEW_SIDE + from);
                }
            }
        };
        for col in 0..VIEW_SIDE - 1 {
            spread(col, col + 1, &mut seen);
        }
        for col in (1..VIEW_SIDE).rev() {
            spread(col, col - 1, &mut seen);
        }
    }
    seen
}
