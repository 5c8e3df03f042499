//! The trials of a task, up to the one that solved it or the last.

use super::SessionMetrics;
use crate::catalog::find_environment;
use crate::domain::{EpisodeSummary, Purpose, Task};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The trials of a task in one session. If a run restarts a task from trial 1, another entry begins.
#[derive(Clone, Debug)]
pub struct TaskAttempts {
    pub task: Task,
    /// The seed of the run; `None` if no run began.
    pub run_seed: Option<u64>,
    /// The task's type, by its environment's short name if it has one.
    pub task_type: String,
    /// Episodes in order.
    pub episodes: Vec<Arc<EpisodeSummary>>,
    /// The trial that solved the task.
    pub solved_in: Option<u32>,
    /// Rounds of reflection about its episodes before or during the one that solved it; `None` if it was not solved.
    pub rounds_before_success: Option<u32>,
    /// The values of the environment's own measures in the last trial.
    pub measures: Vec<(&'static str, f64)>,
    /// At least one of the episodes is assisted.
    pub assisted: bool,
}

impl TaskAttempts {
    /// Returns whether the goal was reached.
    pub fn is_solved(&self) -> bool {
        self.solved_in.is_some()
    }

    /// Returns which attempt solved the task, counted from 1 over all that were played; `None` if none did.
    pub fn first_success(&self) -> Option<u32> {
        self.episodes.iter().position(|episode| episode.won).map(|index| index as u32 + 1)
    }

    /// Returns the score, 0 to 1: the progress rate at the end of the last trial, or 1 if the goal was reached.
    pub fn score(&self) -> f64 {
        let last = self.episodes.last().map_or(0.0, |e| e.progress);
        if self.is_solved() { 1.0 } else { last.clamp(0.0, 1.0) }
    }
}

/// How many of the attempts at tasks of a type ended with a reward in a range; the highest range has its end, too.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RewardRange {
    /// `all`, or the name of the type.
    #[serde(rename = "type")]
    pub task_type: String,
    pub from: f64,
    pub to: f64,
    pub attempts: usize,
    /// The share of the attempts at tasks of the type.
    pub share: f64,
}

/// The number of ranges of [`reward_ranges`], from 0 to 1.
const REWARD_RANGES: usize = 10;

/// Returns how the rewards of attempts are spread: of all, then of each type if there are several, without empty ranges. The reward of
/// an attempt is its progress rate at the end, and 1 if the goal was reached.
pub fn reward_ranges(attempts: &[TaskAttempts]) -> Vec<RewardRange> {
    let mut by_type: BTreeMap<&str, [usize; REWARD_RANGES]> = BTreeMap::new();
    for task in attempts {
        let counts = by_type.entry(&task.task_type).or_default();
        for episode in &task.episodes {
            let reward = if episode.won { 1.0 } else { episode.progress.clamp(0.0, 1.0) };
            // A tenth is seldom a sum of binary fractions: 0.3 belongs to the range that it begins.
            let range = (reward * REWARD_RANGES as f64 + 1e-9) as usize;
            counts[range.min(REWARD_RANGES - 1)] += 1;
        }
    }
    let mut all = [0; REWARD_RANGES];
    for counts in by_type.values() {
        all.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    let types = by_type.iter().filter(|_| by_type.len() > 1).map(|(name, counts)| (*name, counts));
    let ranges = [("all", &all)].into_iter().chain(types).flat_map(|(task_type, counts)| {
        let total: usize = counts.iter().sum();
        let range = move |(index, attempts): (usize, &usize)| RewardRange {
            task_type: task_type.to_owned(),
            from: index as f64 / REWARD_RANGES as f64,
            to: (index + 1) as f64 / REWARD_RANGES as f64,
            attempts: *attempts,
            share: *attempts as f64 / total as f64,
        };
        counts.iter().enumerate().filter(|(_, attempts)| **attempts > 0).map(range).collect::<Vec<_>>()
    });
    ranges.collect()
}

/// Collects the attempts of a session at its test tasks, in the order in which they began, without those at which the environment
/// failed.
pub fn collect_attempts(session: &SessionMetrics) -> Vec<TaskAttempts> {
    let mut rounds: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for reflection in session.reflections.iter().filter(|r| r.purpose == Purpose::Reflect) {
        rounds.entry(reflection.episode).or_default().insert(reflection.step);
    }
    let mut all_attempts: Vec<TaskAttempts> = Vec::new();
    let mut latest_index: BTreeMap<String, usize> = BTreeMap::new();
    for episode in session.episodes.iter().filter(|e| e.is_attempt()) {
        let key = episode.task.key();
        let index = match latest_index.get(&key) {
            Some(index) if episode.trial > 1 => *index,
            _ => {
                all_attempts.push(TaskAttempts {
                    task: episode.task.clone(),
                    run_seed: session.spec.as_ref().map(|spec| spec.seed),
                    task_type: short_type(&episode.task),
                    episodes: Vec::new(),
                    solved_in: None,
                    rounds_before_success: None,
                    measures: Vec::new(),
                    assisted: false,
                });
                latest_index.insert(key, all_attempts.len() - 1);
                all_attempts.len() - 1
            }
        };
        let Some(attempts) = all_attempts.get_mut(index) else { continue };
        attempts.assisted |= episode.assisted;
        attempts.measures = session.measures.get(&episode.number).cloned().unwrap_or_default();
        attempts.episodes.push(episode.clone());
        if episode.won && attempts.solved_in.is_none() {
            attempts.solved_in = Some(episode.trial);
            let round_count = |e: &Arc<EpisodeSummary>| rounds.get(&e.number).map_or(0, BTreeSet::len) as u32;
            attempts.rounds_before_success = Some(attempts.episodes.iter().map(round_count).sum());
        }
    }
    all_attempts
}

/// Returns the type of a task: the environment's short name for it if there is one, otherwise the type, or the
/// environment's name for a task without a type.
pub fn short_type(task: &Task) -> String {
    let Some(task_type) = task.task_type.as_deref() else { return task.env.clone() };
    find_environment(&task.env).map_or(task_type, |entry| (entry.task_facts.short_type)(task_type)).to_owned()
}

/// Returns the difficulty of a task: its label if it has one, otherwise what its environment says. `None` for tasks
/// without any rating.
pub fn difficulty(task: &Task) -> Option<&str> {
    let label = task.difficulty.as_deref();
    label.or_else(|| (find_environment(&task.env)?.task_facts.difficulty)(task))
}
