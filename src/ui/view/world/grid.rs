//! A grid environment: what the agent has seen, what it sees now, and on demand the ground truth.
//!
//! A cell is two columns wide: a shape and the first letter of a colour. If that doesn't fit, a cell is only the shape.
//! Text beside the grid lists the visible objects.

use super::super::pane_frame;
use crate::env::babyai::{Pose, VIEW_SIDE};
use crate::text::{fits, truncate, width, wrap_at_most};
use crate::ui::canvas::Canvas;
use crate::ui::frame_data::Context;
use crate::ui::layout::PaneArea;
use crate::ui::model::Model;
use crate::ui::theme::Role;
use crate::ui::types::Focus;
use ratatui::layout::Rect;
use serde_json::Value;

/// Minimum width of the text beside the grid.
const SIDE_TEXT_COLUMNS: u16 = 26;
/// Maximum width and height of a grid; a journal with a larger one isn't drawn.
const MAX_GRID_SIDE: u64 = 256;

/// A grid, parsed from the environment's JSON.
pub(super) struct Grid<'a> {
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
}

impl<'a> Grid<'a> {
    /// Parses `shown`, the agent's view, or `truth`, the ground truth, if given. Returns `None` if the environment
    /// isn't a grid.
    pub(super) fn parse(shown: &'a Value, truth: Option<&'a Value>) -> Option<Self> {
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
        })
    }

    fn cell(&self, x: usize, y: usize) -> [u8; 2] {
        let row = self.rows.get(y).copied().unwrap_or_default();
        row.get(2 * x..2 * x + 2).map_or(*b"  ", |cell| [cell[0], cell[1]])
    }

    fn is_visible(&self, x: usize, y: usize) -> bool {
        self.visible.get(y * self.width + x).copied().unwrap_or(false)
    }

    /// Draws the pane.
    pub(super) fn draw(
        &self,
        model: &Model,
        context: &Context<'_>,
        pane: &PaneArea,
        canvas: &mut Canvas<'_>,
    ) {
        self.draw_title(model, context, pane, canvas);
        let body = Rect { x: pane.body.x + 1, width: pane.body.width.saturating_sub(2), ..pane.body };
        if body.height == 0 || body.width == 0 {
            return;
        }
        let (grid_columns, grid_rows) = (self.width as u16, self.height as u16);
        let fits_beside = |cell: u16| grid_columns * cell + 2 + SIDE_TEXT_COLUMNS <= body.width;
        // Put the text beside the grid if it fits, else above and below it.
        let needs_narrow_cells = !fits_beside(2) && fits_beside(1) && body.height < grid_rows + 3;
        let cell = if !needs_narrow_cells && grid_columns * 2 <= body.width { 2 } else { 1 };
        let texts = self.side_text(model.show_truth, context);
        if fits_beside(cell) {
            self.draw_cells(cell, body, context, canvas);
            let x = body.x + (grid_columns * cell) + 2;
            draw_texts(&texts, Rect { x, width: body.right() - x, ..body }, canvas);
            return;
        }
        let above = u16::from(body.height > 3);
        draw_texts(&texts[..usize::from(above)], Rect { height: above, ..body }, canvas);
        let area = Rect { y: body.y + above, height: (body.height - above).min(grid_rows), ..body };
        self.draw_cells(cell, area, context, canvas);
        let below = Rect { y: area.bottom(), height: body.bottom() - area.bottom(), ..body };
        draw_texts(&texts[usize::from(above)..], below, canvas);
    }

    fn draw_title(&self, model: &Model, context: &Context<'_>, pane: &PaneArea, canvas: &mut Canvas<'_>) {
        let Some(area) = pane.title else { return };
        let title_role = if model.focus == Focus::World { Role::TitleFocus } else { Role::Title };
        let mut pieces: Vec<(Role, String)> =
            vec![(Role::Muted, "2 ".to_owned()), (title_role, "World".to_owned())];
        let seen = format!("{} of {} cells seen", self.seen_cells.0, self.seen_cells.1);
        if model.show_truth {
            // The count of seen cells is at the right end of the same row.
            let room = usize::from(area.width).saturating_sub(width(&seen) + 17);
            let label = super::TRUTH_LABELS.iter().find(|label| fits(label, room));
            pieces.push((Role::Warning, label.unwrap_or(&super::TRUTH_LABELS[2]).to_string()));
        }
        if pane.body.height == 0 {
            let room = usize::from(area.width).saturating_sub(17);
            let full = format!("  {} {} {seen}", self.agent_text(context), context.glyphs.separator);
            let text = if fits(&full, room) { full } else { format!("  {}", self.agent_text(context)) };
            pieces.push((Role::Text, text));
        }
        let pieces: Vec<(Role, &str)> = pieces.iter().map(|(r, t)| (*r, t.as_str())).collect();
        pane_frame::draw_title(area, &pieces, canvas);
        if pane.body.height > 0 {
            pane_frame::draw_right_title(area, Role::Muted, &seen, canvas);
        }
    }

    fn agent_text(&self, context: &Context<'_>) -> String {
        let direction = ["right", "down", "left", "up"][usize::from(self.agent.direction & 3)];
        let holding = self.holding.unwrap_or("nothing");
        format!(
            "at {},{} facing {direction} {} holding {holding}",
            self.agent.x, self.agent.y, context.glyphs.separator
        )
    }

    /// Returns the text, one entry per row: the agent's position, the mission, the visible objects, and the legend.
    fn side_text(&self, truth: bool, context: &Context<'_>) -> Vec<(Role, String)> {
        let mut texts = vec![(Role::Text, self.agent_text(context))];
        for (clause, done) in &self.mission {
            let mark = if *done { context.glyphs.subgoal } else { context.glyphs.separator };
            texts.push((if *done { Role::Good } else { Role::Muted }, format!("{mark} {clause}")));
        }
        let mut objects: Vec<(usize, Role, String)> = Vec::new();
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
                n if n > 0 => format!(", {n} right"),
                n => format!(", {} left", -n),
            };
            let distance = ahead.unsigned_abs() + right.unsigned_abs();
            objects.push((distance, colour_role(colour_letter), format!("{name}  {ahead} ahead{sideways}")));
        }
        objects.sort_by_key(|(distance, ..)| *distance);
        texts.extend(objects.into_iter().map(|(_, role, text)| (role, text)));
        let [ball, box_shape, key, open, closed, locked] = object_shapes(context);
        texts.push((Role::Muted, String::new()));
        texts.push((Role::Muted, format!("{ball} ball  {box_shape} box  {key} key")));
        texts.push((Role::Muted, format!("door: {open} open {closed} closed {locked} locked")));
        if !truth {
            texts.push((
                Role::Muted,
                format!("{} not seen  {} visible", unseen_glyph(context), context.glyphs.separator),
            ));
        }
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

    /// Draws the part of the grid around the agent that fits.
    fn draw_cells(&self, cell: u16, area: Rect, context: &Context<'_>, canvas: &mut Canvas<'_>) {
        let (columns, lines) = (usize::from(area.width / cell), usize::from(area.height));
        let first = |at: i16, shown: usize, all: usize| {
            usize::try_from(at).unwrap_or(0).saturating_sub(shown / 2).min(all.saturating_sub(shown))
        };
        let (left, top) = (first(self.agent.x, columns, self.width), first(self.agent.y, lines, self.height));
        for (row, y) in (top..self.height).take(lines).enumerate() {
            for (column, x) in (left..self.width).take(columns).enumerate() {
                let at = (area.x + column as u16 * cell, area.y + row as u16);
                let (role, text) = self.cell_text(x, y, context);
                canvas.put(
                    at.0,
                    at.1,
                    cell,
                    &text.chars().take(usize::from(cell)).collect::<String>(),
                    canvas.style(role),
                );
            }
        }
    }

    /// Returns a cell's colour and its two characters.
    fn cell_text(&self, x: usize, y: usize, context: &Context<'_>) -> (Role, String) {
        if self.relative_to_agent(x, y) == (0, 0) {
            let ascii = context.glyphs.ellipsis.is_ascii();
            let arrows = if ascii { [">", "v", "<", "^"] } else { ["▶", "▼", "◀", "▲"] };
            return (Role::TitleFocus, format!("{} ", arrows[usize::from(self.agent.direction & 3)]));
        }
        let [kind, colour] = self.cell(x, y);
        let [ball, box_shape, key, open, closed, locked] = object_shapes(context);
        let shape = match kind {
            b'o' => ball,
            b'b' => box_shape,
            b'k' => key,
            b'/' => open,
            b'|' => closed,
            b'!' => locked,
            b'#' => {
                let wall = if context.glyphs.ellipsis.is_ascii() { "##" } else { "▒▒" };
                return (if self.is_visible(x, y) { Role::Text } else { Role::Muted }, wall.to_owned());
            }
            b'.' if self.is_visible(x, y) => return (Role::Text, format!("{} ", context.glyphs.separator)),
            b'.' => return (Role::Muted, "  ".to_owned()),
            _ => return (Role::Muted, format!("{0}{0}", unseen_glyph(context))),
        };
        (colour_role(colour), format!("{shape}{}", char::from(colour)))
    }
}

