//! Which episodes of two sessions belong side by side.

use crate::domain::Task;
use crate::engine::State;
use std::collections::HashMap;

/// Two episodes of the same task and trial, or one without its counterpart.
#[derive(Clone, Debug, PartialEq)]
pub struct EpisodePair {
    /// The task.
    pub task: Task,
    /// The trial, from 1.
    pub trial: u32,
    /// The left side's episode, by its number.
    pub left: Option<u32>,
    /// The right side's.
    pub right: Option<u32>,
}

/// The episodes of a state: number, task, trial; the open one with them.
fn episodes(state: &State) -> impl Iterator<Item = (u32, &Task, u32)> {
    let open = state.open_episode().map(|e| (e.number, &e.task, e.trial));
    state.ended_episodes.iter().map(|p| (p.number, &p.task, p.trial)).chain(open)
}

/// Pairs the episodes of two sessions by task and trial; where a session plays a task several times in the same trial, by
/// their order. The order is the left side's; what only the right side has follows.
pub fn pair_episodes(a: &State, b: &State) -> Vec<EpisodePair> {
    let key = |task: &Task, trial: u32| (task.key(), trial);
    let mut others: HashMap<(String, u32), std::collections::VecDeque<u32>> = HashMap::new();
    for (number, task, trial) in episodes(b) {
        others.entry(key(task, trial)).or_default().push_back(number);
    }
    let mut paired: Vec<EpisodePair> = Vec::new();
    let mut taken = std::collections::HashSet::new();
    for (number, task, trial) in episodes(a) {
        let other = others.get_mut(&key(task, trial)).and_then(std::collections::VecDeque::pop_front);
        taken.extend(other);
        paired.push(EpisodePair { task: task.clone(), trial, left: Some(number), right: other });
    }
    let left = episodes(b).filter(|(number, ..)| !taken.contains(number));
    paired.extend(left.map(|(number, task, trial)| EpisodePair {
        task: task.clone(),
        trial,
        left: None,
        right: Some(number),
    }));
    paired
}

/// The episode of a session that stands beside one of another: the same task and trial, else the same task's first.
pub fn find_counterpart(of: (&Task, u32), among: &State) -> Option<u32> {
    let (task, trial) = (of.0.key(), of.1);
    let same = |t: &Task| t.key() == task;
    let exact = episodes(among).find(|(_, t, n)| same(t) && *n == trial);
    exact.or_else(|| episodes(among).find(|(_, t, _)| same(t))).map(|found| found.0)
}
