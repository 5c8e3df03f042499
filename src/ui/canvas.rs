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
            let cells = self.buffer.content[start..].iter_mut().take(usize::from(columns));
            for (cell, c) in cells.zip(text.chars()) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::glyphs;
    use proptest::prelude::*;

    proptest! {
        /// ASCII is written by a faster path than ratatui's.
        #[test]
        fn ascii_fills_the_cells_that_ratatui_fills(text in "[ -~]{0,14}", x in 0..9_u16, columns in 0..12_u16) {
            let theme = Theme::default();
            let area = Rect::new(0, 0, 8, 2);
            let (mut ours, mut theirs) = (Buffer::empty(area), Buffer::empty(area));
            let mut canvas = Canvas { buffer: &mut ours, theme: &theme, glyphs: &glyphs::ASCII };
            let style = canvas.style(Role::Action);
            let written = canvas.put(x, 0, columns, &text, style);
            let room = columns.min(8_u16.saturating_sub(x));
            let cut = truncate(&text, usize::from(room), glyphs::ASCII.ellipsis);
            prop_assert_eq!(usize::from(written), cut.len());
            if room > 0 {
                let style = Style::reset().patch(theme.style(Role::Background)).patch(style);
                theirs.set_stringn(x, 0, cut, usize::from(room), style);
            }
            prop_assert_eq!(ours, theirs);
        }
    }
}
