//! Intervals of resampled numbers, and means.

pub use crate::timeline::effect::{Interval, wilson};

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
