//! Totals and rates over the episodes of a run for its summary: AgentBoard's rates, overall and separately for easy and
//! hard tasks.

use super::TaskTotals;
use super::by_task::last_trials;
use super::measures::{SessionMeasures, mean_values};
use crate::domain::{EpisodeSummary, SampleStats, TokenCounts, pluralize};
use crate::engine::{PrefetchStats, State};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Results of a run, printed as the last line of its output.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Tally {
    /// Ended episodes.
    pub episodes: u32,
    /// Open episodes: their costs so far are counted, but they are excluded from rates.
    #[serde(skip_serializing_if = "is_zero")]
    #[serde(rename = "open")]
    pub open_episodes: u32,
    /// Assisted episodes, which are excluded from rates.
    pub assisted: u32,
    /// Episodes at which the environment failed, which are excluded from rates.
    #[serde(skip_serializing_if = "is_zero")]
    pub env_failures: u32,
    /// Unassisted test episodes that were won.
    pub won: u32,
    /// Unassisted test episodes at which the environment didn't fail.
    #[serde(rename = "counted")]
    pub counted_episodes: u32,
    /// `won` divided by `counted_episodes`; `None` if none is counted.
    pub success_rate: Option<f64>,
    /// Mean progress of the counted episodes; `None` if none is counted.
    pub progress_rate: Option<f64>,
    /// Mean over the counted episodes of the share of environment actions that the environment accepted; `None` without
    /// any action.
    pub grounding_accuracy: Option<f64>,
    /// The same rates for easy and hard tasks separately, if tasks are labelled.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub by_difficulty: BTreeMap<String, EpisodeRates>,
    /// By name: the mean over tasks, without those with an assisted trial, of an environment's own measure in the last
    /// trial, such as F1.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub measures: BTreeMap<&'static str, f64>,
    /// Steps of all episodes, including open ones.
    pub steps: u64,
    /// Environment actions of all episodes.
    pub moves: u64,
    /// Calls in all episodes.
    pub calls: u64,
    /// Tokens in all episodes.
    pub tokens: u64,
    /// The tokens by source of the count, and the cost of the calls at the configured prices.
    #[serde(skip_serializing_if = "TokenCounts::is_empty")]
    #[serde(rename = "spent")]
    pub token_counts: TokenCounts,
    /// Prefetches (`--prefetch`); the other counts exclude unused ones.
    #[serde(skip_serializing_if = "PrefetchStats::is_empty")]
    #[serde(rename = "ahead")]
    pub prefetch: PrefetchStats,
    /// Samples that a person requested; the other counts exclude them.
    #[serde(skip_serializing_if = "SampleStats::is_empty")]
    pub samples: SampleStats,
    /// Active lessons at the end.
    pub lessons: u32,
    /// Tasks without an assisted trial.
    pub tasks: u32,
    /// Those of them that were won in one of their trials.
    pub solved: u32,
    /// Whether any task had several trials.
    #[serde(skip)]
    has_several_trials: bool,
    /// Sum over the tasks of the progress at the end of their last trial.
    #[serde(skip)]
    progress: f64,
}

/// The rates of tasks of one difficulty.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EpisodeRates {
    /// Unassisted test episodes that were won.
    pub won: u32,
    /// Unassisted test episodes.
    #[serde(rename = "counted")]
    pub counted_episodes: u32,
    /// `won` divided by `counted_episodes`.
    pub success_rate: Option<f64>,
    /// Mean progress.
    pub progress_rate: Option<f64>,
    /// Mean share of accepted actions; `None` without any action.
    pub grounding_accuracy: Option<f64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Formats a rate as a percentage.
fn format_percent(rate: Option<f64>) -> String {
    format!("{:.1} %", rate.unwrap_or(0.0) * 100.0)
}

impl EpisodeRates {
    fn from_episodes(episodes: &[&EpisodeSummary]) -> Self {
        let mean = |numbers: &[f64]| {
            (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
        };
        let progress: Vec<f64> = episodes.iter().map(|e| e.progress).collect();
        let success: Vec<f64> = episodes.iter().map(|e| f64::from(u8::from(e.won))).collect();
        let grounding: Vec<f64> = episodes.iter().filter_map(|e| e.grounding()).collect();
        Self {
            won: episodes.iter().filter(|e| e.won).count() as u32,
            counted_episodes: episodes.len() as u32,
            success_rate: mean(&success),
            progress_rate: mean(&progress),
            grounding_accuracy: mean(&grounding),
        }
    }

    fn describe(&self) -> String {
        let grounding = self
            .grounding_accuracy
            .map_or_else(String::new, |g| format!(", grounding {}", format_percent(Some(g))));
        format!(
            "{} of {} won ({}), progress {}{grounding}",
            self.won,
            self.counted_episodes,
            format_percent(self.success_rate),
            format_percent(self.progress_rate)
        )
    }
}

impl Tally {
    /// Aggregates the episodes of sessions, given their states and the measures of their episodes.
    pub fn from_sessions<'a>(sessions: impl IntoIterator<Item = (&'a State, &'a SessionMeasures)>) -> Self {
        let (states, measures): (Vec<&State>, Vec<&SessionMeasures>) = sessions.into_iter().unzip();
        let mut tally = Self::from_states(states.iter().copied());
        let counted = states.into_iter().zip(measures).flat_map(|(state, measures)| {
            let last = last_trials(state.ended_episodes.iter().map(AsRef::as_ref));
            last.into_iter().filter_map(move |number| measures.get(&number)).flatten()
        });
        tally.measures = mean_values(counted);
        tally
    }

