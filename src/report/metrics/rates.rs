//! Shares and means over tasks.

use super::{Interval, TaskAttempts, wilson};
use serde::Serialize;

/// Rates of a set of tasks; means are `None` if there is nothing to average.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rates {
    /// Tasks that were tried.
    pub tasks: usize,
    /// Tasks that were solved in one of their trials.
    pub solved: usize,
    /// Share of solved tasks, with Wilson's 95 % interval.
    pub success: Option<Interval>,
    /// Mean progress rate at the end of each task's last trial; 1 if the task was solved.
    pub progress: Option<f64>,
    /// Mean over episodes of the share of environment actions that the environment accepted.
    pub grounding: Option<f64>,
    pub episodes: usize,
    /// Mean steps per episode.
    pub steps: Option<f64>,
    /// Mean steps per task, over all its trials.
    #[serde(rename = "steps_a_task")]
    pub steps_per_task: Option<f64>,
    /// Mean model calls per task, over all its trials.
    #[serde(rename = "calls_a_task")]
    pub calls_per_task: Option<f64>,
    /// Mean tokens per task, over all its trials.
    #[serde(rename = "tokens_a_task")]
    pub tokens_per_task: Option<f64>,
}

/// Returns the mean of some numbers. They are added in ascending order, so that the input order has no effect.
pub(super) fn mean(numbers: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut all: Vec<f64> = numbers.into_iter().collect();
    all.sort_by(f64::total_cmp);
    (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
}

impl Rates {
    /// Computes the rates of these tasks.
    pub fn from_tasks(tasks: &[&TaskAttempts]) -> Self {
        let episodes = || tasks.iter().flat_map(|t| &t.episodes);
        let solved = tasks.iter().filter(|t| t.is_solved()).count();
        let mean_task_total = |value: &dyn Fn(&crate::domain::EpisodeSummary) -> f64| {
            mean(tasks.iter().map(|t| t.episodes.iter().map(|e| value(e)).sum()))
        };
        let grounding_shares = episodes().filter_map(|e| e.grounding());
        Self {
            tasks: tasks.len(),
            solved,
            success: wilson(solved, tasks.len()),
            progress: mean(tasks.iter().map(|t| t.score())),
            grounding: mean(grounding_shares),
            episodes: episodes().count(),
            steps: mean(episodes().map(|e| f64::from(e.steps))),
            steps_per_task: mean_task_total(&|e| f64::from(e.steps)),
            calls_per_task: mean_task_total(&|e| f64::from(e.calls)),
            tokens_per_task: mean_task_total(&|e| e.tokens as f64),
        }
    }
}

/// The results of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TrialTotals {
    /// The trial, from 1.
    pub trial: u32,
    /// Tasks played in it.
    pub played: usize,
    /// Tasks first solved in it.
    pub solved: usize,
    /// Tasks solved in it or before.
    pub solved_so_far: usize,
    /// Mean model calls per task, in this trial and before.
    #[serde(rename = "calls_a_task_so_far")]
    pub calls_per_task_so_far: f64,
    /// Mean steps of its episodes.
    pub steps: f64,
}

impl TrialTotals {
    /// Returns one row per trial.
    pub(super) fn from_attempts(tasks: &[TaskAttempts]) -> Vec<Self> {
        let trials = tasks.iter().flat_map(|t| &t.episodes).map(|e| e.trial).max().unwrap_or(0);
        let mut so_far = 0;
        (1..=trials)
            .map(|trial| {
                let solved = tasks.iter().filter(|t| t.solved_in == Some(trial)).count();
                so_far += solved;
                let played = tasks.iter().filter(|t| t.episodes.iter().any(|e| e.trial == trial)).count();
                let episodes = || tasks.iter().flat_map(|t| &t.episodes);
                let calls = episodes().filter(|e| e.trial <= trial).map(|e| u64::from(e.calls)).sum::<u64>();
                let steps = mean(episodes().filter(|e| e.trial == trial).map(|e| f64::from(e.steps)));
                Self {
                    trial,
                    played,
                    solved,
                    solved_so_far: so_far,
                    calls_per_task_so_far: calls as f64 / tasks.len().max(1) as f64,
                    steps: steps.unwrap_or(0.0),
                }
            })
            .collect()
    }
}
