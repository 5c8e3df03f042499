//! The records of a measurement's log, `effects/ID/log.jsonl` (`docs/EFFECT.md`, "The log"). One JSON object a line;
//! fields are only added.

mod identity;

pub use identity::COUNTING_TO_THE_MARK;

use super::{Column, EpisodeResult, Outcome, PairCounts, SplitMix64, Verdict, sample_seed};
use crate::domain::{AskedAt, EffectStart, EndReason, LessonId, LessonText, MeasuredEffect, Task};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the records that this program writes.
pub const EFFECT_VERSION: u32 = 1;

/// One line of a log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum EffectRecord {
    /// What is measured, and how. A later one replaces the budget and the number of pairs; all else is equal.
    #[serde(rename = "effect_planned")]
    Planned(Box<EffectPlan>),
    /// An episode has ended. It counts once this line is written.
    #[serde(rename = "effect_episode")]
    Episode(Box<EffectEpisode>),
    /// A pair counts in no arm, because one of its episodes couldn't be played.
    #[serde(rename = "effect_discarded")]
    Discarded(EffectDiscarded),
    /// What the pairs so far show about a contrast. Written when the verdict changes and when the measurement stops.
    #[serde(rename = "effect_judged")]
    Judged(Box<EffectJudged>),
    /// The measurement has stopped. It may be continued.
    #[serde(rename = "effect_stopped")]
    Stopped(EffectStopped),
}

/// What is measured, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectPlan {
    pub v: u32,
    /// The measurement's id: a hash of everything that makes it this measurement.
    pub effect: String,
    /// The measured lesson; `None` if several lessons are measured, each by leaving it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lesson: Option<LessonId>,
    /// The version of its text, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    /// The measured lessons with their texts.
    pub lessons: Vec<MeasuredLesson>,
    /// The groups of them that say nearly the same and are also left out together: the contrasts after those of the lessons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Vec<LessonId>>,
    /// The column of the panel that it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<Column>,
    /// The compared arms, the primary contrast first.
    pub contrasts: Vec<Contrast>,
    pub scope: EffectScope,
    pub start: EffectStart,
    pub outcome: Outcome,
    /// Differences smaller than this don't matter.
    pub margin: f64,
    /// The level of all claims about a contrast together.
    pub alpha: f64,
    /// The maximum number of pairs.
    pub pairs: u32,
    pub budget: EffectBudget,
    /// Whether the method doesn't reflect, so that the pools stay the same.
    pub frozen: bool,
    /// The seed of the measurement, from which the sample seeds and the order of the tasks follow.
    pub seed: u64,
    /// Episodes of each task in a pair.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub repeats: u32,
    /// The part of the pairs that this log is about; `None`: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// A hash of each arm's lessons in force.
    pub pools: BTreeMap<String, String>,
    /// The steps that an episode has at most from its starting point.
    pub step_limit: u32,
    /// The tasks, in the order of their list. Pairs take them in the order of [`block_order`](super::block_order).
    pub tasks: Vec<PlannedTask>,
    /// A hash of the run's settings.
    pub run: String,
    pub method: String,
    /// The actor, as on the command line.
    pub actor: String,
    /// Sample seeds of observed episodes, which aren't used again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excluded_seeds: Vec<u64>,
    /// The lengths of the blocks in which the list of tasks was made; what follows them is one more block, and without any the list is
    /// one. A longer measurement appends blocks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub task_blocks: Vec<u32>,
    /// How pairs are counted where there are several claims: 0 in older logs, [`COUNTING_TO_THE_MARK`].
    #[serde(default, skip_serializing_if = "is_no_rule")]
    pub counting: u32,
    /// Which pairs' journals are kept.
    #[serde(default, skip_serializing_if = "Keep::is_default")]
    pub keep: Keep,
    /// The point of a session at which a person asked for it: lessons, settings and tasks are those of then, however the session
    /// goes on. `None` if there is no session, or in older logs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<AskedAt>,
    /// The text of the arm `edited`; `None` without this arm, or in older logs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<LessonText>,
    /// In the plan of a continued measurement: whether the pairs that were discarded before are played again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retries: bool,
    /// Whether the lessons join an empty pool one after the other, in another random order in each pair; each contrast is what a lesson
    /// adds to those before it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub orders: bool,
}

/// Which pairs are kept as journals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keep {
    /// Those whose arms have different outcomes.
    #[default]
    Differing,
    All,
    None,
}

/// A measured lesson.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredLesson {
    pub id: LessonId,
    /// Counted from 1.
    pub version: u32,
    #[serde(flatten)]
    pub text: LessonText,
}

/// Two arms that are compared. A difference is positive if the first one did better.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Contrast {
    pub first: String,
    pub second: String,
}

