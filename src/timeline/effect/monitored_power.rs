//! The power of a monitored measurement, exactly, by following the probabilities of all counts (`docs/EFFECT.md`).

use super::betting::{Difference, DifferenceCounts, Side, ln_threshold};
use super::fixed_power::AssumedEffect;

/// The probability that each verdict is the first one that a monitored measurement of successes reaches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MonitoredPower {
    pub helped: f64,
    pub harmful: f64,
    pub no_effect: f64,
    /// The mean number of pairs until the verdict or the end.
    pub mean_pairs: f64,
    /// The probability of `helped` within this many pairs, from 0 to the planned number.
    pub helped_by: Vec<f64>,
}

impl MonitoredPower {
    /// Returns the smallest number of pairs within which `helped` is reported with this probability.
    pub fn pairs_for(&self, power: f64) -> Option<u64> {
        (0_u64..).zip(&self.helped_by).find(|(_, helped)| **helped >= power).map(|(pairs, _)| pairs)
    }
}

/// The counts at which a monitored measurement of successes reaches a verdict, for a level, a margin and a maximum number
/// of pairs. Computed once, it serves any assumed effect.
#[derive(Clone, Debug)]
pub struct MonitoredDesign {
    max_pairs: usize,
    /// By the losses: the wins from which the verdict is `helped`. By symmetry, the losses from which it is `harmful`.
    decisive_wins: Vec<usize>,
    /// By pairs and losses: the wins with which the verdict is `no effect seen`, first and last.
    no_effect: Vec<Vec<Option<(usize, usize)>>>,
}

impl MonitoredDesign {
    /// Computes the counts for up to `max_pairs` pairs; 400 take a fraction of a second.
    pub fn new(alpha: f64, margin: f64, max_pairs: usize) -> Self {
        let threshold = ln_threshold(alpha);
        let decisive_wins = decisive_counts(max_pairs, |wins, losses| {
            counts(wins, losses, 0).ln_capital(Side::Above, 0.5) >= threshold
        });
        let above_minus_margin = f64::midpoint(1.0, -margin);
        let no_effect = (0..=max_pairs)
            .map(|pairs| {
                // The wins from which the difference is above minus the margin. They grow with the losses.
                let mut fewest = 0;
                let fewest_wins: Vec<Option<usize>> = (0..=pairs)
                    .map(|losses| {
                        while fewest + losses <= pairs {
                            let zeros = pairs - fewest - losses;
                            let counts = counts(fewest, losses, zeros);
                            if counts.ln_capital(Side::Above, above_minus_margin) >= threshold {
                                return Some(fewest);
                            }
                            fewest += 1;
                        }
                        None
                    })
                    .collect();
                // By symmetry, the difference is below the margin if the losses reach the same bound for the wins.
                let mut most = None;
                (0..=pairs)
                    .map(|losses| {
                        let mut next = most.map_or(0, |m| m + 1);
                        while fewest_wins.get(next).copied().flatten().is_some_and(|fewest| fewest <= losses)
                        {
                            most = Some(next);
                            next += 1;
                        }
                        let first = fewest_wins.get(losses).copied().flatten()?;
                        let last = most?.min(pairs - losses);
                        (first <= last).then_some((first, last))
                    })
                    .collect()
            })
            .collect();
        Self { max_pairs, decisive_wins, no_effect }
    }

    /// Returns the power against an assumed effect with up to `pairs` pairs, at most the design's maximum.
    pub fn power(&self, effect: AssumedEffect, pairs: usize) -> MonitoredPower {
        let pairs = pairs.min(self.max_pairs);
        let (win, loss) = effect.win_probabilities();
        let tie = (1.0 - win - loss).max(0.0);
        let mut power = MonitoredPower { helped_by: vec![0.0], ..MonitoredPower::default() };
        // The probabilities of the counts without a verdict, by losses and wins.
        let mut open = vec![vec![1.0_f64]];
        for now in 1..=pairs {
            let mut next = vec![vec![0.0; now + 1]; now + 1];
            for (losses, row) in open.iter().enumerate() {
                for (wins, probability) in row.iter().enumerate().filter(|(_, p)| **p > 0.0) {
                    power.mean_pairs += probability;
                    for (losses, wins, share) in
                        [(losses, wins + 1, win), (losses + 1, wins, loss), (losses, wins, tie)]
                    {
                        if let Some(cell) = next.get_mut(losses).and_then(|row| row.get_mut(wins)) {
                            *cell += probability * share;
                        }
                    }
                }
            }
            for (losses, row) in next.iter_mut().enumerate() {
                for (wins, probability) in row.iter_mut().enumerate().filter(|(_, p)| **p > 0.0) {
                    let reached = if self.is_decisive(wins, losses) {
                        &mut power.helped
                    } else if self.is_decisive(losses, wins) {
                        &mut power.harmful
                    } else if self.shows_no_effect(now, wins, losses) {
                        &mut power.no_effect
                    } else {
                        continue;
                    };
                    *reached += *probability;
                    *probability = 0.0;
                }
            }
            power.helped_by.push(power.helped);
            open = next;
        }
        power
    }

    fn is_decisive(&self, wins: usize, losses: usize) -> bool {
        self.decisive_wins.get(losses).is_some_and(|fewest| wins >= *fewest)
    }

    fn shows_no_effect(&self, pairs: usize, wins: usize, losses: usize) -> bool {
        let range = self.no_effect.get(pairs).and_then(|by_losses| by_losses.get(losses)).copied().flatten();
        range.is_some_and(|(first, last)| (first..=last).contains(&wins))
    }
}

/// Returns by the losses the smallest number of wins, up to `max + 1`, for which a condition holds. The condition holds for
/// all larger numbers of wins, and for no smaller number with more losses.
fn decisive_counts(max: usize, holds: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut wins = 0;
    (0..=max)
        .map(|losses| {
            while wins <= max && !holds(wins, losses) {
                wins += 1;
            }
            wins
        })
        .collect()
}

fn counts(wins: usize, losses: usize, ties: usize) -> DifferenceCounts {
    let mut counts = DifferenceCounts::default();
    counts.add_many(Difference::FIRST_BETTER, wins as u64);
    counts.add_many(Difference::SECOND_BETTER, losses as u64);
    counts.add_many(Difference::EQUAL, ties as u64);
    counts
}
