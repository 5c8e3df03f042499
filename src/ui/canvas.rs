//! A drawing buffer. All text passes through it, so no control character reaches a cell.

use crate::text::{truncate, width};
use crate::ui::glyphs::Glyphs;
use crate::ui::theme::{Role, Theme};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::{Clear, Widget as _};
use unicode_segmentation::UnicodeSegmentation;

/// A buffer with the colours and characters to draw with.
pub struct Canvas<'a> {
    pub buffer: &'a mut Buffer,
    pub theme: &'a Theme,
    pub glyphs: &'a Glyphs,
}

impl Canvas<'_> {
    /// Returns the style of a role.
    pub fn style(&self, role: Role) -> Style {
        self.theme.style(role)
    }

    /// Writes text into one row of at most `columns` cells and returns the number of cells written. Text that doesn't
    /// fit is cut and marked with an ellipsis. Only the part of a long text that fits is examined.
    pub fn put(&mut self, x: u16, y: u16, columns: u16, text: &str, style: Style) -> u16 {
        let area = self.buffer.area;
        if y < area.y || y >= area.bottom() || x < area.x || x >= area.right() {
            return 0;
        }
        let columns = columns.min(area.right() - x);
        let text = truncate(text, usize::from(columns), self.glyphs.ellipsis);
        let text = if self.glyphs.ellipsis.is_ascii() { to_ascii(&text) } else { text };
        // Reset what was in the cells before, such as a frame under a title.
        let style = Style::reset().patch(self.theme.style(Role::Background)).patch(style);
        if text.is_ascii() {
            // Every byte is a cell: no search for what belongs into one.
            let start = self.buffer.index_of(x, y);
            for (cell, c) in self.buffer.content[start..].iter_mut().zip(text.chars()) {
                cell.set_char(c).set_style(style);
            }
            return text.len() as u16;
        }
        let end = self.buffer.set_stringn(x, y, text, usize::from(columns), style).0;
        end - x
    }

    /// Writes text that ends at column `right` (exclusive) and returns its first column.
    pub fn put_right(&mut self, right: u16, y: u16, columns: u16, text: &str, style: Style) -> u16 {
        let text = truncate(text, usize::from(columns), self.glyphs.ellipsis);
        let wide = width(&text) as u16;
        let x = right.saturating_sub(wide);
        self.put(x, y, wide, &text, style);
        x
    }

    /// Clears an area: resets its cells and sets the theme's background, if it has one.
    pub fn clear(&mut self, area: Rect) {
        Clear.render(area, self.buffer);
        self.buffer.set_style(area, self.theme.style(Role::Background));
    }
}

/// Converts text for an ASCII-only terminal: replaces every other character with an ASCII equivalent or question
/// marks, keeping the width.
fn to_ascii(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let mut ascii = String::with_capacity(text.len());
    for piece in text.graphemes(true) {
        match piece {
            "←" => ascii.push('<'),
            "→" => ascii.push('>'),
            "↑" => ascii.push('^'),
            "↓" => ascii.push('v'),
            "·" | "–" | "—" => ascii.push('-'),
            "…" => ascii.push('~'),
            "‘" | "’" => ascii.push('\''),
            "“" | "”" => ascii.push('"'),
            "\u{a0}" => ascii.push(' '),
            one if one.is_ascii() => ascii.push_str(one),
            other => ascii.extend(std::iter::repeat_n('?', width(other))),
        }
    }
    ascii
}