/// What one pair is, and hence what the claim is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectScope {
    /// One sample seed; the claim is about this moment or this task.
    Moment,
    /// One task; the claim is about tasks like these.
    Tasks,
    /// One round over all tasks; the claim is about exactly these tasks.
    These,
}

/// When a measurement stops, besides at its number of pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectBudget {
    /// The maximum number of episodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub episodes: Option<u64>,
    /// The maximum number of tokens of all episodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// The maximum number of calls to models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// The maximum cost, in billionths of the currency unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_nano: Option<u64>,
    /// The maximum duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minutes: Option<u64>,
    /// Whether it goes on after a verdict.
    #[serde(default)]
    pub keep_going: bool,
}

/// The pairs k with k mod `count` = `index` - 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Counted from 1.
    pub index: u32,
    pub count: u32,
}

/// A task of a measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedTask {
    #[serde(flatten)]
    pub task: Task,
    /// Whether a measured lesson was learned on it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub learned: bool,
}

/// Calls that were made because of an episode and belong to no play of it that counts: those of tries that failed, and
/// those that ask whether a server is there. Budgets count them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtraCalls {
    pub calls: u64,
    pub tokens: u64,
    /// In billionths of the currency unit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cost_nano: u64,
}

/// The result of an episode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectEpisode {
    pub effect: String,
    /// Counted from 1.
    pub pair: u32,
    /// Counted from 1.
    pub repeat: u32,
    pub arm: String,
    /// The id of its task.
    pub task: String,
    /// The sample seed.
    pub seed: u64,
    pub won: bool,
    /// The progress rate at the end.
    pub progress: f64,
    /// Steps since the starting point.
    pub steps: u32,
    /// Tokens of prompts and replies since the starting point.
    pub tokens: u64,
    /// Calls to models since the starting point.
    #[serde(default)]
    pub calls: u32,
    /// Cost of the calls, in billionths of the currency unit; 0 without configured prices.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cost_nano: u64,
    #[serde(default, skip_serializing_if = "ExtraCalls::is_none")]
    pub extra: ExtraCalls,
    /// Why it ended.
    pub reason: String,
    /// If it ended at a failed call: why the call failed. `None` in older logs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// A hash of what was done and observed; equal hashes mean that two episodes went the same way.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub trace: String,
    /// Whether the journals of all arms of the pair are kept, in `PAIR-ARM` beside the log. Set in the last line of the
    /// pair.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kept: bool,
}

/// A pair that counts in no arm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectDiscarded {
    pub effect: String,
    pub pair: u32,
    /// The arm whose episode couldn't be played; empty for a pair of a shard that never ran.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub arm: String,
    pub reason: String,
    /// Whether it belongs to a shard that never ran, so that the reason can't depend on outcomes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub absent: bool,
    /// Whether the server timed out or was busy at a call of the episode, while it answered others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    #[serde(default, skip_serializing_if = "ExtraCalls::is_none")]
    pub extra: ExtraCalls,
}

/// What the pairs so far show about a contrast.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectJudged {
    pub effect: String,
    pub contrast: Contrast,
    pub pairs: u64,
    /// Pairs by who won them. With another outcome than success: `b` and `c` are the pairs in which one arm did better.
    #[serde(flatten)]
    pub counts: PairCounts,
    /// The mean difference, first minus second arm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<f64>,
    /// The running interval of the mean difference.
    pub low: f64,
    pub high: f64,
    /// The logarithm of the evidence that the arms differ.
    pub ln_e: f64,
    pub verdict: Verdict,
    /// The share of variance that pairing has removed; `None` if nothing varies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain: Option<f64>,
}

/// Why a measurement stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectStopped {
    pub effect: String,
    pub reason: StopReason,
}

/// Why a measurement stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// There is a verdict.
    Decided,
    /// All pairs are played.
    Pairs,
    /// The maximum number of episodes is reached.
    Episodes,
    /// The maximum number of tokens is reached.
    Tokens,
    /// The maximum number of calls is reached.
    Calls,
    /// The maximum cost is reached.
    Cost,
    /// The maximum duration is reached.
    Minutes,
    /// Two pairs went exactly the same way: further ones would be copies.
    Deterministic,
    /// Too many pairs were discarded.
    Discarded,
    /// Too many episodes ended at failed calls.
    FailedCalls,
    /// A person stopped it.
    Person,
}

