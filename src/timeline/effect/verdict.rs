//! What a measurement may claim while it runs (`docs/EFFECT.md`).

use super::betting::{Difference, DifferenceCounts, DifferenceRange, Side, ln_mean_exp, ln_threshold};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The level of all claims of a measurement together.
pub const ALPHA: f64 = 0.05;

/// What the pairs so far show about a contrast.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The first arm does better.
    Helped,
    /// The first arm does worse.
    Harmful,
    /// The arms differ by less than the margin in both directions.
    #[serde(rename = "no_effect")]
    NoEffectSeen,
    /// The pairs contradict each other over time: earlier ones show one direction, later ones the other.
    Inconsistent,
    /// Nothing yet.
    #[default]
    Undecided,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Helped => "helped",
            Self::Harmful => "harmful",
            Self::NoEffectSeen => "no effect seen",
            Self::Inconsistent => "inconsistent",
            Self::Undecided => "undecided",
        })
    }
}

/// The number of pairs after which each statement first held. A statement that held once counts from then on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FirstHeld {
    /// The mean difference is above 0.
    pub above_zero: Option<u64>,
    /// The mean difference is below 0.
    pub below_zero: Option<u64>,
    /// The mean difference is below the margin.
    pub below_margin: Option<u64>,
    /// The mean difference is above minus the margin.
    pub above_minus_margin: Option<u64>,
}

impl FirstHeld {
    /// Returns what follows from these statements.
    pub fn verdict(&self) -> Verdict {
        match (self.above_zero, self.below_zero) {
            (Some(_), Some(_)) => Verdict::Inconsistent,
            (Some(_), None) => Verdict::Helped,
            (None, Some(_)) => Verdict::Harmful,
            (None, None) if self.below_margin.is_some() && self.above_minus_margin.is_some() => {
                Verdict::NoEffectSeen
            }
            (None, None) => Verdict::Undecided,
        }
    }
}

/// Follows a contrast pair by pair. Its claims stay valid whenever a person looks and for whatever reason the
/// measurement stops.
#[derive(Clone, Debug)]
pub struct Monitor {
    alpha: f64,
    margin: f64,
    differences: DifferenceCounts,
    range: DifferenceRange,
    held: FirstHeld,
    ln_e: f64,
    largest_ln_e: f64,
}

/// What a [`Monitor`] shows after some pairs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Judgement {
    /// The number of pairs counted.
    pub pairs: u64,
    /// Pairs in which the first arm did better.
    #[serde(rename = "b")]
    pub wins: u64,
    /// Pairs in which the second arm did better.
    #[serde(rename = "c")]
    pub losses: u64,
    /// The mean difference; `None` without pairs.
    pub difference: Option<f64>,
    /// The lower limit of the running interval of the mean difference. It never widens while pairs are added.
    pub low: f64,
    /// The upper limit; below `low` if the pairs contradict each other.
    pub high: f64,
    /// The logarithm of the evidence that the arms differ, at this number of pairs.
    pub ln_e: f64,
    /// The p value for equal arms that stays valid under repeated looks.
    pub anytime_p: f64,
    pub verdict: Verdict,
    /// When each statement first held.
    pub held: FirstHeld,
    /// The level of the interval and of the verdict.
    pub alpha: f64,
    /// Differences smaller than this don't matter.
    pub margin: f64,
}

impl Judgement {
    /// Returns whether the effect is surely there and surely smaller than the margin.
    pub fn is_small_effect(&self) -> bool {
        match self.verdict {
            Verdict::Helped => self.high < self.margin,
            Verdict::Harmful => self.low > -self.margin,
            _ => false,
        }
    }
}

impl Monitor {
    /// Starts without pairs. `alpha` is the level of all claims about this contrast together ([`ALPHA`], or
    /// [`column_alpha`](super::column_alpha)), `margin` the smallest difference that matters.
    pub fn new(alpha: f64, margin: f64) -> Self {
        Self {
            alpha,
            margin,
            differences: DifferenceCounts::default(),
            range: DifferenceRange::ALL,
            held: FirstHeld::default(),
            ln_e: 0.0,
            largest_ln_e: 0.0,
        }
    }

