//! Pieces of text that are kept whole when they are laid out in rows; things that have no room are counted.

use crate::domain::{PictureGlyphs, PictureRole, PictureRow};
use crate::text::{one_line, prefix, truncate, width, width_within};

/// Bytes of a longer text are left out; bounds the work per frame.
const MAX_PIECE_BYTES: usize = 4096;

/// A word or the name of a thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    role: PictureRole,
    text: String,
    /// Whether a comma follows it.
    has_comma: bool,
    /// How many things it stands for, which are counted where there is no room for it.
    things: usize,
}

impl Piece {
    /// Returns a word that is left out where there is no room.
    pub(super) fn word(role: PictureRole, text: &str) -> Self {
        // Cleaned before it is measured: a tab is drawn as several spaces.
        let text = one_line(prefix(text, MAX_PIECE_BYTES)).into_owned();
        Self { role, text, has_comma: false, things: 0 }
    }

    /// Returns the name of something that is counted where there is no room.
    pub(super) fn item(role: PictureRole, text: &str) -> Self {
        Self { things: 1, ..Self::word(role, text) }
    }

    /// Returns what stands for several things, all of which are counted where there is no room for it.
    pub(super) fn items(role: PictureRole, text: &str, things: usize) -> Self {
        Self { things, ..Self::word(role, text) }
    }

    pub(super) fn add_comma(&mut self) {
        self.has_comma = true;
    }

    /// Returns its width including the comma, up to one more than `columns`.
    fn columns_within(&self, columns: usize) -> usize {
        width_within(&self.text, columns) + usize::from(self.has_comma)
    }
}

/// Returns how many pieces each row of `columns` columns takes.
fn row_lengths(pieces: &[Piece], columns: usize) -> Vec<usize> {
    let mut rows: Vec<usize> = Vec::new();
    let mut used = 0;
    for piece in pieces {
        let wide = piece.columns_within(columns);
        if let Some(count) = rows.last_mut().filter(|_| used + 1 + wide <= columns) {
            *count += 1;
            used += 1 + wide;
        } else {
            rows.push(1);
            used = wide;
        }
    }
    rows
}

/// Returns how many rows pieces take, at most `max_rows`.
pub(super) fn row_count(pieces: &[Piece], columns: usize, max_rows: usize) -> usize {
    row_lengths(pieces, columns).len().min(max_rows)
}

/// Lays out pieces in at most `max_rows` rows, at least one. Things without room are counted at the end of the last one.
pub(super) fn fit_pieces(
    pieces: &[Piece],
    columns: usize,
    max_rows: usize,
    glyphs: &PictureGlyphs,
) -> Vec<PictureRow> {
    let lengths = row_lengths(pieces, columns);
    let max_rows = max_rows.max(1);
    let mut rest = pieces;
    let mut rows = Vec::new();
    for (at, &length) in lengths.iter().take(max_rows).enumerate() {
        let is_cut = at + 1 == max_rows && lengths.len() > max_rows;
        if is_cut {
            rows.push(last_row(rest, length, columns, glyphs));
        } else {
            let (row, after) = rest.split_at(length);
            rows.push(piece_row(row, columns, glyphs));
            rest = after;
        }
    }
    rows
}

/// Returns a row of up to `length` pieces and the number of things that follow them. If not even the first one fits beside
/// that number, it is cut.
fn last_row(pieces: &[Piece], mut length: usize, columns: usize, glyphs: &PictureGlyphs) -> PictureRow {
    let count_after = |length: usize| {
        let things: usize = pieces[length..].iter().map(|piece| piece.things).sum();
        match things {
            0 => glyphs.ellipsis.to_owned(),
            // Beside numbers of things.
            _ if pieces.iter().any(|piece| piece.things > 1) => format!("+{things} more"),
            _ => format!("+{things}"),
        }
    };
    let row_width =
        |length: usize| pieces[..length].iter().map(|piece| piece.columns_within(columns) + 1).sum::<usize>();
    while length > 1 && row_width(length) + width(&count_after(length)) > columns {
        length -= 1;
    }
    let count = count_after(length);
    let room = columns.saturating_sub(width(&count) + 1);
    let mut row = piece_row(&pieces[..length], room, glyphs);
    row.pop_if(|(_, text)| text == ",");
    row.push((PictureRole::Muted, format!(" {count}")));
    row
}

/// Returns pieces side by side. One that is wider than the area is cut.
fn piece_row(pieces: &[Piece], columns: usize, glyphs: &PictureGlyphs) -> PictureRow {
    let mut row = PictureRow::new();
    for piece in pieces {
        if !row.is_empty() {
            row.push((PictureRole::Muted, " ".to_owned()));
        }
        let comma = usize::from(piece.has_comma);
        let text = truncate(&piece.text, columns.saturating_sub(comma), glyphs.ellipsis);
        row.push((piece.role, text));
        if piece.has_comma && columns > 1 {
            row.push((PictureRole::Muted, ",".to_owned()));
        }
    }
    row
}
