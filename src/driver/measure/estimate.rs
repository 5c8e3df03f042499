//! What a measurement will cost, and what it can show, before it starts.

use super::design::{Measurement, PlayedPart};
use crate::catalog::find_environment;
use crate::domain::EffectStart;
use crate::engine::{State, UsageTotals};
use crate::timeline::effect::{
    ALPHA, AssumedEffect, EffectBudget, EffectLog, EffectPlan, EffectRecord, EffectScope, MonitoredDesign,
    NextRecord, Outcome, detectable_difference, estimated_rate,
};
use std::time::Duration;

/// The time that a call to a model takes, if no call is recorded.
const CALL_TIME: Duration = Duration::from_secs(2);
/// The tokens of a prompt, if none is recorded.
const PROMPT_TOKENS: u64 = 2000;
/// The tokens of a reply, if none is recorded: a thought and an action.
const REPLY_TOKENS: u64 = 100;

/// What a measurement costs if it isn't decided earlier; of one that is continued, what is left of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The pairs that the log has.
    pub played: u32,
    /// The pairs that are left.
    pub pairs: u32,
    /// Whether the budget, not the plan, limits the pairs.
    pub is_limited: bool,
    pub episodes: u64,
    pub steps: u64,
    /// Calls to models.
    pub calls: u64,
    pub tokens: u64,
    /// In billionths of the currency unit; 0 without prices.
    pub cost_nano: u64,
    /// How long it takes. `None` if no model is called, and no episode like these was measured.
    pub time: Option<Duration>,
    /// Whether the actor is a stand-in, whose calls cost nothing.
    pub is_free: bool,
}

/// What a measurement can show: the smallest difference that is detected with a probability of 80 %.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Detectable {
    /// If the arms are independent.
    pub independent: Option<f64>,
    /// If they differ in no more pairs than they must.
    pub best: Option<f64>,
    /// How many pairs can be played; 0 if the outcome isn't success.
    pub pairs: u32,
}

/// Per-episode figures of recorded episodes.
#[derive(Clone, Copy, Debug, Default)]
struct Typical {
    steps: u64,
    tokens: u64,
    calls: u64,
    cost_nano: u64,
    millis: u64,
}

impl Measurement {
    /// Notes what a log has of the measurement, which continues it: only the rest has costs. A shard's log says nothing of the whole.
    pub fn continue_from(&mut self, known: &EffectLog) {
        if self.plan.shard.is_some() || !known.plan().is_same_measurement(&self.plan) {
            return;
        }
        let mut log = known.clone();
        let is_continued = log.plan().continued_with(&self.plan) != *log.plan();
        if is_continued || log.stopped().is_none() || log.can_go_on() {
            let plan = EffectPlan { retries: log.can_retry(), ..self.plan.clone() };
            log.apply(EffectRecord::Planned(Box::new(plan)));
        }
        while let NextRecord::Write(record) = log.next(&[], 1) {
            log.apply(*record);
        }
        let is_over = log.stopped().is_some();
        self.played = PlayedPart { pairs: log.settled_pairs(), totals: log.totals(), is_over };
    }

    /// Estimates what the measurement costs: medians of the session's recorded episodes, or else the step limit times the last
    /// prompt. `recorded` is the state of the session, if there is one.
    pub fn estimate(&self, recorded: Option<&State>, jobs: usize) -> Estimate {
        let (plan, played) = (&self.plan, self.played.pairs);
        let pairs = match plan.scope {
            EffectScope::Tasks => plan.pairs.min(plan.tasks.len() as u32),
            EffectScope::Moment | EffectScope::These => plan.pairs,
        };
        let pairs = if self.played.is_over { 0 } else { pairs.saturating_sub(played) };
        let budget = self.budget_left();
        let repeats = match plan.scope {
            EffectScope::These => u64::from(plan.repeats) * plan.tasks.len() as u64,
            EffectScope::Moment | EffectScope::Tasks => u64::from(plan.repeats),
        };
        let per_pair = (plan.arms().len() as u64 * repeats).max(1);
        let planned = per_pair * u64::from(pairs);
        let is_free = self.is_free();
        let typical = self.typical_episode(recorded);
        let affordable = self.affordable_episodes(typical, jobs);
        let episodes = affordable.min(planned);
        let times = |each: u64| each.saturating_mul(episodes);
        let time = self.micros_of_episode(typical, jobs).map(|each| Duration::from_micros(times(each)));
        // The last pair may be begun and not ended.
        let affordable_pairs = u32::try_from(affordable / per_pair).unwrap_or(u32::MAX);
        let at_most = |amount: u64, limit: Option<u64>| amount.min(limit.unwrap_or(u64::MAX));
        Estimate {
            played,
            pairs: affordable_pairs.min(pairs),
            is_limited: affordable < planned,
            episodes,
            steps: times(typical.steps),
            calls: at_most(times(typical.calls), budget.calls),
            tokens: at_most(times(typical.tokens), budget.tokens),
            cost_nano: at_most(times(typical.cost_nano), budget.cost_nano),
            time,
            is_free,
        }
    }

