//! Chooses the next episode, and finds the failed one before it.

use crate::domain::common_settings::REFLECT_AFTER_LAST;
use crate::domain::{EpisodeRole, EpisodeSummary, Task};
use crate::engine::{Intent, State};
use std::collections::HashMap;

/// An entry of the run's task list, and its progress.
struct TaskEntry<'a> {
    task: &'a Task,
    /// Trials already played.
    trials_used: usize,
    /// Number of the next trial among all trials of this task, also those of other entries.
    next_trial: u32,
    /// The task was won, has used all its trials or has ended early.
    finished: bool,
}

/// Starts the next trial of the first unfinished task, or ends the run: task by task.
pub fn next_by_task(state: &State) -> Vec<Intent> {
    if let Some(calibration) = next_calibration(state) {
        return vec![calibration];
    }
    let entries = test_entries(state);
    start_or_end(entries.iter().find(|entry| !entry.finished))
}

/// Starts the next task of the current trial, or ends the run: trial by trial over the tasks not yet won.
pub fn next_by_trial(state: &State) -> Vec<Intent> {
    if let Some(calibration) = next_calibration(state) {
        return vec![calibration];
    }
    next_test_by_trial(state)
}

/// Starts the next task of the current trial, or ends the run, in a run whose calibration is over or left to the method.
pub(super) fn next_test_by_trial(state: &State) -> Vec<Intent> {
    let due = test_entries(state).into_iter().filter(|entry| !entry.finished);
    start_or_end(due.min_by_key(|entry| entry.trials_used).as_ref())
}

/// Returns what follows an episode of a run that plays the tasks of its list in turn: `next task`, or `next trial` if only the same
/// task is left. `None` if nothing is left.
pub fn next_in_list(state: &State) -> Option<&'static str> {
    if next_calibration(state).is_some() {
        return Some("next task");
    }
    let is_last = |task: &Task| state.episode.as_deref().is_some_and(|episode| episode.task.is_same(task));
    let mut left = test_entries(state).into_iter().filter(|entry| !entry.finished).peekable();
    left.peek()?;
    Some(if left.all(|entry| is_last(entry.task)) { "next trial" } else { "next task" })
}

/// Returns the next attempt at a calibration task, for a method that learns from calibration itself: task by task, each
/// until it is won, at most `trials` times.
pub(super) fn next_gathering(state: &State, trials: u64) -> Option<Intent> {
    let run = state.run.as_deref()?;
    let trials = usize::try_from(trials).unwrap_or(usize::MAX);
    let entries = entries(state, run.calibration_tasks(), EpisodeRole::Calibrate, trials);
    let next = entries.into_iter().find(|entry| !entry.finished)?;
    Some(start(&next, EpisodeRole::Calibrate))
}

/// Returns the next calibration episode. All of them precede the first test: each task once, those with a goal first,
/// then those without.
fn next_calibration(state: &State) -> Option<Intent> {
    let run = state.run.as_deref()?;
    let (calibration_count, exploration_count) =
        (run.calibration_tasks().len(), run.exploration_tasks().len());
    if calibration_count + exploration_count == 0 {
        return None;
    }
    let played = state.ended_episodes.iter().filter(|e| e.role.is_calibration()).count();
    let role = if played < calibration_count { EpisodeRole::Calibrate } else { EpisodeRole::Explore };
    let task = run.calibration_tasks().iter().chain(run.exploration_tasks()).nth(played)?;
    let task = Box::new(Task { goal: String::new(), ..task.clone() });
    Some(Intent::StartEpisode { task, trial: 1, role })
}

fn start_or_end(entry: Option<&TaskEntry<'_>>) -> Vec<Intent> {
    vec![entry.map_or(Intent::EndRun, |entry| start(entry, EpisodeRole::Test))]
}

fn start(entry: &TaskEntry<'_>, role: EpisodeRole) -> Intent {
    let task = Box::new(Task { goal: String::new(), ..entry.task.clone() });
    Intent::StartEpisode { task, trial: entry.next_trial, role }
}

/// Returns the tests with their progress.
fn test_entries(state: &State) -> Vec<TaskEntry<'_>> {
    let Some(run) = state.run.as_deref() else { return Vec::new() };
    entries(state, run.test_tasks(), EpisodeRole::Test, run.trials.max(1) as usize)
}

/// Returns a part of the task list with the progress of each entry. A task has up to `trials` trials, each only if the
/// previous one was not won and neither its environment nor the setting `early_stop` ends the task; a task listed twice is played
/// twice. Episodes that a person started out of order are counted too.
fn entries<'a>(state: &'a State, tasks: &'a [Task], role: EpisodeRole, trials: usize) -> Vec<TaskEntry<'a>> {
    let mut played: HashMap<(&str, &str, u64), Vec<bool>> = HashMap::new();
    for episode in state.ended_episodes.iter().filter(|e| e.role == role) {
        played.entry(task_key(&episode.task)).or_default().push(episode.ends_task());
    }
    let mut used_before: HashMap<(&str, &str, u64), usize> = HashMap::new();
    // A rerun of an episode has a single trial, with its original number.
    let rerun_trial = state.settings().place.first_trial;
    let trials = rerun_trial.map_or(trials.max(1), |_| 1);
    let entry = |task| {
        let key = task_key(task);
        let results = played.get(&key).map_or(&[][..], Vec::as_slice);
        // The trials of this list entry are those that no earlier entry has used up.
        let start = used_before.entry(key).or_default();
        let available = trials.min(results.len() - *start);
        let own_results = &results[*start..*start + available];
        let used =
            own_results.iter().position(|ends_task| *ends_task).map_or(own_results.len(), |index| index + 1);
        *start += used;
        let finished = own_results[..used].last().is_some_and(|ends_task| *ends_task)
            || used >= trials
            || state.early_stop(task).is_some();
        TaskEntry {
            task,
            trials_used: used,
            next_trial: results.len() as u32 + rerun_trial.unwrap_or(1),
            finished,
        }
    };
    tasks.iter().map(entry).collect()
}

fn task_key(task: &Task) -> (&str, &str, u64) {
    (task.env.as_str(), task.id.as_str(), task.seed)
}

/// Returns the episode that has just failed if a reflection on it is due. After the last trial none is due unless the
/// setting `reflect_after_last` is on.
pub(super) fn failed_attempt(state: &State) -> Option<&EpisodeSummary> {
    let ended = state.episode.as_deref()?.outcome.as_deref()?;
    // Nothing is left to learn about a task that its environment has ended.
    let is_due = !state.is_last_trial() || state.setting(REFLECT_AFTER_LAST);
    (!ended.ends_task() && is_due).then_some(ended)
}
