//! Text for display: sanitizing, measuring in cells, wrapping, truncating and searching. Pure and independent of the
//! screen.
//!
//! All text from a model, an environment or a file passes through [`clean()`] before it is drawn, printed to a terminal
//! or written into a picture. Widths are sums over grapheme clusters, which matches how a terminal fills cells.

mod clean;
mod escape;
mod private;
mod program;
mod search;
mod similar;
mod wrap;

pub use clean::{clean, invisible_prefix_len, one_line};
pub use escape::{escape_html, escape_json, escape_markdown, markdown_block, markdown_code, redact_url};
pub use private::{hide_private, hide_private_in_page, hosts_of, private_parts};
pub use program::{help_with_program_name, program_name, set_program_name, with_program_name};
pub use search::search;
pub use similar::{nearest_name, similar_names};
pub use wrap::{wrap, wrap_at_most, wrap_or_mark};

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Returns the width in cells of one line of clean text.
pub fn width(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.graphemes(true).map(UnicodeWidthStr::width).sum()
}

/// Returns the width in cells of one line of clean text, but at most `max_columns`. Reads no more of the text than
/// necessary, so that it can be used in every frame on text of any length.
pub fn width_within(text: &str, max_columns: usize) -> usize {
    // Every ASCII character takes one cell whatever follows it, so `max_columns` bytes of them suffice.
    if text.as_bytes()[..text.len().min(max_columns)].is_ascii() {
        return text.len().min(max_columns);
    }
    let mut used = 0;
    for piece in text.graphemes(true) {
        used += piece.width();
        if used >= max_columns {
            return max_columns;
        }
    }
    used
}

/// Returns whether one line of clean text takes at most `columns` cells. Reads no more of the text than necessary.
pub fn fits(text: &str, columns: usize) -> bool {
    width_within(text, columns.saturating_add(1)) <= columns
}

/// Cleans one line and cuts it to at most `columns` cells without splitting a character. A cut line ends with
/// `ellipsis`. Reads no more of the text than necessary.
pub fn truncate(text: &str, columns: usize, ellipsis: &str) -> String {
    // Clean text needs fewer than 16 bytes per cell on average.
    let max_bytes = columns.saturating_mul(16).saturating_add(64);
    let shortened = text.len() > max_bytes;
    let text = one_line(if shortened { prefix(text, max_bytes) } else { text });
    if !shortened && fits(&text, columns) {
        return text.into_owned();
    }
    let Some(available) = columns.checked_sub(width(ellipsis)) else { return String::new() };
    let mut kept = String::new();
    let mut used = 0;
    for piece in text.graphemes(true) {
        used += piece.width();
        if used > available {
            break;
        }
        kept.push_str(piece);
    }
    kept.push_str(ellipsis);
    kept
}

/// Returns the longest prefix of a text that has at most `max_bytes` bytes and ends at a character boundary.
pub fn prefix(text: &str, max_bytes: usize) -> &str {
    let mut end = max_bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests;
