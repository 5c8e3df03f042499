//! Text that a person types: one line, or several.

use crate::text::{clean, one_line};
use crate::ui::canvas::Canvas;
use crate::ui::theme::Role;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::Widget;
use tui_textarea::{CursorMove, TextArea, WrapMode};

/// Characters that a field takes; a paste beyond it is cut.
const LONGEST: usize = 16_384;

/// Text that can be typed into. What comes in by key, paste or beforehand is made harmless first.
pub(crate) struct Field {
    area: TextArea<'static>,
    single: bool,
}

impl Field {
    /// One line, filled beforehand; typing replaces what is there, a movement keeps it.
    pub(crate) fn replaceable(text: &str) -> Self {
        let mut field = Self::line(text);
        field.area.select_all();
        field
    }

    /// One line.
    pub(crate) fn line(text: &str) -> Self {
        let mut field = Self { area: TextArea::new(vec![one_line(text).into_owned()]), single: true };
        field.area.move_cursor(CursorMove::End);
        field
    }

    /// Several lines.
    pub(crate) fn lines(text: &str) -> Self {
        let lines = clean(text).split('\n').map(str::to_owned).collect();
        let mut area = TextArea::new(lines);
        area.set_wrap_mode(WrapMode::WordOrGlyph);
        area.move_cursor(CursorMove::Bottom);
        area.move_cursor(CursorMove::End);
        Self { area, single: false }
    }

    /// What stands in it, without blanks at its ends.
    pub(crate) fn text(&self) -> String {
        self.area.lines().join("\n").trim().to_owned()
    }

    /// A key that no action has. Returns whether the text changed.
    pub(crate) fn key(&mut self, key: KeyEvent) -> bool {
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
        if breaks && (self.single || key.code != KeyCode::Enter) {
            return false;
        }
        self.area.input(key)
    }

    /// Pasted text: a line takes its newlines as blanks.
    pub(crate) fn paste(&mut self, text: &str) -> bool {
        let text = if self.single { one_line(text) } else { clean(text) };
        self.insert(&text)
    }

    /// A new line, where there can be one.
    pub(crate) fn new_line(&mut self) {
        if !self.single {
            self.area.insert_newline();
        }
    }

    /// Puts another text in the place of all that is there.
    pub(crate) fn replace(&mut self, text: &str) {
        *self = if self.single { Self::line(text) } else { Self::lines(text) };
    }

    fn insert(&mut self, text: &str) -> bool {
        let have: usize = self.area.lines().iter().map(|l| l.chars().count()).sum();
        let text: String = text.chars().take(LONGEST.saturating_sub(have)).collect();
        !text.is_empty() && self.area.insert_str(text)
    }

    /// Draws it; without focus there is no cursor.
    pub(crate) fn draw(&self, focused: bool, area: Rect, canvas: &mut Canvas<'_>) {
        let area = area.intersection(canvas.buffer.area);
        if area.is_empty() {
            return;
        }
        let mut shown = self.area.clone();
        let style = canvas.style(Role::Input);
        shown.set_style(style);
        shown.set_cursor_line_style(Style::new());
        shown.set_selection_style(canvas.style(Role::Chosen));
        shown.set_cursor_style(if focused { canvas.style(Role::InputCursor) } else { style });
        if !focused {
            shown.cancel_selection();
        }
        (&shown).render(area, canvas.buffer);
    }
}
