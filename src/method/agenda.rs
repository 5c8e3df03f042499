//! Which episode comes next.

use crate::domain::{EpisodeRole, EpisodeSummary, Task};
use crate::engine::{State, Want};
use std::collections::HashMap;

/// The next task of the run that has not had its attempts, or the end of the run. A task that the list names twice is
/// played twice. What a person began out of order counts.
pub(super) fn next(state: &State, attempts: u32) -> Vec<Want> {
    let Some(run) = state.run.as_deref() else { return Vec::new() };
    let mut played: HashMap<(&str, &str, u64), (u32, bool)> = HashMap::new();
    for past in state.past.iter().filter(|p| p.role == EpisodeRole::Test) {
        let entry = played.entry(key(past)).or_default();
        entry.0 += 1;
        entry.1 |= past.won;
    }
    let mut wanted: HashMap<(&str, &str, u64), u32> = HashMap::new();
    for task in &run.tasks {
        let key = (task.env.as_str(), task.id.as_str(), task.seed);
        let times = wanted.entry(key).or_default();
        *times += 1;
        let (had, won) = played.get(&key).copied().unwrap_or_default();
        let due = if attempts > 1 { had < attempts && !won } else { had < *times };
        if due {
            let task = Box::new(Task { goal: String::new(), ..task.clone() });
            return vec![Want::StartEpisode { task, trial: had + 1, role: EpisodeRole::Test }];
        }
    }
    vec![Want::EndRun]
}

fn key(past: &EpisodeSummary) -> (&str, &str, u64) {
    (past.task.env.as_str(), past.task.id.as_str(), past.task.seed)
}
