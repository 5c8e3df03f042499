//! A confidence sequence for the mean of differences by betting (`docs/EFFECT.md`; Waudby-Smith and Ramdas
//! 2024): intervals that stay valid however often they are looked at, and whenever a measurement stops.
//!
//! With X = (D + 1) / 2, an imaginary gambler who doubts that the mean of X is m bets a fixed share of the capital on each
//! pair. If the mean is m, the bets are fair, and the capital ever reaches T with probability at most 1 / T. So a capital
//! of T refutes m at level 1 / T. Capital is the average over 32 shares, and is kept as its logarithm.

/// The number of bets that a capital averages over.
const BETS: u32 = 32;
/// Means closer to 0 or 1 than this aren't tested.
const SMALLEST_MEAN: f64 = 1e-12;
/// The width to which the limits of an interval are computed, in units of X.
const PRECISION: f64 = 1e-13;

/// Returns how much one pair increases the logarithm of the evidence for a difference at most: that of the largest bet.
pub(super) fn largest_ln_growth() -> f64 {
    (f64::from(2 * BETS - 1) / f64::from(2 * BETS)).ln_1p()
}

/// A difference between two arms of one pair: between -1 and 1, positive if the first arm did better.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Difference(f64);

impl Difference {
    /// Only the first arm won.
    pub const FIRST_BETTER: Self = Self(1.0);
    /// Both arms did equally well.
    pub const EQUAL: Self = Self(0.0);
    /// Only the second arm won.
    pub const SECOND_BETTER: Self = Self(-1.0);

    /// Returns the difference, or `None` if it isn't between -1 and 1.
    pub fn new(value: f64) -> Option<Self> {
        // Adding 0 turns -0 into 0, so that equal differences have equal bits.
        (-1.0..=1.0).contains(&value).then_some(Self(value + 0.0))
    }

    /// Returns the mean of the differences of a pair's repeats or of a round's tasks, or `None` without any.
    pub fn mean(of: &[Self]) -> Option<Self> {
        let sum: f64 = of.iter().map(|d| d.0).sum();
        if of.is_empty() { None } else { Self::new((sum / of.len() as f64).clamp(-1.0, 1.0)) }
    }

    /// Returns the difference as a number between -1 and 1.
    pub fn value(self) -> f64 {
        self.0
    }
}

/// The direction in which a capital grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The capital grows if the mean exceeds the tested one (K+).
    Above,
    /// The capital grows if the mean is below the tested one (K-).
    Below,
}

/// An interval of the mean difference, within -1 and 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DifferenceRange {
    pub low: f64,
    pub high: f64,
}

impl DifferenceRange {
    /// Everything that is possible.
    pub const ALL: Self = Self { low: -1.0, high: 1.0 };

    /// Returns whether no mean agrees with all pairs, because they contradict each other over time.
    pub fn is_empty(&self) -> bool {
        self.low > self.high
    }
}

/// How often each difference occurred. The results depend on these counts, not on the order of the pairs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DifferenceCounts {
    /// Distinct differences in ascending order, and how often each occurred.
    counts: Vec<(f64, f64)>,
    pairs: u64,
}

impl DifferenceCounts {
    /// Counts a difference.
    pub fn add(&mut self, difference: Difference) {
        self.add_many(difference, 1);
    }

    /// Counts a difference that occurred `times` times.
    pub fn add_many(&mut self, difference: Difference, times: u64) {
        if times == 0 {
            return;
        }
        match self.counts.binary_search_by(|(value, _)| value.total_cmp(&difference.0)) {
            Ok(index) => {
                if let Some(entry) = self.counts.get_mut(index) {
                    entry.1 += times as f64;
                }
            }
            Err(index) => self.counts.insert(index, (difference.0, times as f64)),
        }
        self.pairs += times;
    }

    /// Returns the number of pairs.
    pub fn pairs(&self) -> u64 {
        self.pairs
    }

    /// Returns how many pairs the first arm did better in, and how many the second one.
    pub fn wins(&self) -> (u64, u64) {
        let sum = |is_win: fn(f64) -> bool| -> f64 {
            self.counts.iter().filter(|(d, _)| is_win(*d)).map(|(_, times)| times).sum()
        };
        (sum(|d| d > 0.0) as u64, sum(|d| d < 0.0) as u64)
    }

    /// Returns the mean difference, or `None` without pairs.
    pub fn mean(&self) -> Option<f64> {
        let sum: f64 = self.counts.iter().map(|(difference, times)| difference * times).sum();
        (self.pairs > 0).then(|| sum / self.pairs as f64)
    }

