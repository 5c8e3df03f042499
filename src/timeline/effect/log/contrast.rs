//! One contrast of a measurement: the differences of its counted pairs.

use super::PairLog;
use crate::domain::{AdviceCounts, AdviceEffect, Attempts};
use crate::timeline::effect::record::Contrast;
use crate::timeline::effect::{
    Difference, EpisodeResult, Judgement, Monitor, Outcome, PairCounts, Verdict, is_above_failure_limit,
    is_enough_for_limit, pairing_gain,
};

/// Two arms and the pairs that compare them.
#[derive(Clone, Debug)]
pub struct ContrastLog {
    pub contrast: Contrast,
    monitor: Monitor,
    counts: PairCounts,
    advice: AdviceCounts,
    pairs: Vec<CountedPair>,
    /// The episodes of each arm, and how many of both arms' ended at a failed call.
    episodes_per_arm: u64,
    failed_calls: (u64, u64),
}

/// A counted pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CountedPair {
    pub pair: u32,
    /// First minus second arm, between -1 and 1; `None` for an outcome without bounds (tokens).
    pub difference: Option<f64>,
    /// The sum of the differences of all its episodes, in the units of
    /// [`Outcome::exact_difference`](crate::timeline::effect::Outcome::exact_difference).
    pub exact: i64,
    /// The mean outcomes of both arms; larger is better.
    pub outcomes: (f64, f64),
    /// Whether each arm won all its episodes.
    pub won: (bool, bool),
}

/// What is compared in a pair: the outcome, the steps that an episode has at most, and the number of episodes of each arm.
#[derive(Clone, Copy)]
pub(super) struct PairRule {
    pub(super) outcome: Outcome,
    pub(super) step_limit: u32,
    pub(super) repeats: u32,
}

impl ContrastLog {
    pub(super) fn new(contrast: Contrast, alpha: f64, margin: f64) -> Self {
        Self {
            contrast,
            monitor: Monitor::new(alpha, margin),
            counts: PairCounts::default(),
            advice: AdviceCounts::default(),
            pairs: Vec::new(),
            episodes_per_arm: 0,
            failed_calls: (0, 0),
        }
    }

    /// Counts a complete pair, in which these arms are compared.
    pub(super) fn count(&mut self, number: u32, pair: &PairLog, arms: (&str, &str), rule: PairRule) {
        let Some(episodes) = episodes_of(pair, arms, rule.repeats) else { return };
        let failed = |arm: &str| {
            let failed =
                pair.episodes_of(arm).filter(|e| e.repeat <= rule.repeats && e.ended_at_failed_call());
            failed.count() as u64
        };
        self.failed_calls.0 += failed(arms.0);
        self.failed_calls.1 += failed(arms.1);
        self.episodes_per_arm += u64::from(rule.repeats);
        let (outcome, allowed) = (rule.outcome, u64::from(rule.step_limit));
        let differences: Vec<Difference> =
            episodes.iter().filter_map(|(a, b)| outcome.difference(a, b, allowed)).collect();
        let difference = Difference::mean(&differences);
        let won = (episodes.iter().all(|(a, _)| a.won), episodes.iter().all(|(_, b)| b.won));
        let exact: i64 = episodes.iter().map(|(a, b)| outcome.exact_difference(a, b, allowed)).sum();
        if let Some(difference) = difference {
            self.monitor.push(difference);
        }
        if outcome == Outcome::Success && rule.repeats == 1 {
            self.counts.add(won.0, won.1);
        } else {
            // Only the better arm of a pair is known.
            self.counts.add(exact > 0, exact < 0);
        }
        let steps = |of: &dyn Fn(&(EpisodeResult, EpisodeResult)) -> EpisodeResult| -> u64 {
            episodes.iter().map(|both| attempts(&of(both), allowed).counted_steps()).sum()
        };
        self.advice.add(AdviceEffect::from_steps(steps(&|both| both.0), steps(&|both| both.1)));
        let mean = |value: &dyn Fn(&(EpisodeResult, EpisodeResult)) -> f64| {
            episodes.iter().map(value).sum::<f64>() / f64::from(rule.repeats.max(1))
        };
        self.pairs.push(CountedPair {
            pair: number,
            difference: difference.map(Difference::value),
            exact,
            outcomes: (mean(&|(a, _)| outcome.value(a, allowed)), mean(&|(_, b)| outcome.value(b, allowed))),
            won,
        });
    }

    /// Returns what the counted pairs show.
    pub fn judgement(&self) -> Judgement {
        self.monitor.judgement()
    }

    /// Returns the verdict by the pairs alone; see [`EffectLog::verdict`](super::EffectLog::verdict). There is none while so many calls
    /// fail that the pairs show the server, not the lesson.
    pub fn monitored_verdict(&self) -> Verdict {
        if self.has_failed_calls() { Verdict::Undecided } else { self.monitor.judgement().verdict }
    }

    /// Returns whether more than half of the episodes of both arms ended at a failed call. In one arm alone they may be what the lesson does,
    /// such as a prompt that has become too long, and count as lost.
    pub fn has_failed_calls(&self) -> bool {
        let (first, second) = self.failed_calls;
        is_above_failure_limit(self.episodes_per_arm, first.min(second))
    }

    /// Returns whether it counts no further pairs because of its failed calls.
    pub(super) fn is_given_up(&self) -> bool {
        self.has_failed_calls() && is_enough_for_limit(self.pairs.len() as u64)
    }

    /// Returns the pairs by who won them; with other outcomes than success, by who did better.
    pub fn counts(&self) -> PairCounts {
        self.counts
    }

    /// Returns the pairs by whether the first arm needed fewer, as many or more steps.
    pub fn advice(&self) -> AdviceCounts {
        self.advice
    }

    /// Returns the counted pairs in order.
    pub fn pairs(&self) -> &[CountedPair] {
        &self.pairs
    }

    /// Returns how many further pairs lead to a verdict at the rates so far; `None` without pairs, or beyond `limit`.
    pub fn further_pairs(&self, limit: u64) -> Option<u64> {
        self.monitor.further_pairs(limit)
    }

    /// Returns the share of variance that pairing has removed: 0 if seeds have no effect, 1 if the arms always agree. `None`
    /// if nothing varies.
    pub fn pairing_gain(&self) -> Option<f64> {
        let values: Vec<(f64, f64)> = self.pairs.iter().map(|pair| pair.outcomes).collect();
        pairing_gain(&values)
    }
}

/// Returns the episodes of two arms of a pair, or `None` if one is missing.
fn episodes_of(
    pair: &PairLog,
    (first, second): (&str, &str),
    repeats: u32,
) -> Option<Vec<(EpisodeResult, EpisodeResult)>> {
    let result = |arm: &str, repeat| Some(pair.episode(arm, repeat)?.result());
    (1..=repeats).map(|repeat| result(first, repeat).zip(result(second, repeat))).collect()
}

/// Returns whether the outcomes of two arms differ in any episode of a pair.
pub(super) fn differs(pair: &PairLog, arms: (&str, &str), rule: PairRule) -> bool {
    let differ = |(a, b): &(EpisodeResult, EpisodeResult)| {
        rule.outcome.exact_difference(a, b, u64::from(rule.step_limit)) != 0
    };
    episodes_of(pair, arms, rule.repeats).is_some_and(|episodes| episodes.iter().any(differ))
}

/// Returns an episode as the only attempt of its arm, which was allowed `allowed` steps.
fn attempts(result: &EpisodeResult, allowed: u64) -> Attempts {
    Attempts { steps: result.steps.min(allowed), solved: result.won, allowed }
}
