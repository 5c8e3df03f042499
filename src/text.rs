//! Text as it is shown: made harmless, measured in cells, wrapped, cut and searched. Pure; knows no screen.
//!
//! Everything that comes from a model, a world or a file passes [`clean()`] before it is drawn, printed to a terminal or
//! put into a picture. Widths are sums over grapheme clusters, which is how the cells of a screen are filled.

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

/// The cells that one line of clean text takes.
pub fn width(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.graphemes(true).map(UnicodeWidthStr::width).sum()
}

/// The cells that one line of clean text takes, or `most` where it takes more. Looks at no more of the text than it needs:
/// for words of a world or a model, which may be of any length, this is the one to ask in a frame.
pub fn width_within(text: &str, most: usize) -> usize {
    // A letter of ASCII is a cell whatever follows it, so that many bytes of them are enough.
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

/// Whether one line of clean text takes no more than so many cells. Looks at no more of it than it needs.
pub fn fits(text: &str, columns: usize) -> bool {
    width_within(text, columns.saturating_add(1)) <= columns
}

/// Cleans one line and cuts it to at most `columns` cells without splitting a character; a cut is marked with `more`.
/// Looks at no more of the text than it needs.
pub fn truncate(text: &str, columns: usize, more: &str) -> String {
    // Sixteen bytes a cell are more than any clean character of one cell needs on the average.
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

/// The longest beginning of a text of at most so many bytes.
pub fn prefix(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests;
