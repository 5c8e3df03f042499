//! A number with its interval, and Wilson's interval of a share.

use super::special::Z_95;
use serde::Serialize;

/// A number with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The point estimate.
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

/// Returns Wilson's 95 % score interval of the share `hits / total`, or `None` if `total` is 0. It stays within 0 and 1
/// and is also valid for few tasks.
pub fn wilson(hits: usize, total: usize) -> Option<Interval> {
    wilson_at(hits as u64, total as u64, Z_95)
}

/// Returns Wilson's score interval at the normal quantile `z` (`special::two_sided_quantile` of the confidence).
pub fn wilson_at(hits: u64, total: u64, z: f64) -> Option<Interval> {
    if total == 0 {
        return None;
    }
    let (n, p) = (total as f64, hits.min(total) as f64 / total as f64);
    let denominator = 1.0 + z * z / n;
    let center = (p + z * z / (2.0 * n)) / denominator;
    let half_width = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt() / denominator;
    let (low, high) = ((center - half_width).max(0.0).min(p), (center + half_width).min(1.0).max(p));
    Some(Interval { value: p, low, high })
}
