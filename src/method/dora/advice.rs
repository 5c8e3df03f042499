//! The advice about tasks: the newest for the reward, and all with its instructions for a model as prompter.

use crate::domain::{Lesson, ReflectionKind, Task};
use crate::engine::State;

/// Returns the key of the task that advice is about.
fn task_key_of(state: &State, lesson: &Lesson) -> Option<String> {
    let learnt_in = || state.ended_episode(lesson.learnt_at.0).map(|ended| ended.task.key());
    lesson.task_key.as_deref().map(str::to_owned).or_else(learnt_in)
}

/// Returns the last two pieces of advice about a task that enter prompts, oldest first.
pub(super) fn last_advice(state: &State, task: &Task) -> Vec<String> {
    let key = task.key();
    let is_about_task = |lesson: &&Lesson| task_key_of(state, lesson).as_ref() == Some(&key);
    let mut newest: Vec<String> = state
        .pool
        .active_of_kind(ReflectionKind::Advice)
        .rev()
        .filter(is_about_task)
        .take(2)
        .map(|lesson| lesson.text().text.clone())
        .collect();
    newest.reverse();
    newest
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
