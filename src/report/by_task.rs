//! Success by task: a task is solved if one of its trials was won.

use crate::domain::{EpisodeRole, EpisodeSummary};
use std::collections::HashMap;

/// The results of a run's test episodes by task.
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
}

impl TaskTotals {
    /// Aggregates ended episodes, given in the order in which they were played.
    pub fn from_episodes<'a>(episodes: impl IntoIterator<Item = &'a EpisodeSummary>) -> Self {
        let mut outcomes: Vec<TaskOutcome> = Vec::new();
        let mut latest_index: HashMap<String, usize> = HashMap::new();
        let mut totals = Self::default();
        for episode in episodes.into_iter().filter(|e| e.role == EpisodeRole::Test) {
            let key = episode.task.key();
            // A first trial starts a new entry, because the task list may contain a task twice.
            let index = latest_index.get(&key).copied().filter(|_| episode.trial > 1).unwrap_or_else(|| {
                outcomes.push(TaskOutcome::default());
                outcomes.len() - 1
            });
            totals.has_several_trials |= episode.trial > 1;
            latest_index.insert(key, index);
            let Some(outcome) = outcomes.get_mut(index) else { continue };
            outcome.won |= episode.won;
            outcome.assisted |= episode.assisted;
            outcome.progress = if outcome.won { 1.0 } else { episode.progress.clamp(0.0, 1.0) };
        }
        for outcome in outcomes {
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
