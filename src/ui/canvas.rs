//! A buffer to paint on, and the last gate for text: nothing reaches a cell that is not clean.

use super::glyphs::Glyphs;
use super::theme::{Role, Theme};
use crate::text::{truncate, width};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use unicode_segmentation::UnicodeSegmentation;

/// A buffer with the colours and characters to paint it with.
pub struct Canvas<'a> {
    /// The cells.
    pub buffer: &'a mut Buffer,
    /// The colours.
    pub theme: &'a Theme,
    /// The drawing characters.
    pub glyphs: &'a Glyphs,
}

impl Canvas<'_> {
    /// The style of a role.
    pub fn style(&self, role: Role) -> Style {
        self.theme.style(role)
    }

    /// Writes text in one row of at most `columns` cells and returns how many it took. What does not fit is cut and
    /// marked. Text far longer than the row is never looked at as a whole.
    pub fn put(&mut self, x: u16, y: u16, columns: u16, text: &str, style: Style) -> u16 {
        let area = self.buffer.area;
        if y < area.y || y >= area.bottom() || x < area.x || x >= area.right() {
            return 0;
        }
        let columns = columns.min(area.right() - x);
        let text = truncate(text, usize::from(columns), self.glyphs.ellipsis);
        let text = if self.glyphs.ellipsis.is_ascii() { to_ascii(&text) } else { text };
        // What lay in the cells before (a frame under a title) must not shine through.
        let style = Style::reset().patch(self.theme.style(Role::Background)).patch(style);
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

    /// Empties an area: the cells keep nothing of what lay there, and have the theme's ground, if it has one.
    pub fn clear(&mut self, area: Rect) {
        for y in area.top()..area.bottom() {
            for x in area.left()..area.right() {
                if let Some(cell) = self.buffer.cell_mut((x, y)) {
                    cell.reset();
                }
            }
        }
        self.buffer.set_style(area.intersection(self.buffer.area), self.theme.style(Role::Background));
    }

    /// Adds a modifier to every cell of an area.
    pub fn add_modifier(&mut self, area: Rect, modifier: Modifier) {
        self.buffer.set_style(area.intersection(self.buffer.area), Style::new().add_modifier(modifier));
    }
}

/// Text for a terminal that shows ASCII alone: every other character by one that means the same, or by question marks,
/// as wide as before.
fn to_ascii(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let mut kept = String::with_capacity(text.len());
    for piece in text.graphemes(true) {
        match piece {
            "←" => kept.push('<'),
            "→" => kept.push('>'),
            "↑" => kept.push('^'),
            "↓" => kept.push('v'),
            "·" | "–" | "—" => kept.push('-'),
            "…" => kept.push('~'),
            "‘" | "’" => kept.push('\''),
            "“" | "”" => kept.push('"'),
            "\u{a0}" => kept.push(' '),
            one if one.is_ascii() => kept.push_str(one),
            other => kept.extend(std::iter::repeat_n('?', width(other))),
        }
    }
    kept
}
