//! A grid environment: what the agent has seen, what it sees now, and on demand the ground truth.
//!
//! A cell is as large as fits: six columns and three rows, or five and two, with a shape; or two columns with a sign. Each has the
//! letter of its colour, so that colours can be told apart without seeing them: of a grid that is too wide for such cells, the part
//! around the agent is drawn. Text beside the grid lists the visible objects and says what the shapes and letters mean.

mod cells;
#[cfg(test)]
mod tests;

use super::thing::Pose;
use super::view::VIEW_SIDE;
use crate::domain::{Picture, PictureGlyphs, PictureRequest, PictureRole, PictureRow};
use crate::env::picture::list_values;
use crate::text::{truncate, width, wrap_at_most};
use cells::{COLOURS, CellSize, KINDS, colour_role, joined_row};
use serde_json::Value;

/// Minimum width of the text beside the grid.
const SIDE_TEXT_COLUMNS: usize = 24;
/// Minimum number of rows for the text below a grid of large cells.
const TEXT_ROWS: usize = 4;
/// Maximum width and height of a grid; a journal with a larger one isn't drawn.
const MAX_GRID_SIDE: u64 = 256;

/// Returns the picture of a grid, or a list of what is known if it isn't one.
pub fn draw_picture(request: &PictureRequest<'_>) -> Picture {
    let Some(grid) = Grid::parse(request) else { return list_values(request) };
    let summary = format!("{} of {} cells seen", grid.seen_cells.0, grid.seen_cells.1);
    let agent = grid.agent_text();
    Picture {
        one_line: vec![format!("{agent} {} {summary}", grid.glyphs.separator), agent],
        summary,
        shows_truth: grid.shows_truth,
        rows: grid.picture_rows(request.columns, request.rows),
    }
}

/// A grid, parsed from the environment's JSON.
struct Grid<'a> {
    width: usize,
    height: usize,
    /// Two bytes per cell.
    rows: Vec<&'a [u8]>,
    agent: Pose,
    holding: Option<&'a str>,
    /// Cells that the agent has seen so far, and cells in total.
    seen_cells: (usize, usize),
    /// Whether the agent currently sees each cell, in row-major order.
    visible: Vec<bool>,
    /// Clauses of the mission and whether each is done; known only from the ground truth.
    mission: Vec<(&'a str, bool)>,
    shows_truth: bool,
    is_ascii: bool,
    glyphs: &'static PictureGlyphs,
}

impl<'a> Grid<'a> {
    /// Parses the agent's view, or the ground truth, if given. Returns `None` if it isn't a grid.
    fn parse(request: &PictureRequest<'a>) -> Option<Self> {
        let PictureRequest { shown, truth, .. } = *request;
        let size = |value: &Value| {
            let side =
                |at: usize| value.get("size")?.get(at)?.as_u64().filter(|n| (1..=MAX_GRID_SIDE).contains(n));
            Some((side(0)? as usize, side(1)? as usize))
        };
        let (width, height) = size(shown)?;
        let source = truth.filter(|truth| size(truth) == Some((width, height))).unwrap_or(shown);
        let pose = |value: &Value| {
            let number = |at: usize| {
                let number = value.get("agent")?.get(at)?.as_u64().filter(|n| *n < MAX_GRID_SIDE)?;
                i16::try_from(number).ok()
            };
            let dir = value.get("agent")?.get(2)?.as_u64()? as u8 & 3;
            Some(Pose { x: number(0)?, y: number(1)?, direction: dir })
        };
        let agent = pose(source)?;
        let clause = |part: &'a Value| Some((part.get("text")?.as_str()?, part.get("done")?.as_bool()?));
        let mission = source.get("mission").and_then(Value::as_array).into_iter().flatten();
        let shown_rows = cell_rows(shown, height);
        let cells = shown_rows.iter().flat_map(|row| row.chunks(2)).filter(|cell| *cell != b"  ").count();
        Some(Self {
            width,
            height,
            rows: if truth.is_some() { cell_rows(source, height) } else { shown_rows },
            agent,
            holding: source.get("carrying").and_then(Value::as_str),
            seen_cells: (cells, width * height),
            visible: visible_cells(shown, agent, width, height),
            mission: mission.filter_map(clause).collect(),
            shows_truth: truth.is_some(),
            is_ascii: request.is_ascii,
            glyphs: request.glyphs(),
        })
    }

    fn cell(&self, x: usize, y: usize) -> [u8; 2] {
        let row = self.rows.get(y).copied().unwrap_or_default();
        row.get(2 * x..2 * x + 2).map_or(*b"  ", |cell| [cell[0], cell[1]])
    }

    fn is_visible(&self, x: usize, y: usize) -> bool {
        self.visible.get(y * self.width + x).copied().unwrap_or(false)
    }

