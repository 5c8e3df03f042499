//! Success by task: a task is solved if one of its trials was won.

use crate::domain::EpisodeSummary;
use std::collections::HashMap;

/// The results of a run's attempts by task.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TaskTotals {
    /// Tasks without an assisted trial.
    pub tasks: usize,
    /// Those of them that were solved.
    pub solved: usize,
    /// Tasks with an assisted trial; the other fields exclude them.
    pub assisted: usize,
    /// Sum over `tasks` of the progress rate at the end of the last trial, or 1 if the task was solved.
    pub progress: f64,
    /// Whether any task had several trials.
    pub has_several_trials: bool,
}

#[derive(Default)]
struct TaskOutcome {
    won: bool,
    assisted: bool,
    progress: f64,
    last_trial: u32,
    /// The number of the episode that is the last trial.
    last_episode: u32,
}

impl TaskOutcome {
    /// Returns the outcomes of the tasks of ended episodes, given in the order in which they were played.
    fn from_episodes<'a>(episodes: impl IntoIterator<Item = &'a EpisodeSummary>) -> Vec<Self> {
        let mut outcomes: Vec<Self> = Vec::new();
        let mut latest_index: HashMap<String, usize> = HashMap::new();
        for episode in episodes.into_iter().filter(|e| e.is_attempt()) {
            let key = episode.task.key();
            // A first trial starts a new entry, because the task list may contain a task twice.
            let index = latest_index.get(&key).copied().filter(|_| episode.trial > 1).unwrap_or_else(|| {
                outcomes.push(Self::default());
                outcomes.len() - 1
            });
            latest_index.insert(key, index);
            let Some(outcome) = outcomes.get_mut(index) else { continue };
            outcome.won |= episode.won;
            outcome.assisted |= episode.assisted;
            outcome.progress = if outcome.won { 1.0 } else { episode.progress.clamp(0.0, 1.0) };
            (outcome.last_trial, outcome.last_episode) = (episode.trial, episode.number);
        }
        outcomes
    }
}

/// Returns the numbers of the episodes that are the last trials of tasks without an assisted trial.
pub(super) fn last_trials<'a>(episodes: impl IntoIterator<Item = &'a EpisodeSummary>) -> Vec<u32> {
    let outcomes = TaskOutcome::from_episodes(episodes).into_iter();
    outcomes.filter(|outcome| !outcome.assisted).map(|outcome| outcome.last_episode).collect()
}

impl TaskTotals {
    /// Aggregates ended episodes, given in the order in which they were played.
    pub fn from_episodes<'a>(episodes: impl IntoIterator<Item = &'a EpisodeSummary>) -> Self {
        let mut totals = Self::default();
        for outcome in TaskOutcome::from_episodes(episodes) {
            totals.has_several_trials |= outcome.last_trial > 1;
            if outcome.assisted {
                totals.assisted += 1;
            } else {
                totals.tasks += 1;
                totals.solved += usize::from(outcome.won);
                totals.progress += outcome.progress;
            }
        }
        totals
    }
}
