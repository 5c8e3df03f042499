//! Drawing of the fork dialog: the question, and the choices under their headings.

use super::entries::Entry;
use super::{ForkDialog, Stage, fork_point};
use crate::ui::canvas::Canvas;
use crate::ui::component::Component;
use crate::ui::draft::ForkChange;
use crate::ui::facts::live_position;
use crate::ui::frame_data::Context;
use crate::ui::theme::Role;
use crate::ui::widget::window::{Line, PresentKeys, Window, WindowPosition, paragraph, put_line, put_lines};
use ratatui::layout::Rect;

/// The fewest columns with a hint below the question. On a smaller screen the list needs its row.
const MIN_HINT_COLUMNS: u16 = 66;

impl ForkDialog {
    /// Returns the question as rows.
    fn question_lines(&self, context: &Context<'_>, columns: u16) -> Vec<Line> {
        let step = self.step;
        let words = match &self.refusal {
            Some(why) => {
                format!("Too late: {why}. Fork from the point before it?\nThe old branch is kept.")
            }
            None if self.is_present && context.frame.head.head != self.shown.head => {
                let now = context.frame.head.episode.as_ref().map_or(0, |e| e.steps.len());
                let place = fork_point::describe_position(&self.shown);
                let since = format!("the session has since reached step {now}");
                format!(
                    "This is {place}; {since}. Continue from there on a new branch?\n\
                     The old branch is kept."
                )
            }
            None if self.is_present => {
                format!(
                    "This is the present (step {step}). Continue from here on a new branch?\n\
                     The old branch is kept."
                )
            }
            None => {
                let position = match live_position(context) {
                    Some((at, word)) => format!("step {step}; live: step {at}, {word}"),
                    None => format!("step {step} of {}", context.episode().map_or(0, |e| e.steps.len())),
                };
                format!(
                    "This is the past ({position}). Continue from here on a new branch?\n\
                     The old branch is kept."
                )
            }
        };
        let mut lines = paragraph((Role::FramePast, ""), Role::FramePast, &words, columns);
        if let Some(error) = &self.error {
            lines.extend(paragraph((Role::Warning, ""), Role::Warning, error, columns));
        } else if let Some(what) = self.typed_after_choice().filter(|_| columns >= MIN_HINT_COLUMNS) {
            let words = if self.takes_text {
                format!("Type {what}, or choose another change from the list.")
            } else {
                format!("Choose from the list; Enter lets you type {what}.")
            };
            lines.extend(paragraph((Role::Muted, ""), Role::Muted, &words, columns));
        }
        lines
    }

    /// Returns what a person types once the selected change is chosen.
    pub(super) fn typed_after_choice(&self) -> Option<&'static str> {
        let Some(Entry::Choice(change, ..)) = self.entries.selected() else { return None };
        Some(match change {
            ForkChange::Action => "the action",
            ForkChange::Thought => "the thought",
            ForkChange::Observation => "the observation",
            ForkChange::Reject => "the reason",
            ForkChange::NewLesson | ForkChange::EditLesson(_) => "the lesson",
            ForkChange::Actor | ForkChange::Mentor => "the name",
            _ => return None,
        })
    }

    fn title(&self) -> String {
        match &self.stage {
            Stage::Choosing => "Continue on a new branch".to_owned(),
            Stage::Typing(value) => format!("New branch: {}", value.title(self.step)),
        }
    }

    fn needed_rows(&self, context: &Context<'_>, columns: u16) -> u16 {
        match &self.stage {
            Stage::Choosing => {
                (self.question_lines(context, columns).len() + self.entries.items().len()) as u16 + 1
            }
            Stage::Typing(value) => value.needed_rows(),
        }
    }

    fn draw_list(&self, context: &Context<'_>, inside: Rect, canvas: &mut Canvas<'_>) {
        let asked = self.question_lines(context, inside.width);
        put_lines(&asked, inside, canvas);
        let y = inside.y + inside.height.min(asked.len() as u16);
        // If there is room, a blank row separates the choices.
        let left = inside.bottom().saturating_sub(y);
        let gap = u16::from(usize::from(left) > self.entries.items().len());
        let mut list = Rect { y: y + gap, height: left - gap, ..inside };
        let wide = self.entries.items().iter().map(Entry::name_columns).max().unwrap_or(0);
        // A heading that has scrolled away stays above the rows of its group.
        if let Some(title) = self.sticky_heading(usize::from(list.height)) {
            put_line(&title.line(false, wide, context), Rect { height: 1, ..list }, canvas);
            list = Rect { y: list.y + 1, height: list.height - 1, ..list };
        }
        self.entries.draw_list(list, canvas, |entry, here| entry.line(here, wide, context));
    }

    /// Returns the heading of the first visible row if it has scrolled out of `height` rows and there is room to show
    /// it.
    fn sticky_heading(&self, height: usize) -> Option<&Entry> {
        const MIN_ROWS: usize = 3;
        let all = self.entries.items();
        if height < MIN_ROWS || height >= all.len() {
            return None;
        }
        let title = |top: usize| all.get(..=top)?.iter().rposition(|e| matches!(e, Entry::Heading(_)));
        let seen = |top: usize| title(top).filter(|title| *title != top);
        let first = seen(self.entries.first_visible_row(height))?;
        // With one row less, the list may start at a heading.
        all.get(seen(self.entries.first_visible_row(height - 1)).unwrap_or(first))
    }

    /// Draws the dialog.
    pub(super) fn draw_dialog(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        const COLUMNS: u16 = 78;
        let columns = Window::inner_columns(COLUMNS, context, screen);
        let title = self.title();
        let window = Window {
            title: &title,
            position: WindowPosition::Middle,
            rows: self.needed_rows(context, columns),
            columns: COLUMNS,
            mode: self.mode(context),
        };
        // From a value, Esc leads to the list of changes.
        let closing_label = matches!(self.stage, Stage::Typing(_)).then_some("back");
        let keys = PresentKeys { closing_label, ..PresentKeys::default() };
        let inside = window.draw_with_keys(keys, context, screen, canvas);
        match &self.stage {
            Stage::Choosing => self.draw_list(context, inside, canvas),
            Stage::Typing(value) => value.draw(context, self.error.as_deref(), inside, canvas),
        }
    }
}