    /// Returns the rows of the picture; they fit the area.
    fn picture_rows(&self, columns: usize, rows: usize) -> Vec<PictureRow> {
        if columns == 0 || rows == 0 {
            return Vec::new();
        }
        let fits_beside = |size: CellSize| self.width * size.columns + 2 + SIDE_TEXT_COLUMNS <= columns;
        let size = self.cell_size(columns, rows, fits_beside);
        // Put the text beside the grid if it fits, else above and below it. Where there are no rows for it below, it is beside a part
        // of the grid.
        let rest = columns.saturating_sub(2 + SIDE_TEXT_COLUMNS);
        let fits_beside_part = rows < self.height + 3 && rest >= self.width;
        if fits_beside(size) || fits_beside_part {
            let grid_columns = (self.width * size.columns).min(rest - rest % size.columns);
            let mut cells = self.cell_rows(size, grid_columns, rows);
            let text_columns = columns - grid_columns - 2;
            let mut texts = self.wrap_texts(&[self.agent_line()], text_columns, rows);
            texts.extend(self.text_rows(size, text_columns, rows - texts.len()));
            let below = texts.len().saturating_sub(cells.len());
            cells.extend(std::iter::repeat_n(vec![(PictureRole::Text, " ".repeat(grid_columns))], below));
            for (row, text) in cells.iter_mut().zip(texts) {
                row.push((PictureRole::Text, "  ".to_owned()));
                row.extend(text);
            }
            return cells;
        }
        let above = usize::from(rows > 3);
        let mut all = self.wrap_texts(&[self.agent_line()], columns, above);
        all.extend(self.cell_rows(size, columns, (rows - above).min(self.height * size.rows)));
        all.extend(self.text_rows(size, columns, rows - all.len()));
        all
    }

    /// Returns the mission, the visible objects and, as far as there is room, the legend.
    fn text_rows(&self, size: CellSize, columns: usize, max_rows: usize) -> Vec<PictureRow> {
        let mut rows = self.wrap_texts(&self.side_text(), columns, max_rows);
        // A row of shapes without room for it takes the less important rest with it.
        for (place, block) in self.legend(size, columns).into_iter().enumerate() {
            let gap = usize::from(place == 0);
            if rows.len() + gap + block.len() > max_rows {
                if let Some(row) = rows.last_mut().filter(|_| place > 0) {
                    self.mark_cut(row, columns);
                }
                break;
            }
            rows.extend(std::iter::repeat_n(PictureRow::new(), gap));
            rows.extend(block);
        }
        rows
    }

    /// Ends the last row of a legend with an ellipsis, in place of its last entry if there is no other room.
    fn mark_cut(&self, row: &mut PictureRow, columns: usize) {
        let used = |row: &PictureRow| row.iter().map(|(_, text)| width(text)).sum::<usize>();
        let mark = format!(" {}", self.glyphs.ellipsis);
        while row.len() > 1 && used(row) + width(&mark) > columns {
            row.pop();
        }
        // The gap between two entries.
        row.pop_if(|(_, text)| text.trim().is_empty());
        row.push((PictureRole::Muted, mark));
    }

    /// Returns the largest cells with which the whole grid and the text fit, or else the smallest.
    fn cell_size(&self, columns: usize, rows: usize, fits_beside: impl Fn(CellSize) -> bool) -> CellSize {
        let fits = |size: &CellSize| {
            let (grid_columns, grid_rows) = (self.width * size.columns, self.height * size.rows);
            fits_beside(*size) && grid_rows <= rows
                || grid_columns <= columns && grid_rows + TEXT_ROWS <= rows
        };
        [CellSize::HUGE, CellSize::LARGE].into_iter().find(fits).unwrap_or(CellSize::SMALL)
    }

    /// Wraps texts below each other into at most `max_rows` rows. A text that doesn't fit in the remaining rows is cut
    /// to one row.
    fn wrap_texts(
        &self,
        texts: &[(PictureRole, String)],
        columns: usize,
        max_rows: usize,
    ) -> Vec<PictureRow> {
        let mut rows: Vec<PictureRow> = Vec::new();
        for (role, text) in texts {
            if rows.len() >= max_rows {
                // The last row says that there is more.
                if let Some((_, text)) = rows.last_mut().and_then(|row| row.last_mut()) {
                    let mark = self.glyphs.ellipsis;
                    *text = format!("{} {mark}", truncate(text, columns.saturating_sub(width(mark) + 1), ""));
                }
                break;
            }
            let (mut lines, is_cut) = wrap_at_most(text, columns, max_rows - rows.len());
            if is_cut {
                lines = vec![truncate(text, columns, self.glyphs.ellipsis)];
            }
            rows.extend(lines.into_iter().map(|line| vec![(*role, line)]));
        }
        rows
    }

    fn agent_line(&self) -> (PictureRole, String) {
        (PictureRole::Agent, self.agent_text())
    }

