//! Pairs the episodes of two sessions.

use crate::domain::Task;
use crate::engine::State;
use std::collections::HashMap;

/// Two episodes of the same task and trial, or one without a counterpart.
#[derive(Clone, Debug, PartialEq)]
pub struct EpisodePair {
    pub task: Task,
    /// The trial, from 1.
    pub trial: u32,
    /// Number of the left side's episode.
    pub left: Option<u32>,
    /// Number of the right side's episode.
    pub right: Option<u32>,
}

/// Returns the number, task and trial of each episode of a state, including the open one.
fn episodes(state: &State) -> impl Iterator<Item = (u32, &Task, u32)> {
    let open = state.open_episode().map(|e| (e.number, &e.task, e.trial));
    state.ended_episodes.iter().map(|e| (e.number, &e.task, e.trial)).chain(open)
}

/// Pairs the episodes of two sessions by task and trial; if a session plays a task several times in the same trial, by
/// order. The pairs follow the left side's order; episodes only on the right side come last.
pub fn pair_episodes(a: &State, b: &State) -> Vec<EpisodePair> {
    let key = |task: &Task, trial: u32| (task.key(), trial);
    let mut right_numbers: HashMap<(String, u32), std::collections::VecDeque<u32>> = HashMap::new();
    for (number, task, trial) in episodes(b) {
        right_numbers.entry(key(task, trial)).or_default().push_back(number);
    }
    let mut pairs: Vec<EpisodePair> = Vec::new();
    let mut paired_right = std::collections::HashSet::new();
    for (number, task, trial) in episodes(a) {
        let right = right_numbers.get_mut(&key(task, trial)).and_then(std::collections::VecDeque::pop_front);
        paired_right.extend(right);
        pairs.push(EpisodePair { task: task.clone(), trial, left: Some(number), right });
    }
    let unpaired = episodes(b).filter(|(number, ..)| !paired_right.contains(number));
    pairs.extend(unpaired.map(|(number, task, trial)| EpisodePair {
        task: task.clone(),
        trial,
        left: None,
        right: Some(number),
    }));
    pairs
}

/// Returns the counterpart of an episode in another session: the same task and trial, otherwise the first episode of
/// the task.
pub fn find_counterpart(episode: (&Task, u32), among: &State) -> Option<u32> {
    let (task, trial) = (episode.0.key(), episode.1);
    let is_same_task = |t: &Task| t.key() == task;
    let exact = episodes(among).find(|(_, t, n)| is_same_task(t) && *n == trial);
    exact.or_else(|| episodes(among).find(|(_, t, _)| is_same_task(t))).map(|(number, ..)| number)
}