/// Returns the shapes of ball, box, key, and open, closed and locked door.
fn object_shapes(context: &Context<'_>) -> [&'static str; 6] {
    if context.glyphs.ellipsis.is_ascii() {
        ["O", "B", "K", "/", "+", "X"]
    } else {
        ["●", "■", "K", "▯", "▮", "◆"]
    }
}

fn unseen_glyph(context: &Context<'_>) -> &'static str {
    if context.glyphs.ellipsis.is_ascii() { ":" } else { "░" }
}

fn colour_role(colour: u8) -> Role {
    match colour {
        b'r' => Role::ThingRed,
        b'g' => Role::ThingGreen,
        b'b' => Role::ThingBlue,
        b'p' => Role::ThingPurple,
        b'y' => Role::ThingYellow,
        b'e' => Role::ThingGrey,
        _ => Role::Text,
    }
}

fn object_name(kind: u8, colour: u8) -> Option<String> {
    let kind = match kind {
        b'o' => "ball",
        b'b' => "box",
        b'k' => "key",
        b'/' => "open door",
        b'|' => "closed door",
        b'!' => "locked door",
        _ => return None,
    };
    let colour = match colour {
        b'r' => "red",
        b'g' => "green",
        b'b' => "blue",
        b'p' => "purple",
        b'y' => "yellow",
        _ => "grey",
    };
    Some(format!("{colour} {kind}"))
}

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

/// Draws texts below each other and wraps them. A text that doesn't fit in the remaining rows is cut to one row.
fn draw_texts(texts: &[(Role, String)], area: Rect, canvas: &mut Canvas<'_>) {
    let mut free_rows = area.top()..area.bottom();
    for (role, text) in texts {
        let (mut rows, more) = wrap_at_most(text, usize::from(area.width), free_rows.len());
        if more {
            rows = vec![truncate(text, usize::from(area.width), canvas.glyphs.ellipsis)];
        }
        for row in rows {
            let Some(y) = free_rows.next() else { return };
            canvas.put(area.x, y, area.width, &row, canvas.style(*role));
        }
    }
}
