//! Shares and means over tasks.

use super::interval::mean;
use super::{Interval, TaskAttempts, wilson};
use crate::report::measures::mean_values;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

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
    /// By name: the mean of an environment's own measure in each task's last trial, such as F1.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub measures: BTreeMap<&'static str, f64>,
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
            measures: mean_values(tasks.iter().flat_map(|task| &task.measures)),
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
    /// Returns one row for each trial that was played. Their numbers come from files, so nothing may grow with them.
    pub(super) fn from_attempts(tasks: &[TaskAttempts]) -> Vec<Self> {
        let episodes = || tasks.iter().flat_map(|t| &t.episodes);
        let trials: BTreeSet<u32> = episodes().map(|e| e.trial).collect();
        let (mut solved_so_far, mut calls) = (0, 0);
        let row = |trial| {
            let solved = tasks.iter().filter(|t| t.solved_in == Some(trial)).count();
            let played = tasks.iter().filter(|t| t.episodes.iter().any(|e| e.trial == trial)).count();
            let of_trial = || episodes().filter(|e| e.trial == trial);
            solved_so_far += solved;
            calls += of_trial().map(|e| u64::from(e.calls)).sum::<u64>();
            Self {
                trial,
                played,
                solved,
                solved_so_far,
                calls_per_task_so_far: calls as f64 / tasks.len().max(1) as f64,
                steps: mean(of_trial().map(|e| f64::from(e.steps))).unwrap_or(0.0),
            }
        };
        trials.into_iter().map(row).collect()
    }
}
