//! Statistics of paired successes for a number of pairs that was fixed in advance (`docs/EFFECT.md`).
//! Looking at them repeatedly and stopping at a good moment makes them wrong; [`Monitor`](super::Monitor) is for that.

use super::interval::{Interval, wilson_at};
use super::special::{binomial_half_cdf, binomial_pmf, two_sided_quantile};
use serde::{Deserialize, Serialize};

/// The pairs of a comparison by who won them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairCounts {
    /// Pairs that both arms won.
    #[serde(rename = "a")]
    pub both: u64,
    /// Pairs that only the first arm won.
    #[serde(rename = "b")]
    pub first_only: u64,
    /// Pairs that only the second arm won.
    #[serde(rename = "c")]
    pub second_only: u64,
    /// Pairs that neither arm won.
    #[serde(rename = "d")]
    pub neither: u64,
}

/// P values of McNemar's test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct McNemar {
    /// Two-sided, exact: never too small, and often larger than necessary.
    pub exact: f64,
    /// Two-sided, mid-p: the displayed one (Fagerland, Lydersen, Laake 2013).
    pub mid_p: f64,
    /// One-sided, exact: small if the first arm did better.
    pub p_helped: f64,
    /// One-sided, exact: small if the second arm did better.
    pub p_harmful: f64,
}

impl PairCounts {
    /// Counts a pair.
    pub fn add(&mut self, first_won: bool, second_won: bool) {
        let count = match (first_won, second_won) {
            (true, true) => &mut self.both,
            (true, false) => &mut self.first_only,
            (false, true) => &mut self.second_only,
            (false, false) => &mut self.neither,
        };
        *count += 1;
    }

    /// Returns the number of pairs.
    pub fn pairs(&self) -> u64 {
        self.both + self.first_only + self.second_only + self.neither
    }

    /// Returns the difference of the success rates, first minus second arm, or `None` without pairs.
    pub fn difference(&self) -> Option<f64> {
        let n = self.pairs();
        (n > 0).then(|| (self.first_only as f64 - self.second_only as f64) / n as f64)
    }

    /// Returns Wilson's interval of the first arm's success rate, or `None` without pairs.
    pub fn first_rate(&self, confidence: f64) -> Option<Interval> {
        wilson_at(self.both + self.first_only, self.pairs(), two_sided_quantile(confidence))
    }

    /// Returns Wilson's interval of the second arm's success rate, or `None` without pairs.
    pub fn second_rate(&self, confidence: f64) -> Option<Interval> {
        wilson_at(self.both + self.second_only, self.pairs(), two_sided_quantile(confidence))
    }

    /// Tests whether both arms win equally often, by the pairs that only one of them won.
    pub fn mcnemar(&self) -> McNemar {
        let (b, c) = (self.first_only, self.second_only);
        let (m, k) = (b + c, b.min(c));
        let exact = if m == 0 { 1.0 } else { (2.0 * binomial_half_cdf(k, m)).min(1.0) };
        let mid_p = if m == 0 {
            1.0
        } else if b == c {
            1.0 - binomial_pmf(b, m, 0.5) / 2.0
        } else {
            2.0 * binomial_half_cdf(k, m) - binomial_pmf(k, m, 0.5)
        };
        // By symmetry, the probability of at least b of m is that of at most m - b = c.
        McNemar { exact, mid_p, p_helped: binomial_half_cdf(c, m), p_harmful: binomial_half_cdf(b, m) }
    }

    /// Returns the correlation of both arms' outcomes as Newcombe's interval uses it: 0 if an arm won all or no pairs,
    /// and corrected for continuity if positive.
    pub fn phi(&self) -> f64 {
        let [a, b, c, d] = [self.both, self.first_only, self.second_only, self.neither].map(|x| x as f64);
        let product = (a + b) * (c + d) * (a + c) * (b + d);
        if product == 0.0 {
            return 0.0;
        }
        let mut numerator = a * d - b * c;
        if numerator > 0.0 {
            numerator = (numerator - (a + b + c + d) / 2.0).max(0.0);
        }
        numerator / product.sqrt()
    }

    /// Returns the difference of the success rates with Newcombe's interval (method 10, 1998), the displayed one. `None`
    /// without pairs.
    pub fn newcombe(&self, confidence: f64) -> Option<Interval> {
        let (first, second) = (self.first_rate(confidence)?, self.second_rate(confidence)?);
        let (value, phi) = (self.difference()?, self.phi());
        let distance = |x: f64, y: f64| (x * x - 2.0 * phi * x * y + y * y).max(0.0).sqrt();
        let low = value - distance(first.value - first.low, second.high - second.value);
        let high = value + distance(first.high - first.value, second.value - second.low);
        Some(Interval { value, low, high })
    }

    /// Returns the difference of the success rates with Tango's score interval (1998), a cross-check of
    /// [`newcombe`](Self::newcombe). `None` without pairs.
    pub fn tango(&self, confidence: f64) -> Option<Interval> {
        let value = self.difference()?;
        let z = two_sided_quantile(confidence);
        let (n, b, c) = (self.pairs(), self.first_only, self.second_only);
        if b + c == 0 {
            let limit = z * z / (n as f64 + z * z);
            return Some(Interval { value, low: -limit, high: limit });
        }
        // The statistic falls from positive to negative as the assumed difference grows.
        let solve = |target: f64| {
            let (mut low, mut high) = (-1.0, 1.0);
            while high - low > 1e-14 {
                let middle = f64::midpoint(low, high);
                if middle <= low || middle >= high {
                    break;
                }
                if self.tango_statistic(middle) > target {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            f64::midpoint(low, high)
        };
        let low = if c == n { -1.0 } else { solve(z) };
        let high = if b == n { 1.0 } else { solve(-z) };
        Some(Interval { value, low, high })
    }

    /// Returns Tango's score statistic for an assumed difference.
    fn tango_statistic(&self, difference: f64) -> f64 {
        let [n, b, c] = [self.pairs(), self.first_only, self.second_only].map(|x| x as f64);
        let x = difference;
        let numerator = b - c - n * x;
        // The likelihood's maximum for the second arm's discordant share, given the difference.
        let (qa, qb, qc) = (2.0 * n, -b - c + (2.0 * n - b + c) * x, -c * x * (1.0 - x));
        let share = ((qb * qb - 4.0 * qa * qc).max(0.0).sqrt() - qb) / (2.0 * qa);
        let variance = n * (2.0 * share + x * (1.0 - x));
        if variance > 0.0 {
            numerator / variance.sqrt()
        } else if numerator == 0.0 {
            0.0
        } else {
            numerator.signum() * f64::INFINITY
        }
    }
}
