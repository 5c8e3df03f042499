//! Which episode comes next.

use crate::domain::{EpisodeRole, Task};
use crate::engine::{Intent, State, fixed_trial};
use std::collections::HashMap;

/// An entry of the run's list of tasks, and how it stands.
struct Entry<'a> {
    task: &'a Task,
    /// Trials it has had.
    trials_used: usize,
    /// The number of the next one among all trials of this task.
    next_trial: u32,
    /// It was won, or has had all its trials.
    settled: bool,
}

/// The next trial of the first task of the run that is due one, or the end of the run: task by task.
pub(super) fn next_by_task(state: &State) -> Vec<Intent> {
    if let Some(calibration) = next_calibration(state) {
        return vec![calibration];
    }
    start_or_end(entries(state).into_iter().find(|entry| !entry.settled).as_ref())
}

/// The next task of the trial that is under way, or the end of the run: trial by trial over the tasks that are not won, as
/// Reflexion and FCRF do.
pub(super) fn next_by_trial(state: &State) -> Vec<Intent> {
    if let Some(calibration) = next_calibration(state) {
        return vec![calibration];
    }
    let due = entries(state).into_iter().filter(|entry| !entry.settled);
    start_or_end(due.min_by_key(|entry| entry.trials_used).as_ref())
}

/// The next episode to learn from, which all come before the first test: each once, first those with a goal, then those
/// without.
fn next_calibration(state: &State) -> Option<Intent> {
    let run = state.run.as_deref()?;
    let (learnt, explored) = (run.calibration_tasks().len(), run.exploration_tasks().len());
    if learnt + explored == 0 {
        return None;
    }
    let played = state.ended_episodes.iter().filter(|p| p.role.is_calibration()).count();
    let role = if played < learnt { EpisodeRole::Calibrate } else { EpisodeRole::Explore };
    let task = run.calibration_tasks().iter().chain(run.exploration_tasks()).nth(played)?;
    let task = Box::new(Task { goal: String::new(), ..task.clone() });
    Some(Intent::StartEpisode { task, trial: 1, role })
}

fn start_or_end(entry: Option<&Entry<'_>>) -> Vec<Intent> {
    let Some(Entry { task, next_trial: trial, .. }) = entry else { return vec![Intent::EndRun] };
    let task = Box::new(Task { goal: String::new(), ..(*task).clone() });
    vec![Intent::StartEpisode { task, trial: *trial, role: EpisodeRole::Test }]
}

/// A task has up to `RunSpec::trials` trials, the next only when the last was not won; one that the list names twice is
/// played twice. What a person began out of order counts.
fn entries(state: &State) -> Vec<Entry<'_>> {
    let Some(run) = state.run.as_deref() else { return Vec::new() };
    let mut played: HashMap<(&str, &str, u64), Vec<bool>> = HashMap::new();
    for past in state.ended_episodes.iter().filter(|p| p.role == EpisodeRole::Test) {
        played.entry(task_key(&past.task)).or_default().push(past.won);
    }
    let mut told: HashMap<(&str, &str, u64), usize> = HashMap::new();
    // An episode that is played again is the one trial of its run, with the number it had.
    let again = fixed_trial(run);
    let trials = again.map_or(run.trials.max(1) as usize, |_| 1);
    let entry = |task| {
        let key = task_key(task);
        let had = played.get(&key).map_or(&[][..], Vec::as_slice);
        // The trials of this entry of the list are those that no entry before it has used up.
        let from = told.entry(key).or_default();
        let most = trials.min(had.len() - *from);
        let own = &had[*from..*from + most];
        let used = own.iter().position(|won| *won).map_or(own.len(), |at| at + 1);
        *from += used;
        let settled = own[..used].last().is_some_and(|won| *won) || used >= trials;
        Entry { task, trials_used: used, next_trial: had.len() as u32 + again.unwrap_or(1), settled }
    };
    run.test_tasks().iter().map(entry).collect()
}

fn task_key(task: &Task) -> (&str, &str, u64) {
    (task.env.as_str(), task.id.as_str(), task.seed)
}
