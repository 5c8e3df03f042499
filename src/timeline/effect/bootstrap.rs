//! The BCa bootstrap interval of a mean (`docs/EFFECT.md`; Efron 1987), for progress, steps and tokens.

use super::random::SplitMix64;
use super::special::{normal_cdf, normal_quantile, two_sided_quantile};
use serde::Serialize;

/// The number of resamples that results are computed with.
pub const RESAMPLES: usize = 10_000;
/// The seed of the resamples.
pub const RESAMPLING_SEED: u64 = 20_261_120;

/// How a bootstrap interval was obtained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BootstrapKind {
    /// Corrected for bias and skewness.
    Bca,
    /// Plain percentiles: every resampled mean lies on the same side of the estimate, so the correction is infinite.
    Percentile,
    /// All values are equal or there is only one: nothing varied, and the interval is a point.
    Point,
}

/// A mean with its bootstrap interval, in the unit of the values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BootstrapInterval {
    pub estimate: f64,
    pub low: f64,
    pub high: f64,
    pub kind: BootstrapKind,
    /// The bias correction, for [`BootstrapKind::Bca`].
    pub bias: Option<f64>,
    /// The acceleration, for [`BootstrapKind::Bca`].
    pub acceleration: Option<f64>,
}

/// Returns the interval with [`RESAMPLES`] and [`RESAMPLING_SEED`], or `None` without values.
pub fn bootstrap_mean(values: &[i64], confidence: f64) -> Option<BootstrapInterval> {
    bootstrap_mean_with(values, confidence, RESAMPLES, RESAMPLING_SEED)
}

/// Returns the BCa interval of the mean of integers, or `None` without values. Integers make ties exact, so that the
/// result is the same on every platform.
pub fn bootstrap_mean_with(
    values: &[i64],
    confidence: f64,
    resamples: usize,
    seed: u64,
) -> Option<BootstrapInterval> {
    let n = values.len();
    let sum = sum_of(values);
    let estimate = mean_of(sum, n)?;
    if n == 1 || resamples == 0 || values.iter().all(|value| Some(value) == values.first()) {
        return Some(BootstrapInterval {
            estimate,
            low: estimate,
            high: estimate,
            kind: BootstrapKind::Point,
            bias: None,
            acceleration: None,
        });
    }
    let mut random = SplitMix64::new(seed);
    let mut sums: Vec<i128> = (0..resamples)
        .map(|_| (0..n).filter_map(|_| values.get(random.index_below(n))).map(|v| i128::from(*v)).sum())
        .collect();
    sums.sort_unstable();
    let below = sums.partition_point(|s| *s < sum);
    let up_to = sums.partition_point(|s| *s <= sum);
    let bias = normal_quantile((below + up_to) as f64 / (2 * resamples) as f64);
    let acceleration = acceleration(values, sum);
    let z = two_sided_quantile(confidence);
    let (kind, positions) = if bias.is_finite() {
        let adjusted = |z: f64| normal_cdf(bias + (bias + z) / (1.0 - acceleration * (bias + z)));
        (BootstrapKind::Bca, [adjusted(-z), adjusted(z)])
    } else {
        (BootstrapKind::Percentile, [normal_cdf(-z), normal_cdf(z)])
    };
    let [low, high] = positions.map(|share| quantile_of(&sums, share) / n as f64);
    let is_corrected = kind == BootstrapKind::Bca;
    Some(BootstrapInterval {
        estimate,
        low,
        high,
        kind,
        bias: is_corrected.then_some(bias),
        acceleration: is_corrected.then_some(acceleration),
    })
}

fn sum_of(values: &[i64]) -> i128 {
    values.iter().map(|v| i128::from(*v)).sum()
}

fn mean_of(sum: i128, n: usize) -> Option<f64> {
    (n > 0).then(|| sum as f64 / n as f64)
}

/// Returns the acceleration of the mean, from the jackknife: each value's mean without it.
fn acceleration(values: &[i64], sum: i128) -> f64 {
    let n = values.len() as f64;
    // The mean of the jackknife means is the mean; a jackknife mean differs from it by (value - mean) / (n - 1).
    let deviations =
        values.iter().map(|v| (i128::from(*v) * values.len() as i128 - sum) as f64 / n / (n - 1.0));
    let (squares, cubes) = deviations.fold((0.0, 0.0), |(s, c), u| (s + u * u, c + u * u * u));
    if squares > 0.0 { cubes / (6.0 * squares.powf(1.5)) } else { 0.0 }
}

/// Returns a quantile of sorted sums, linearly interpolated between order statistics.
fn quantile_of(sorted: &[i128], share: f64) -> f64 {
    let position = share.clamp(0.0, 1.0) * sorted.len().saturating_sub(1) as f64;
    let index = position.floor() as usize;
    let at = |index: usize| sorted.get(index).or(sorted.last()).map_or(0.0, |sum| *sum as f64);
    let (low, high) = (at(index), at(index + 1));
    low + (high - low) * (position - position.floor())
}
