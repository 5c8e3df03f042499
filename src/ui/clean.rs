//! Placeholder of text sanitising, width and wrapping until the text room is merged.
use std::borrow::Cow;
use unicode_width::UnicodeWidthStr;

/// Strips control characters.
pub fn clean(text: &str) -> Cow<'_, str> {
    if text.chars().any(char::is_control) {
        Cow::Owned(text.chars().filter(|c| !c.is_control()).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// Columns.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Wraps words.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut rows = Vec::new();
    for line in text.lines() {
        let mut row = String::new();
        for word in line.split(' ') {
            if !row.is_empty() && width(&row) + 1 + width(word) > columns {
                rows.push(std::mem::take(&mut row));
            }
            if !row.is_empty() {
                row.push(' ');
            }
            row.push_str(word);
        }
        rows.push(row);
    }
    rows
}
