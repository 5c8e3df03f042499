//! Line wrapping.

use super::{clean, prefix, truncate, width};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Cleans text and wraps it into rows of at most `columns` cells. Lines are broken at spaces and next to wide
/// characters; a word that is longer than a row is broken between characters.
///
/// Every line of the text becomes at least one row. Spaces at the start of a line are kept; spaces at a break are
/// removed. A character wider than a row becomes `?`. If `columns` is 0, the result is empty.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    wrap_at_most(text, columns, usize::MAX).0
}

/// Wraps text like [`wrap`] into at most `max_rows` rows; where rows were left out, the last one ends with `more`.
pub fn wrap_or_mark(text: &str, columns: usize, max_rows: usize, more: &str) -> Vec<String> {
    let (mut rows, is_cut) = wrap_at_most(text, columns, max_rows);
    if let Some(last) = rows.last_mut().filter(|_| is_cut) {
        *last = truncate(&format!("{last}{more}"), columns, more);
    }
    rows
}

/// Wraps text like [`wrap`], but returns at most `max_rows` rows, and whether rows were left out.
pub fn wrap_at_most(text: &str, columns: usize, max_rows: usize) -> (Vec<String>, bool) {
    if columns == 0 {
        return (Vec::new(), !text.is_empty());
    }
    let mut builder = RowBuilder {
        columns,
        max_rows,
        rows: Vec::new(),
        row: String::new(),
        used_columns: 0,
        pending_spaces: 0,
        is_first_row: true,
    };
    for line in text.split('\n') {
        // Reading at most 16 bytes per cell keeps the work proportional to the number of rows. If cleaning removes most
        // of a longer line, fewer rows are returned and the text counts as cut.
        let max_bytes =
            max_rows.saturating_sub(builder.rows.len()).saturating_mul(columns).saturating_mul(16).max(4096);
        let part = if line.len() > max_bytes { prefix(line, max_bytes) } else { line };
        for line in clean(part).split('\n') {
            if builder.rows.len() >= max_rows {
                builder.rows.truncate(max_rows);
                return (builder.rows, true);
            }
            builder.push_line(line);
        }
        if part.len() < line.len() {
            builder.rows.truncate(max_rows);
            return (builder.rows, true);
        }
    }
    let is_cut = builder.rows.len() > max_rows;
    builder.rows.truncate(max_rows);
    (builder.rows, is_cut)
}

struct RowBuilder {
    columns: usize,
    max_rows: usize,
    rows: Vec<String>,
    row: String,
    used_columns: usize,
    pending_spaces: usize,
    /// Whether the current row is the first one of its line.
    is_first_row: bool,
}

impl RowBuilder {
    fn push_line(&mut self, line: &str) {
        self.is_first_row = true;
        self.pending_spaces = 0;
        if line.is_ascii() {
            return self.push_ascii_line(line);
        }
        // The byte range of the current word, and its width.
        let mut word = (0, 0);
        let mut cells = 0;
        for (start, piece) in line.grapheme_indices(true) {
            let piece_width = piece.width();
            let is_break = piece == " " || piece_width > 1;
            if is_break {
                self.push_word(&line[word.0..word.1], cells);
                if piece == " " {
                    self.pending_spaces += 1;
                } else {
                    self.push_word(piece, piece_width);
                }
                word = (start + piece.len(), start + piece.len());
                cells = 0;
            } else {
                word.1 = start + piece.len();
                cells += piece_width;
            }
            if self.rows.len() > self.max_rows {
                return;
            }
        }
        self.push_word(&line[word.0..word.1], cells);
        self.end_row();
    }

    /// Does the same for a line in which every byte is a cell.
    fn push_ascii_line(&mut self, line: &str) {
        for (place, word) in line.split(' ').enumerate() {
            self.pending_spaces += usize::from(place > 0);
            self.push_word(word, word.len());
            if self.rows.len() > self.max_rows {
                return;
            }
        }
        self.end_row();
    }

    fn push_word(&mut self, word: &str, cells: usize) {
        if word.is_empty() {
            return;
        }
        if self.used_columns + self.pending_spaces + cells <= self.columns {
            self.flush_spaces();
            self.row.push_str(word);
            self.used_columns += cells;
            return;
        }
        if self.is_first_row
            && self.used_columns == 0
            && self.pending_spaces < self.columns
            && cells > self.columns
        {
            // A word longer than a row starts right after the indentation, not on a new row.
            self.flush_spaces();
        } else if self.used_columns > 0 {
            let moved = self.take_numbered_word(word, cells);
            self.end_row();
            self.row.push_str(&moved);
            self.used_columns = width(&moved);
        }
        self.pending_spaces = 0;
        for piece in word.graphemes(true) {
            self.push_grapheme(piece);
        }
    }

    /// Takes the last word out of the row if the next word, which doesn't fit, is its number, as in `pot 1`: both belong into one row.
    /// Returns the word with the space behind it; an empty text if the word has no number, or is the only one of the row.
    fn take_numbered_word(&mut self, next: &str, cells: usize) -> String {
        let number = next.trim_end_matches(['.', ',', ';', ':', ')']);
        let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        let (before, word) = self.row.rsplit_once(' ').unwrap_or_default();
        // What ends a sentence has no number, and between wide characters, too, there may be a break.
        let has_number = word.contains(char::is_alphabetic)
            && word.ends_with(char::is_alphanumeric)
            && word.chars().all(|c| c.width().unwrap_or(0) <= 1);
        let fits = width(word) + 1 + cells <= self.columns;
        if !is_number || !has_number || !fits || self.pending_spaces != 1 || before.trim().is_empty() {
            return String::new();
        }
        let taken = format!("{word} ");
        self.row.truncate(before.trim_end_matches(' ').len());
        taken
    }

    fn push_grapheme(&mut self, piece: &str) {
        let piece_width = piece.width();
        if piece_width > self.columns {
            piece.chars().for_each(|c| self.push_char(c));
            return;
        }
        if self.used_columns + piece_width > self.columns {
            self.end_row();
        }
        self.row.push_str(piece);
        self.used_columns += piece_width;
    }

    /// Appends one code point of a grapheme that is wider than a row. A combining mark may widen the preceding
    /// character, so the whole row is measured again.
    fn push_char(&mut self, c: char) {
        let c = if c.width().unwrap_or(0) > self.columns { '?' } else { c };
        self.row.push(c);
        let row_width = width(&self.row);
        if row_width > self.columns {
            self.row.pop();
            self.end_row();
            self.row.push(c);
        }
        self.used_columns = width(&self.row);
    }

    fn flush_spaces(&mut self) {
        self.row.extend(std::iter::repeat_n(' ', self.pending_spaces));
        self.used_columns += self.pending_spaces;
        self.pending_spaces = 0;
    }

    fn end_row(&mut self) {
        self.rows.push(std::mem::take(&mut self.row));
        self.used_columns = 0;
        self.pending_spaces = 0;
        self.is_first_row = false;
    }
}
