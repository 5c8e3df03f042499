//! A list of lessons made shorter by the mentor: what was shown gives way to what came back.

use crate::domain::{LessonId, LessonOrigin, LessonStatus, LessonText};
use crate::engine::{Intent, LessonCommand, MentorReply, State};

/// The lessons that the summary was shown give way to its items. What a person wrote, changed, pinned or switched off, and
/// what is newer than the question, stays; so does everything where the answer could not be used.
pub(super) fn apply_summary(state: &State, heard: &MentorReply<'_>) -> Vec<Intent> {
    let mut reflection = heard.reflection();
    if heard.items.is_empty() {
        reflection.complaints.push("nothing of this summary could be used: the old list stays".to_owned());
        return vec![Intent::Reflect(Box::new(reflection))];
    }
    // A lesson that is said again word for word is that lesson still, with its number and its uses; an equal one beside it
    // gives way.
    let mut again: Vec<&LessonText> = Vec::new();
    let replaced: Vec<LessonId> = heard
        .shown_lessons()
        .filter(|(id, version)| {
            state.pool.get(id).is_some_and(|l| {
                l.kind == heard.question.kind
                    && l.status == LessonStatus::On
                    && l.version() == *version
                    && !l.edited_by_person
                    && l.origin != LessonOrigin::Person
            })
        })
        .map(|(id, _)| id)
        .filter(|id| {
            let text = state.pool.get(id).map(crate::domain::Lesson::text);
            let said =
                text.filter(|text| heard.items.iter().any(|i| i.text == **text) && !again.contains(text));
            again.extend(said);
            said.is_none()
        })
        .cloned()
        .collect();
    let kept = |text: &LessonText| {
        state.pool.visible_of_kind(heard.question.kind).any(|l| l.text() == text && !replaced.contains(&l.id))
    };
    let mut wants = vec![Intent::Reflect(Box::new(reflection))];
    wants.extend(replaced.iter().map(retire_lesson));
    for item in heard.items.iter().filter(|item| !kept(&item.text)) {
        let mut wish = heard.lesson_command(item);
        if let LessonCommand::Add { parents, .. } = &mut wish {
            parents.clone_from(&replaced);
        }
        wants.push(Intent::Lesson(wish));
    }
    wants
}

pub(super) fn retire_lesson(id: &LessonId) -> Intent {
    Intent::Lesson(LessonCommand::Status { id: id.clone(), status: LessonStatus::Retired })
}
