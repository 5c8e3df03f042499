//! The advice about tasks: the newest for the reward, and all with its instructions for a model as prompter.

use crate::domain::{Lesson, LessonOrigin, LessonStatus, ReflectionKind, Task};
use crate::engine::State;
use std::collections::BTreeMap;

/// Returns the key of the task that advice is about.
fn task_key_of(state: &State, lesson: &Lesson) -> Option<String> {
    let learnt_in = || state.ended_episode(lesson.learnt_at.0).map(|ended| ended.task.key());
    lesson.task_key.as_deref().map(str::to_owned).or_else(learnt_in)
}

/// Returns the advice after the last two attempts at a task that have any, oldest first: of each attempt the newest piece that enters
/// prompts. If a person has switched off all of an attempt's pieces, the newest counts: the mentor wrote it with the evaluation's
/// instruction, or prompts have shown it. Loaded pieces count while they are active.
pub(super) fn last_advice(state: &State, task: &Task) -> Vec<String> {
    let key = task.key();
    // By episode; loaded pieces belong to none.
    let mut by_attempt: BTreeMap<(u32, usize), &Lesson> = BTreeMap::new();
    let advice = state.pool.all().filter(|lesson| lesson.kind == ReflectionKind::Advice);
    for (index, lesson) in advice.enumerate() {
        let episode = lesson.learnt_at.0;
        let counts =
            lesson.is_active() || (episode > 0 && (lesson.origin != LessonOrigin::Person || lesson.uses > 0));
        if !counts || task_key_of(state, lesson).as_ref() != Some(&key) {
            continue;
        }
        let attempt = (episode, if episode == 0 { index } else { 0 });
        let known = by_attempt.get(&attempt);
        if lesson.is_active() || known.is_none_or(|known| !known.is_active()) {
            by_attempt.insert(attempt, lesson);
        }
    }
    let mut newest: Vec<String> =
        by_attempt.values().rev().take(2).map(|lesson| lesson.text().text.clone()).collect();
    newest.reverse();
    newest
}

/// Returns the advice that the mentor has already written at this place of an attempt (episode and step), if it is still as it was
/// written: another sample takes its place.
pub(super) fn replaceable_advice(state: &State, place: (u32, u32)) -> Option<&Lesson> {
    let advice = state.pool.active_of_kind(ReflectionKind::Advice);
    advice.rev().find(|lesson| {
        lesson.learnt_at == place && lesson.status == LessonStatus::On && !lesson.edited_by_person
    })
}

/// Returns all pairs of an instruction and advice about one of these tasks that was written while it was in force. Each type of
/// tasks has pairs of its own, as in the public code.
pub(super) fn demonstration_pairs(state: &State, tasks: &[&Task]) -> Vec<[String; 2]> {
    let keys: Vec<String> = tasks.iter().map(|task| task.key()).collect();
    let first_version = |lesson: &Lesson| lesson.versions.first().map(|version| version.seq);
    let instructions: Vec<_> = state
        .pool
        .all()
        .filter(|lesson| lesson.kind == ReflectionKind::Instruction)
        .filter_map(|lesson| Some((first_version(lesson)?, lesson)))
        .collect();
    let advice = state.pool.all().filter(|lesson| lesson.kind == ReflectionKind::Advice);
    let advice = advice.filter(|lesson| task_key_of(state, lesson).is_some_and(|key| keys.contains(&key)));
    advice
        .filter_map(|advice| {
            let written = first_version(advice)?;
            let before = instructions.iter().filter(|(seq, _)| *seq < written);
            let (_, instruction) = before.max_by_key(|(seq, _)| *seq)?;
            Some([instruction.text().text.clone(), advice.text().text.clone()])
        })
        .collect()
}
