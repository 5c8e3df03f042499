//! Reflexion's settings, shared by FCRF's runner.

use super::{DefaultValue, MAX_NUMBER, SettingSpec, choice, number, switch};
use crate::domain::SettingOrigin::{BuiltIn, Code, Paper};

/// See [`SettingSpec`].
pub const LIST: &[SettingSpec] = &[
    choice(
        "strategy",
        "what the prompts of a new trial include from earlier trials: nothing, the last attempt, the plans written after them, or both",
        &["reflexion"],
        "reflexion",
        &["none", "last-attempt", "reflexion", "both"],
        Code,
    ),
    number(
        "memory",
        "how many of the newest plans of the task are shown",
        &["reflexion", "fcrf"],
        3,
        (0, MAX_NUMBER),
        Code,
    ),
    switch(
        "reflect_after_last",
        "a plan is written after the last trial too, although no trial uses it",
        &["reflexion", "fcrf"],
        false,
        Paper,
    )
    .with_code_default(DefaultValue::Switch(true)),
    switch(
        "empty_action",
        "without a screen, a reply that still has no action counts as an empty action, not as a failed call",
        &["react", "reflexion", "fcrf"],
        false,
        BuiltIn,
    )
    .with_code_default(DefaultValue::Switch(true)),
    switch(
        "keep_attempts",
        "the last failed attempt at each task is kept (needed to show it: `strategy`, `replan`, FCRF's pool)",
        &["reflexion", "fcrf", "planning"],
        true,
        BuiltIn,
    ),
];
