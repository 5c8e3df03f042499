//! FCRF's measures of reflections: their length (flexibility), and their effect on the next attempt (efficiency),
//! which [`RevisionCounts`] counts.

use super::aggregate::resample_statistic;
use super::interval::Interval;
use super::rates::mean;
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
    /// Share of correct actions that were retained; `None` without a next attempt or a correct action.
    pub recall: Option<f64>,
    /// Share of erroneous actions that were corrected; `None` if there are none.
    pub precision: Option<f64>,
    /// The counts behind both.
    pub revision: RevisionCounts,
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
        let mut revision = RevisionCounts::default();
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
            let r = session.revision;
            revision.pairs += r.pairs;
            revision.correct += r.correct;
            revision.retained += r.retained;
            revision.erroneous += r.erroneous;
            revision.corrected += r.corrected;
        }
        if lengths.is_empty() && revision.pairs == 0 {
            return None;
        }
        let (mean_words, deviation) = (mean_length(&lengths), standard_deviation(&lengths));
        let share = |part: usize, total: usize| (total > 0).then(|| part as f64 / total as f64);
        Some(Self {
            count: lengths.len(),
            words: mean_words,
            words_interval: resample_statistic(&lengths, self::mean_length),
            deviation,
            deviation_interval: resample_statistic(&lengths, self::standard_deviation),
            recall: share(revision.retained, revision.correct),
            precision: share(revision.corrected, revision.erroneous),
            revision,
        })
    }
}
