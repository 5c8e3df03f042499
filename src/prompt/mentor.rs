//! What a mentor's reply means.

use crate::domain::{Item, Kind, LessonText, Question};
use crate::engine::MentorReading;

/// Reads a mentor's reply: a list for the kinds that are lists, else one text.
pub fn read_mentor(question: Question, text: &str) -> MentorReading {
    let listed = matches!(question.kind, Kind::Abstract | Kind::Error | Kind::Progress);
    let said: Vec<&str> = if listed { text.lines().collect() } else { vec![text] };
    let items = said.into_iter().map(str::trim).filter(|t| !t.is_empty());
    MentorReading {
        items: items.map(|t| Item { text: LessonText::plain(t), ..Item::default() }).collect(),
        complaints: Vec::new(),
    }
}