    /// Counts the next pair. Pairs are counted in the order of their indices, not of their completion
    /// ([`EffectLog`](super::EffectLog)).
    pub fn push(&mut self, difference: Difference) {
        self.differences.add(difference);
        let pairs = self.differences.pairs();
        let threshold = ln_threshold(self.alpha);
        let at_zero = [Side::Above, Side::Below].map(|side| self.differences.ln_capital(side, 0.5));
        self.ln_e = ln_mean_exp(&at_zero);
        self.largest_ln_e = self.largest_ln_e.max(self.ln_e);
        for (index, (side, mean, held)) in self.statements().into_iter().enumerate() {
            if held(&mut self.held).is_some() {
                continue;
            }
            // The first two statements are about a mean difference of 0.
            let ln_capital =
                at_zero.get(index).copied().unwrap_or_else(|| self.differences.ln_capital(side, mean));
            if ln_capital >= threshold {
                *held(&mut self.held) = Some(pairs);
            }
        }
        self.differences.narrow(&mut self.range, self.alpha);
    }

    /// Returns the differences so far.
    pub fn differences(&self) -> &DifferenceCounts {
        &self.differences
    }

    /// Returns what the pairs so far show.
    pub fn judgement(&self) -> Judgement {
        let (wins, losses) = self.differences.wins();
        Judgement {
            pairs: self.differences.pairs(),
            wins,
            losses,
            difference: self.differences.mean(),
            low: self.range.low,
            high: self.range.high,
            ln_e: self.ln_e,
            anytime_p: (-self.largest_ln_e).exp().min(1.0),
            verdict: self.held.verdict(),
            held: self.held,
            alpha: self.alpha,
            margin: self.margin,
        }
    }

    /// Returns how many further pairs lead to a verdict if differences keep occurring at the rates so far: 0 with a verdict,
    /// `None` without pairs, or if it takes more than `limit`.
    pub fn further_pairs(&self, limit: u64) -> Option<u64> {
        if self.held.verdict() != Verdict::Undecided {
            return Some(0);
        }
        let pairs = self.differences.pairs();
        if pairs == 0 {
            return None;
        }
        let mut held = self.held;
        let [above, below, below_margin, above_minus_margin] =
            self.statements().map(|(side, mean, held_at)| {
                if held_at(&mut held).is_some() { Some(0) } else { self.pairs_until(side, mean, limit) }
            });
        let no_effect = below_margin.zip(above_minus_margin).map(|(x, y)| x.max(y));
        [above, below, no_effect].into_iter().flatten().min()
    }

    /// The statements with the capital that proves each, and where its number of pairs is kept.
    fn statements(&self) -> [Statement; 4] {
        [
            (Side::Above, 0.5, |held| &mut held.above_zero),
            (Side::Below, 0.5, |held| &mut held.below_zero),
            (Side::Below, f64::midpoint(1.0, self.margin), |held| &mut held.below_margin),
            (Side::Above, f64::midpoint(1.0, -self.margin), |held| &mut held.above_minus_margin),
        ]
    }

    /// Returns after how many further pairs a capital refutes a mean at the current rates, if within `limit`.
    fn pairs_until(&self, side: Side, mean: f64, limit: u64) -> Option<u64> {
        let pairs = self.differences.pairs();
        let threshold = ln_threshold(self.alpha);
        let is_refuted = |further: u64| {
            let times = (pairs + further) as f64 / pairs as f64;
            self.differences.ln_capital_after(side, mean, times) >= threshold
        };
        // The logarithm of the capital is convex in the number of pairs and 0 at the start, so it reaches the threshold once.
        if !is_refuted(limit) {
            return None;
        }
        let (mut low, mut high) = (0, limit);
        while low < high {
            let middle = low + (high - low) / 2;
            if is_refuted(middle) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Some(high.max(1))
    }
}

type Statement = (Side, f64, fn(&mut FirstHeld) -> &mut Option<u64>);
