//! Reflexion's settings.

use crate::domain::SettingOrigin::Code;
use crate::domain::common_settings::{EMPTY_ACTION, KEEP_ATTEMPTS, MEMORY, REFLECT_AFTER_LAST};
use crate::domain::{SettingSpec, TypedSetting, setting_words};

/// All of them, in the order of the table.
pub const LIST: &[SettingSpec] = &[
    STRATEGY.spec,
    MEMORY.spec,
    REFLECT_AFTER_LAST.spec,
    EMPTY_ACTION.spec,
    KEEP_ATTEMPTS.spec,
    REPEAT_OPENING.spec,
];

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

pub const REPEAT_OPENING: TypedSetting<bool> = TypedSetting::switch(
    "repeat_opening",
    "a new trial begins with the first action of the trial before, without asking the actor: with the same tests, where the actor writes tests first",
    false,
    Code,
)
.if_missing(false);

pub const STRATEGY: TypedSetting<Strategy> = Strategy::setting(
    "strategy",
    "what the prompts of a new trial include from earlier trials: nothing, the last attempt, the plans written after them, or both",
    Strategy::Reflexion,
    Code,
);
