//! Text for display: sanitizing, measuring in cells, wrapping, truncating and searching. Pure and independent of the
//! screen.
//!
//! All text from a model, an environment or a file passes through [`clean()`] before it is drawn, printed to a terminal
//! or written into a picture. Widths are sums over grapheme clusters, which matches how a terminal fills cells.

mod clean;
mod escape;
mod search;
mod wrap;

pub use clean::{clean, invisible_prefix_len, one_line};
pub use escape::{escape_html, escape_json, escape_markdown, markdown_block, markdown_code, redact_url};
pub use search::search;
pub use wrap::{wrap, wrap_at_most};

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Returns the width in cells of one line of clean text.
pub fn width(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.graphemes(true).map(UnicodeWidthStr::width).sum()
}

/// Returns the width in cells of one line of clean text, or `most` if it is wider. Reads no more of the text than
/// necessary, so that it can be used in every frame on text of any length.
pub fn width_within(text: &str, most: usize) -> usize {
    // Every ASCII character takes one cell whatever follows it, so that `most` bytes of them suffice.
    if text.as_bytes()[..text.len().min(most)].is_ascii() {
        return text.len().min(most);
    }
    let mut used = 0;
    for piece in text.graphemes(true) {
        used += piece.width();
        if used >= most {
            return most;
        }
    }
    used
}

/// Returns whether one line of clean text takes at most `columns` cells. Reads no more of the text than necessary.
pub fn fits(text: &str, columns: usize) -> bool {
    width_within(text, columns.saturating_add(1)) <= columns
}

/// Cleans one line and cuts it to at most `columns` cells without splitting a character; a cut is marked with `more`.
/// Reads no more of the text than necessary.
pub fn truncate(text: &str, columns: usize, more: &str) -> String {
    // Clean text needs fewer than 16 bytes per cell on average.
    let longest = columns.saturating_mul(16).saturating_add(64);
    let shortened = text.len() > longest;
    let text = one_line(if shortened { prefix(text, longest) } else { text });
    if !shortened && fits(&text, columns) {
        return text.into_owned();
    }
    let Some(room) = columns.checked_sub(width(more)) else { return String::new() };
    let mut kept = String::new();
    let mut used = 0;
    for piece in text.graphemes(true) {
        used += piece.width();
        if used > room {
            break;
        }
        kept.push_str(piece);
    }
    kept.push_str(more);
    kept
}

/// Returns the longest prefix of a text with at most `bytes` bytes that ends at a character boundary.
pub fn prefix(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests;
