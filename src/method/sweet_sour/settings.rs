//! Sweet&Sour's settings.

use crate::domain::SettingOrigin::{BuiltIn, Paper};
use crate::method::settings::{MAX_NUMBER, SettingSpec, choice, number, switch};

/// See [`SettingSpec`].
pub const LIST: &[SettingSpec] = &[
    switch("positive", "a positive reflection is written at each subgoal", true, Paper),
    switch("negative", "a negative reflection is written after a failed attempt", true, Paper),
    switch(
        "managed",
        "new memories start in short-term memory; off: they go straight to long-term memory",
        true,
        Paper,
    ),
    choice(
        "transfer",
        "when short-term memory becomes long-term: after a successful attempt (Algorithm 1), or after every attempt (section 2.3)",
        "success",
        &["success", "always"],
        Paper,
    ),
    choice(
        "subgoal",
        "what counts as a subgoal: a rise in the progress rate, or in the reward",
        "progress",
        &["progress", "reward"],
        BuiltIn,
    ),
    number(
        "long_term",
        "how many of the newest long-term memories are shown",
        MAX_NUMBER,
        (0, MAX_NUMBER),
        BuiltIn,
    ),
    number(
        "short_term",
        "how many of the newest short-term memories are shown",
        MAX_NUMBER,
        (0, MAX_NUMBER),
        BuiltIn,
    ),
    choice(
        "memory_scope",
        "scope of long-term memory: the task, tasks of its type, or the environment",
        "task",
        &["task", "type", "environment"],
        BuiltIn,
    ),
    switch(
        "reward_carries",
        "the reward shown to the mentor accumulates across episodes, as in Algorithm 1",
        true,
        Paper,
    ),
];
