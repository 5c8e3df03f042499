//! Adds other episodes to a prompt: an earlier attempt, successful attempts at other tasks, examples.

use super::DraftBuilder;
use crate::domain::{DroppedSegment, SegmentOrigin, Task, TextForms, TypedSetting};
use crate::engine::{Episode, State};
use crate::prompt::forms;
use crate::prompt::interface::OtherWording;
use crate::prompt::templates::{EnvTexts, SegmentTemplate, StoredText};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

impl DraftBuilder<'_> {
    /// Adds the last attempt at the task; if it exceeds half of the budget, only its newest steps.
    pub(super) fn add_last_attempt(&mut self, part: &SegmentTemplate, heading: Option<&StoredText>) {
        if let Some(attempt) = self.state.last_attempt(&self.episode.task) {
            self.add_attempts(part, heading, &[attempt]);
        }
    }

    /// Adds the newest successes, oldest first; see `Content::RecentSuccesses`.
    pub(super) fn add_recent_successes(
        &mut self,
        part: &SegmentTemplate,
        heading: Option<&StoredText>,
        count: TypedSetting<u64>,
    ) {
        let is_won = self.episode.outcome.as_ref().is_some_and(|outcome| outcome.won);
        let count = self.count_setting(count).unwrap_or(0).saturating_sub(usize::from(is_won));
        let mut recent: Vec<&Arc<Episode>> = self.state.successes.values().collect();
        recent.sort_by_key(|episode| episode.number);
        let shown = recent.split_off(recent.len().saturating_sub(count));
        for attempt in &shown {
            self.add_shared_attempt(part, heading, attempt, shown.len());
        }
    }

    /// Adds solved episodes: first the kept ones that are most similar to the task (setting `recalled`), then those of the
    /// environment's file, together no more than the larger of the two settings.
    pub(super) fn add_examples(
        &mut self,
        part: &SegmentTemplate,
        heading: Option<&StoredText>,
        recalled: Option<TypedSetting<u64>>,
        env_texts: &EnvTexts,
    ) {
        let recalled = recalled.map_or_else(Vec::new, |setting| {
            most_similar(self.state, &self.episode.task, self.count_setting(setting).unwrap_or(0))
        });
        let count = (self.state.settings().examples.min(2) as usize).saturating_sub(recalled.len());
        let in_other_wording =
            env_texts.other_wording.is_some_and(|wording| is_used_in(wording, self.episode));
        let chosen = env_texts.examples_for(&self.episode.task, count, in_other_wording);
        if let (Some(heading), false) = (heading, chosen.is_empty() && recalled.is_empty()) {
            self.add_text(part, heading);
        }
        self.add_attempts(part, None, &recalled);
        for example in chosen {
            self.add_text(part, example);
        }
    }

    /// Returns the number that a setting has; `None` if the run doesn't have it.
    pub(super) fn count_setting(&self, setting: TypedSetting<u64>) -> Option<usize> {
        let count = self.state.run.as_ref()?.settings.find(setting)?;
        Some(usize::try_from(count).unwrap_or(usize::MAX))
    }

    fn add_attempts(
        &mut self,
        part: &SegmentTemplate,
        heading: Option<&StoredText>,
        attempts: &[&Arc<Episode>],
    ) {
        for (index, attempt) in attempts.iter().enumerate() {
            self.add_shared_attempt(part, heading.filter(|_| index == 0), attempt, attempts.len());
        }
    }

    /// Adds an attempt. All `count` attempts of a segment may fill half of the budget; of one that exceeds its share, only
    /// the newest steps are shown.
    fn add_shared_attempt(
        &mut self,
        part: &SegmentTemplate,
        heading: Option<&StoredText>,
        attempt: &Episode,
        count: usize,
    ) {
        if let Some(heading) = heading {
            self.add_text(part, heading);
        }
        let (number, to) = (attempt.number, attempt.steps.len() as u32);
        let budget = self.state.settings().context_tokens;
        let budget = self.state.to_estimated_tokens(self.record.role, budget);
        let mut remaining = budget / 2 / count.max(1) as u64;
        let mut from = to + 1;
        while from > 1 {
            let cost = u64::from(estimate_step_tokens(attempt, from - 1));
            if cost > remaining {
                break;
            }
            remaining -= cost;
            from -= 1;
        }
        if from > 1 {
            let reason = match count {
                1 => "an earlier attempt may use at most half of the budget".to_owned(),
                _ => format!("{count} other attempts may together use at most half of the budget"),
            };
            self.record.dropped.push(DroppedSegment {
                origin: SegmentOrigin::Attempt { episode: number, from: 1, to: from - 1 },
                reason,
                tokens: (1..from).map(|n| estimate_step_tokens(attempt, n)).sum(),
            });
        }
        let tokens = forms::estimate_tokens(&forms::attempt_text(attempt, from, to, TextForms::CURRENT));
        self.push_record(part, SegmentOrigin::Attempt { episode: number, from, to }, tokens);
    }
}

/// Returns the kept successes in the same environment that are most similar to a task, the most similar first: those of
/// its type before others, then by the share of words that the goals have in common, then the newest.
fn most_similar<'a>(state: &'a State, task: &Task, count: usize) -> Vec<&'a Arc<Episode>> {
    let own_words = goal_words(task);
    let mut ranked: Vec<(bool, usize, u32, &Arc<Episode>)> = state
        .successes
        .values()
        .filter(|success| success.task.env == task.env)
        .map(|success| {
            let words = goal_words(&success.task);
            let common = words.intersection(&own_words).count();
            let total = words.union(&own_words).count().max(1);
            // In thousandths, so that it can be compared.
            let similarity = common * 1000 / total;
            let is_same_type = success.task.task_type.is_some() && success.task.task_type == task.task_type;
            (is_same_type, similarity, success.number, success)
        })
        .collect();
    ranked
        .sort_by_key(|(is_same_type, similarity, number, _)| Reverse((*is_same_type, *similarity, *number)));
    ranked.into_iter().take(count).map(|ranked| ranked.3).collect()
}

/// Returns the words of a task's goal in lower case, without numbers.
fn goal_words(task: &Task) -> BTreeSet<String> {
    let words = task.goal.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Estimates the tokens of a step.
fn estimate_step_tokens(episode: &Episode, step: u32) -> u32 {
    let lines =
        episode.step(step).map(|step| forms::step_lines(step, TextForms::CURRENT)).unwrap_or_default();
    lines.iter().map(|(_, line)| forms::estimate_tokens(line)).sum()
}

/// Returns whether one of the first observations of an episode has this wording.
fn is_used_in(wording: OtherWording, episode: &Episode) -> bool {
    let first = (1..=8).filter_map(|n| episode.step(n)?.answer.as_ref());
    first.map(|answer| answer.raw.as_str()).any(wording.is_used)
}
