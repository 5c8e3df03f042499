//! Reflections by a mentor, one question a kind (Table 17 gives three prompts), and the summary of the constitution (Table 18).
//!
//! Nothing says what becomes of a summary that cannot be read, or of lessons that it was not shown: the old list stays, and
//! only what it was shown is replaced (methods.md 6.1).

use crate::domain::{Kind, LessonId, LessonOrigin, LessonStatus, LessonText, Purpose, Question};
use crate::engine::{Heard, LessonWish, State, Want};

/// The questions that were not answered yet after this turn.
pub(super) fn reflections(state: &State, kinds: &[Kind]) -> Vec<Want> {
    let questions = kinds.iter().map(|kind| Question::reflect(*kind));
    questions.filter(|question| !state.heard(*question)).map(Want::AskMentor).collect()
}

/// The summaries that are due after every `s_freq`-th ended task, for each list that has something to make shorter.
pub(super) fn summaries(state: &State) -> Vec<Want> {
    let (every, ended) = (state.number("s_freq", 10), state.past.len() as u64);
    if every == 0 || ended == 0 || !ended.is_multiple_of(every) {
        return Vec::new();
    }
    let questions = [Kind::Abstract, Kind::Error].map(|kind| Question { kind, purpose: Purpose::Summarise });
    let due = questions.into_iter().filter(|q| !state.heard(*q) && worth(state, q.kind));
    due.map(Want::AskMentor).collect()
}

/// Two lessons or more can be made one.
fn worth(state: &State, kind: Kind) -> bool {
    state.pool.in_force(kind).nth(1).is_some()
}

pub(super) fn heard(state: &State, heard: &Heard<'_>) -> Vec<Want> {
    match heard.question.purpose {
        Purpose::Summarise => summarised(state, heard),
        _ => reflected(state, heard),
    }
}

/// New lessons join the pool, and one that says what another says already recurs. Progress replaces what the mentor said
/// of it before, or joins it (setting `progress`).
fn reflected(state: &State, heard: &Heard<'_>) -> Vec<Want> {
    let kind = heard.question.kind;
    let mut wants = vec![Want::Reflect(Box::new(heard.reflection()))];
    let replaces = kind == Kind::Progress
        && !heard.items.is_empty()
        && state.run.as_ref().is_some_and(|r| r.settings.word("progress", "replace") == "replace");
    let mut replaced: Vec<LessonId> = Vec::new();
    if replaces {
        let old = state
            .pool
            .of(kind)
            .filter(|l| l.origin == LessonOrigin::Mentor && !l.by_person && l.status == LessonStatus::On);
        replaced.extend(old.map(|l| l.id.clone()));
        wants.extend(replaced.iter().map(retire));
    }
    let mut new: Vec<&LessonText> = Vec::new();
    for item in &heard.items {
        let same = state.pool.of(kind).find(|l| l.text() == &item.text && !replaced.contains(&l.id));
        match same {
            Some(lesson) => wants.push(Want::Lesson(LessonWish::Recur { id: lesson.id.clone() })),
            None if new.contains(&&item.text) => {}
            None => {
                new.push(&item.text);
                wants.push(Want::Lesson(heard.lesson(item)));
            }
        }
    }
    wants
}

/// The lessons that the summary was shown give way to its items. What a person wrote, changed, pinned or switched off, and
/// what is newer than the question, stays; so does everything where the answer could not be used.
fn summarised(state: &State, heard: &Heard<'_>) -> Vec<Want> {
    let mut reflection = heard.reflection();
    if heard.items.is_empty() {
        reflection.complaints.push("nothing of this summary could be used: the old list stays".to_owned());
        return vec![Want::Reflect(Box::new(reflection))];
    }
    let replaced: Vec<LessonId> = heard
        .shown()
        .filter(|(id, version)| {
            state.pool.get(id).is_some_and(|l| {
                l.kind == heard.question.kind
                    && l.status == LessonStatus::On
                    && l.version() == *version
                    && !l.by_person
                    && l.origin != LessonOrigin::Person
            })
        })
        .map(|(id, _)| id.clone())
        .collect();
    let kept = |text: &LessonText| {
        state.pool.of(heard.question.kind).any(|l| l.text() == text && !replaced.contains(&l.id))
    };
    let mut wants = vec![Want::Reflect(Box::new(reflection))];
    wants.extend(replaced.iter().map(retire));
    for item in heard.items.iter().filter(|item| !kept(&item.text)) {
        let mut wish = heard.lesson(item);
        if let LessonWish::Add { parents, .. } = &mut wish {
            parents.clone_from(&replaced);
        }
        wants.push(Want::Lesson(wish));
    }
    wants
}

fn retire(id: &LessonId) -> Want {
    Want::Lesson(LessonWish::Status { id: id.clone(), status: LessonStatus::Retired })
}
