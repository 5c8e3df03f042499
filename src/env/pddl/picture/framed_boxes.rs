//! Small framed boxes side by side, as many per row as fit.

use crate::domain::{PictureGlyphs, PictureRole, PictureRow};
use crate::text::{truncate, width, width_within};

/// One framed box.
pub(super) struct FramedBox {
    /// The text on the top edge.
    pub(super) title: (PictureRole, String),
    pub(super) lines: Vec<PictureRow>,
}

/// Width of a frame's left and right edges, including the padding.
const EDGE_COLUMNS: usize = 4;
/// Width of the gap between boxes.
const GAP_COLUMNS: usize = 1;

/// Lays out boxes of equal width in `columns` columns. The content of a box is at most `max_content` columns wide. If they
/// `may_touch`, there is no gap between them where that leaves room for one more in a row.
pub(super) fn box_rows(
    boxes: &[FramedBox],
    columns: usize,
    max_content: usize,
    may_touch: bool,
    glyphs: &PictureGlyphs,
) -> Vec<PictureRow> {
    let content_width = |framed_box: &FramedBox| {
        let lines = framed_box
            .lines
            .iter()
            .map(|line| line.iter().map(|(_, text)| width_within(text, max_content)).sum());
        lines.chain([width_within(&framed_box.title.1, max_content) + 1]).max().unwrap_or(0)
    };
    let inner = boxes
        .iter()
        .map(content_width)
        .max()
        .unwrap_or(0)
        .clamp(4, max_content.max(4))
        .min(columns.saturating_sub(EDGE_COLUMNS).max(1));
    let boxes_per_row = |gap: usize| ((columns + gap) / (inner + EDGE_COLUMNS + gap)).max(1);
    let gap = if may_touch && boxes_per_row(0) > boxes_per_row(GAP_COLUMNS) { 0 } else { GAP_COLUMNS };
    let mut rows = Vec::new();
    for group in boxes.chunks(boxes_per_row(gap)) {
        let height = group.iter().map(|framed_box| framed_box.lines.len()).max().unwrap_or(0);
        rows.push(join_boxes(group, gap, |framed_box| top_edge(framed_box, inner, glyphs)));
        for line in 0..height {
            rows.push(join_boxes(group, gap, |framed_box| {
                content_line(framed_box.lines.get(line), inner, glyphs)
            }));
        }
        rows.push(join_boxes(group, gap, |_| {
            let edge = format!(
                "{}{}{}",
                glyphs.box_drawing[3],
                glyphs.box_drawing[10].repeat(inner + 2),
                glyphs.box_drawing[9]
            );
            vec![(PictureRole::Frame, edge)]
        }));
    }
    rows
}

fn join_boxes(group: &[FramedBox], gap: usize, part: impl Fn(&FramedBox) -> PictureRow) -> PictureRow {
    let mut row = PictureRow::new();
    for (index, framed_box) in group.iter().enumerate() {
        if index > 0 && gap > 0 {
            row.push((PictureRole::Text, " ".repeat(gap)));
        }
        row.extend(part(framed_box));
    }
    row
}

fn top_edge(framed_box: &FramedBox, inner: usize, glyphs: &PictureGlyphs) -> PictureRow {
    let (role, title) = &framed_box.title;
    let title = truncate(title, inner.saturating_sub(1), glyphs.ellipsis);
    let rest = glyphs.box_drawing[10].repeat(inner.saturating_sub(width(&title) + 1));
    let line = glyphs.box_drawing[10];
    vec![
        (PictureRole::Frame, format!("{}{line} ", glyphs.box_drawing[6])),
        (*role, title),
        (PictureRole::Frame, format!(" {rest}{}", glyphs.box_drawing[12])),
    ]
}

fn content_line(line: Option<&PictureRow>, inner: usize, glyphs: &PictureGlyphs) -> PictureRow {
    let mut row: PictureRow = vec![(PictureRole::Frame, format!("{} ", glyphs.box_drawing[5]))];
    let mut room = inner;
    for (role, text) in line.into_iter().flatten() {
        let text = truncate(text, room, glyphs.ellipsis);
        room -= width(&text);
        row.push((*role, text));
    }
    row.push((PictureRole::Frame, format!("{} {}", " ".repeat(room), glyphs.box_drawing[5])));
    row
}
