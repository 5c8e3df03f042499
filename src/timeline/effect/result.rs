//! The result of a measurement, for text, JSON, documents and the screen. It is computed from the log alone.

use super::log::{EffectLog, FULL_POOL, ShardPairs, Totals};
use super::record::{EffectJudged, EffectScope, StopReason};
use super::special::two_sided_quantile;
use super::{
    BootstrapInterval, EpisodeResult, FALSE_DISCOVERY_RATE, Interval, McNemar, Outcome, PairCounts, Verdict,
    benjamini_hochberg, bootstrap_mean, e_bh, holm, wilson_at,
};
use crate::domain::{AdviceCounts, DeterministicFact, MeasuredEffect, pluralize};
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The confidence of intervals for a number of pairs that was fixed in advance: the rates of arms, the difference, and the outcomes.
pub const FIXED_CONFIDENCE: f64 = 0.95;
/// How many further pairs are looked for at most.
const MAX_FURTHER_PAIRS: u64 = 10_000;

/// The result of a measurement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EffectResult {
    /// The number of pairs counted or discarded without a gap.
    pub settled: u32,
    pub discarded: u32,
    /// Why the first of them couldn't be played.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_discard_reason: Option<String>,
    /// Pairs that count in no arm because their shards are missing.
    #[serde(skip_serializing_if = "is_none")]
    pub absent: u32,
    /// How many of them weren't played because the server timed out or was busy at a call, while it answered others.
    pub timed_out: u32,
    /// Whether they are played again when the measurement is continued.
    pub can_retry: bool,
    pub stopped: Option<StopReason>,
    pub arms: Vec<ArmResult>,
    /// The primary contrast first.
    pub contrasts: Vec<ContrastResult>,
    /// If further pairs would be copies: what happened, as a fact without an interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fact: Option<String>,
    /// What that means for the first contrast, as a phrase: `it turns a loss into a win`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meaning: Option<String>,
    pub totals: Totals,
    /// Why the first call failed at which a counted episode ended; `None` without one, or in older logs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_failed_call: Option<String>,
    /// Of a shard, which judges nothing: what it has played.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard_pairs: Option<ShardPairs>,
}

/// What an arm's episodes came to, in the counted pairs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArmResult {
    pub name: String,
    pub won: u64,
    pub episodes: u64,
    /// How many of them ended at a failed call, such as a prompt that is longer than the model's context; they count as lost. With more than
    /// 5 % of an arm's episodes there is no verdict.
    pub failed_calls: u64,
    /// The success rate with Wilson's interval; `None` of a fact, and where a pair has several episodes of an arm: those aren't independent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Interval>,
}

/// What is known about a contrast.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ContrastResult {
    #[serde(flatten)]
    pub judged: EffectJudged,
    /// The pairs by whether the first arm needed fewer, as many or more steps.
    pub advice: AdviceCounts,
    pub alpha: f64,
    pub margin: f64,
    /// If further pairs would be copies: what happened at each task. It isn't a sample, so there is no interval and no verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fact: Option<DeterministicFact>,
    /// Whether it gets a verdict.
    pub has_claim: bool,
    /// If it is none of the measurement's claims ([`EffectLog::is_exploratory`]): what follows from them about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exploratory: Option<Exploratory>,
    /// Whether the effect is surely there and surely smaller than the margin.
    pub is_small: bool,
    /// How many further pairs lead to a verdict at the rates so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub further_pairs: Option<u64>,
    /// The p value for equal arms that stays valid under repeated looks.
    pub anytime_p: f64,
    /// The confidence of the intervals in `fixed` and `outcomes`. That of the running interval is 1 - `alpha`.
    pub fixed_confidence: f64,
    /// Statistics for a number of pairs that was fixed in advance.
    pub fixed: FixedResult,
    /// The mean difference of each outcome, in its own unit, with a bootstrap interval.
    pub outcomes: BTreeMap<&'static str, BootstrapInterval>,
    /// The counts without the tasks on which the lesson was learned, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_learned: Option<PairCounts>,
    /// Several lessons: whether it is marked, with the share of falsely marked ones limited to a tenth (e-BH).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marked: Option<bool>,
    /// Several lessons: the mid-p value, adjusted by Holm and by Benjamini and Hochberg.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adjusted: Option<(f64, f64)>,
}

/// What the claims' verdicts say about a contrast that is none of the claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Exploratory {
    /// Nothing.
    Unjudged,
    /// Its first arm does better.
    Helped,
}

/// Statistics for a number of pairs that was fixed in advance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FixedResult {
    /// The number for which they are valid.
    pub planned_pairs: u32,
    /// Whether it was reached, and fixed before the first pair was seen.
    pub is_valid: bool,
    pub mcnemar: McNemar,
    /// Newcombe's interval of the difference of success rates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newcombe: Option<Interval>,
    /// Tango's interval, as a cross-check.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tango: Option<Interval>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the serializer passes a reference")]
fn is_none(count: &u32) -> bool {
    *count == 0
}

