//! The aggregates of the paper DORA (section 4.2, appendix A), as the library rliable (Agarwal et al., 2021) defines
//! them: interquartile mean, mean, median, optimality gap, probability of improvement, with bootstrap intervals.

use super::attempts::TaskAttempts;
use super::interval::{Interval, percentiles};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::Serialize;
use std::collections::BTreeMap;

/// Number of resamples of a small set of scores. Larger sets get fewer, so that a report stays fast.
const MAX_RESAMPLES: usize = 2000;
/// Minimum number of resamples.
const MIN_RESAMPLES: usize = 200;
/// Number of scores drawn in all resamples together; more only if `MIN_RESAMPLES` requires it.
const MAX_DRAWS: usize = 4_000_000;
/// The seed of every resampling, so that the same scores give the same interval.
const SEED: u64 = 20_261_120;

/// Aggregates of scores between 0 and 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Aggregate {
    /// Mean of the middle half of all scores.
    pub iqm: Interval,
    /// Mean over tasks.
    pub mean: Interval,
    /// Median over tasks of their mean score.
    pub median: Interval,
    /// How far the mean falls short of 1, with scores capped at 1.
    pub optimality_gap: Interval,
    /// Number of tasks.
    pub tasks: usize,
    /// Number of scores, one per run of a task.
    pub scores: usize,
    /// Number of resamples behind the intervals.
    pub resamples: usize,
    /// What was resampled: runs within each task, or (with one run per task) tasks within each type, or all tasks if
    /// each type has only one.
    pub strata: &'static str,
}

/// A task with the scores of its runs, one list per side of a comparison.
#[derive(Clone, Debug)]
struct TaskScores<const N: usize> {
    task_type: String,
    runs: [Vec<f64>; N],
}

impl Aggregate {
    /// Returns the aggregates of attempts, or `None` if there are none.
    pub fn from_attempts(attempts: &[TaskAttempts]) -> Option<Self> {
        let table = score_table([attempts]);
        if table.is_empty() {
            return None;
        }
        let plan = ResamplingPlan::for_table(&table);
        let interval = |statistic: fn(&[&TaskScores<1>]) -> f64| -> Interval {
            let point: Vec<&TaskScores<1>> = table.iter().collect();
            percentiles(statistic(&point), plan.resample(&table, statistic))
        };
        Some(Self {
            iqm: interval(|t| iqm(&all_scores(t))),
            mean: interval(|t| mean(t.iter().map(|s| mean(s.runs[0].iter().copied())))),
            median: interval(|t| median(t.iter().map(|s| mean(s.runs[0].iter().copied())).collect())),
            optimality_gap: interval(|t| 1.0 - mean(all_scores(t).into_iter().map(|s| s.min(1.0)))),
            tasks: table.len(),
            scores: table.iter().map(|s| s.runs[0].len()).sum(),
            resamples: plan.resamples,
            strata: plan.description(),
        })
    }
}

/// Returns the mean score of the tasks of a type, or the mean over types if none is named, with the number of tasks. `None` if
/// there are none.
pub(super) fn mean_score(attempts: &[TaskAttempts], task_type: Option<&str>) -> Option<(Interval, usize)> {
    let mut table = score_table([attempts]);
    table.retain(|task| task_type.is_none_or(|wanted| task.task_type == wanted));
    if table.is_empty() {
        return None;
    }
    let point: Vec<&TaskScores<1>> = table.iter().collect();
    let resampled = ResamplingPlan::for_table(&table).resample(&table, mean_over_types);
    Some((percentiles(mean_over_types(&point), resampled), table.len()))
}

/// Returns the mean over types of the mean score of their tasks.
fn mean_over_types(table: &[&TaskScores<1>]) -> f64 {
    let mut types: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for task in table {
        types.entry(&task.task_type).or_default().push(mean(task.runs[0].iter().copied()));
    }
    mean(types.into_values().map(mean))
}

/// The probability that one configuration does better than another on a task that both played.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Improvement {
    /// Mean over tasks of the share of pairs of runs in which the first does better; a tie counts half.
    pub probability: Interval,
    /// Number of tasks that both played.
    pub tasks: usize,
}

/// Returns a statistic of values that don't belong to tasks, with its bootstrap interval; the values are resampled
/// without strata.
pub(super) fn resample_statistic(values: &[f64], statistic: fn(&[f64]) -> f64) -> Interval {
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let resamples = (MAX_DRAWS / values.len().max(1)).clamp(MIN_RESAMPLES, MAX_RESAMPLES);
    let draw = |rng: &mut ChaCha8Rng| -> Vec<f64> {
        values.iter().filter_map(|_| values.get(rng.next_u64() as usize % values.len()).copied()).collect()
    };
    let drawn = (0..resamples).map(|_| statistic(&draw(&mut rng))).collect();
    percentiles(statistic(values), drawn)
}

/// Returns the probability that `first` outperforms `second`, or `None` if they share no task.
pub fn improvement(first: &[TaskAttempts], second: &[TaskAttempts]) -> Option<Improvement> {
    let mut table = score_table([first, second]);
    table.retain(|s| s.runs.iter().all(|r| !r.is_empty()));
    if table.is_empty() {
        return None;
    }
    let statistic = |t: &[&TaskScores<2>]| mean(t.iter().map(|s| win_share(&s.runs[0], &s.runs[1])));
    let point: Vec<&TaskScores<2>> = table.iter().collect();
    let resampled = ResamplingPlan::for_table(&table).resample(&table, statistic);
    Some(Improvement { probability: percentiles(statistic(&point), resampled), tasks: table.len() })
}

