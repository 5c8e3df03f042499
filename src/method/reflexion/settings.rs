//! Reflexion's settings. Most of them are also those of methods with the same runner.

use crate::domain::SettingOrigin::{Code, Paper};
use crate::domain::common_settings::{EMPTY_ACTION, KEEP_ATTEMPTS};
use crate::domain::{DefaultValue, MAX_NUMBER, SettingSpec, TypedSetting, setting_words};

/// All of them, in the order of the table.
pub const LIST: &[SettingSpec] =
    &[STRATEGY.spec, MEMORY.spec, REFLECT_AFTER_LAST.spec, EMPTY_ACTION.spec, KEEP_ATTEMPTS.spec];

setting_words! {
    /// What the prompts of a new trial include from earlier trials.
    pub enum Strategy {
        Nothing = "none",
        LastAttempt = "last-attempt",
        /// The plans written after earlier trials.
        Reflexion = "reflexion",
        /// The last attempt and the plans.
        Both = "both",
    }
}

pub const STRATEGY: TypedSetting<Strategy> = Strategy::setting(
    "strategy",
    "what the prompts of a new trial include from earlier trials: nothing, the last attempt, the plans written after them, or both",
    Strategy::Reflexion,
    Code,
);

/// How many plans a prompt shows. Read by the prompt templates.
pub const MEMORY: TypedSetting<u64> = TypedSetting::number(
    "memory",
    "how many of the newest plans of the task are shown",
    3,
    (0, MAX_NUMBER),
    Code,
);

/// Whether a plan is written after the last trial.
pub const REFLECT_AFTER_LAST: TypedSetting<bool> = TypedSetting::switch(
    "reflect_after_last",
    "a plan is written after the last trial too, although no trial uses it",
    false,
    Paper,
)
.with_code_default(DefaultValue::Switch(true));