    /// Returns whether calls have a price, so that a budget in money stops them.
    pub fn has_price(&self) -> bool {
        self.config.actor.call_price_nano(PROMPT_TOKENS, REPLY_TOKENS) > 0
    }

    /// Returns whether episodes cost no money and little time: the actor is built in, and so is the environment.
    pub fn is_free(&self) -> bool {
        let is_external = |env: &str| find_environment(env).is_some_and(|entry| entry.tasks.is_external());
        self.config.actor.answers_at_once()
            && (self.plan.frozen || self.config.mentor.is_none())
            && !self.plan.tasks.iter().any(|planned| is_external(&planned.task.env))
    }

    /// Returns what the log has left of the budget. Minutes count anew each time.
    fn budget_left(&self) -> EffectBudget {
        let (budget, totals) = (self.plan.budget, self.played.totals);
        let left = |limit: Option<u64>, used: u64| limit.map(|limit| limit.saturating_sub(used));
        EffectBudget {
            episodes: left(budget.episodes, totals.episodes),
            tokens: left(budget.tokens, totals.tokens),
            calls: left(budget.calls, totals.calls),
            cost_nano: left(budget.cost_nano, totals.cost_nano),
            ..budget
        }
    }

    /// Returns how many episodes the budget allows: the fewest that any part of it does.
    fn affordable_episodes(&self, typical: Typical, jobs: usize) -> u64 {
        let budget = self.budget_left();
        // Columns that share the level share the time, too.
        let columns = if self.plan.alpha < ALPHA { 2 } else { 1 };
        let micros = budget.minutes.map(|minutes| minutes.saturating_mul(60_000_000) / columns);
        let parts = [
            (budget.episodes, 1),
            (budget.calls, typical.calls),
            (budget.tokens, typical.tokens),
            (budget.cost_nano, typical.cost_nano),
            (micros, self.micros_of_episode(typical, jobs).unwrap_or(0)),
        ];
        parts.into_iter().filter_map(|(limit, each)| limit?.checked_div(each)).min().unwrap_or(u64::MAX)
    }

    /// Returns how long an episode takes if several are played at once: as measured, else as recorded. Nothing is known of a stand-in before.
    fn micros_of_episode(&self, typical: Typical, jobs: usize) -> Option<u64> {
        let measured = self.episode_time.map(|time| time.as_micros() as u64);
        let recorded = (!self.is_free()).then(|| typical.millis.saturating_mul(1000) / jobs.max(1) as u64);
        measured.or(recorded)
    }

    /// Returns the figures of an episode of the measurement: medians of recorded ones without the steps before its moment, or those of
    /// the longest one.
    fn typical_episode(&self, recorded: Option<&State>) -> Typical {
        let Some(typical) = recorded.and_then(typical_episode) else {
            return self.longest_episode(recorded);
        };
        let before = match self.plan.start {
            EffectStart::Moment { step, .. } => u64::from(step.saturating_sub(1)),
            EffectStart::Episode { .. } | EffectStart::Tasks => 0,
        };
        let left = typical.steps.saturating_sub(before).max(1);
        let part = |amount: u64| amount.saturating_mul(left) / typical.steps.max(1);
        Typical {
            steps: left,
            tokens: part(typical.tokens),
            calls: part(typical.calls),
            cost_nano: part(typical.cost_nano),
            millis: part(typical.millis),
        }
    }

