//! Reflections by a mentor, one question per kind (Table 17 gives three prompts), and the summary of the constitution
//! (Table 18).
//!
//! The paper doesn't say what happens to a summary that cannot be parsed, or to lessons that the mentor was not shown:
//! here the old list stays, and only the lessons that the mentor was shown are replaced.

use super::super::constitution;
use super::settings::{S_FREQ, SUMMARY_AFTER_CALIBRATION};
use crate::domain::common_settings::ProgressLessons;
use crate::domain::{
    Author, EpisodeSummary, LessonId, LessonOrigin, LessonStatus, LessonText, Purpose, Question,
    ReflectionKind,
};
use crate::engine::{Intent, LessonCommand, MentorReply, State};

/// Returns the questions not yet answered after this step.
pub(super) fn pending_questions(state: &State, kinds: &[ReflectionKind]) -> Vec<Intent> {
    let questions = kinds.iter().map(|kind| Question::reflect(*kind));
    questions.filter(|question| !state.is_answered(*question)).map(Intent::AskMentor).collect()
}

/// Returns the question for a person's request. If the last answer of this kind was cut off or was an unusable summary, its
/// question is repeated, even though a summary is otherwise only periodic. Otherwise a reflection is requested, unless one was
/// already written after this step.
pub(super) fn manual_question(state: &State, kind: ReflectionKind) -> Vec<Intent> {
    let summary = constitution::failed_summary(state, kind);
    if let Some(summary) = summary.filter(|_| can_be_summarized(state, kind)) {
        return vec![Intent::AskMentor(summary)];
    }
    let reflection = Question::reflect(kind);
    let last = state.reflections.iter().rev().find(|r| r.kind == kind && r.author == Author::Mentor);
    if last.is_some_and(|r| r.truncated.is_some() && r.question() == reflection) {
        return vec![Intent::AskMentor(reflection)];
    }
    pending_questions(state, &[kind])
}

/// Returns the summary questions if they are due, one per list that can be shortened: after every `s_freq`-th finished
/// task, and after the last calibration episode, since the constitution is used from then on.
pub(super) fn due_summaries(state: &State) -> Vec<Intent> {
    let (every, finished) = (state.setting(S_FREQ), count_finished_tasks(state));
    let is_due = finished.is_multiple_of(every)
        || (state.setting(SUMMARY_AFTER_CALIBRATION) && is_calibration_over(state));
    if every == 0 || finished == 0 || !is_due {
        return Vec::new();
    }
    let questions = [ReflectionKind::Abstract, ReflectionKind::Error]
        .map(|kind| Question { kind, purpose: Purpose::Summarise });
    let due = questions.into_iter().filter(|q| !state.is_answered(*q) && can_be_summarized(state, q.kind));
    due.map(Intent::AskMentor).collect()
}

/// Returns whether the last episode was the last one of a calibration.
fn is_calibration_over(state: &State) -> bool {
    let Some(run) = state.run.as_deref() else { return false };
    let planned = run.calibration_tasks().len() + run.exploration_tasks().len();
    let is_calibration = |e: &EpisodeSummary| e.role.is_calibration();
    state.ended_episodes.last().is_some_and(|e| is_calibration(e))
        && state.ended_episodes.iter().filter(|e| is_calibration(e)).count() == planned
}

/// Counts finished tasks: won, ended by the environment, out of trials, or played for calibration. Returns 0 if the last episode
/// finished none, so that a summary is requested only right after the task that makes it due.
fn count_finished_tasks(state: &State) -> u64 {
    let trials = state.run.as_ref().map_or(1, |r| r.trials.max(1));
    let finishes_task = |e: &EpisodeSummary| e.role.is_calibration() || e.ends_task() || e.trial >= trials;
    if !state.ended_episodes.last().is_some_and(|e| finishes_task(e)) {
        return 0;
    }
    state.ended_episodes.iter().filter(|e| finishes_task(e)).count() as u64
}

/// Returns whether there are at least two lessons to combine.
fn can_be_summarized(state: &State, kind: ReflectionKind) -> bool {
    state.pool.active_of_kind(kind).nth(1).is_some()
}

pub(super) fn on_mentor_reply(state: &State, reply: &MentorReply<'_>) -> Vec<Intent> {
    match reply.question.purpose {
        Purpose::Summarise => constitution::apply_summary(state, reply),
        _ => store_reflection(state, reply),
    }
}

/// Adds new lessons to the pool; a lesson with the same text as an existing one recurs. Progress replaces the mentor's
/// earlier Progress lessons or is added to them (setting `progress`).
fn store_reflection(state: &State, reply: &MentorReply<'_>) -> Vec<Intent> {
    let kind = reply.question.kind;
    let mut intents = vec![Intent::Reflect(Box::new(reply.reflection()))];
    // Part of a list doesn't replace a complete one; it is added.
    let replaces = kind == ReflectionKind::Progress
        && !reply.items.is_empty()
        && reply.truncated.is_none()
        && state.settings().progress_lessons == ProgressLessons::Replace;
    let mut replaced: Vec<LessonId> = Vec::new();
    if replaces {
        let old = state.pool.visible_of_kind(kind).filter(|l| {
            l.origin == LessonOrigin::Mentor && !l.edited_by_person && l.status == LessonStatus::On
        });
        replaced.extend(old.map(|l| l.id.clone()));
        intents.extend(replaced.iter().map(constitution::retire_lesson));
    }
    let mut added_texts: Vec<&LessonText> = Vec::new();
    for item in &reply.items {
        let existing =
            state.pool.visible_of_kind(kind).find(|l| l.text() == &item.text && !replaced.contains(&l.id));
        match existing {
            Some(lesson) => intents.push(Intent::Lesson(LessonCommand::Recur { id: lesson.id.clone() })),
            None if added_texts.contains(&&item.text) => {}
            None => {
                added_texts.push(&item.text);
                intents.push(Intent::Lesson(reply.lesson_command(item)));
            }
        }
    }
    intents
}
