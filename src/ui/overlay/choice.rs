//! A question with a few answers.

use super::window::{Line, paragraph};
use crate::ui::look::Look;
use crate::ui::theme::Role;

/// The answers of a question, one of them chosen.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    /// What is asked.
    pub(crate) question: String,
    answers: Vec<String>,
    /// The chosen answer.
    pub(crate) at: usize,
}

impl Choice {
    /// A question with its first answer chosen.
    pub(crate) fn new(question: &str, answers: &[&str]) -> Self {
        let answers = answers.iter().map(|a| (*a).to_owned()).collect();
        Self { question: question.to_owned(), answers, at: 0 }
    }

    /// Chooses the answer so many further on, round and round.
    pub(crate) fn by(&mut self, by: isize) {
        let all = self.answers.len().max(1) as isize;
        self.at = (self.at as isize + by).rem_euclid(all) as usize;
    }

    /// Its rows.
    pub(crate) fn lines(&self, look: &Look<'_>, columns: u16) -> Vec<Line> {
        let mut lines = paragraph((Role::Title, ""), Role::Title, &self.question, columns);
        for (place, answer) in self.answers.iter().enumerate() {
            let (role, mark) =
                if place == self.at { (Role::Chosen, look.glyphs.proposal) } else { (Role::Text, " ") };
            lines.push(vec![(Role::Proposal, format!(" {mark} ")), (role, answer.clone())]);
        }
        lines
    }
}
