//! A buffer to paint on, and the last gate for text: nothing reaches a cell that is not clean.

use super::clean::{clean, width};
use super::glyphs::Glyphs;
use super::theme::{Role, Theme};
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
    /// marked.
    pub fn put(&mut self, x: u16, y: u16, columns: u16, text: &str, style: Style) -> u16 {
        let area = self.buffer.area;
        if y < area.y || y >= area.bottom() || x < area.x || x >= area.right() {
            return 0;
        }
        let columns = columns.min(area.right() - x);
        // Text far longer than the row is never looked at as a whole.
        let longest = usize::from(columns) * 16 + 64;
        let text = super::view::rows::head(text, longest).0;
        let text = clean(text);
        if width(&text) <= usize::from(columns) {
            let end = self.buffer.set_stringn(x, y, &*text, usize::from(columns), style).0;
            return end - x;
        }
        if columns == 0 {
            return 0;
        }
        let end = self.buffer.set_stringn(x, y, &*text, usize::from(columns - 1), style).0;
        let (end, _) = self.buffer.set_stringn(end, y, self.glyphs.more, 1, style);
        end - x
    }

    /// Writes text that ends at column `right` (exclusive) and returns its first column.
    pub fn put_right(&mut self, right: u16, y: u16, columns: u16, text: &str, style: Style) -> u16 {
        let wide = (width(&clean(text)) as u16).min(columns);
        let x = right.saturating_sub(wide);
        self.put(x, y, wide, text, style);
        x
    }

    /// Empties the screen and gives it the theme's ground, if it has one.
    pub fn ground(&mut self, area: Rect) {
        self.clear(area);
        self.buffer.set_style(area, self.theme.style(Role::Text));
    }

    /// Empties an area: the cells keep nothing of what lay there.
    pub fn clear(&mut self, area: Rect) {
        for y in area.top()..area.bottom() {
            for x in area.left()..area.right() {
                if let Some(cell) = self.buffer.cell_mut((x, y)) {
                    cell.reset();
                }
            }
        }
    }

    /// Adds a modifier to every cell of an area.
    pub fn add(&mut self, area: Rect, modifier: Modifier) {
        self.buffer.set_style(area.intersection(self.buffer.area), Style::new().add_modifier(modifier));
    }
}

/// Cuts text to at most `columns` cells without splitting a character, and marks the cut.
pub fn fit(text: &str, columns: usize, more: &str) -> String {
    let text = clean(text);
    if width(&text) <= columns {
        return text.into_owned();
    }
    let mut kept = String::new();
    let mut used = 0;
    for piece in text.graphemes(true) {
        let wide = width(piece);
        if used + wide + 1 > columns {
            break;
        }
        used += wide;
        kept.push_str(piece);
    }
    if columns > 0 {
        kept.push_str(more);
    }
    kept
}
