//! Sweet&Sour's settings.

use super::{MAX_NUMBER, SettingSpec, choice, number, switch};
use crate::domain::SettingOrigin::{BuiltIn, Paper};

/// See [`SettingSpec`].
pub const LIST: &[SettingSpec] = &[
    switch("positive", "a positive reflection is written at each subgoal", &["sweet_sour"], true, Paper),
    switch(
        "negative",
        "a negative reflection is written after a failed attempt",
        &["sweet_sour"],
        true,
        Paper,
    ),
    switch(
        "managed",
        "new memories start in short-term memory; off: they go straight to long-term memory",
        &["sweet_sour"],
        true,
        Paper,
    ),
    choice(
        "transfer",
        "when short-term memory becomes long-term: after a successful attempt (Algorithm 1), or after every attempt (section 2.3)",
        &["sweet_sour"],
        "success",
        &["success", "always"],
        Paper,
    ),
    choice(
        "subgoal",
        "what counts as a subgoal: a rise in the progress rate, or in the reward",
        &["sweet_sour"],
        "progress",
        &["progress", "reward"],
        BuiltIn,
    ),
    number(
        "long_term",
        "how many of the newest long-term memories are shown",
        &["sweet_sour"],
        MAX_NUMBER,
        (0, MAX_NUMBER),
        BuiltIn,
    ),
    number(
        "short_term",
        "how many of the newest short-term memories are shown",
        &["sweet_sour"],
        MAX_NUMBER,
        (0, MAX_NUMBER),
        BuiltIn,
    ),
    choice(
        "memory_scope",
        "scope of long-term memory: the task, tasks of its type, or the environment",
        &["sweet_sour"],
        "task",
        &["task", "type", "environment"],
        BuiltIn,
    ),
    switch(
        "reward_carries",
        "the reward shown to the mentor accumulates across episodes, as in Algorithm 1",
        &["sweet_sour"],
        true,
        Paper,
    ),
];