    /// Returns where the agent is and what it holds.
    fn agent_text(&self) -> String {
        let direction = ["right", "down", "left", "up"][usize::from(self.agent.direction & 3)];
        let holding = self.holding.unwrap_or("nothing");
        format!(
            "at {},{} facing {direction} {} holding {holding}",
            self.agent.x, self.agent.y, self.glyphs.separator
        )
    }

    /// Returns the mission and the visible objects, one entry per row.
    fn side_text(&self) -> Vec<(PictureRole, String)> {
        let mut texts = Vec::new();
        for (clause, done) in &self.mission {
            let mark = if *done { self.glyphs.tick } else { self.glyphs.separator };
            texts.push((
                if *done { PictureRole::Good } else { PictureRole::Muted },
                format!("{mark} {clause}"),
            ));
        }
        let mut objects: Vec<(usize, PictureRole, String)> = Vec::new();
        let cells = (0..self.height).flat_map(|y| (0..self.width).map(move |x| (x, y)));
        for (x, y) in cells.filter(|(x, y)| self.is_visible(*x, *y)) {
            let [kind, colour_letter] = self.cell(x, y);
            let Some(name) = object_name(kind, colour_letter) else { continue };
            let (ahead, right) = self.relative_to_agent(x, y);
            if (ahead, right) == (0, 0) {
                continue;
            }
            let sideways = match right {
                0 => String::new(),
                n if n > 0 => format!(",\u{a0}{n}\u{a0}right"),
                n => format!(",\u{a0}{}\u{a0}left", -n),
            };
            let distance = ahead.unsigned_abs() + right.unsigned_abs();
            objects.push((
                distance,
                colour_role(colour_letter),
                format!("{name}  {ahead}\u{a0}ahead{sideways}"),
            ));
        }
        objects.sort_by_key(|(distance, ..)| *distance);
        texts.extend(objects.into_iter().map(|(_, role, text)| (role, text)));
        texts
    }

    /// Returns how far ahead and to the right of the agent a cell lies.
    fn relative_to_agent(&self, x: usize, y: usize) -> (isize, isize) {
        let (dx, dy) =
            (x.cast_signed() - isize::from(self.agent.x), y.cast_signed() - isize::from(self.agent.y));
        match self.agent.direction & 3 {
            0 => (dx, dy),
            1 => (dy, -dx),
            2 => (-dx, -dy),
            _ => (-dy, dx),
        }
    }

    /// Returns the part of the grid around the agent that fits, with neighbours of the same role in one piece.
    fn cell_rows(&self, size: CellSize, columns: usize, rows: usize) -> Vec<PictureRow> {
        let (columns, rows) = (columns / size.columns, rows.div_ceil(size.rows));
        let first = |at: i16, shown: usize, all: usize| {
            usize::try_from(at).unwrap_or(0).saturating_sub(shown / 2).min(all.saturating_sub(shown))
        };
        let (left, top) = (first(self.agent.x, columns, self.width), first(self.agent.y, rows, self.height));
        let cells = |y: usize| (left..self.width).take(columns).map(move |x| (x, y));
        let ys = (top..self.height).take(rows);
        let row = |y: usize, row: usize| joined_row(cells(y).flat_map(|cell| self.cell_row(cell, size, row)));
        ys.flat_map(|y| (0..size.rows).map(move |part| (y, part))).map(|(y, part)| row(y, part)).collect()
    }

    /// Returns whether the agent is in a cell.
    fn is_agent_at(&self, x: usize, y: usize) -> bool {
        self.relative_to_agent(x, y) == (0, 0)
    }
}

/// Returns the name of an object such as `red ball`, or `None` for walls and empty cells.
fn object_name(kind: u8, colour: u8) -> Option<String> {
    let kind = KINDS.iter().find(|(letter, _)| *letter == kind)?.1;
    let colour = COLOURS.iter().find(|(letter, _)| *letter == colour).map_or("grey", |(_, name)| name);
    Some(format!("{colour} {kind}"))
}

/// Returns the rows of cells; one that is missing is empty.
fn cell_rows(value: &Value, height: usize) -> Vec<&[u8]> {
    let row = |y: usize| value.get("rows")?.get(y.to_string())?.as_str().map(str::as_bytes);
    (0..height).map(|y| row(y).unwrap_or_default()).collect()
}

/// Returns whether each cell is in the agent's latest view, in row-major order.
fn visible_cells(shown: &Value, agent: Pose, width: usize, height: usize) -> Vec<bool> {
    let mut visible = vec![false; width * height];
    let view = shown.get("view").and_then(Value::as_array);
    for (row, bits) in view.into_iter().flatten().take(VIEW_SIDE).enumerate() {
        let bits = bits.as_u64().unwrap_or(0);
        for column in (0..VIEW_SIDE).filter(|column| bits >> (VIEW_SIDE - 1 - column) & 1 == 1) {
            let (x, y) = agent.in_view(row, column);
            let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else { continue };
            if x < width && y < height {
                visible[y * width + x] = true;
            }
        }
    }
    visible
}
