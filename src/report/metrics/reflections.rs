//! The measures of reflections in FCRF's paper: their length (flexibility), and what their plans retain and correct (efficiency), which
//! [`RevisionCounts`] counts.

use super::aggregate::resample_statistic;
use super::interval::Interval;
use super::interval::mean;
use super::{RevisionCounts, SessionMetrics};
use crate::domain::{Purpose, Reflection};
use serde::Serialize;
use std::collections::BTreeMap;

/// Statistics of the reflections of sessions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReflectionStats {
    /// Number of reflections; those after the same step count as one.
    pub count: usize,
    /// Mean length in words.
    pub words: f64,
    /// Mean length with its interval, resampled over reflections.
    pub words_interval: Interval,
    /// Standard deviation of the length (population: divided by their number).
    pub deviation: f64,
    /// Standard deviation with its interval.
    pub deviation_interval: Interval,
    /// Share of the correct actions of failed attempts that the plans written after them retain; `None` without a plan or
    /// a correct action.
    pub recall: Option<f64>,
    /// Share of erroneous actions that the plans correct; `None` without a plan or an erroneous action.
    pub precision: Option<f64>,
    /// The counts behind both.
    pub plan: RevisionCounts,
    /// Both for the plans after each trial (FCRF, figure 5).
    pub by_trial: Vec<TrialRevision>,
    /// Like [`Self::recall`], but of what the next attempt retains.
    pub next_recall: Option<f64>,
    /// Like [`Self::precision`], but of what the next attempt corrects.
    pub next_precision: Option<f64>,
    /// The counts behind those of the next attempt.
    pub revision: RevisionCounts,
}

/// What the plans written after one trial retain and correct.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TrialRevision {
    /// The trial, from 1.
    pub trial: u32,
    pub recall: Option<f64>,
    pub precision: Option<f64>,
    /// The counts behind both.
    pub plan: RevisionCounts,
}

fn word_count(reflection: &Reflection) -> usize {
    let words = |text: &str| text.split_whitespace().count();
    reflection.items.iter().map(|i| words(&i.text.text) + i.text.solution.as_deref().map_or(0, words)).sum()
}

fn mean_length(lengths: &[f64]) -> f64 {
    mean(lengths.iter().copied()).unwrap_or(0.0)
}

fn standard_deviation(lengths: &[f64]) -> f64 {
    let average = mean_length(lengths);
    mean(lengths.iter().map(|l| (l - average).powi(2))).unwrap_or(0.0).sqrt()
}

impl ReflectionStats {
    /// Computes the statistics of these sessions. Returns `None` if there is no reflection and no repeated attempt.
    pub(super) fn from_sessions(sessions: &[SessionMetrics]) -> Option<Self> {
        let mut lengths: Vec<f64> = Vec::new();
        let (mut revision, mut plan) = (RevisionCounts::default(), RevisionCounts::default());
        let mut plans_by_trial: BTreeMap<u32, RevisionCounts> = BTreeMap::new();
        for session in sessions {
            let mut words_by_step: BTreeMap<(u32, u32), usize> = BTreeMap::new();
            // Summaries and contrasts maintain lists or fill a pool; they are not reflections on an attempt.
            let is_reflection = |p: Purpose| matches!(p, Purpose::Reflect | Purpose::Choose | Purpose::Build);
            for reflection in
                session.reflections.iter().filter(|r| is_reflection(r.purpose) && !r.items.is_empty())
            {
                *words_by_step.entry((reflection.episode, reflection.step)).or_default() +=
                    word_count(reflection);
            }
            lengths.extend(words_by_step.values().map(|n| *n as f64));
            revision.add(session.revision);
            for (trial, counts) in &session.plan_revisions {
                plan.add(*counts);
                plans_by_trial.entry(*trial).or_default().add(*counts);
            }
        }
        if lengths.is_empty() && revision.pairs == 0 {
            return None;
        }
        let (mean_words, deviation) = (mean_length(&lengths), standard_deviation(&lengths));
        let by_trial = plans_by_trial.into_iter().map(|(trial, plan)| TrialRevision {
            trial,
            recall: plan.recall(),
            precision: plan.precision(),
            plan,
        });
        Some(Self {
            count: lengths.len(),
            words: mean_words,
            words_interval: resample_statistic(&lengths, self::mean_length),
            deviation,
            deviation_interval: resample_statistic(&lengths, self::standard_deviation),
            recall: plan.recall(),
            precision: plan.precision(),
            plan,
            by_trial: by_trial.collect(),
            next_recall: revision.recall(),
            next_precision: revision.precision(),
            revision,
        })
    }
}
