//! The advice about tasks: the newest for the reward, and all with its instructions or attempts for a model as prompter.

use super::settings::{PAIRS, Pairs};
use crate::domain::{Lesson, LessonOrigin, LessonStatus, ReflectionKind, Task};
use crate::engine::{Episode, State};
use std::collections::BTreeMap;
use std::iter;

/// How many actions of an attempt a demonstration shows, the last ones, as in the public code.
const SHOWN_ACTIONS: usize = 5;
/// The most characters of a thought or an action in a demonstration.
const MAX_PART_CHARS: usize = 300;
/// What the description of an attempt begins with.
const ATTEMPT_START: &str = "task:";

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

/// Describes an attempt as the input of a demonstration: its task, and its last thoughts and actions. It is the evidence of the advice
/// after the attempt, so it is stored once with it, and the run's memory doesn't grow.
pub(super) fn describe_attempt(episode: &Episode) -> String {
    let (mut actions, mut last_thought) = (Vec::new(), None);
    for step in episode.steps.iter().filter(|step| step.dropped_by.is_none()) {
        // A step that only thinks belongs to the action after it.
        last_thought = step.shown_thought().or(last_thought);
        let action = step.executed.as_ref().map(|executed| executed.action.as_str());
        if let Some(action) = action.filter(|_| !step.is_thought_only()) {
            let thought = last_thought.take().unwrap_or_default();
            actions.push(format!("({}, {})", one_line(thought), one_line(action)));
        }
    }
    let last = &actions[actions.len().saturating_sub(SHOWN_ACTIONS)..];
    format!("{ATTEMPT_START}{}; trajectory:{}", episode.task.goal, last.join(", "))
}

/// Returns the beginning of a text on one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MAX_PART_CHARS).collect()
}

/// Returns all demonstrations about these tasks. Each type of tasks has its own, as in the public code.
pub(super) fn demonstration_pairs(state: &State, tasks: &[&Task]) -> Vec<[String; 2]> {
    let keys: Vec<String> = tasks.iter().map(|task| task.key()).collect();
    let advice = state.pool.all().filter(|lesson| {
        lesson.kind == ReflectionKind::Advice
            && task_key_of(state, lesson).is_some_and(|key| keys.contains(&key))
    });
    match state.setting(PAIRS) {
        Pairs::Prompt => pairs_with_instruction(state, advice),
        Pairs::Trajectory => {
            let written = advice.filter(|advice| advice.evidence.starts_with(ATTEMPT_START));
            let pairs = written.map(|advice| [advice.evidence.to_string(), advice.text().text.clone()]);
            // The list of the public code begins with an empty pair, so its first instruction has a demonstration, too.
            iter::once([String::new(), String::new()]).chain(pairs).collect()
        }
    }
}

/// Returns each piece of advice after the instruction that was in force when it was written.
fn pairs_with_instruction<'a>(state: &State, advice: impl Iterator<Item = &'a Lesson>) -> Vec<[String; 2]> {
    let first_version = |lesson: &Lesson| lesson.versions.first().map(|version| version.seq);
    let instructions: Vec<_> = state
        .pool
        .all()
        .filter(|lesson| lesson.kind == ReflectionKind::Instruction)
        .filter_map(|lesson| Some((first_version(lesson)?, lesson)))
        .collect();
    advice
        .filter_map(|advice| {
            let written = first_version(advice)?;
            let before = instructions.iter().filter(|(seq, _)| *seq < written);
            let (_, instruction) = before.max_by_key(|(seq, _)| *seq)?;
            Some([instruction.text().text.clone(), advice.text().text.clone()])
        })
        .collect()
}
