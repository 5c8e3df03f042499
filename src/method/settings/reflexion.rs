//! Reflexion's settings, shared by FCRF's runner.

use super::{DefaultValue, MAX_NUMBER, SettingSpec, number, switch, word};
use crate::domain::SettingOrigin::{BuiltIn, Code, Paper};

pub(super) const LIST: &[SettingSpec] = &[
    word(
        "strategy",
        "what a new trial is told of those before it: nothing, the last attempt, the plans written after them, or both",
        &["reflexion"],
        "reflexion",
        &["none", "last-attempt", "reflexion", "both"],
        Code,
    ),
    number("memory", "newest plans of the task that are shown", &["reflexion", "fcrf"], 3, (0, MAX_NUMBER), Code),
    switch(
        "reflect_after_last",
        "a plan is written after the last trial too, though nobody will read it",
        &["reflexion", "fcrf"],
        false,
        Paper,
    )
    .with_code_default(DefaultValue::Switch(true)),
    switch(
        "empty_action",
        "without a screen a reply that does not say what to do is in the end an empty action, and no failed call",
        &["react", "reflexion", "fcrf"],
        false,
        BuiltIn,
    )
    .with_code_default(DefaultValue::Switch(true)),
    switch(
        "keep_attempts",
        "the last failed attempt at each task is kept in memory, for what shows it (`strategy`, `replan`, FCRF's pool)",
        &["reflexion", "fcrf", "planning"],
        true,
        BuiltIn,
    ),
];
