//! The power of McNemar's test for a fixed number of pairs (`docs/EFFECT.md`).

use super::paired::PairCounts;
use super::special::{binomial_cdf, binomial_pmf};

/// A variant of McNemar's test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestVariant {
    Exact,
    MidP,
}

/// The true rates that a power is computed for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AssumedEffect {
    /// The mean difference, first minus second arm.
    pub difference: f64,
    /// The share of pairs in which the arms differ; at least the difference's absolute value.
    pub discordance: f64,
}

impl AssumedEffect {
    /// Returns the best case: the arms differ in no more pairs than they must.
    pub fn best_case(difference: f64) -> Self {
        Self { difference, discordance: difference.abs() }
    }

    /// Returns the effect on a success rate of `baseline` if the arms are independent. `None` if the other rate isn't between
    /// 0 and 1.
    pub fn independent_arms(baseline: f64, difference: f64) -> Option<Self> {
        let with = baseline + difference;
        // Sums such as 0.7 + 0.3 may exceed 1 by rounding.
        ((-1e-12..=1.0 + 1e-12).contains(&with) && (0.0..=1.0).contains(&baseline)).then(|| {
            let with = with.clamp(0.0, 1.0);
            let discordance = baseline + with - 2.0 * baseline * with;
            Self { difference, discordance: discordance.max(difference.abs()) }
        })
    }

    /// Returns the probabilities that only the first and only the second arm wins a pair.
    pub(super) fn win_probabilities(&self) -> (f64, f64) {
        let first = f64::midpoint(self.discordance, self.difference);
        let second = f64::midpoint(self.discordance, -self.difference);
        (first.clamp(0.0, 1.0), second.clamp(0.0, 1.0))
    }
}

/// Estimates a success rate from recorded runs, `(wins + 1) / (runs + 2)`; 1/2 without any.
pub fn estimated_rate(wins: u64, runs: u64) -> f64 {
    (wins + 1) as f64 / (runs + 2) as f64
}

/// The probabilities of a significant result in each direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TestPower {
    /// In favour of the first arm.
    pub helped: f64,
    /// In favour of the second arm.
    pub harmful: f64,
}

/// The power of a two-sided test against one assumed effect, for any number of pairs up to a limit.
#[derive(Clone, Debug)]
pub struct FixedPower {
    effect: AssumedEffect,
    /// For each number of discordant pairs: the probability of a significant result in each direction.
    by_discordant: Vec<TestPower>,
}

impl FixedPower {
    /// Prepares the powers for up to `limit` pairs.
    pub fn new(variant: TestVariant, alpha: f64, effect: AssumedEffect, limit: u64) -> Self {
        let (first, second) = effect.win_probabilities();
        let first_share = if first + second > 0.0 { first / (first + second) } else { 0.5 };
        let mut critical = None;
        let by_discordant = (0..=limit)
            .map(|discordant| {
                critical = critical_count(variant, alpha, discordant, critical);
                critical.map_or(TestPower::default(), |most| TestPower {
                    helped: binomial_cdf(most, discordant, 1.0 - first_share),
                    harmful: binomial_cdf(most, discordant, first_share),
                })
            })
            .collect();
        Self { effect, by_discordant }
    }

    /// Returns the power with this many pairs, at most the limit.
    pub fn with_pairs(&self, pairs: u64) -> TestPower {
        let discordance = self.effect.discordance.clamp(0.0, 1.0);
        let mut power = TestPower::default();
        for (discordant, given) in (0..=pairs).zip(&self.by_discordant) {
            let probability = binomial_pmf(discordant, pairs, discordance);
            power.helped += probability * given.helped;
            power.harmful += probability * given.harmful;
        }
        power
    }

    /// Returns the smallest number of pairs up to the limit with this power in favour of the first arm, and that power.
    pub fn pairs_for(&self, power: f64) -> Option<(u64, f64)> {
        (0..self.by_discordant.len() as u64)
            .map(|pairs| (pairs, self.with_pairs(pairs).helped))
            .find(|(_, reached)| *reached >= power)
    }
}

/// Returns the largest number of wins of the weaker arm that is significant among `discordant` pairs, or `None` if none is.
/// `previous` is the result for one pair fewer; this one is at most one larger.
fn critical_count(variant: TestVariant, alpha: f64, discordant: u64, previous: Option<u64>) -> Option<u64> {
    let is_significant = |weaker: u64| {
        let counts = PairCounts {
            first_only: discordant.saturating_sub(weaker),
            second_only: weaker,
            ..PairCounts::default()
        };
        let test = counts.mcnemar();
        weaker * 2 <= discordant
            && alpha >= if variant == TestVariant::Exact { test.exact } else { test.mid_p }
    };
    let next = previous.map_or(0, |most| most + 1);
    if is_significant(next) { Some(next) } else { previous.filter(|most| is_significant(*most)) }
}