impl EffectResult {
    /// Computes the result so far.
    pub fn from_log(log: &EffectLog) -> Self {
        Self::compute(log, true)
    }

    /// Computes the result so far without the bootstrap intervals of the other outcomes, for a screen that is drawn often.
    pub fn without_bootstrap(log: &EffectLog) -> Self {
        Self::compute(log, false)
    }

    fn compute(log: &EffectLog, bootstrap: bool) -> Self {
        let plan = log.plan();
        let rate = |won, all| wilson_at(won, all, two_sided_quantile(FIXED_CONFIDENCE));
        // What a lesson has joined is another pool in each order.
        let shown = if plan.orders { vec![MeasuredEffect::EMPTY_POOL, FULL_POOL] } else { plan.arms() };
        let arms = shown.into_iter().map(|arm| {
            let (won, episodes) = log.wins(arm);
            ArmResult {
                name: arm.to_owned(),
                won,
                episodes,
                failed_calls: log.failed_calls(arm),
                rate: if log.is_deterministic() || log.repeats_of_pair() > 1 {
                    None
                } else {
                    rate(won, episodes)
                },
            }
        });
        let mut contrasts: Vec<ContrastResult> =
            (0..log.contrasts().len()).map(|index| contrast_result(log, index, bootstrap)).collect();
        if plan.lessons.len() > 1 {
            correct_for_many(&mut contrasts);
        }
        Self {
            settled: log.settled_pairs() - log.absent_pairs(),
            discarded: log.discarded_pairs(),
            first_discard_reason: log.first_discard_reason().map(str::to_owned),
            absent: log.absent_pairs(),
            timed_out: log.timed_out_pairs(),
            can_retry: log.can_retry(),
            stopped: log.stopped(),
            arms: arms.collect(),
            contrasts,
            fact: fact(log),
            meaning: meaning(log),
            totals: log.totals(),
            first_failed_call: log.first_failed_call().map(str::to_owned),
            shard_pairs: plan.shard.map(|_| log.shard_pairs()),
        }
    }

    /// Returns the verdict about the primary contrast.
    pub fn verdict(&self) -> Verdict {
        self.contrasts.first().map_or(Verdict::Undecided, |contrast| contrast.judged.verdict)
    }
}

fn contrast_result(log: &EffectLog, index: usize, bootstrap: bool) -> ContrastResult {
    let contrast = &log.contrasts()[index];
    let (plan, judgement) = (log.plan(), contrast.judgement());
    let tasks = log.task_counts(index);
    // More pairs don't help where too many are missing.
    let has_no_pace = tasks.is_some() || log.has_too_many_discarded() || contrast.has_failed_calls();
    // Copies are no sample, from which something could be concluded.
    let counts = if tasks.is_some() { PairCounts::default() } else { contrast.counts() };
    // Both intervals are about pairs of one episode each that is won or lost. Other counts only say which arm did better.
    let has_wins = plan.outcome == Outcome::Success && log.repeats_of_pair() == 1;
    let outcomes = Outcome::ALL.into_iter().filter(|_| bootstrap && tasks.is_none()).filter_map(|outcome| {
        let values = log.exact_differences(index, outcome);
        let mut interval = bootstrap_mean(&values, FIXED_CONFIDENCE)?;
        let scale = outcome.bootstrap_scale() * f64::from(log.repeats_of_pair());
        for value in [&mut interval.estimate, &mut interval.low, &mut interval.high] {
            *value /= scale;
        }
        Some((outcome.name(), interval))
    });
    ContrastResult {
        judged: log.judge(index),
        advice: tasks.map_or_else(|| contrast.advice(), |tasks| tasks.advice),
        fact: tasks.map(|tasks| tasks.fact),
        alpha: judgement.alpha,
        margin: judgement.margin,
        has_claim: log.verdict(index).is_some(),
        exploratory: log
            .is_exploratory(index)
            .then(|| if log.implies_wording_helped() { Exploratory::Helped } else { Exploratory::Unjudged }),
        is_small: judgement.is_small_effect(),
        further_pairs: if has_no_pace { None } else { contrast.further_pairs(MAX_FURTHER_PAIRS) },
        anytime_p: if tasks.is_some() { 1.0 } else { judgement.anytime_p },
        fixed_confidence: FIXED_CONFIDENCE,
        fixed: FixedResult {
            planned_pairs: log.last_pair(),
            is_valid: log.is_size_fixed(),
            mcnemar: counts.mcnemar(),
            newcombe: if has_wins { counts.newcombe(FIXED_CONFIDENCE) } else { None },
            tango: if has_wins { counts.tango(FIXED_CONFIDENCE) } else { None },
        },
        outcomes: outcomes.collect(),
        without_learned: plan
            .tasks
            .iter()
            .any(|planned| planned.learned)
            .then(|| counts_without_learned(log, index))
            .flatten(),
        marked: None,
        adjusted: None,
    }
}

