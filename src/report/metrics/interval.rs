//! A number with its confidence interval.

use serde::Serialize;

/// A number with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The point estimate.
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

/// The normal distribution's quantile for 95 %.
const Z_95: f64 = 1.959_963_984_540_054;

/// Returns Wilson's score interval of the share `hits / total`, or `None` if `total` is 0. It stays within 0 and 1 and
/// is also valid for few tasks.
pub fn wilson(hits: usize, total: usize) -> Option<Interval> {
    if total == 0 {
        return None;
    }
    let (n, p) = (total as f64, hits.min(total) as f64 / total as f64);
    let denominator = 1.0 + Z_95 * Z_95 / n;
    let center = (p + Z_95 * Z_95 / (2.0 * n)) / denominator;
    let half_width = Z_95 * (p * (1.0 - p) / n + Z_95 * Z_95 / (4.0 * n * n)).sqrt() / denominator;
    let (low, high) = ((center - half_width).max(0.0).min(p), (center + half_width).min(1.0).max(p));
    Some(Interval { value: p, low, high })
}

/// Returns the middle 95 % of resampled values around a point estimate. The ends are order statistics, by nearest rank.
pub(super) fn percentiles(value: f64, mut resampled: Vec<f64>) -> Interval {
    resampled.sort_by(f64::total_cmp);
    let last = resampled.len().saturating_sub(1);
    let at = |share: f64| resampled.get(((last as f64) * share).round() as usize).copied().unwrap_or(value);
    Interval { value, low: at(0.025), high: at(0.975) }
}

/// Returns the mean of some numbers. They are added in ascending order, so that the input order has no effect.
pub(super) fn mean(numbers: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut all: Vec<f64> = numbers.into_iter().collect();
    all.sort_by(f64::total_cmp);
    (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
}
