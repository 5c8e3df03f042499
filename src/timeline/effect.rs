//! The statistics of measuring whether a lesson helped (`docs/EFFECT.md`): pure functions of numbers, without clock, files
//! or random state.
//!
//! A measurement plays *pairs*: both arms of a pair start at the same point with the same sample seed, and differ only in
//! the lesson. Each pair gives a [`Difference`]. A [`Monitor`] follows them and gives a verdict that stays valid whenever a
//! person looks or stops; [`PairCounts`] and [`bootstrap_mean`] give intervals for a number of pairs that was fixed in
//! advance; [`MonitoredDesign`] says before the start what can be detected.

mod betting;
mod bootstrap;
mod budget;
mod detectable;
mod discard_limit;
mod fixed_power;
mod interval;
mod kept_result;
mod log;
mod monitored_power;
mod multiple;
mod outcome;
mod paired;
mod panel;
mod placebo;
mod random;
mod record;
mod result;
pub mod special;
#[cfg(test)]
mod tests;
mod verdict;

pub use betting::{Difference, DifferenceCounts, DifferenceRange, Side, ln_threshold};
pub use bootstrap::{
    BootstrapInterval, BootstrapKind, RESAMPLES, RESAMPLING_SEED, bootstrap_mean, bootstrap_mean_with,
};
pub use detectable::{POWER, detectable_difference};
pub use discard_limit::too_many_discarded;
use discard_limit::{is_above_failure_limit, is_enough_for_limit};
pub use fixed_power::{AssumedEffect, FixedPower, TestPower, TestVariant, estimated_rate};
pub use interval::{Interval, wilson, wilson_at};
pub use kept_result::kept_results;
pub use log::{ContrastLog, CountedPair, EffectLog, EpisodeSlot, NextRecord, PairLog, ShardPairs, Totals};
pub use monitored_power::{MonitoredDesign, MonitoredPower};
pub use multiple::{FALSE_DISCOVERY_RATE, benjamini_hochberg, e_bh, holm, rejected};
pub use outcome::{EpisodeResult, Outcome, pairing_gain};
pub use paired::{McNemar, PairCounts};
pub use panel::{Column, PanelVerdict, column_alpha};
pub use placebo::{placebo_sentences, placebo_text, shuffled_text};
pub use random::{SplitMix64, block_order, sample_seed};
pub use record::{
    COUNTING_TO_THE_MARK, Contrast, EFFECT_VERSION, EffectBudget, EffectDiscarded, EffectEpisode,
    EffectJudged, EffectPlan, EffectRecord, EffectScope, EffectStopped, ExtraCalls, Keep, MeasuredLesson,
    PlannedTask, Shard, StopReason,
};
pub use result::{ArmResult, ContrastResult, EffectResult, Exploratory, FIXED_CONFIDENCE, FixedResult};
pub use verdict::{ALPHA, FirstHeld, Judgement, Monitor, Verdict};
