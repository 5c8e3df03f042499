//! Success by task: a task is solved if one of its trials was won.

use crate::domain::{EpisodeRole, EpisodeSummary};
use std::collections::HashMap;

/// The results of a run's test episodes by task.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TaskTotals {
    /// Unassisted tasks.
    pub tasks: usize,
    /// Unassisted tasks that were solved.
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
    pub fn from_episodes<'a>(past: impl IntoIterator<Item = &'a EpisodeSummary>) -> Self {
        let mut found: Vec<TaskOutcome> = Vec::new();
        let mut open: HashMap<String, usize> = HashMap::new();
        let mut by = Self::default();
        for episode in past.into_iter().filter(|e| e.role == EpisodeRole::Test) {
            let key = episode.task.key();
            // A first trial starts a new entry: a list may name a task twice.
            let place = open.get(&key).copied().filter(|_| episode.trial > 1).unwrap_or_else(|| {
                found.push(TaskOutcome::default());
                found.len() - 1
            });
            by.has_several_trials |= episode.trial > 1;
            open.insert(key, place);
            let Some(one) = found.get_mut(place) else { continue };
            one.won |= episode.won;
            one.assisted |= episode.assisted;
            one.progress = if one.won { 1.0 } else { episode.progress.clamp(0.0, 1.0) };
        }
        for one in found {
            if one.assisted {
                by.assisted += 1;
            } else {
                by.tasks += 1;
                by.solved += usize::from(one.won);
                by.progress += one.progress;
            }
        }
        by
    }
}