/// Returns the wins of the pairs whose task isn't one on which the lesson was learned. `None` if a pair plays all tasks, or if something
/// else than wins is compared.
fn counts_without_learned(log: &EffectLog, index: usize) -> Option<PairCounts> {
    if log.plan().scope != EffectScope::Tasks || log.plan().outcome != Outcome::Success {
        return None;
    }
    let mut counts = PairCounts::default();
    for pair in log.contrasts()[index].pairs() {
        let task = log.plan().tasks.get(log.task_index(pair.pair, 1));
        if !task.is_some_and(|planned| planned.learned) {
            counts.add(pair.won.0, pair.won.1);
        }
    }
    Some(counts)
}

/// Marks lessons by e-BH, and adjusts their p values.
fn correct_for_many(contrasts: &mut [ContrastResult]) {
    let ln_e: Vec<f64> = contrasts.iter().map(|contrast| contrast.judged.ln_e).collect();
    let marked = e_bh(&ln_e, FALSE_DISCOVERY_RATE);
    let p: Vec<f64> = contrasts.iter().map(|contrast| contrast.fixed.mcnemar.mid_p).collect();
    let adjusted = holm(&p).into_iter().zip(benjamini_hochberg(&p));
    for (index, (contrast, adjusted)) in contrasts.iter_mut().zip(adjusted).enumerate() {
        contrast.marked = Some(marked.contains(&index));
        contrast.adjusted = Some(adjusted);
    }
}

/// Describes what happened, if every pair would be a copy of the first one.
fn fact(log: &EffectLog) -> Option<String> {
    if !log.is_deterministic() {
        return None;
    }
    if log.plan().scope == EffectScope::These {
        let describe = |arm: &str| {
            let (won, tasks) = log.wins(arm);
            format!("{arm}: won {won} of {}", pluralize(tasks, "task"))
        };
        let arms: Vec<String> = log.plan().arms().into_iter().map(describe).collect();
        return Some(arms.join(", "));
    }
    let first = log.counted_pairs().next()?;
    let describe = |arm: &str| {
        let episode = first.episode(arm, 1)?;
        let outcome = if episode.won { "won".to_owned() } else { format!("lost ({})", episode.reason) };
        Some(format!("{arm}: {outcome} in {} steps", episode.steps))
    };
    let arms: Vec<String> = log.plan().arms().into_iter().filter_map(describe).collect();
    Some(arms.join(", "))
}

/// Says in one phrase what a fact means for the lesson of the first contrast.
fn meaning(log: &EffectLog) -> Option<String> {
    let contrast =
        log.contrasts().first().filter(|_| log.is_deterministic() && log.plan().lessons.len() <= 1)?;
    let (first, second) = (&contrast.contrast.first, &contrast.contrast.second);
    if log.plan().scope == EffectScope::These {
        let ((with, _), (without, _)) = (log.wins(first), log.wins(second));
        return Some(match with.cmp(&without) {
            Ordering::Equal => "it wins as many tasks as without".to_owned(),
            Ordering::Greater => format!("it wins {} more", pluralize(with - without, "task")),
            Ordering::Less => format!("it wins {} fewer", pluralize(without - with, "task")),
        });
    }
    let pair = log.counted_pairs().next()?;
    let (with, without) = pair.episode(first, 1).zip(pair.episode(second, 1))?;
    Some(match (with.won, without.won) {
        (true, false) => "it turns a loss into a win".to_owned(),
        (false, true) => "it turns a win into a loss".to_owned(),
        _ if with.trace == without.trace => "it changes nothing".to_owned(),
        (won, _) => {
            let outcome = if won { "won" } else { "lost" };
            let steps = |count: u32| pluralize(count.into(), "step");
            match with.steps.cmp(&without.steps) {
                Ordering::Equal => format!("it changes steps, but it is {outcome} after as many either way"),
                Ordering::Less => {
                    format!("{outcome} either way, {} earlier with it", steps(without.steps - with.steps))
                }
                Ordering::Greater => {
                    format!("{outcome} either way, {} later with it", steps(with.steps - without.steps))
                }
            }
        }
    })
}

impl EffectLog {
    /// Returns the differences of the counted pairs of a contrast as integers, for the bootstrap.
    pub fn exact_differences(&self, index: usize, outcome: Outcome) -> Vec<i64> {
        let Some(contrast) = self.contrasts().get(index) else { return Vec::new() };
        let allowed = u64::from(self.plan().step_limit);
        let difference = |number: u32| {
            let pair = self.pairs().get(&number)?;
            let (first, second) = self.plan().arms_in_pair(&contrast.contrast, number);
            let of =
                |arm: &str, repeat| -> Option<EpisodeResult> { Some(pair.episode(arm, repeat)?.result()) };
            (1..=self.repeats_of_pair())
                .map(|repeat| {
                    let (a, b) = (of(first, repeat)?, of(second, repeat)?);
                    Some(outcome.exact_difference(&a, &b, allowed))
                })
                .sum::<Option<i64>>()
        };
        contrast.pairs().iter().filter_map(|pair| difference(pair.pair)).collect()
    }
}
