//! An input line for an action, with completion from the admissible actions. Used for overrides, for manual play, and
//! for replacing a past action on a new branch.

use crate::text::one_line;
use crate::ui::canvas::Canvas;
use crate::ui::frame_data::Context;
use crate::ui::keymap::Action;
use crate::ui::theme::Role;
use crate::ui::widget::fuzzy::rank;
use crate::ui::widget::list_index::row_delta;
use crate::ui::widget::text_field::TextField;
use crate::ui::widget::window::{Line, MouseTarget, Scroll, put_line};
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;

/// The input line and the list of admissible actions below it.
pub(super) struct ActionInput {
    field: TextField,
    /// The admissible actions, or why they aren't known. `None` until the answer arrives.
    admissible: Option<Result<Vec<String>, String>>,
    matches: Vec<usize>,
    selected: Option<usize>,
    scroll: Scroll,
}

impl ActionInput {
    /// Creates a line with preselected text, which typing replaces.
    pub(super) fn new(text: &str) -> Self {
        Self {
            field: TextField::preselected(text),
            admissible: None,
            matches: Vec::new(),
            selected: None,
            scroll: Scroll::default(),
        }
    }

    /// Returns the selected action, else the typed text.
    pub(super) fn text(&self) -> String {
        self.selected.and_then(|c| self.row(c)).map_or_else(|| self.field.text(), str::to_owned)
    }

    /// Sets the admissible actions.
    pub(super) fn set_admissible(&mut self, actions: Result<&[String], String>) {
        self.admissible = Some(actions.map(|all| all.iter().map(|a| one_line(a).into_owned()).collect()));
        // The prefilled text isn't a query: list all actions until something is typed.
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
            // Moving up from the first row returns to the typed text.
            (Some(0), _) if by < 0 => None,
            (Some(at), Some(last)) => Some(at.saturating_add_signed(by).min(last)),
        };
    }

    /// Handles the actions that move the selection or complete the line.
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

    /// Handles a typed key. Returns whether the text changed.
    pub(super) fn on_key(&mut self, key: KeyEvent) -> bool {
        let changed = self.field.on_key(key);
        if changed {
            self.filter(&self.field.text());
        }
        changed
    }

    /// Handles pasted text. Returns whether the text changed.
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

    /// Draws the line, a message about the list, and the list. The message is `note` if given, and `waits` until the
    /// admissible actions have arrived.
    pub(super) fn draw(
        &self,
        context: &Context<'_>,
        (note, waits): (Option<&str>, &str),
        area: Rect,
        canvas: &mut Canvas<'_>,
    ) {
        canvas.put(area.x, area.y, 2, context.glyphs.proposal, canvas.style(Role::Proposal));
        let line = Rect { x: area.x + 2, width: area.width.saturating_sub(2), height: 1, ..area };
        self.field.draw(self.selected.is_none(), line, canvas);
        let dot = context.glyphs.separator;
        let words = match (&self.admissible, note) {
            (_, Some(note)) => note.to_owned(),
            (None, _) => waits.to_owned(),
            (Some(Err(why)), _) => format!("no list: {why}; type any action"),
            (Some(Ok(all)), _) if all.is_empty() => {
                "this environment lists no actions; type any action".to_owned()
            }
            (Some(Ok(all)), _) => {
                format!(
                    "{} of {} {dot} hidden from the agent {dot} or type any action",
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
            let (mark, role) =
                if here { (context.glyphs.proposal, Role::Selection) } else { (" ", Role::Text) };
            let text = self.row(place).unwrap_or_default().to_owned();
            Line::from([(Role::Proposal, format!("{mark} ")), (role, text)])
        });
    }
}
