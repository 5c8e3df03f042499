//! Draws blocks as towers on a table.

use super::Facts;
use crate::domain::{PictureGlyphs, PictureRole, PictureRow};
use crate::text::width_within;

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

/// Returns the drawing, or `None` if the facts have nothing to draw.
pub(super) fn rows(facts: &Facts<'_>, room: usize, glyphs: &PictureGlyphs) -> Option<Vec<PictureRow>> {
    let towers = towers(facts)?;
    let held = facts.arguments::<1>("holding").next();
    let hand = match held {
        Some([block]) => (PictureRole::Accent, format!("[{block}]")),
        None => (PictureRole::Muted, "empty".to_owned()),
    };
    let mut rows = vec![vec![(PictureRole::Muted, "arm  ".to_owned()), hand], Vec::new()];
    let wide = towers
        .iter()
        .flatten()
        .map(|block| width_within(block, room.saturating_sub(3).max(1)))
        .max()
        .unwrap_or(1);
    let each = ((room + 1) / (wide + 3)).max(1);
    for group in towers.chunks(each) {
        let height = group.iter().map(Vec::len).max().unwrap_or(0);
        for level in (0..height).rev() {
            let mut row = PictureRow::new();
            for tower in group {
                let block = tower.get(level).map_or_else(String::new, |block| {
                    let name = crate::text::truncate(block, wide, glyphs.ellipsis);
                    format!("[{name:^wide$}]")
                });
                // The top block of a tower can be picked up.
                let role =
                    if level + 1 == tower.len() { PictureRole::Text } else { PictureRole::Observation };
                row.push((role, format!("{block:<0$} ", wide + 2)));
            }
            rows.push(row);
        }
        let table = glyphs.box_drawing[10].repeat((group.len() * (wide + 3)).saturating_sub(1));
        rows.push(vec![(PictureRole::Frame, table)]);
    }
    Some(rows)
}
