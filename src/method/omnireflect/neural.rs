//! Reflections by a mentor, one question a kind (Table 17 gives three prompts), and the summary of the constitution (Table 18).
//!
//! Nothing says what becomes of a summary that cannot be read, or of lessons that it was not shown: the old list stays, and
//! only what it was shown is replaced (methods.md 6.1).

use super::super::constitution;
use crate::domain::{
    Author, EpisodeRole, EpisodeSummary, LessonId, LessonOrigin, LessonStatus, LessonText, Purpose, Question,
    ReflectionKind,
};
use crate::engine::{Intent, LessonCommand, MentorReply, State};

/// The questions that were not answered yet after this turn.
pub(super) fn pending_questions(state: &State, kinds: &[ReflectionKind]) -> Vec<Intent> {
    let questions = kinds.iter().map(|kind| Question::reflect(*kind));
    questions.filter(|question| !state.is_answered(*question)).map(Intent::AskMentor).collect()
}

/// The question that a person asks now: the last one of this kind again where its answer was cut off (a summary too, which
/// is otherwise asked for by the clock alone), else a reflection, unless it was answered after this step already.
pub(super) fn manual_question(state: &State, kind: ReflectionKind) -> Vec<Intent> {
    let last = state.reflections.iter().rev().find(|r| r.kind == kind && r.author == Author::Mentor);
    let again = last.filter(|r| r.truncated.is_some()).map(|r| r.question());
    let summary = again.filter(|q| q.purpose == Purpose::Summarise && can_be_summarized(state, kind));
    if let Some(summary) = summary {
        return vec![Intent::AskMentor(summary)];
    }
    let reflection = Question::reflect(kind);
    if again == Some(reflection) {
        return vec![Intent::AskMentor(reflection)];
    }
    pending_questions(state, &[kind])
}

/// The summaries that are due after every `s_freq`-th task that is done with, for each list that has something to make shorter.
pub(super) fn due_summaries(state: &State) -> Vec<Intent> {
    let (every, ended) = (state.setting_number("s_freq", 10), count_settled_tasks(state));
    if every == 0 || ended == 0 || !ended.is_multiple_of(every) {
        return Vec::new();
    }
    let questions = [ReflectionKind::Abstract, ReflectionKind::Error]
        .map(|kind| Question { kind, purpose: Purpose::Summarise });
    let due = questions.into_iter().filter(|q| !state.is_answered(*q) && can_be_summarized(state, q.kind));
    due.map(Intent::AskMentor).collect()
}

/// Tasks that are done with: won, or out of trials. 0 where the last episode settled none, so that a summary is asked for
/// right after the task that it is due after.
fn count_settled_tasks(state: &State) -> u64 {
    let trials = state.run.as_ref().map_or(1, |r| r.trials.max(1));
    let settles = |p: &EpisodeSummary| p.role == EpisodeRole::Test && (p.won || p.trial >= trials);
    if !state.ended_episodes.last().is_some_and(|p| settles(p)) {
        return 0;
    }
    state.ended_episodes.iter().filter(|p| settles(p)).count() as u64
}

/// Two lessons or more can be made one.
fn can_be_summarized(state: &State, kind: ReflectionKind) -> bool {
    state.pool.active_of_kind(kind).nth(1).is_some()
}

pub(super) fn on_mentor_reply(state: &State, heard: &MentorReply<'_>) -> Vec<Intent> {
    match heard.question.purpose {
        Purpose::Summarise => constitution::apply_summary(state, heard),
        _ => keep_reflection(state, heard),
    }
}

/// New lessons join the pool, and one that says what another says already recurs. Progress replaces what the mentor said
/// of it before, or joins it (setting `progress`).
fn keep_reflection(state: &State, heard: &MentorReply<'_>) -> Vec<Intent> {
    let kind = heard.question.kind;
    let mut wants = vec![Intent::Reflect(Box::new(heard.reflection()))];
    // Part of a list does not replace a whole one: it joins it.
    let replaces = kind == ReflectionKind::Progress
        && !heard.items.is_empty()
        && heard.truncated.is_none()
        && state.run.as_ref().is_some_and(|r| r.settings.text("progress", "replace") == "replace");
    let mut replaced: Vec<LessonId> = Vec::new();
    if replaces {
        let old = state.pool.visible_of_kind(kind).filter(|l| {
            l.origin == LessonOrigin::Mentor && !l.edited_by_person && l.status == LessonStatus::On
        });
        replaced.extend(old.map(|l| l.id.clone()));
        wants.extend(replaced.iter().map(constitution::retire_lesson));
    }
    let mut new: Vec<&LessonText> = Vec::new();
    for item in &heard.items {
        let same =
            state.pool.visible_of_kind(kind).find(|l| l.text() == &item.text && !replaced.contains(&l.id));
        match same {
            Some(lesson) => wants.push(Intent::Lesson(LessonCommand::Recur { id: lesson.id.clone() })),
            None if new.contains(&&item.text) => {}
            None => {
                new.push(&item.text);
                wants.push(Intent::Lesson(heard.lesson_command(item)));
            }
        }
    }
    wants
}
