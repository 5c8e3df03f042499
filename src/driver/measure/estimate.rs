//! What a measurement will cost, and what it can show, before it starts.

use super::design::Measurement;
use crate::catalog::find_environment;
use crate::domain::EffectStart;
use crate::engine::State;
use crate::timeline::effect::{
    ALPHA, AssumedEffect, EffectScope, MonitoredDesign, Outcome, detectable_difference, estimated_rate,
};
use std::time::Duration;

/// The time that a call to a model takes, if no call is recorded.
const CALL_TIME: Duration = Duration::from_secs(2);
/// The tokens of a prompt, if none is recorded.
const PROMPT_TOKENS: u64 = 2000;
/// The tokens of a reply, if none is recorded: a thought and an action.
const REPLY_TOKENS: u64 = 100;

/// What a measurement costs if it isn't decided earlier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
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
    /// Estimates what the measurement costs: medians of the session's recorded episodes, or else the step limit times the last
    /// prompt. `recorded` is the state of the session, if there is one.
    pub fn estimate(&self, recorded: Option<&State>, jobs: usize) -> Estimate {
        let plan = &self.plan;
        let pairs = match plan.scope {
            EffectScope::Tasks => plan.pairs.min(plan.tasks.len() as u32),
            EffectScope::Moment | EffectScope::These => plan.pairs,
        };
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
            pairs: affordable_pairs.min(pairs),
            is_limited: affordable < planned,
            episodes,
            steps: times(typical.steps),
            calls: at_most(times(typical.calls), plan.budget.calls),
            tokens: at_most(times(typical.tokens), plan.budget.tokens),
            cost_nano: at_most(times(typical.cost_nano), plan.budget.cost_nano),
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

    /// Returns how many episodes the budget allows: the fewest that any part of it does.
    fn affordable_episodes(&self, typical: Typical, jobs: usize) -> u64 {
        let budget = &self.plan.budget;
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
        let pairs = self.estimate(recorded, jobs).pairs.clamp(1, 400) as usize;
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
        let last = recorded.and_then(|state| state.actor_prompts.0.as_ref());
        let prompt = last.map_or(PROMPT_TOKENS, |prompt| u64::from(prompt.tokens));
        Typical {
            steps,
            tokens: steps.saturating_mul(prompt + REPLY_TOKENS),
            calls: steps,
            cost_nano: steps.saturating_mul(self.config.actor.call_price_nano(prompt, REPLY_TOKENS)),
            millis: steps.saturating_mul(CALL_TIME.as_millis() as u64),
        }
    }
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
