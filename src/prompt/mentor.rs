//! What a mentor's reply means: a list for the kinds that are lists and for summaries, else one text.

use super::read;
use crate::domain::{Item, Kind, LessonText, Purpose, Question};
use crate::engine::MentorReading;

/// Reads a mentor's reply to a question (`docs/REPLIES.md`). Every text has a reading; what could not be used is said.
pub fn read_mentor(question: Question, text: &str) -> MentorReading {
    let listed = question.purpose == Purpose::Summarise
        || matches!(question.kind, Kind::Abstract | Kind::Error | Kind::Progress);
    if !listed {
        let mut plan = read::plan(text);
        // `Lesson 2: ...` is no label when a lesson is to be named by its number: the number is part of the answer.
        let label = plan.sections.first().filter(|_| question.purpose == Purpose::Choose);
        let number = label.and_then(|(name, _)| name.rsplit(' ').next().and_then(|n| n.parse::<u32>().ok()));
        if let Some(number) = number {
            plan.text = format!("{number}: {}", plan.text);
        }
        let said = (!plan.text.trim().is_empty())
            .then(|| Item { text: LessonText::plain(plan.text), ..Item::default() });
        let complaints = plan.complaints.into_iter().map(|c| c.words).collect();
        return MentorReading { items: said.into_iter().collect(), complaints };
    }
    let list = read::items(text);
    MentorReading {
        items: list.items.into_iter().map(read::ReadItem::into_item).collect(),
        complaints: list.complaints.into_iter().map(|c| c.words).collect(),
    }
}
