//! Draws blocks as towers on a table.

use super::Facts;
use crate::domain::{PictureGlyphs, PictureRole, PictureRow};
use crate::text::{truncate, width, width_within};

/// Returns the towers from left to right, each from the bottom, or `None` if blocks form a cycle.
fn towers<'a>(facts: &Facts<'a>) -> Option<Vec<Vec<&'a str>>> {
    let placed = facts.arguments::<2>("on").count();
    let mut towers = Vec::new();
    let mut seen = 0;
    for [bottom] in facts.arguments::<1>("on-table") {
        let mut tower = vec![bottom];
        while let Some(above) = tower.last().and_then(|top| facts.first_arguments("on", top).next()) {
            if seen > placed {
                return None;
            }
            seen += 1;
            tower.push(above);
        }
        towers.push(tower);
    }
    (seen == placed).then_some(towers)
}

/// Returns the scene in a few words.
pub(super) fn one_line_summary(facts: &Facts<'_>) -> String {
    match facts.arguments::<1>("holding").next() {
        Some([block]) => format!("the arm holds {block}"),
        None => "the arm is empty".to_owned(),
    }
}

/// Returns the drawing, or `None` if the facts have nothing to draw. Blocks have frames if all towers fit side by side in
/// `max_rows` rows, else brackets.
pub(super) fn rows(
    facts: &Facts<'_>,
    room: usize,
    max_rows: usize,
    glyphs: &PictureGlyphs,
) -> Option<Vec<PictureRow>> {
    let towers = towers(facts)?;
    let held = facts.arguments::<1>("holding").next();
    let hand = match held {
        Some([block]) => (PictureRole::Accent, format!("[{block}]")),
        None => (PictureRole::Muted, "empty".to_owned()),
    };
    let mut rows = vec![vec![(PictureRole::Muted, "arm  ".to_owned()), hand], Vec::new()];
    let blocks = towers.iter().flatten();
    let wide = blocks.map(|block| width_within(block, room.saturating_sub(3).max(1))).max().unwrap_or(1);
    let height = towers.iter().map(Vec::len).max().unwrap_or(0);
    let framed_columns = towers.len() * (wide + FRAME_COLUMNS + 1);
    if framed_columns <= room + 1 && rows.len() + 2 * height < max_rows {
        rows.extend(framed_rows(&towers, wide, height, glyphs));
        return Some(rows);
    }
    let each = ((room + 1) / (wide + 3)).max(1);
    for group in towers.chunks(each) {
        rows.extend(bracket_rows(group, wide, glyphs));
    }
    Some(rows)
}

/// Columns of a block's frame, with the spaces inside it.
const FRAME_COLUMNS: usize = 4;

/// Returns the role of a block; the top block of a tower can be picked up.
fn block_role(tower: &[&str], level: usize) -> PictureRole {
    if level + 1 == tower.len() { PictureRole::Text } else { PictureRole::Observation }
}

/// Returns towers of blocks with frames, and the table. The blocks of a tower share their edges.
fn framed_rows(towers: &[Vec<&str>], wide: usize, height: usize, glyphs: &PictureGlyphs) -> Vec<PictureRow> {
    let joint = |arms: usize| glyphs.box_drawing[arms];
    let edge = |left: usize, right: usize| {
        format!("{}{}{}", joint(left), joint(2 | 8).repeat(wide + 2), joint(right))
    };
    let blank = " ".repeat(wide + FRAME_COLUMNS + 1);
    let mut rows = Vec::new();
    for level in (0..height).rev() {
        let (mut edges, mut names) = (PictureRow::new(), PictureRow::new());
        for tower in towers {
            let Some(name) = tower.get(level) else {
                edges.push((PictureRole::Frame, blank.clone()));
                names.push((PictureRole::Frame, blank.clone()));
                continue;
            };
            let is_top = level + 1 == tower.len();
            let upper = if is_top { edge(2 | 4, 4 | 8) } else { edge(1 | 2 | 4, 1 | 4 | 8) };
            edges.push((PictureRole::Frame, format!("{upper} ")));
            names.extend([
                (PictureRole::Frame, format!("{} ", joint(1 | 4))),
                (block_role(tower, level), padded(name, wide, glyphs)),
                (PictureRole::Frame, format!(" {} ", joint(1 | 4))),
            ]);
        }
        rows.extend([edges, names]);
    }
    let feet: Vec<String> = towers.iter().map(|_| edge(1 | 2 | 8, 1 | 2 | 8)).collect();
    rows.push(vec![(PictureRole::Frame, feet.join(joint(2 | 8)))]);
    rows
}

/// Returns towers of blocks in brackets, and the table.
fn bracket_rows(towers: &[Vec<&str>], wide: usize, glyphs: &PictureGlyphs) -> Vec<PictureRow> {
    let mut rows = Vec::new();
    let height = towers.iter().map(Vec::len).max().unwrap_or(0);
    for level in (0..height).rev() {
        let mut row = PictureRow::new();
        for tower in towers {
            let block = tower
                .get(level)
                .map_or_else(String::new, |block| format!("[{}]", padded(block, wide, glyphs)));
            row.push((block_role(tower, level), format!("{block:<0$} ", wide + 2)));
        }
        rows.push(row);
    }
    let table = glyphs.box_drawing[10].repeat((towers.len() * (wide + 3)).saturating_sub(1));
    rows.push(vec![(PictureRole::Frame, table)]);
    rows
}

/// Returns a block's name in the middle of some columns.
fn padded(name: &str, columns: usize, glyphs: &PictureGlyphs) -> String {
    let name = truncate(name, columns, glyphs.ellipsis);
    let padding = columns.saturating_sub(width(&name));
    format!("{}{name}{}", " ".repeat(padding / 2), " ".repeat(padding - padding / 2))
}
