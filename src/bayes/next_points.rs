//! Which points to try next: the process is fitted to all rewards, and its expected improvement maximised from several
//! starts.

use super::ReportProgress;
use super::acquisition::{Improvement, expected_improvement};
use super::evolution::{self, EvolutionOptions};
use super::fit::{FitOptions, Fitted, KernelVariant, fit};
use super::gaussian_process::{GaussianProcess, Hyperparameters, Standardised, TrainingData};
use super::random::{RandomNumbers, mix_seed};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Points nearer than this in every coordinate are the same, where the inputs say nothing else.
const SAME_POINT: f64 = 1e-6;
/// The number of random points at which [`NextPoints::blind`] looks.
const BLIND_POINTS: usize = 64;
/// Their seed: the same points in every round, so that the number can be compared.
const BLIND_SEED: u64 = 64;

/// How expected improvement is searched.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchVariant {
    /// Small steps and many generations, which find the maximum.
    Ours,
    /// The numbers of the public code.
    Code,
    /// Other numbers.
    Own(SearchPlan),
}

/// The numbers of one search from one start.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchPlan {
    pub step: f64,
    pub population: usize,
    pub generations: usize,
}

impl SearchVariant {
    /// Returns the numbers with which the variant searches.
    pub fn plan(self) -> SearchPlan {
        match self {
            Self::Ours => SearchPlan { step: 0.3, population: 20, generations: 60 },
            Self::Code => SearchPlan { step: 0.8, population: 50, generations: 10 },
            Self::Own(plan) => plan,
        }
    }
}

/// What is known when points are asked for. The result depends on nothing else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NextPointsInputs {
    #[serde(rename = "d")]
    pub dimension: usize,
    /// The lowest and highest value of each coordinate.
    #[serde(rename = "box")]
    pub bounds: [f64; 2],
    #[serde(rename = "x")]
    pub points: Vec<Vec<f64>>,
    #[serde(rename = "reward")]
    pub rewards: Vec<f64>,
    /// The scores of each point (the coupled kernel alone).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scores: Vec<Vec<f64>>,
    pub kernel: KernelVariant,
    /// Journals of older versions don't have them, and were computed with the default.
    #[serde(default)]
    pub fit: FitOptions,
    pub search: SearchVariant,
    /// The largest number of points to return, and of starts.
    pub count: usize,
    /// Points nearer than this in every coordinate are the same, so only one of them is returned, and none that is known.
    #[serde(default = "same_point")]
    pub min_distance: f64,
    pub seed: u64,
    /// Is increased when the same inputs lead to another result.
    pub version: u32,
}

fn same_point() -> f64 {
    SAME_POINT
}

/// A point to try, with what the process expects of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundPoint {
    pub v: Vec<f64>,
    #[serde(flatten)]
    pub improvement: Improvement,
    /// The predicted reward and its standard deviation, in the unit of rewards.
    pub mean: f64,
    pub deviation: f64,
}

/// The points to try next, and the process that chose them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NextPoints {
    /// Rewards are standardised with these.
    pub y_mean: f64,
    pub y_std: f64,
    pub hyper: Hyperparameters,
    /// The log marginal likelihood plus the logarithms of the priors.
    pub objective: f64,
    /// The best standardised reward.
    pub best_f: f64,
    /// The share of its prior variance that the process keeps at random points: near 1, it knows nothing of them.
    pub blind: f64,
    /// By falling expected improvement; at least one.
    pub points: Vec<FoundPoint>,
}

/// What a search for points is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SearchStage {
    /// The process is fitted to the rewards.
    Fit,
    /// Expected improvement is maximised.
    Improve,
}

/// How far a search for points is: its stage, and within it the search from one start of several, each of which has
/// so many generations at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SearchProgress {
    /// The generations of both stages so far.
    pub done: u64,
    pub all: u64,
    pub stage: SearchStage,
    /// The number of the search, from 1.
    pub search: u64,
    pub searches: u64,
    /// The number of its generation, from 1.
    pub generation: u64,
    pub generations: u64,
}

impl fmt::Display for SearchProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.stage {
            SearchStage::Fit => "fit",
            SearchStage::Improve => "vector",
        };
        let Self { search, searches, generation, generations, .. } = self;
        write!(f, "{what} {search} of {searches}, generation {generation} of {generations}")
    }
}