impl EffectPlan {
    /// Returns the names of all arms, each once, in the order of the contrasts.
    pub fn arms(&self) -> Vec<&str> {
        if self.orders {
            // What a lesson joins has no arm of its own.
            let joined = self.contrasts.iter().map(|contrast| contrast.first.as_str());
            return std::iter::once(MeasuredEffect::EMPTY_POOL).chain(joined).collect();
        }
        let mut arms: Vec<&str> = Vec::new();
        for contrast in &self.contrasts {
            for arm in [&contrast.first, &contrast.second] {
                if !arms.contains(&arm.as_str()) {
                    arms.push(arm);
                }
            }
        }
        arms
    }

    /// Returns the arms of a pair in the order in which its lessons join: first the empty pool, last the one with all lessons.
    pub fn joining_order(&self, pair: u32) -> Vec<&str> {
        let mut joined: Vec<&str> = self.contrasts.iter().map(|contrast| contrast.first.as_str()).collect();
        // Episodes have the seeds of the repeats from 1 on.
        SplitMix64::new(sample_seed(self.seed, pair.into(), 0)).shuffle(&mut joined);
        std::iter::once(MeasuredEffect::EMPTY_POOL).chain(joined).collect()
    }

    /// Returns the two arms that a contrast compares in a pair: where lessons join in random orders, a lesson's own arm and the one before
    /// it.
    pub fn arms_in_pair<'a>(&'a self, contrast: &'a Contrast, pair: u32) -> (&'a str, &'a str) {
        if !self.orders {
            return (&contrast.first, &contrast.second);
        }
        let order = self.joining_order(pair);
        let place = order.iter().position(|arm| *arm == contrast.first);
        let before = place.and_then(|place| order.get(place.checked_sub(1)?));
        (&contrast.first, before.copied().unwrap_or(MeasuredEffect::EMPTY_POOL))
    }
}

impl Keep {
    /// Returns whether it is what isn't written.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether a pair is kept whose arms have different outcomes, or not.
    pub fn keeps(self, differs: bool) -> bool {
        match self {
            Self::Differing => differs,
            Self::All => true,
            Self::None => false,
        }
    }
}

impl ExtraCalls {
    /// Returns whether there are none.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the sum.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            calls: self.calls + other.calls,
            tokens: self.tokens.saturating_add(other.tokens),
            cost_nano: self.cost_nano.saturating_add(other.cost_nano),
        }
    }
}

impl EffectEpisode {
    /// Returns whether it ended at a failed call, which counts as lost.
    pub fn ended_at_failed_call(&self) -> bool {
        self.reason == EndReason::Error.describe()
    }

    /// Returns what is compared with the other arm.
    pub fn result(&self) -> EpisodeResult {
        EpisodeResult {
            won: self.won,
            progress: self.progress,
            steps: u64::from(self.steps),
            tokens: self.tokens,
        }
    }
}

impl Contrast {
    /// Creates a contrast of two arms.
    pub fn new(first: impl Into<String>, second: impl Into<String>) -> Self {
        Self { first: first.into(), second: second.into() }
    }

    /// Returns whether an arm is one of the two.
    pub fn has_arm(&self, arm: &str) -> bool {
        self.first == arm || self.second == arm
    }
}

impl std::fmt::Display for Contrast {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} - {}", self.first, self.second)
    }
}

impl StopReason {
    /// Describes the reason in a few words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Decided => "there is a verdict",
            Self::Pairs => "all pairs are played",
            Self::Episodes => "the episode budget is used up",
            Self::Tokens => "the token budget is used up",
            Self::Calls => "the budget of calls is used up",
            Self::Cost => "the cost budget is used up",
            Self::Minutes => "the time budget is used up",
            Self::Deterministic => "further pairs would be copies: two went exactly the same way",
            Self::Discarded => "too many pairs couldn't be played; continuing tries them again",
            Self::FailedCalls => {
                "too many episodes ended at failed calls; once the cause is corrected, continuing plays all pairs again"
            }
            Self::Person => "stopped by a person",
        }
    }

    /// Returns whether it goes on when it is started again: a person or the clock stopped it, or what failed may pass. See
    /// [`EffectLog::can_go_on`](super::EffectLog::can_go_on).
    pub fn can_go_on(self) -> bool {
        matches!(self, Self::Person | Self::Minutes | Self::Discarded | Self::FailedCalls)
    }

    /// Returns whether a budget stopped it.
    pub fn is_budget(self) -> bool {
        matches!(self, Self::Pairs | Self::Minutes) || self.needs_larger_budget()
    }

    /// Returns whether it goes on only with a larger budget.
    pub fn needs_larger_budget(self) -> bool {
        matches!(self, Self::Episodes | Self::Tokens | Self::Calls | Self::Cost)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_no_rule(counting: &u32) -> bool {
    *counting == 0
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_one(repeats: &u32) -> bool {
    *repeats == 1
}