    /// Aggregates the episodes of these states, without measures of their environments' own.
    pub fn from_states<'a>(states: impl IntoIterator<Item = &'a State>) -> Self {
        let mut tally = Self::default();
        let mut counted: Vec<&EpisodeSummary> = Vec::new();
        for state in states {
            let by_task = TaskTotals::from_episodes(state.ended_episodes.iter().map(AsRef::as_ref));
            tally.tasks += by_task.tasks as u32;
            tally.solved += by_task.solved as u32;
            tally.progress += by_task.progress;
            tally.has_several_trials |= by_task.has_several_trials;
            tally.lessons += state.pool.all().filter(|l| l.is_active()).count() as u32;
            tally.prefetch = tally.prefetch.plus(state.prefetch_stats());
            tally.samples = tally.samples.plus(state.usage.samples);
            if let Some(open) = state.open_episode() {
                tally.open_episodes += 1;
                tally.steps += u64::from(state.counted_steps(open));
                tally.moves += u64::from(open.moves);
                tally.calls += u64::from(open.calls);
                tally.tokens = tally.tokens.saturating_add(open.tokens);
                tally.token_counts = tally.token_counts.plus(open.token_counts);
            }
            for episode in &state.ended_episodes {
                tally.episodes += 1;
                tally.steps += u64::from(episode.steps);
                tally.moves += u64::from(episode.moves);
                tally.calls += u64::from(episode.calls);
                tally.tokens = tally.tokens.saturating_add(episode.tokens);
                tally.token_counts = tally.token_counts.plus(episode.stats.token_counts);
                tally.env_failures += u32::from(episode.reason.is_env_failure());
                if episode.assisted {
                    tally.assisted += 1;
                } else if episode.is_attempt() {
                    counted.push(episode);
                }
            }
        }
        let overall = EpisodeRates::from_episodes(&counted);
        (tally.won, tally.counted_episodes) = (overall.won, overall.counted_episodes);
        (tally.success_rate, tally.progress_rate) = (overall.success_rate, overall.progress_rate);
        tally.grounding_accuracy = overall.grounding_accuracy;
        let mut by_difficulty: BTreeMap<String, Vec<&EpisodeSummary>> = BTreeMap::new();
        for episode in counted {
            if let Some(difficulty) = super::metrics::difficulty(&episode.task) {
                by_difficulty.entry(difficulty.to_owned()).or_default().push(episode);
            }
        }
        tally.by_difficulty = by_difficulty
            .into_iter()
            .map(|(difficulty, episodes)| (difficulty, EpisodeRates::from_episodes(&episodes)))
            .collect();
        tally
    }

    /// Summarizes the run in one sentence.
    pub fn describe(&self) -> String {
        let open = if self.open_episodes > 0 {
            format!(" and {} in progress", self.open_episodes)
        } else {
            String::new()
        };
        let episodes = pluralize(u64::from(self.episodes), "episode");
        let mut text = format!("{episodes}{open}, {}", pluralize(self.steps, "step"));
        if self.has_several_trials && self.tasks > 0 {
            let all = f64::from(self.tasks);
            let _ = write!(
                text,
                ", {} of {} solved ({}), progress {}",
                self.solved,
                pluralize(u64::from(self.tasks), "task"),
                format_percent(Some(f64::from(self.solved) / all)),
                format_percent(Some(self.progress / all))
            );
        } else if self.counted_episodes > 0 {
            let all = EpisodeRates {
                won: self.won,
                counted_episodes: self.counted_episodes,
                success_rate: self.success_rate,
                progress_rate: self.progress_rate,
                grounding_accuracy: self.grounding_accuracy,
            };
            let _ = write!(text, ", {}", all.describe());
        }
        for (name, value) in &self.measures {
            let _ = write!(text, ", {name} {value:.3}");
        }
        if self.by_difficulty.len() > 1 {
            for (difficulty, rates) in &self.by_difficulty {
                let _ = write!(text, "; {difficulty}: {}", rates.describe());
            }
        }
        if self.assisted > 0 {
            let _ = write!(text, "; {} assisted (excluded from rates)", self.assisted);
        }
        if self.env_failures > 0 {
            let failed = pluralize(u64::from(self.env_failures), "failure");
            let _ = write!(text, "; {failed} of the environment (excluded from rates)");
        }
        if let Some(cost) = self.token_counts.format_cost() {
            let _ = write!(text, "; {} tokens ({}), cost {cost}", self.tokens, self.token_counts.describe());
        }
        if let Some(words) = self.prefetch.describe() {
            let _ = write!(text, "; prefetched: {words}");
        }
        if let Some(words) = self.samples.describe() {
            let _ = write!(text, "; sampled: {words}");
        }
        text
    }
}
