//! Sweet&Sour's settings.

use super::{MAX_NUMBER, SettingSpec, number, switch, word};
use crate::domain::SettingOrigin::{BuiltIn, Paper};

pub(super) const LIST: &[SettingSpec] = &[
    switch("positive", "a positive reflection is written at each sub-goal", &["sweet_sour"], true, Paper),
    switch(
        "negative",
        "a negative reflection is written after a failed attempt",
        &["sweet_sour"],
        true,
        Paper,
    ),
    switch(
        "managed",
        "memory is managed: what is learnt in an attempt is short-term first; off: all of it is long-term at once",
        &["sweet_sour"],
        true,
        Paper,
    ),
    word(
        "transfer",
        "when short-term memory becomes long-term: after an attempt that reached the goal (Algorithm 1), or after every attempt (section 2.3)",
        &["sweet_sour"],
        "success",
        &["success", "always"],
        Paper,
    ),
    word(
        "subgoal",
        "what counts as a sub-goal: the progress rate rises, or the reward does",
        &["sweet_sour"],
        "progress",
        &["progress", "reward"],
        BuiltIn,
    ),
    number(
        "long_term",
        "memories of long-term memory that are shown, the newest",
        &["sweet_sour"],
        MAX_NUMBER,
        (0, MAX_NUMBER),
        BuiltIn,
    ),
    number(
        "short_term",
        "memories of short-term memory that are shown, the newest",
        &["sweet_sour"],
        MAX_NUMBER,
        (0, MAX_NUMBER),
        BuiltIn,
    ),
    word(
        "memory_scope",
        "how far long-term memory reaches: the task, tasks of its type, or the environment",
        &["sweet_sour"],
        "task",
        &["task", "type", "environment"],
        BuiltIn,
    ),
    switch(
        "reward_carries",
        "the reward that the mentor is told goes on over episodes, as Algorithm 1 has it",
        &["sweet_sour"],
        true,
        Paper,
    ),
];
