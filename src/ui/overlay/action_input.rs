//! The line for an action, with completion from what the world accepts: where a person overrides or plays now, and where an
//! action of the past is to be another.

use super::fuzzy::rank;
use super::row_delta;
use super::text_field::TextField;
use super::window::{Line, MouseTarget, Scroll, put_line};
use crate::text::one_line;
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::keymap::Action;
use crate::ui::theme::Role;
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;

/// The line and the rows below it.
pub(super) struct ActionInput {
    field: TextField,
    /// What the world accepts, or why that is not known; none: it has not been said yet.
    admissible: Option<Result<Vec<String>, String>>,
    matches: Vec<usize>,
    selected: Option<usize>,
    scroll: Scroll,
}

impl ActionInput {
    /// A line that is filled beforehand; typing replaces what is there.
    pub(super) fn new(text: &str) -> Self {
        Self {
            field: TextField::preselected(text),
            admissible: None,
            matches: Vec::new(),
            selected: None,
            scroll: Scroll::default(),
        }
    }

    /// What is typed, or chosen from the rows.
    pub(super) fn text(&self) -> String {
        self.selected.and_then(|c| self.row(c)).map_or_else(|| self.field.text(), str::to_owned)
    }

    /// What the world accepts has come in.
    pub(super) fn set_admissible(&mut self, actions: Result<&[String], String>) {
        self.admissible = Some(actions.map(|all| all.iter().map(|a| one_line(a).into_owned()).collect()));
        // What was there beforehand is no query: all rows are listed until something is typed.
        self.filter("");
    }

    fn filter(&mut self, query: &str) {
        let rows = self.rows();
        self.matches = rank(query, rows.iter().map(String::as_str));
        self.selected = None;
        self.scroll.scroll_to(0);
    }

    fn rows(&self) -> &[String] {
        self.admissible.as_ref().and_then(|a| a.as_deref().ok()).unwrap_or_default()
    }

    fn row(&self, place: usize) -> Option<&str> {
        self.rows().get(*self.matches.get(place)?).map(String::as_str)
    }

    fn move_selection(&mut self, by: isize) {
        let last = self.matches.len().checked_sub(1);
        self.selected = match (self.selected, last) {
            (_, None) => None,
            (None, Some(_)) => (by > 0).then_some(0),
            // Above the first row the typed text is chosen again.
            (Some(0), _) if by < 0 => None,
            (Some(at), Some(last)) => Some(at.saturating_add_signed(by).min(last)),
        };
    }

    /// A key that walks through the rows or completes with one.
    pub(super) fn on_action(&mut self, action: Action) {
        match action {
            Action::NextField => {
                if let Some(row) = self.row(self.selected.unwrap_or(0)).map(str::to_owned) {
                    self.field.replace(&row);
                    self.filter(&row);
                }
            }
            other => {
                if let Some(by) = row_delta(other, 8) {
                    self.move_selection(by);
                }
            }
        }
    }

    /// Typing. Returns whether the text changed.
    pub(super) fn on_key(&mut self, key: KeyEvent) -> bool {
        let changed = self.field.on_key(key);
        if changed {
            self.filter(&self.field.text());
        }
        changed
    }

    /// Pasted text. Returns whether the text changed.
    pub(super) fn on_paste(&mut self, text: &str) -> bool {
        let changed = self.field.on_paste(text);
        if changed {
            self.filter(&self.field.text());
        }
        changed
    }

    pub(super) fn on_mouse(&mut self, event: MouseEvent) {
        match self.scroll.mouse_target(event) {
            Some(MouseTarget::Row(row)) => self.selected = Some(row),
            Some(MouseTarget::Wheel(by)) => self.move_selection(by),
            None => {}
        }
    }

    /// The line, what is to be known about its rows, and the rows. `waits` is said until they have come; `note` goes before
    /// all else.
    pub(super) fn draw(
        &self,
        look: &Context<'_>,
        (note, waits): (Option<&str>, &str),
        area: Rect,
        canvas: &mut Canvas<'_>,
    ) {
        canvas.put(area.x, area.y, 2, look.glyphs.proposal, canvas.style(Role::Proposal));
        let line = Rect { x: area.x + 2, width: area.width.saturating_sub(2), height: 1, ..area };
        self.field.draw(self.selected.is_none(), line, canvas);
        let dot = look.glyphs.separator;
        let words = match (&self.admissible, note) {
            (_, Some(note)) => note.to_owned(),
            (None, _) => waits.to_owned(),
            (Some(Err(why)), _) => format!("no list: {why}; type one freely"),
            (Some(Ok(all)), _) if all.is_empty() => "this world lists no actions; type one freely".to_owned(),
            (Some(Ok(all)), _) => {
                format!(
                    "{} of {} {dot} the agent does not see this list {dot} free text goes too",
                    self.matches.len(),
                    all.len()
                )
            }
        };
        let role = if note.is_some() { Role::Warning } else { Role::Muted };
        put_line(&[(role, words)], Rect { y: area.y + 1, height: area.height.min(1), ..area }, canvas);
        let list = Rect { y: area.y + 2, height: area.height.saturating_sub(2), ..area };
        self.scroll.draw_list(self.selected.unwrap_or(0), self.matches.len(), list, canvas, |place| {
            let here = self.selected == Some(place);
            let (mark, role) = if here { (look.glyphs.proposal, Role::Selection) } else { (" ", Role::Text) };
            let text = self.row(place).unwrap_or_default().to_owned();
            Line::from([(Role::Proposal, format!("{mark} ")), (role, text)])
        });
    }
}
