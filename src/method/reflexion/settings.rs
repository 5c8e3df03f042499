//! Reflexion's settings. Most of them are also those of methods with the same runner.

use crate::domain::SettingOrigin::{BuiltIn, Code, Paper};
use crate::method::settings::{DefaultValue, MAX_NUMBER, SettingSpec, choice, number, switch};

/// All of them.
pub const LIST: &[SettingSpec] = &[
    choice(
        "strategy",
        "what the prompts of a new trial include from earlier trials: nothing, the last attempt, the plans written after them, or both",
        "reflexion",
        &["none", "last-attempt", "reflexion", "both"],
        Code,
    ),
    MEMORY,
    REFLECT_AFTER_LAST,
    EMPTY_ACTION,
    KEEP_ATTEMPTS,
];

/// How many plans a prompt shows.
pub const MEMORY: SettingSpec =
    number("memory", "how many of the newest plans of the task are shown", 3, (0, MAX_NUMBER), Code);

/// Whether a plan is written after the last trial.
pub const REFLECT_AFTER_LAST: SettingSpec = switch(
    "reflect_after_last",
    "a plan is written after the last trial too, although no trial uses it",
    false,
    Paper,
)
.with_code_default(DefaultValue::Switch(true));

/// Whether a reply without an action is an empty action.
pub const EMPTY_ACTION: SettingSpec = switch(
    "empty_action",
    "without a screen, a reply that still has no action counts as an empty action, not as a failed call",
    false,
    BuiltIn,
)
.with_code_default(DefaultValue::Switch(true));

/// Whether the last failed attempt is kept.
pub const KEEP_ATTEMPTS: SettingSpec = switch(
    "keep_attempts",
    "the last failed attempt at each task is kept (needed to show it: `strategy`, `replan`, FCRF's pool)",
    true,
    BuiltIn,
);
