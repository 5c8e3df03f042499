//! What the episodes of a run come to, as its summary tells it: AgentBoard's rates, over all and for easy and hard apart.

use super::ByTask;
use super::lines::pluralize;
use crate::domain::{EpisodeRole, EpisodeSummary, TokenCounts};
use crate::engine::{PrefetchStats, State};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// How a run ended, for its last line.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Tally {
    /// Episodes that ended.
    pub episodes: u32,
    /// Episodes that are open: what they have cost so far is counted, and they are in no rate.
    #[serde(skip_serializing_if = "is_zero")]
    #[serde(rename = "open")]
    pub open_episodes: u32,
    /// Those a person had a hand in; they are in no rate.
    pub assisted: u32,
    /// Unassisted test episodes that were won.
    pub won: u32,
    /// Unassisted test episodes.
    #[serde(rename = "counted")]
    pub counted_episodes: u32,
    /// `won` over `counted`; none where nothing counts.
    pub success_rate: Option<f64>,
    /// Mean progress of the counted episodes; none where nothing counts.
    pub progress_rate: Option<f64>,
    /// Mean over the counted episodes of the share of world actions that the world accepted; none without any action.
    pub grounding_accuracy: Option<f64>,
    /// The same for easy and hard tasks apart, where tasks are labelled.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub by_difficulty: BTreeMap<String, DifficultyRates>,
    /// Steps of all episodes, the open ones too.
    pub steps: u64,
    /// World actions of all episodes.
    pub moves: u64,
    /// Calls of all episodes.
    pub calls: u64,
    /// Tokens of all episodes.
    pub tokens: u64,
    /// The same by who counted them, and what the calls cost by the prices of the configuration.
    #[serde(skip_serializing_if = "TokenCounts::is_empty")]
    pub spent: TokenCounts,
    /// What was asked ahead (`--prefetch`); what of it was for nothing stands in none of the counts above.
    #[serde(skip_serializing_if = "PrefetchStats::is_empty")]
    #[serde(rename = "ahead")]
    pub prefetch: PrefetchStats,
    /// Lessons in force at the end.
    pub lessons: u32,
    /// Tasks that no person had a hand in.
    pub tasks: u32,
    /// Those that were won in one of their trials.
    pub solved: u32,
    /// Some task had several trials.
    #[serde(skip)]
    has_several_trials: bool,
    /// Progress of the tasks together, at the end of the last trial of each.
    #[serde(skip)]
    progress: f64,
}

/// The rates of tasks of one difficulty.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DifficultyRates {
    /// Unassisted test episodes that were won.
    pub won: u32,
    /// Unassisted test episodes.
    #[serde(rename = "counted")]
    pub counted_episodes: u32,
    /// `won` over `counted`.
    pub success_rate: Option<f64>,
    /// Mean progress.
    pub progress_rate: Option<f64>,
    /// Mean share of accepted actions; none without any action.
    pub grounding_accuracy: Option<f64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// A rate as people read it.
fn format_percent(rate: Option<f64>) -> String {
    format!("{:.1} %", rate.unwrap_or(0.0) * 100.0)
}

impl DifficultyRates {
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

    fn summary(&self) -> String {
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
    /// Counts the episodes of these states together.
    pub fn from_states<'a>(states: impl IntoIterator<Item = &'a State>) -> Self {
        let mut tally = Self::default();
        let mut counted: Vec<&EpisodeSummary> = Vec::new();
        for state in states {
            let by_task = ByTask::from_episodes(state.ended_episodes.iter().map(AsRef::as_ref));
            tally.tasks += by_task.tasks as u32;
            tally.solved += by_task.solved as u32;
            tally.progress += by_task.progress;
            tally.has_several_trials |= by_task.has_several_trials;
            tally.lessons += state.pool.all().filter(|l| l.is_active()).count() as u32;
            tally.prefetch = tally.prefetch.plus(state.prefetch_stats());
            if let Some(open) = state.open_episode() {
                tally.open_episodes += 1;
                tally.steps += u64::from(state.counted_steps(open));
                tally.moves += u64::from(open.moves);
                tally.calls += u64::from(open.calls);
                tally.tokens = tally.tokens.saturating_add(open.tokens);
                tally.spent = tally.spent.plus(open.token_counts);
            }
            for episode in &state.ended_episodes {
                tally.episodes += 1;
                tally.steps += u64::from(episode.steps);
                tally.moves += u64::from(episode.moves);
                tally.calls += u64::from(episode.calls);
                tally.tokens = tally.tokens.saturating_add(episode.tokens);
                tally.spent = tally.spent.plus(episode.stats.token_counts);
                if episode.assisted {
                    tally.assisted += 1;
                } else if episode.role == EpisodeRole::Test {
                    counted.push(episode);
                }
            }
        }
        let all = DifficultyRates::from_episodes(&counted);
        (tally.won, tally.counted_episodes) = (all.won, all.counted_episodes);
        (tally.success_rate, tally.progress_rate) = (all.success_rate, all.progress_rate);
        tally.grounding_accuracy = all.grounding_accuracy;
        let mut grades: BTreeMap<String, Vec<&EpisodeSummary>> = BTreeMap::new();
        for episode in counted {
            if let Some(word) = super::metrics::difficulty(&episode.task) {
                grades.entry(word.to_owned()).or_default().push(episode);
            }
        }
        tally.by_difficulty = grades
            .into_iter()
            .map(|(word, episodes)| (word, DifficultyRates::from_episodes(&episodes)))
            .collect();
        tally
    }

    /// In one sentence.
    pub fn sentence(&self) -> String {
        let open =
            if self.open_episodes > 0 { format!(" and {} open", self.open_episodes) } else { String::new() };
        let episodes = pluralize(u64::from(self.episodes), "episode");
        let mut told = format!("{episodes}{open}, {}", pluralize(self.steps, "step"));
        if self.has_several_trials && self.tasks > 0 {
            let all = f64::from(self.tasks);
            let _ = write!(
                told,
                ", {} of {} solved ({}), progress {}",
                self.solved,
                pluralize(u64::from(self.tasks), "task"),
                format_percent(Some(f64::from(self.solved) / all)),
                format_percent(Some(self.progress / all))
            );
        } else if self.counted_episodes > 0 {
            let all = DifficultyRates {
                won: self.won,
                counted_episodes: self.counted_episodes,
                success_rate: self.success_rate,
                progress_rate: self.progress_rate,
                grounding_accuracy: self.grounding_accuracy,
            };
            let _ = write!(told, ", {}", all.summary());
        }
        if self.by_difficulty.len() > 1 {
            for (word, graded) in &self.by_difficulty {
                let _ = write!(told, "; {word}: {}", graded.summary());
            }
        }
        if self.assisted > 0 {
            let _ = write!(told, "; {} assisted by a person, in no rate", self.assisted);
        }
        if let Some(cost) = self.spent.format_cost() {
            let _ = write!(told, "; {} tokens ({}), cost {cost}", self.tokens, self.spent.describe());
        }
        if let Some(words) = self.prefetch.describe() {
            let _ = write!(told, "; asked ahead: {words}");
        }
        told
    }
}
