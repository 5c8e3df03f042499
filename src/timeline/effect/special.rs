//! The special functions that the statistics of a measurement need, each to at least ten digits.

use statrs::function::beta::checked_beta_reg;
use statrs::function::erf::{erfc, erfc_inv};
use std::f64::consts::SQRT_2;

/// The standard normal distribution's quantile for two-sided 95 %.
pub const Z_95: f64 = 1.959_963_984_540_054;

/// Returns the standard normal distribution function.
pub fn normal_cdf(x: f64) -> f64 {
    0.5 * erfc(-x / SQRT_2)
}

/// Returns the standard normal quantile; infinite at 0 and 1.
pub fn normal_quantile(p: f64) -> f64 {
    if p <= 0.0 {
        f64::NEG_INFINITY
    } else if p >= 1.0 {
        f64::INFINITY
    } else {
        -SQRT_2 * erfc_inv(2.0 * p)
    }
}

/// Returns the normal quantile of a two-sided confidence, such as 1.96 for 0.95.
pub fn two_sided_quantile(confidence: f64) -> f64 {
    normal_quantile(f64::midpoint(1.0, confidence))
}

/// Returns the logarithm of the gamma function, for x > 0.
pub fn ln_gamma(x: f64) -> f64 {
    statrs::function::gamma::ln_gamma(x)
}

/// Returns the regularized incomplete beta function for a, b > 0. Arguments outside of its domain have no value.
pub fn beta_regularized(a: f64, b: f64, x: f64) -> Option<f64> {
    checked_beta_reg(a, b, x).ok()
}

/// Returns the probability of at most `k` successes in `n` trials with success probability `p`.
pub fn binomial_cdf(k: u64, n: u64, p: f64) -> f64 {
    if k >= n || p <= 0.0 {
        return 1.0;
    }
    if p >= 1.0 {
        return 0.0;
    }
    // Inside of the domain by the checks above.
    beta_regularized((n - k) as f64, (k + 1) as f64, 1.0 - p).unwrap_or(f64::NAN)
}

/// Returns the probability of at most `k` heads in `n` tosses of a fair coin.
pub fn binomial_half_cdf(k: u64, n: u64) -> f64 {
    binomial_cdf(k, n, 0.5)
}

/// Returns the probability of exactly `k` successes in `n` trials with success probability `p`.
pub fn binomial_pmf(k: u64, n: u64, p: f64) -> f64 {
    if k > n {
        return 0.0;
    }
    if p <= 0.0 || p >= 1.0 {
        let certain = if p <= 0.0 { 0 } else { n };
        return if k == certain { 1.0 } else { 0.0 };
    }
    let (k, rest, n) = (k as f64, (n - k) as f64, n as f64);
    let ln_choose = ln_gamma(n + 1.0) - ln_gamma(k + 1.0) - ln_gamma(rest + 1.0);
    (ln_choose + k * p.ln() + rest * (-p).ln_1p()).exp()
}
