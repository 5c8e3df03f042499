//! The trials of a task, up to the one that solved it or the last.

use super::SessionMetrics;
use crate::catalog::find_environment;
use crate::domain::{EpisodeRole, EpisodeSummary, Purpose, Task};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The trials of a task in one session. If a run restarts a task from trial 1, another entry begins.
#[derive(Clone, Debug)]
pub struct TaskAttempts {
    pub task: Task,
    /// The task's type, by the papers' short name if it has one.
    pub task_type: String,
    /// Episodes in order.
    pub episodes: Vec<Arc<EpisodeSummary>>,
    /// The trial that solved the task.
    pub solved_in: Option<u32>,
    /// Rounds of reflection about its episodes before or during the one that solved it; `None` if it was not solved.
    pub rounds_before_success: Option<u32>,
    /// At least one of the episodes is assisted.
    pub assisted: bool,
}

impl TaskAttempts {
    /// Returns whether the goal was reached.
    pub fn is_solved(&self) -> bool {
        self.solved_in.is_some()
    }

    /// Returns the score, 0 to 1: the progress rate at the end of the last trial, or 1 if the goal was reached.
    pub fn score(&self) -> f64 {
        let last = self.episodes.last().map_or(0.0, |e| e.progress);
        if self.is_solved() { 1.0 } else { last.clamp(0.0, 1.0) }
    }
}

/// Collects the attempts of a session at its test tasks, in the order in which they began.
pub fn collect_attempts(session: &SessionMetrics) -> Vec<TaskAttempts> {
    let mut rounds: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for reflection in session.reflections.iter().filter(|r| r.purpose == Purpose::Reflect) {
        rounds.entry(reflection.episode).or_default().insert(reflection.step);
    }
    let mut all_attempts: Vec<TaskAttempts> = Vec::new();
    let mut latest_index: BTreeMap<String, usize> = BTreeMap::new();
    for episode in session.episodes.iter().filter(|e| e.role == EpisodeRole::Test) {
        let key = episode.task.key();
        let index = match latest_index.get(&key) {
            Some(index) if episode.trial > 1 => *index,
            _ => {
                all_attempts.push(TaskAttempts {
                    task: episode.task.clone(),
                    task_type: short_type(&episode.task),
                    episodes: Vec::new(),
                    solved_in: None,
                    rounds_before_success: None,
                    assisted: false,
                });
                latest_index.insert(key, all_attempts.len() - 1);
                all_attempts.len() - 1
            }
        };
        let Some(attempts) = all_attempts.get_mut(index) else { continue };
        attempts.assisted |= episode.assisted;
        attempts.episodes.push(episode.clone());
        if episode.won && attempts.solved_in.is_none() {
            attempts.solved_in = Some(episode.trial);
            let round_count = |e: &Arc<EpisodeSummary>| rounds.get(&e.number).map_or(0, BTreeSet::len) as u32;
            attempts.rounds_before_success = Some(attempts.episodes.iter().map(round_count).sum());
        }
    }
    all_attempts
}

/// The short names of ALFWorld's types, as ReAct's and Reflexion's code map them.
const SHORT_TYPES: [(&str, &str); 6] = [
    ("pick_and_place", "put"),
    ("pick_clean_then_place", "clean"),
    ("pick_heat_then_place", "heat"),
    ("pick_cool_then_place", "cool"),
    ("look_at_obj", "examine"),
    ("pick_two_obj", "puttwo"),
];

/// Returns the type of a task: ALFWorld's short name, the environment's own type, or the environment's name.
pub fn short_type(task: &Task) -> String {
    let task_type = task.task_type.as_deref().unwrap_or(&task.env);
    SHORT_TYPES.iter().find(|t| task_type.starts_with(t.0)).map_or(task_type, |t| t.1).to_owned()
}

/// Returns the difficulty of a task: its label if it has one, otherwise the word in the id of a task from our
/// generators, otherwise AgentBoard's rating of ALFWorld's types. Returns `None` for tasks without any rating.
pub fn difficulty(task: &Task) -> Option<&str> {
    if let Some(word) = &task.difficulty {
        return Some(word);
    }
    if find_environment(&task.env).is_some_and(|entry| entry.task_facts.difficulty_in_id) {
        return ["easy", "normal", "hard"]
            .into_iter()
            .find(|word| task.id.split('/').any(|part| part == *word));
    }
    let short = short_type(task);
    let known = SHORT_TYPES.iter().any(|t| t.1 == short);
    known.then_some(if short == "put" { "easy" } else { "hard" })
}