    /// Returns what the measurement can show about success. `recorded` gives the success rate so far.
    pub fn detectable(&self, recorded: Option<&State>, jobs: usize) -> Detectable {
        let plan = &self.plan;
        if plan.outcome != Outcome::Success {
            return Detectable::default();
        }
        let (mut won, mut runs) = (0, 0);
        for ended in recorded.iter().flat_map(|state| state.ended_episodes.iter()) {
            won += u64::from(ended.won);
            runs += 1;
        }
        let baseline = if runs > 0 { estimated_rate(won, runs) } else { 0.5 };
        let estimate = self.estimate(recorded, jobs);
        let pairs = estimate.played.saturating_add(estimate.pairs).clamp(1, 400) as usize;
        let design = MonitoredDesign::new(plan.alpha, plan.margin, pairs);
        Detectable {
            independent: detectable_difference(&design, pairs, |d| {
                AssumedEffect::independent_arms(baseline, d)
            }),
            best: detectable_difference(&design, pairs, |d| Some(AssumedEffect::best_case(d))),
            pairs: pairs as u32,
        }
    }

    /// Returns the figures of an episode that reaches the step limit with prompts like the last one.
    fn longest_episode(&self, recorded: Option<&State>) -> Typical {
        let steps = u64::from(self.plan.step_limit);
        let last = recorded.and_then(|state| Some((state, state.actor_prompts.0.as_ref()?)));
        let prompt = last.map_or(PROMPT_TOKENS, |(state, prompt)| {
            state.to_corrected_tokens(prompt.role, u64::from(prompt.tokens))
        });
        let price = self.config.actor.call_price_nano(prompt, REPLY_TOKENS);
        let mentor = self.config.mentor.as_ref().filter(|_| !self.plan.frozen);
        let (mentor_calls, mentor_prompt) =
            mentor.map_or((0, 0), |_| mentor_calls(recorded.map(|state| &state.usage), steps));
        let mentor_price = mentor.map_or(0, |mentor| mentor.call_price_nano(mentor_prompt, REPLY_TOKENS));
        let calls = steps.saturating_add(mentor_calls);
        let sum = |actor: u64, mentor: u64| {
            steps.saturating_mul(actor).saturating_add(mentor_calls.saturating_mul(mentor))
        };
        Typical {
            steps,
            tokens: sum(prompt + REPLY_TOKENS, mentor_prompt + REPLY_TOKENS),
            calls,
            cost_nano: sum(price, mentor_price),
            millis: calls.saturating_mul(CALL_TIME.as_millis() as u64),
        }
    }
}

/// Returns how many calls to the mentor an episode of so many steps makes, and the tokens of a prompt: at the pace of the session so far, and
/// at least one call.
fn mentor_calls(usage: Option<&UsageTotals>, steps: u64) -> (u64, u64) {
    let Some(usage) = usage.filter(|usage| usage.mentor_calls > 0) else { return (1, PROMPT_TOKENS) };
    let calls = steps.saturating_mul(usage.mentor_calls).div_ceil(usage.actor_calls.max(1));
    let prompt = (usage.mentor_tokens / usage.mentor_calls).saturating_sub(REPLY_TOKENS);
    (calls.max(1), prompt)
}

/// Returns the medians over the ended episodes; `None` without any.
fn typical_episode(state: &State) -> Option<Typical> {
    let ended: Vec<_> = state.ended_episodes.iter().collect();
    if ended.is_empty() {
        return None;
    }
    let median = |of: &dyn Fn(usize) -> u64| {
        let mut values: Vec<u64> = (0..ended.len()).map(of).collect();
        values.sort_unstable();
        values[values.len() / 2]
    };
    Some(Typical {
        steps: median(&|n| u64::from(ended[n].steps)),
        tokens: median(&|n| ended[n].tokens),
        calls: median(&|n| u64::from(ended[n].calls)),
        cost_nano: median(&|n| ended[n].stats.token_counts.cost_nano),
        millis: median(&|n| ended[n].stats.active_millis),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: the plan of a measurement in which the method reflects had no calls to the mentor.
    #[test]
    fn a_plan_counts_the_mentor_at_the_pace_of_the_session() {
        assert_eq!(mentor_calls(None, 50), (1, PROMPT_TOKENS));
        let usage =
            UsageTotals { actor_calls: 20, mentor_calls: 2, mentor_tokens: 5000, ..UsageTotals::default() };
        assert_eq!(mentor_calls(Some(&usage), 50), (5, 2500 - REPLY_TOKENS));
        assert_eq!(mentor_calls(Some(&usage), 1), (1, 2500 - REPLY_TOKENS));
    }
}
