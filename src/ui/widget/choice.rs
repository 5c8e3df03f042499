//! A question with a few answers.

use crate::ui::frame_data::Context;
use crate::ui::theme::Role;
use crate::ui::widget::list_index::{clamped_index, wrapped_index};
use crate::ui::widget::picker::marked_row;
use crate::ui::widget::window::{Line, MouseTarget, Scroll, paragraph};
use crossterm::event::MouseEvent;

/// A question and its answers, one of which is selected.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub(crate) question: String,
    answers: Vec<String>,
    /// The index of the selected answer.
    pub(crate) selected: usize,
}

impl Choice {
    /// Creates a question with its first answer selected.
    pub(crate) fn new(question: &str, answers: &[&str]) -> Self {
        let answers = answers.iter().map(|a| (*a).to_owned()).collect();
        Self { question: question.to_owned(), answers, selected: 0 }
    }

    /// Moves the selection, wrapping around at the ends.
    pub(crate) fn move_by(&mut self, by: isize) {
        self.selected = wrapped_index(self.selected, by, self.answers.len());
    }

    /// Selects the clicked answer, or moves the selection with the wheel. The answers are the last rows of `scroll`.
    pub(crate) fn on_mouse(&mut self, scroll: &Scroll, event: MouseEvent) {
        match scroll.mouse_target_in_last(self.answers.len(), event) {
            Some(MouseTarget::Row(row)) => self.selected = row,
            Some(MouseTarget::Wheel(by)) => {
                self.selected = clamped_index(self.selected, by, self.answers.len());
            }
            None => {}
        }
    }

    /// Returns the question and the answers as rows.
    pub(crate) fn lines(&self, context: &Context<'_>, columns: u16) -> Vec<Line> {
        let mut lines = paragraph((Role::Title, ""), Role::Title, &self.question, columns);
        for (place, answer) in self.answers.iter().enumerate() {
            lines.push(marked_row(context, " ", place == self.selected, answer.clone(), []));
        }
        lines
    }
}
