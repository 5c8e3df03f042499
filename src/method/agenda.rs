//! Which episode comes next.

use crate::domain::{EpisodeRole, EpisodeSummary, Task};
use crate::engine::{State, Want};
use std::collections::HashMap;

/// The next trial of the first task of the run that is due one, or the end of the run. A task has up to `RunSpec::trials`
/// trials, the next only when the last was not won; one that the list names twice is played twice. What a person began
/// out of order counts.
pub(super) fn next(state: &State) -> Vec<Want> {
    let Some(run) = state.run.as_deref() else { return Vec::new() };
    let mut played: HashMap<(&str, &str, u64), Vec<bool>> = HashMap::new();
    for past in state.past.iter().filter(|p| p.role == EpisodeRole::Test) {
        played.entry(key(past)).or_default().push(past.won);
    }
    let mut told: HashMap<(&str, &str, u64), usize> = HashMap::new();
    for task in &run.tasks {
        let key = (task.env.as_str(), task.id.as_str(), task.seed);
        let had = played.get(&key).map_or(&[][..], Vec::as_slice);
        // The trials of this entry of the list are those that no entry before it has used up.
        let from = told.entry(key).or_default();
        let most = (run.trials.max(1) as usize).min(had.len() - *from);
        let own = &had[*from..*from + most];
        let used = own.iter().position(|won| *won).map_or(own.len(), |at| at + 1);
        let settled = own[..used].last().is_some_and(|won| *won) || used >= run.trials.max(1) as usize;
        *from += used;
        if !settled {
            let task = Box::new(Task { goal: String::new(), ..task.clone() });
            return vec![Want::StartEpisode { task, trial: had.len() as u32 + 1, role: EpisodeRole::Test }];
        }
    }
    vec![Want::EndRun]
}

fn key(past: &EpisodeSummary) -> (&str, &str, u64) {
    (past.task.env.as_str(), past.task.id.as_str(), past.task.seed)
}
