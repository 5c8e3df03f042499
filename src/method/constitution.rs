//! Replaces a list of lessons by the mentor's shorter summary.

use crate::domain::{LessonId, LessonOrigin, LessonStatus, LessonText};
use crate::engine::{Intent, LessonCommand, MentorReply, State};

/// Replaces the lessons that the mentor was shown by the lessons of its summary. Lessons that a person wrote, edited,
/// pinned or switched off stay, and so do those newer than the question. If the reply could not be used, all lessons
/// stay.
pub(super) fn apply_summary(state: &State, reply: &MentorReply<'_>) -> Vec<Intent> {
    let mut reflection = reply.reflection();
    if reply.items.is_empty() {
        reflection.complaints.push("the summary is unusable; the old list stays".to_owned());
        return vec![Intent::Reflect(Box::new(reflection))];
    }
    // A lesson repeated verbatim stays the same lesson, with its number and uses; an equal duplicate is retired.
    let mut repeated_texts: Vec<&LessonText> = Vec::new();
    let replaced: Vec<LessonId> = reply
        .shown_lessons()
        .filter(|(id, version)| {
            state.pool.get(id).is_some_and(|l| {
                l.kind == reply.question.kind
                    && l.status == LessonStatus::On
                    && l.version() == *version
                    && !l.edited_by_person
                    && l.origin != LessonOrigin::Person
            })
        })
        .map(|(id, _)| id)
        .filter(|id| {
            let text = state.pool.get(id).map(crate::domain::Lesson::text);
            let repeated = text.filter(|text| {
                reply.items.iter().any(|i| i.text == **text) && !repeated_texts.contains(text)
            });
            repeated_texts.extend(repeated);
            repeated.is_none()
        })
        .cloned()
        .collect();
    let is_kept = |text: &LessonText| {
        state.pool.visible_of_kind(reply.question.kind).any(|l| l.text() == text && !replaced.contains(&l.id))
    };
    let mut intents = vec![Intent::Reflect(Box::new(reflection))];
    intents.extend(replaced.iter().map(retire_lesson));
    for item in reply.items.iter().filter(|item| !is_kept(&item.text)) {
        let mut command = reply.lesson_command(item);
        if let LessonCommand::Add { parents, .. } = &mut command {
            parents.clone_from(&replaced);
        }
        intents.push(Intent::Lesson(command));
    }
    intents
}

pub(super) fn retire_lesson(id: &LessonId) -> Intent {
    Intent::Lesson(LessonCommand::Status { id: id.clone(), status: LessonStatus::Retired })
}
