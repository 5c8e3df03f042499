//! A text input of one or several lines.

use crate::text::{clean, one_line, width, wrap};
use crate::ui::canvas::Canvas;
use crate::ui::theme::Role;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::Widget;
use tui_textarea::{CursorMove, TextArea, WrapMode};

/// Maximum number of characters of a single-line and a multi-line field. Longer input is cut, and the field says so.
const MAX_CHARS: [usize; 2] = [16_384, 65_536];

/// A text input. All text, typed, pasted or prefilled, is stripped of control sequences first.
pub(crate) struct TextField {
    area: TextArea<'static>,
    is_single_line: bool,
    /// The inserted and the total number of characters of the last input, if it was cut.
    last_cut: Option<(usize, usize)>,
}

impl TextField {
    /// Creates a single-line field with preselected text: typing replaces it, moving the cursor keeps it.
    pub(crate) fn preselected(text: &str) -> Self {
        let mut field = Self::single_line(text);
        field.area.select_all();
        field
    }

    /// Creates a single-line field with text preselected from character `from` on.
    pub(crate) fn preselected_from(text: &str, from: usize) -> Self {
        let mut field = Self::single_line(text);
        if text.chars().count() > from {
            field.area.move_cursor(CursorMove::Jump(0, u16::try_from(from).unwrap_or(u16::MAX)));
            field.area.start_selection();
            field.area.move_cursor(CursorMove::End);
        }
        field
    }

    /// Creates a single-line field.
    pub(crate) fn single_line(text: &str) -> Self {
        let mut field = Self {
            area: TextArea::new(vec![one_line(text).into_owned()]),
            is_single_line: true,
            last_cut: None,
        };
        field.area.move_cursor(CursorMove::End);
        field
    }

    /// Creates a multi-line field.
    pub(crate) fn multi_line(text: &str) -> Self {
        let lines = clean(text).split('\n').map(str::to_owned).collect();
        let mut area = TextArea::new(lines);
        area.set_wrap_mode(WrapMode::WordOrGlyph);
        area.move_cursor(CursorMove::Bottom);
        area.move_cursor(CursorMove::End);
        Self { area, is_single_line: false, last_cut: None }
    }

    /// Returns the text, trimmed.
    pub(crate) fn text(&self) -> String {
        self.area.lines().join("\n").trim().to_owned()
    }

    /// Returns whether there is nothing but blanks in it.
    pub(crate) fn is_blank(&self) -> bool {
        self.area.lines().iter().all(|line| line.trim().is_empty())
    }

    /// Returns the number of rows that show all of the text and the cursor behind it.
    pub(crate) fn rows(&self, columns: u16) -> u16 {
        let columns = usize::from(columns.max(1));
        let line_rows = |line: &String| match wrap(line, columns) {
            rows if rows.last().is_some_and(|last| width(last) == columns) => rows.len() + 1,
            rows => rows.len().max(1),
        };
        let rows: usize = self.area.lines().iter().map(line_rows).sum();
        u16::try_from(rows).unwrap_or(u16::MAX)
    }

    /// Handles an unbound key. Returns whether the text changed.
    pub(crate) fn on_key(&mut self, key: KeyEvent) -> bool {
        self.last_cut = None;
        if let KeyCode::Char(c) = key.code
            && !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT)
        {
            let mut bytes = [0; 4];
            let typed = clean(c.encode_utf8(&mut bytes)).into_owned();
            return self.insert(&typed);
        }
        if key.code == KeyCode::Char('u') && key.modifiers.contains(KeyModifiers::CONTROL) {
            return self.area.delete_line_by_head();
        }
        let breaks = matches!(key.code, KeyCode::Enter | KeyCode::Char('j' | 'm' | 'y'));
        if breaks && (self.is_single_line || key.code != KeyCode::Enter) {
            return false;
        }
        self.area.input(key)
    }

    /// Handles pasted text; a single-line field turns newlines into blanks. Returns whether the text changed.
    pub(crate) fn on_paste(&mut self, text: &str) -> bool {
        let text = if self.is_single_line { one_line(text) } else { clean(text) };
        self.insert(&text)
    }

    /// Inserts a line break; ignored in a single-line field.
    pub(crate) fn insert_newline(&mut self) {
        if !self.is_single_line {
            self.area.insert_newline();
        }
    }

    /// Replaces the whole text.
    pub(crate) fn replace(&mut self, text: &str) {
        *self = if self.is_single_line { Self::single_line(text) } else { Self::multi_line(text) };
    }

    fn max_chars(&self) -> usize {
        MAX_CHARS[usize::from(!self.is_single_line)]
    }

    /// Describes how the last input was cut. Returns `None` if all of it was inserted.
    pub(crate) fn cut_message(&self) -> Option<String> {
        let (taken, all) = self.last_cut?;
        Some(format!("cut: {taken} of {all} characters fit (limit {})", self.max_chars()))
    }

    fn insert(&mut self, text: &str) -> bool {
        let lines = self.area.lines();
        // Line breaks count, too.
        let have: usize = lines.iter().map(|l| l.chars().count() + 1).sum::<usize>().saturating_sub(1);
        let chosen = self.area.selection_range().map_or(0, |range| selected_chars(lines, range));
        let room = self.max_chars().saturating_sub(have.saturating_sub(chosen));
        let all = text.chars().count();
        self.last_cut = (all > room).then_some((room, all));
        let text: String = text.chars().take(room).collect();
        !text.is_empty() && self.area.insert_str(text)
    }

    /// Draws the field; the cursor is only shown if it has the focus.
    pub(crate) fn draw(&self, focused: bool, area: Rect, canvas: &mut Canvas<'_>) {
        let area = area.intersection(canvas.buffer.area);
        if area.is_empty() {
            return;
        }
        let mut shown = self.area.clone();
        let style = canvas.style(Role::Input);
        shown.set_style(style);
        shown.set_cursor_line_style(Style::new());
        shown.set_selection_style(canvas.style(Role::Selection));
        shown.set_cursor_style(if focused { canvas.style(Role::InputCursor) } else { style });
        if !focused {
            shown.cancel_selection();
        }
        (&shown).render(area, canvas.buffer);
        if !self.is_single_line {
            let blank = canvas.style(Role::Background).patch(style);
            hide_leading_blanks(area, (canvas.style(Role::InputCursor), blank), canvas.buffer);
        }
        if let Some(cut) = self.cut_message() {
            let last = area.bottom() - 1;
            canvas.put_right(
                area.right(),
                last,
                area.width,
                &format!(" {cut} "),
                canvas.style(Role::Warning),
            );
        }
    }
}