/// Fits a process to all rewards and returns the points with the largest expected improvement.
///
/// # Errors
/// Returns a message if the inputs contradict each other, or the error of `report`.
pub fn next_points(inputs: &NextPointsInputs, report: &mut ReportProgress<'_>) -> Result<NextPoints, String> {
    let plan = inputs.search.plan();
    let starts = best_points(&inputs.points, &inputs.rewards, inputs.count);
    let (fits, fit_generations) = inputs.fit.searches(inputs.kernel);
    let before = fits * fit_generations;
    let (searches, generations) = (starts.len() as u64, plan.generations as u64);
    let all = before + searches * generations;
    let model = RewardModel::fit(inputs, all, report)?;
    let mut found: Vec<(Vec<f64>, Improvement)> = Vec::new();
    for (index, start) in starts.into_iter().enumerate() {
        let mut done = index as u64 * generations;
        let seed = mix_seed(inputs.seed, &format!("ei.{index}"));
        let (point, improvement) = maximise_improvement(
            &model.fitted.process,
            model.best,
            inputs.bounds,
            start,
            plan,
            seed,
            || {
                done += 1;
                let (search, generation) = place(done, generations);
                let (done, stage) = (before + done, SearchStage::Improve);
                report(SearchProgress { done, all, stage, search, searches, generation, generations })
            },
        )?;
        let known = inputs.points.iter().chain(found.iter().map(|(point, _)| point));
        if !contains(known, &point, inputs.min_distance) {
            found.push((point, improvement));
        }
    }
    if found.is_empty() {
        let mut numbers = RandomNumbers::from_seed(mix_seed(inputs.seed, "ei.random"));
        let point = numbers.point(inputs.dimension, inputs.bounds);
        let improvement = model.improvement(&point);
        found.push((point, improvement));
    }
    // A stable sort: of equal points, the one from the better start is first.
    found.sort_by(|(_, a), (_, b)| b.rank().total_cmp(&a.rank()));
    Ok(model.describe(inputs, found))
}

/// Fits a process to all rewards and returns those of the candidates with the largest expected improvement, at most
/// [`NextPointsInputs::count`], with their indices. Of equal ones the first is the best.
///
/// # Errors
/// Returns a message if the inputs contradict each other, or the error of `report`.
pub fn best_candidates(
    inputs: &NextPointsInputs,
    candidates: &[Vec<f64>],
    report: &mut ReportProgress<'_>,
) -> Result<(NextPoints, Vec<usize>), String> {
    check_dimension(candidates, inputs.dimension)?;
    let (fits, generations) = inputs.fit.searches(inputs.kernel);
    let model = RewardModel::fit(inputs, fits * generations, report)?;
    let mut ranked: Vec<(usize, Improvement)> =
        candidates.iter().enumerate().map(|(index, point)| (index, model.improvement(point))).collect();
    ranked.sort_by(|(_, a), (_, b)| b.rank().total_cmp(&a.rank()));
    ranked.truncate(inputs.count);
    let found = ranked.iter().map(|(index, improvement)| (candidates[*index].clone(), *improvement));
    let next = model.describe(inputs, found.collect());
    Ok((next, ranked.into_iter().map(|(index, _)| index).collect()))
}

/// A process that is fitted to the rewards of the inputs.
struct RewardModel {
    fitted: Fitted,
    standardised: Standardised,
    /// The best standardised reward.
    best: f64,
}

impl RewardModel {
    /// `all` is how many generations the whole job has.
    fn fit(inputs: &NextPointsInputs, all: u64, report: &mut ReportProgress<'_>) -> Result<Self, String> {
        check(inputs)?;
        let (searches, generations) = inputs.fit.searches(inputs.kernel);
        let standardised = Standardised::new(&inputs.rewards);
        let data =
            TrainingData { points: &inputs.points, values: &standardised.values, scores: &inputs.scores };
        let fitted = fit(inputs.kernel, data, &inputs.fit, |done| {
            let (search, generation) = place(done, generations);
            let stage = SearchStage::Fit;
            report(SearchProgress { done, all, stage, search, searches, generation, generations })
        })?;
        let best = standardised.values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Ok(Self { fitted, standardised, best })
    }

    fn improvement(&self, point: &[f64]) -> Improvement {
        expected_improvement(self.fitted.process.predict(point), self.best)
    }

