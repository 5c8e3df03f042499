//! Small framed boxes side by side, as many in a row as fit.

use super::Pieces;
use crate::text::{truncate, width, width_within};
use crate::ui::glyphs::Glyphs;
use crate::ui::theme::Role;

/// What stands in one frame.
pub(super) struct Framed {
    /// The words on its upper edge.
    pub(super) title: (Role, String),
    /// Its lines.
    pub(super) lines: Vec<Pieces>,
}

/// Columns of a frame and of the gap behind it.
const EDGES: usize = 4;
const GAP: usize = 1;

/// Rows of boxes of one width, none wider than `most` within, in `columns` cells.
pub(super) fn rows(boxes: &[Framed], columns: usize, most: usize, glyphs: &Glyphs) -> Vec<Pieces> {
    let wide = |one: &Framed| {
        let lines = one.lines.iter().map(|line| line.iter().map(|(_, text)| width_within(text, most)).sum());
        lines.chain([width_within(&one.title.1, most) + 1]).max().unwrap_or(0)
    };
    let inner = boxes
        .iter()
        .map(wide)
        .max()
        .unwrap_or(0)
        .clamp(4, most.max(4))
        .min(columns.saturating_sub(EDGES).max(1));
    let each = ((columns + GAP) / (inner + EDGES + GAP)).max(1);
    let mut rows = Vec::new();
    for group in boxes.chunks(each) {
        let height = group.iter().map(|one| one.lines.len()).max().unwrap_or(0);
        rows.push(side_by_side(group, |one| top(one, inner, glyphs)));
        for line in 0..height {
            rows.push(side_by_side(group, |one| middle(one.lines.get(line), inner, glyphs)));
        }
        rows.push(side_by_side(group, |_| {
            let edge =
                format!("{}{}{}", glyphs.joints[3], glyphs.joints[10].repeat(inner + 2), glyphs.joints[9]);
            vec![(Role::Frame, edge)]
        }));
    }
    rows
}

fn side_by_side(group: &[Framed], part: impl Fn(&Framed) -> Pieces) -> Pieces {
    let mut row = Pieces::new();
    for (at, one) in group.iter().enumerate() {
        if at > 0 {
            row.push((Role::Text, " ".repeat(GAP)));
        }
        row.extend(part(one));
    }
    row
}

fn top(one: &Framed, inner: usize, glyphs: &Glyphs) -> Pieces {
    let (role, title) = &one.title;
    let title = truncate(title, inner.saturating_sub(1), glyphs.more);
    let rest = glyphs.joints[10].repeat(inner.saturating_sub(width(&title) + 1));
    let line = glyphs.joints[10];
    vec![
        (Role::Frame, format!("{}{line} ", glyphs.joints[6])),
        (*role, title),
        (Role::Frame, format!(" {rest}{}", glyphs.joints[12])),
    ]
}

fn middle(line: Option<&Pieces>, inner: usize, glyphs: &Glyphs) -> Pieces {
    let mut row: Pieces = vec![(Role::Frame, format!("{} ", glyphs.joints[5]))];
    let mut room = inner;
    for (role, text) in line.into_iter().flatten() {
        let text = truncate(text, room, glyphs.more);
        room -= width(&text);
        row.push((*role, text));
    }
    row.push((Role::Frame, format!("{} {}", " ".repeat(room), glyphs.joints[5])));
    row
}
