//! Expected improvement: how much better than the best value so far a point is expected to be.

use super::gaussian_process::Prediction;
use serde::{Deserialize, Serialize};
use std::f64::consts::{PI, SQRT_2};

/// Below this many standard deviations, the logarithm uses a series: the density itself is about to underflow.
const SERIES_BELOW: f64 = -30.0;

/// The expected improvement of a point, and its logarithm, which doesn't underflow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Improvement {
    pub ei: f64,
    pub log_ei: f64,
}

impl Improvement {
    /// A number that orders points as their expected improvement does, also where that underflows.
    pub(super) fn rank(self) -> f64 {
        // A logarithm of an underflowing number is negative, and so below every expected improvement.
        if self.ei > 0.0 { self.ei } else { self.log_ei }
    }
}

/// Returns the expected improvement over `best`, for maximising.
pub fn expected_improvement(prediction: Prediction, best: f64) -> Improvement {
    let deviation = prediction.variance.sqrt();
    let u = (prediction.mean - best) / deviation;
    let density = (-0.5 * u * u).exp() / (2.0 * PI).sqrt();
    let below = 0.5 * libm::erfc(-u / SQRT_2);
    let scaled = (u * below + density).max(0.0);
    let log_scaled = if u < SERIES_BELOW {
        let square = u * u;
        // phi(u) / u^2 (1 - 3/u^2 + 15/u^4 - 105/u^6 ...)
        let series = 1.0 - 3.0 / square * (1.0 - 5.0 / square * (1.0 - 7.0 / square * (1.0 - 9.0 / square)));
        -0.5 * square - 0.5 * (2.0 * PI).ln() - square.ln() + series.ln()
    } else {
        scaled.ln()
    };
    Improvement { ei: deviation * scaled, log_ei: deviation.ln() + log_scaled }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(u: f64) -> Improvement {
        expected_improvement(Prediction { mean: u, variance: 1.0, prior_variance: 1.0 }, 0.0)
    }

    #[test]
    fn known_values() {
        assert!((at(0.0).ei - 1.0 / (2.0 * PI).sqrt()).abs() < 1e-15);
        assert!((at(10.0).ei - 10.0).abs() < 1e-12);
    }

    #[test]
    fn the_logarithm_is_continuous_where_the_series_begins() {
        let (above, below) = (at(SERIES_BELOW + 1e-7), at(SERIES_BELOW - 1e-7));
        // The derivative is about 30.
        assert!((above.log_ei - below.log_ei - 2e-7 * 30.0).abs() < 1e-6, "{above:?} {below:?}");
    }

    #[test]
    fn where_it_underflows_points_are_still_ordered() {
        let ranks: Vec<f64> = [-60.0, -50.0, -40.0, -10.0, 0.0, 3.0].iter().map(|u| at(*u).rank()).collect();
        assert!(ranks.is_sorted() && ranks.windows(2).all(|pair| pair[0] < pair[1]), "{ranks:?}");
        assert!(at(-60.0).ei == 0.0 && at(-60.0).log_ei.is_finite());
    }
}
