//! An input line for an action, with completion from the admissible actions. Used for overrides, for manual play, and
//! for replacing a past action on a new branch.

use crate::text::one_line;
use crate::ui::canvas::Canvas;
use crate::ui::frame_data::Context;
use crate::ui::keymap::Action;
use crate::ui::theme::Role;
use crate::ui::widget::picker::{Picker, marked_row, rank};
use crate::ui::widget::text_field::TextField;
use crate::ui::widget::window::put_line;
use ratatui::layout::Rect;

/// The input line and the list of admissible actions below it.
pub(super) struct ActionInput {
    pub(super) picker: Picker<String>,
    /// Whether the admissible actions are known, or why not. `None` until the answer arrives.
    admissible: Option<Result<(), String>>,
}

impl ActionInput {
    /// Creates a line with preselected text, which typing replaces.
    pub(super) fn new(text: &str) -> Self {
        let search = |all: &[String], query: &str| rank(all, query, |action| [action]);
        Self { picker: Picker::preferring_text(TextField::preselected(text), search), admissible: None }
    }

    /// Returns the selected action, else the typed text.
    pub(super) fn text(&self) -> String {
        self.picker.selected().cloned().unwrap_or_else(|| self.picker.text())
    }

    /// Returns whether the admissible actions are still to arrive.
    pub(super) fn awaits_admissible(&self) -> bool {
        self.admissible.is_none()
    }

    /// Sets the admissible actions.
    pub(super) fn set_admissible(&mut self, actions: Result<&[String], String>) {
        let all = actions.as_deref().unwrap_or_default().iter().map(|a| one_line(a).into_owned());
        self.picker.set_items(all.collect());
        self.admissible = Some(actions.map(|_| ()));
        // The prefilled text isn't a query: list all actions until something is typed.
        self.picker.filter("");
    }

    /// Handles the actions that move the selection or complete the line.
    pub(super) fn on_action(&mut self, action: Action) {
        match action {
            Action::NextField => {
                if let Some(row) = self.picker.selected_or_first().cloned() {
                    self.picker.set_text(&row);
                }
            }
            other => self.picker.on_action(other, 8),
        }
    }

    /// Draws the line, a message about the list, and the list. Shows `note` if given; otherwise `loading_message` until
    /// the admissible actions have arrived.
    pub(super) fn draw(
        &self,
        context: &Context<'_>,
        (note, loading_message): (Option<&str>, &str),
        area: Rect,
        canvas: &mut Canvas<'_>,
    ) {
        self.picker.draw_field((Role::Proposal, context.glyphs.proposal), true, area, canvas);
        let all = self.picker.items().len();
        let dot = context.glyphs.separator;
        let words = match (&self.admissible, note) {
            (_, Some(note)) => note.to_owned(),
            (None, _) => loading_message.to_owned(),
            (Some(Err(why)), _) => format!("no list: {why}; type any action"),
            (Some(Ok(())), _) if all == 0 => "this environment lists no actions; type any action".to_owned(),
            (Some(Ok(())), _) => {
                let shown = self.picker.matches().len();
                format!("{shown} of {all} {dot} hidden from the agent {dot} or type any action")
            }
        };
        let role = if note.is_some() { Role::Warning } else { Role::Muted };
        put_line(&[(role, words)], Rect { y: area.y + 1, height: area.height.min(1), ..area }, canvas);
        let list = Rect { y: area.y + 2, height: area.height.saturating_sub(2), ..area };
        self.picker.draw_list(list, canvas, |action, here| marked_row(context, "", here, action.clone(), []));
    }
}
