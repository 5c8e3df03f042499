//! Draws the lesson editor: it is as high as its texts, so that the panes around it stay visible.

use super::{EditorField, LessonEditor};
use crate::catalog::LessonReader;
use crate::domain::Scope;
use crate::ui::canvas::Canvas;
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::labels::scope_label;
use crate::ui::theme::Role;
use crate::ui::widget::text_field::TextField;
use crate::ui::widget::window::{Line, Window, WindowPosition, put_line};
use ratatui::layout::Rect;

/// Columns inside the window, if there is room.
pub(super) const COLUMNS: u16 = 76;
/// Columns of the labels before the texts.
const LABEL_COLUMNS: u16 = 9;
/// Rows below the texts: a blank one, the values, a message.
const ROWS_BELOW: u16 = 3;

impl LessonEditor {
    /// Returns the rows of the text, and of what is below it.
    fn text_rows(&self, context: &Context<'_>, screen: Rect) -> (u16, u16) {
        let columns = Window::inner_columns(COLUMNS, context, screen).saturating_sub(LABEL_COLUMNS);
        let below_rows = match (self.shows_solution(), self.follows_words()) {
            (true, _) => self.solution.rows(columns),
            (false, offers) => u16::from(offers),
        };
        (self.text.rows(columns), below_rows)
    }

    /// Returns the rows that the box covers at the bottom, so that the step it is about stays visible above it.
    pub(super) fn covered_rows(&self, context: &Context<'_>, screen: Rect) -> u16 {
        let (text_rows, below_rows) = self.text_rows(context, screen);
        Window::rows_covered(text_rows.saturating_add(below_rows).saturating_add(ROWS_BELOW), screen)
    }

    pub(super) fn draw_box(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let title = match &self.lesson {
            Some((_, number)) => format!("Lesson {number}"),
            None => "New lesson".to_owned(),
        };
        let title = if self.is_restored_draft { format!("{title} (draft)") } else { title };
        let (text_rows, below_rows) = self.text_rows(context, screen);
        let window = Window {
            title: &title,
            position: WindowPosition::Bottom,
            rows: text_rows.saturating_add(below_rows).saturating_add(ROWS_BELOW),
            columns: COLUMNS,
            mode: Mode::LessonEditor,
        };
        let inside = window.draw(context, screen, canvas);
        let room = inside.height.saturating_sub(2);
        // If there isn't room for all, each text keeps half of it, or what the other one leaves.
        let below_rows = below_rows.min(room.saturating_sub(text_rows).max(room / 2));
        let text_rows = text_rows.min(room.saturating_sub(below_rows));
        let row = |y: u16, height: u16| Rect { y: inside.y + y, height, ..inside };
        let label = if self.shows_solution() { "Mistake" } else { "Lesson" };
        self.draw_text(EditorField::Text, label, &self.text, row(0, text_rows), canvas);
        let below = row(text_rows, below_rows);
        if self.shows_solution() {
            self.draw_text(EditorField::Solution, "Instead", &self.solution, below, canvas);
        } else if below_rows > 0 {
            put_line(&tab_hint(context), below, canvas);
        }
        put_line(&self.values(), row(inside.height.saturating_sub(2), 1), canvas);
        put_line(&[self.message_piece(context)], row(inside.height.saturating_sub(1), 1), canvas);
    }

    fn label_role(&self, field: EditorField) -> Role {
        if self.focus == field { Role::Key } else { Role::Title }
    }

    fn draw_text(
        &self,
        field: EditorField,
        label: &str,
        text: &TextField,
        area: Rect,
        canvas: &mut Canvas<'_>,
    ) {
        if area.height == 0 {
            return;
        }
        if self.focus == field {
            // In the margin of the window, so that no text moves with the focus.
            let mark = canvas.glyphs.proposal;
            canvas.put(area.x.saturating_sub(1), area.y, 1, mark, canvas.style(Role::Proposal));
        }
        put_line(&[(self.label_role(field), label.to_owned())], Rect { height: 1, ..area }, canvas);
        let lead = LABEL_COLUMNS.min(area.width);
        let beside = Rect { x: area.x + lead, width: area.width - lead, ..area };
        text.draw(self.focus == field, beside, canvas);
    }

    /// Returns the row with kind, scope and pin; the focused one between arrows.
    fn values(&self) -> Line {
        let values = [
            (EditorField::Kind, "Kind", self.kind().name()),
            (EditorField::Scope, "   Scope", scope_label(self.scope())),
            (EditorField::Pin, "   Pin", if self.is_pinned { "yes" } else { "no" }),
        ];
        let pieces = values.into_iter().flat_map(|(field, label, value)| {
            let label = (self.label_role(field), format!("{label} "));
            let value = if self.focus == field {
                (Role::SelectedPart, format!("< {value} >"))
            } else {
                (Role::Text, value.to_owned())
            };
            [label, value]
        });
        pieces.collect()
    }

    fn message_piece(&self, context: &Context<'_>) -> (Role, String) {
        if let Some(message) = self.message {
            return (Role::Warning, message.to_owned());
        }
        if self.is_ignored(context) {
            let esc = context.keymap.key_label_in(Mode::LessonEditor, Action::Close).unwrap_or_default();
            let help = context.keymap.key_label(Action::Help).unwrap_or_default();
            let text =
                format!("The built-in rules ignore this wording; {esc}, then {help} form lists theirs.");
            return (Role::Warning, text);
        }
        let ends_with_episode = self.scope() == Scope::Episode;
        let text = match self.focus {
            EditorField::Pin => "Left and Right change it; only you remove a pinned one.",
            EditorField::Kind | EditorField::Scope => {
                let text = format!("Change with Left and Right. {}", lifetime(self.scope()));
                return (if ends_with_episode { Role::Warning } else { Role::Muted }, text);
            }
            _ if self.is_error_by_its_words() => "Saved as an Error, by its words; Tab leads to the kind.",
            EditorField::Solution if self.follows_words() => "Left empty, it is advice: saved as Abstract.",
            _ if ends_with_episode => return (Role::Warning, lifetime(Scope::Episode).to_owned()),
            _ if !self.evidence.is_empty() => return (Role::Muted, format!("evidence: {}", self.evidence)),
            _ if context.lesson_reader(self.kind()) == LessonReader::Mentor => {
                "Enters the mentor's next question; every version is kept."
            }
            _ if context.asks_actor() => "Enters the next prompt; every version is kept.",
            _ => "Every version is kept.",
        };
        (Role::Muted, text.to_owned())
    }
}

/// Returns how long a lesson with this scope is kept.
fn lifetime(scope: Scope) -> &'static str {
    match scope {
        Scope::Episode => "Ends with this episode.",
        Scope::Task => "Kept for this task.",
        Scope::TaskType => "Kept for tasks like this.",
        Scope::Environment => "Kept for all tasks here.",
    }
}

/// Returns what the Tab key leads to.
fn tab_hint(context: &Context<'_>) -> Line {
    let key = context.keymap.key_label_in(Mode::LessonEditor, Action::NextField).unwrap_or_default();
    let arrow = context.glyphs.solution;
    let text = format!(" mistake {arrow} what to do instead, then kind, scope, pin");
    vec![(Role::Key, key), (Role::Muted, text)]
}
