//! Replaces a list of lessons by the mentor's shorter summary.

use crate::domain::common_settings::SUMMARY_KEEPS;
use crate::domain::{
    Author, LessonId, LessonOrigin, LessonStatus, LessonText, Purpose, Question, ReflectionKind,
};
use crate::engine::{Intent, LessonCommand, MentorReply, State};

/// Replaces the lessons that the mentor was shown by the lessons of its summary. Lessons that a person wrote, edited,
/// pinned or switched off stay, and so do those newer than the question.
///
/// All lessons stay if the reply could not be used, or if it has lost too much of the list (setting `summary_keeps`): a
/// model that breaks the format often answers with a single rule. What it wrote is kept with the reflection, where a
/// person can accept it.
pub(super) fn apply_summary(state: &State, reply: &MentorReply<'_>) -> Vec<Intent> {
    let mut reflection = reply.reflection();
    if reply.items.is_empty() {
        reflection.complaints.push("the summary is unusable; the old list stays".to_owned());
        return vec![Intent::Reflect(Box::new(reflection))];
    }
    let listed = reply.shown_lessons().filter(|(id, _)| is_of_kind(state, reply, id)).count() as u64;
    let (kept, least) = (reply.items.len() as u64 * 100, listed * state.setting(SUMMARY_KEEPS));
    if kept < least {
        reflection.complaints.push(format!(
            "the summary has {} of {listed} lessons, fewer than summary_keeps={} %; the old list stays",
            reply.items.len(),
            state.setting(SUMMARY_KEEPS)
        ));
        reflection.dropped.extend(reflection.items.drain(..).map(|item| item.text));
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

/// Returns the question for a summary if the mentor's last answer about this kind was a summary that could not be used: it was
/// cut off, refused, given up, or had lost too much.
pub fn failed_summary(state: &State, kind: ReflectionKind) -> Option<Question> {
    let last = state.reflections.iter().rev().find(|r| r.kind == kind && r.author == Author::Mentor)?;
    (last.purpose == Purpose::Summarise && last.items.is_empty()).then(|| last.question())
}

fn is_of_kind(state: &State, reply: &MentorReply<'_>, id: &LessonId) -> bool {
    state.pool.get(id).is_some_and(|lesson| lesson.kind == reply.question.kind)
}

pub(super) fn retire_lesson(id: &LessonId) -> Intent {
    Intent::Lesson(LessonCommand::Status { id: id.clone(), status: LessonStatus::Retired })
}