    /// Returns the logarithm of the capital against the mean `mean` of X = (D + 1) / 2, which is between 0 and 1.
    pub fn ln_capital(&self, side: Side, mean: f64) -> f64 {
        self.ln_capital_after(side, mean, 1.0)
    }

    /// Returns the logarithm of the capital if each difference had occurred `times` times as often.
    pub(super) fn ln_capital_after(&self, side: Side, mean: f64, times: f64) -> f64 {
        let mut logs = [0.0; BETS as usize];
        for (bet, log) in (1..).zip(&mut logs) {
            let share = f64::from(2 * bet - 1) / f64::from(2 * BETS);
            *log = times
                * self
                    .counts
                    .iter()
                    .map(|(difference, count)| {
                        let gain = match side {
                            Side::Above => f64::midpoint(1.0, *difference) / mean - 1.0,
                            Side::Below => f64::midpoint(1.0, -*difference) / (1.0 - mean) - 1.0,
                        };
                        count * (share * gain).ln_1p()
                    })
                    .sum::<f64>();
        }
        ln_mean_exp(&logs)
    }

    /// Returns the logarithm of the evidence that the arms differ: the mean of both capitals against equality.
    pub fn ln_e(&self) -> f64 {
        ln_mean_exp(&[self.ln_capital(Side::Above, 0.5), self.ln_capital(Side::Below, 0.5)])
    }

    /// Returns the interval of the mean difference at level `alpha`, from the pairs so far.
    pub fn interval(&self, alpha: f64) -> DifferenceRange {
        let mut range = DifferenceRange::ALL;
        self.narrow(&mut range, alpha);
        range
    }

    /// Intersects a range with the interval from the pairs so far.
    pub fn narrow(&self, range: &mut DifferenceRange, alpha: f64) {
        let Some(mean) = self.mean() else { return };
        if let Some(low) =
            self.limit(Side::Above, f64::midpoint(1.0, range.low), f64::midpoint(1.0, mean), alpha)
        {
            range.low = 2.0 * low - 1.0;
        }
        if let Some(high) =
            self.limit(Side::Below, f64::midpoint(1.0, -range.high), f64::midpoint(1.0, -mean), alpha)
        {
            range.high = 1.0 - 2.0 * high;
        }
    }

    /// Returns the limit of the interval on one side if it is beyond `known`. Both are distances from the end of
    /// [0, 1] on this side: 0 at the end, `mean` at the mean.
    fn limit(&self, side: Side, known: f64, mean: f64, alpha: f64) -> Option<f64> {
        // The excess over the threshold falls towards the mean, where the capital is at most 1.
        let excess = |distance: f64| {
            let tested = if side == Side::Above { distance } else { 1.0 - distance };
            self.ln_capital(side, tested) - ln_threshold(alpha)
        };
        let (mut low, mut high) = (known.max(SMALLEST_MEAN), mean);
        if low >= high {
            return None;
        }
        let mut at_low = excess(low);
        if at_low < 0.0 {
            return None;
        }
        let mut at_high = -ln_threshold(alpha);
        // False position (the Illinois variant) with a bisection now and then, until both ends are close. An end that stays
        // twice in a row counts half, so that the other one doesn't approach alone.
        let mut moved_low = None;
        for round in 1_u32.. {
            let width = high - low;
            if width <= PRECISION {
                break;
            }
            let guess = if round.is_multiple_of(4) {
                low + width / 2.0
            } else {
                low + width * at_low / (at_low - at_high)
            };
            // Once one end has converged, a guess at a small distance from it moves the other end there.
            let least = (PRECISION / 2.0).min(width / 2.0);
            let guess = guess.max(low + least).min(high - least);
            let at_guess = excess(guess);
            let moves_low = at_guess >= 0.0;
            let repeats = moved_low == Some(moves_low);
            moved_low = Some(moves_low);
            if moves_low {
                (low, at_low) = (guess, at_guess);
                at_high = if repeats { at_high / 2.0 } else { at_high };
            } else {
                (high, at_high) = (guess, at_guess);
                at_low = if repeats { at_low / 2.0 } else { at_low };
            }
        }
        Some(f64::midpoint(low, high))
    }
}

/// Returns the logarithm of the capital that refutes a mean: half of the level for each side.
pub fn ln_threshold(alpha: f64) -> f64 {
    (2.0 / alpha).ln()
}

/// Returns the logarithm of the mean of numbers that are given as logarithms.
pub(super) fn ln_mean_exp(logs: &[f64]) -> f64 {
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !largest.is_finite() {
        return largest;
    }
    let sum: f64 = logs.iter().map(|log| (log - largest).exp()).sum();
    largest + (sum / logs.len() as f64).ln()
}
