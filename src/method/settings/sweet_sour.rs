//! Sweet&Sour's settings.

use super::{MAX_NUMBER, SettingSpec, choice, number, switch};
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
        "new memories are short-term first; off: all of them are long-term at once",
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
        "what counts as a sub-goal: a rise of the progress rate, or of the reward",
        &["sweet_sour"],
        "progress",
        &["progress", "reward"],
        BuiltIn,
    ),
    number(
        "long_term",
        "number of the newest long-term memories to show",
        &["sweet_sour"],
        MAX_NUMBER,
        (0, MAX_NUMBER),
        BuiltIn,
    ),
    number(
        "short_term",
        "number of the newest short-term memories to show",
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