    /// Returns the points with what the process expects of them.
    fn describe(self, inputs: &NextPointsInputs, points: Vec<(Vec<f64>, Improvement)>) -> NextPoints {
        let Self { fitted, standardised, best } = self;
        let points = points
            .into_iter()
            .map(|(v, improvement)| {
                let prediction = fitted.process.predict(&v);
                let mean = standardised.mean + standardised.scale * prediction.mean;
                let deviation = standardised.scale * prediction.variance.sqrt();
                FoundPoint { v, improvement, mean, deviation }
            })
            .collect();
        NextPoints {
            y_mean: standardised.mean,
            y_std: standardised.scale,
            objective: fitted.objective,
            best_f: best,
            blind: blindness(&fitted.process, inputs.dimension, inputs.bounds),
            hyper: fitted.hyper,
            points,
        }
    }
}

/// Searches for the largest expected improvement in the box, beginning at `start`. Returns the point and its expected
/// improvement over `best`.
///
/// # Errors
/// Returns the error of `on_generation`.
pub fn maximise_improvement(
    process: &GaussianProcess,
    best: f64,
    bounds: [f64; 2],
    start: &[f64],
    plan: SearchPlan,
    seed: u64,
    on_generation: impl FnMut() -> Result<(), String>,
) -> Result<(Vec<f64>, Improvement), String> {
    let value = |point: &[f64]| {
        let (inside, overshoot) = evolution::clamp(point, std::iter::repeat(bounds));
        expected_improvement(process.predict(&inside), best).rank() - overshoot
    };
    let (start, _) = evolution::clamp(start, std::iter::repeat(bounds));
    let SearchPlan { step, population, generations } = plan;
    let options = EvolutionOptions { step, population: Some(population), generations, seed };
    let (point, _) = evolution::maximise(value, &start, options, on_generation)?;
    let (inside, _) = evolution::clamp(&point, std::iter::repeat(bounds));
    let improvement = expected_improvement(process.predict(&inside), best);
    Ok((inside, improvement))
}

/// Returns the numbers, from 1, of the search and of its generation that are the `done`-th of searches of so many generations.
fn place(done: u64, generations: u64) -> (u64, u64) {
    let (index, generations) = (done.saturating_sub(1), generations.max(1));
    (index / generations + 1, index % generations + 1)
}

fn check(inputs: &NextPointsInputs) -> Result<(), String> {
    let [low, high] = inputs.bounds;
    check_dimension(&inputs.points, inputs.dimension)?;
    if inputs.rewards.len() != inputs.points.len() {
        return Err(format!("{} points have {} rewards", inputs.points.len(), inputs.rewards.len()));
    }
    if !(low.is_finite() && high.is_finite() && low < high) {
        return Err(format!("the box from {low} to {high} is empty"));
    }
    Ok(())
}

fn check_dimension(points: &[Vec<f64>], dimension: usize) -> Result<(), String> {
    match points.iter().find(|point| point.len() != dimension) {
        Some(point) => Err(format!("a point has {} coordinates, not {dimension}", point.len())),
        None => Ok(()),
    }
}

/// The best points so far, the best first; of equal ones the oldest.
fn best_points<'a>(points: &'a [Vec<f64>], rewards: &[f64], count: usize) -> Vec<&'a [f64]> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|a, b| rewards[*b].total_cmp(&rewards[*a]));
    order.into_iter().take(count.max(1)).map(|index| points[index].as_slice()).collect()
}

fn contains<'a>(mut points: impl Iterator<Item = &'a Vec<f64>>, point: &[f64], min_distance: f64) -> bool {
    points.any(|other| other.iter().zip(point).all(|(a, b)| (a - b).abs() < min_distance))
}

fn blindness(process: &GaussianProcess, dimension: usize, bounds: [f64; 2]) -> f64 {
    let mut numbers = RandomNumbers::from_seed(BLIND_SEED);
    let share = |point: &[f64]| {
        let prediction = process.predict(point);
        if prediction.prior_variance > 0.0 {
            (prediction.variance / prediction.prior_variance).min(1.0)
        } else {
            1.0
        }
    };
    let shares = (0..BLIND_POINTS).map(|_| share(&numbers.point(dimension, bounds)));
    shares.sum::<f64>() / BLIND_POINTS as f64
}

#[cfg(test)]
mod tests;