/// Hides the blank that the text area puts at the start of a row if a word fills the row before, unless the cursor is
/// on it. `blank` is the style of the cell that becomes free at the row's end.
fn hide_leading_blanks(area: Rect, (cursor, blank): (Style, Style), buffer: &mut Buffer) {
    for y in area.y + 1..area.bottom() {
        let is_blank = |x: u16, y: u16| buffer.cell((x, y)).is_none_or(|cell| cell.symbol() == " ");
        let is_word = |x: u16, y: u16| x < area.right() && !is_blank(x, y);
        let under_cursor =
            buffer.cell((area.x, y)).is_some_and(|cell| cell.style() == Style::reset().patch(cursor));
        if is_word(area.right() - 1, y - 1) && is_blank(area.x, y) && is_word(area.x + 1, y) && !under_cursor
        {
            for x in area.x..area.right() {
                let next = buffer.cell((x + 1, y)).filter(|_| x + 1 < area.right()).cloned();
                buffer[(x, y)] = next.unwrap_or_else(|| {
                    let mut cell = Cell::default();
                    cell.set_style(blank);
                    cell
                });
            }
        }
    }
}

/// Counts the characters between two positions (row, column), including line breaks.
fn selected_chars(lines: &[String], (from, to): ((usize, usize), (usize, usize))) -> usize {
    let before = |(row, column): (usize, usize)| {
        lines.iter().take(row).map(|l| l.chars().count() + 1).sum::<usize>() + column
    };
    before(to).saturating_sub(before(from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::theme::Theme;

    #[test]
    fn input_beyond_the_limit_is_cut_and_reported() {
        let mut field = TextField::multi_line("one\ntwo");
        assert!(field.on_paste(&"x".repeat(10)));
        assert_eq!(field.cut_message(), None);
        let room = MAX_CHARS[1] - 17;
        assert!(field.on_paste(&"y".repeat(room + 5)));
        assert_eq!(
            field.cut_message().unwrap(),
            format!("cut: {room} of {} characters fit (limit 65536)", room + 5)
        );
        assert_eq!(field.text().chars().count(), MAX_CHARS[1]);
        // The next key clears the message; another character that doesn't fit shows it again.
        field.on_key(KeyEvent::from(KeyCode::Left));
        assert_eq!(field.cut_message(), None);
        assert!(!field.on_key(KeyEvent::from(KeyCode::Char('z'))));
        assert!(field.cut_message().unwrap().starts_with("cut: 0 of 1"));
        // Replacing a selection frees its characters.
        let mut line = TextField::preselected(&"a".repeat(MAX_CHARS[0]));
        assert!(line.on_paste("abc"));
        assert_eq!((line.text().as_str(), line.cut_message()), ("abc", None));
    }

    /// Regression: where a word filled a row, the last cell of the next row had the terminal's background, not the theme's.
    #[test]
    fn every_cell_of_a_wrapped_text_has_the_themes_background() {
        let source = Theme::shipped_source("light").unwrap();
        let lookup = |name: &str| Theme::shipped_source(name).map(str::to_owned);
        let (theme, problems) = Theme::parse("light", source, &lookup);
        assert!(problems.is_empty(), "{problems:?}");
        let area = Rect::new(0, 0, 10, 3);
        let mut buffer = Buffer::empty(area);
        let mut canvas = Canvas { buffer: &mut buffer, theme: &theme, glyphs: &crate::ui::glyphs::UNICODE };
        canvas.clear(area);
        TextField::multi_line("look aside first").draw(false, area, &mut canvas);
        assert_eq!(buffer[(0, 1)].symbol(), "f", "the blank at the row's start is hidden");
        let backgrounds: Vec<_> = buffer.content().iter().map(|cell| cell.bg).collect();
        assert!(backgrounds.iter().all(|bg| *bg == backgrounds[0]), "{backgrounds:?}");
    }
}
