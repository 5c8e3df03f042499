//! A question with a few answers.

use super::window::{Line, MouseTarget, Scroll, paragraph};
use crate::ui::context::Context;
use crate::ui::overlay::clamped_index;
use crate::ui::theme::Role;
use crossterm::event::MouseEvent;

/// The place so many further on among `all`, round and round.
pub(crate) fn wrapped_index(at: usize, by: isize, all: usize) -> usize {
    let all = all.max(1);
    let far = by.unsigned_abs() % all;
    if by < 0 { (at + all - far) % all } else { (at + far) % all }
}

/// The answers of a question, one of them chosen.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    /// What is asked.
    pub(crate) question: String,
    answers: Vec<String>,
    /// The chosen answer.
    pub(crate) selected: usize,
}

impl Choice {
    /// A question with its first answer chosen.
    pub(crate) fn new(question: &str, answers: &[&str]) -> Self {
        let answers = answers.iter().map(|a| (*a).to_owned()).collect();
        Self { question: question.to_owned(), answers, selected: 0 }
    }

    /// Chooses the answer so many further on, round and round.
    pub(crate) fn move_by(&mut self, by: isize) {
        self.selected = wrapped_index(self.selected, by, self.answers.len());
    }

    /// The mouse chooses the answer it clicks; the wheel goes through them. They are the last rows of what scrolls.
    pub(crate) fn on_mouse(&mut self, scroll: &Scroll, event: MouseEvent) {
        match scroll.mouse_target_in_last(self.answers.len(), event) {
            Some(MouseTarget::Row(row)) => self.selected = row,
            Some(MouseTarget::Wheel(by)) => {
                self.selected = clamped_index(self.selected, by, self.answers.len());
            }
            None => {}
        }
    }

    /// Its rows.
    pub(crate) fn lines(&self, look: &Context<'_>, columns: u16) -> Vec<Line> {
        let mut lines = paragraph((Role::Title, ""), Role::Title, &self.question, columns);
        for (place, answer) in self.answers.iter().enumerate() {
            let (role, mark) = if place == self.selected {
                (Role::Selection, look.glyphs.proposal)
            } else {
                (Role::Text, " ")
            };
            lines.push(vec![(Role::Proposal, format!(" {mark} ")), (role, answer.clone())]);
        }
        lines
    }
}