/// Returns the share of pairs in which the score of `first` is greater; a tie counts half.
fn win_share(first: &[f64], second: &[f64]) -> f64 {
    let pair = |a: f64, b: f64| match a.total_cmp(&b) {
        std::cmp::Ordering::Greater => 1.0,
        std::cmp::Ordering::Equal => 0.5,
        std::cmp::Ordering::Less => 0.0,
    };
    mean(first.iter().flat_map(|a| second.iter().map(move |b| pair(*a, *b))))
}

/// Groups the scores by task, sorted by key, with the scores of each side in ascending order, so that the input order
/// has no effect.
fn score_table<const N: usize>(sides: [&[TaskAttempts]; N]) -> Vec<TaskScores<N>> {
    let mut tasks: BTreeMap<String, TaskScores<N>> = BTreeMap::new();
    for (side, attempts) in sides.iter().enumerate() {
        for attempt in *attempts {
            let empty = || TaskScores {
                task_type: attempt.task_type.clone(),
                runs: std::array::from_fn(|_| Vec::new()),
            };
            tasks.entry(attempt.task.key()).or_insert_with(empty).runs[side].push(attempt.score());
        }
    }
    let mut table: Vec<TaskScores<N>> = tasks.into_values().collect();
    for runs in table.iter_mut().flat_map(|t| &mut t.runs) {
        runs.sort_by(f64::total_cmp);
    }
    table
}

/// What is resampled: the runs within each task if any task has several, otherwise the tasks within each type.
struct ResamplingPlan {
    within_tasks: bool,
    /// Each type has only one task, so tasks are drawn from all types together.
    across_types: bool,
    /// Indices of the tasks of each type.
    tasks_by_type: Vec<Vec<usize>>,
    resamples: usize,
}

impl ResamplingPlan {
    fn for_table<const N: usize>(table: &[TaskScores<N>]) -> Self {
        let mut types: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, task) in table.iter().enumerate() {
            types.entry(&task.task_type).or_default().push(index);
        }
        let mut types: Vec<Vec<usize>> = types.into_values().collect();
        // With one task per type there is nothing to draw within a type, and a zero-width interval would claim
        // certainty.
        let one_task_per_type = types.iter().all(|tasks| tasks.len() == 1);
        if one_task_per_type {
            types = vec![types.concat()];
        }
        let draws: usize = table.iter().flat_map(|t| &t.runs).map(Vec::len).sum();
        Self {
            within_tasks: table.iter().flat_map(|t| &t.runs).any(|r| r.len() > 1),
            across_types: one_task_per_type,
            tasks_by_type: types,
            resamples: (MAX_DRAWS / draws.max(1)).clamp(MIN_RESAMPLES, MAX_RESAMPLES),
        }
    }

    fn description(&self) -> &'static str {
        match (self.within_tasks, self.across_types) {
            (true, _) => "runs within each task",
            (false, true) => "all tasks",
            (false, false) => "tasks within each type",
        }
    }

    fn resample<const N: usize>(
        &self,
        table: &[TaskScores<N>],
        statistic: impl Fn(&[&TaskScores<N>]) -> f64,
    ) -> Vec<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(SEED);
        // The modulo bias of 64-bit numbers is far below the precision of an interval.
        let mut random_below = move |n: usize| (rng.next_u64() % n.max(1) as u64) as usize;
        let resample_once = |random_below: &mut dyn FnMut(usize) -> usize| {
            if self.within_tasks {
                let drawn: Vec<TaskScores<N>> = table
                    .iter()
                    .map(|task| TaskScores {
                        task_type: task.task_type.clone(),
                        runs: std::array::from_fn(|side| {
                            let runs = &task.runs[side];
                            runs.iter().filter_map(|_| runs.get(random_below(runs.len())).copied()).collect()
                        }),
                    })
                    .collect();
                statistic(&drawn.iter().collect::<Vec<_>>())
            } else {
                let drawn = self.tasks_by_type.iter().flat_map(|tasks| tasks.iter().map(move |_| tasks));
                let drawn: Vec<&TaskScores<N>> =
                    drawn.filter_map(|tasks| table.get(*tasks.get(random_below(tasks.len()))?)).collect();
                statistic(&drawn)
            }
        };
        (0..self.resamples).map(|_| resample_once(&mut random_below)).collect()
    }
}

fn all_scores(table: &[&TaskScores<1>]) -> Vec<f64> {
    table.iter().flat_map(|s| s.runs[0].iter().copied()).collect()
}

fn mean(numbers: impl IntoIterator<Item = f64>) -> f64 {
    super::interval::mean(numbers).unwrap_or(0.0)
}

/// Returns the mean without the lowest and the highest quarter, each rounded down to whole scores (`trim_mean` of
/// 0.25).
pub(super) fn iqm(scores: &[f64]) -> f64 {
    let mut all = scores.to_vec();
    all.sort_by(f64::total_cmp);
    let trimmed = all.len() / 4;
    mean(all.get(trimmed..all.len() - trimmed).unwrap_or_default().iter().copied())
}

pub(super) fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let (below, above) = (numbers.len().saturating_sub(1) / 2, numbers.len() / 2);
    let at = |index: usize| numbers.get(index).copied().unwrap_or(0.0);
    f64::midpoint(at(below), at(above))
}
