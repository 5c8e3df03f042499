//! Sweet&Sour's settings.

use crate::domain::SettingOrigin::{BuiltIn, Paper};
use crate::domain::{MAX_NUMBER, SettingSpec, TypedSetting, setting_words};

/// All of them, in the order of the table.
pub const LIST: &[SettingSpec] = &[
    POSITIVE_REFLECTIONS.spec,
    NEGATIVE_REFLECTIONS.spec,
    MANAGED.spec,
    TRANSFER.spec,
    SUBGOAL.spec,
    LONG_TERM.spec,
    SHORT_TERM.spec,
    MEMORY_SCOPE.spec,
    REWARD_CARRIES.spec,
];

pub const POSITIVE_REFLECTIONS: TypedSetting<bool> =
    TypedSetting::switch("positive", "a positive reflection is written at each subgoal", true, Paper);

pub const NEGATIVE_REFLECTIONS: TypedSetting<bool> =
    TypedSetting::switch("negative", "a negative reflection is written after a failed attempt", true, Paper);

pub const MANAGED: TypedSetting<bool> = TypedSetting::switch(
    "managed",
    "new memories start in short-term memory; off: they go straight to long-term memory",
    true,
    Paper,
);

setting_words! {
    /// When short-term memory becomes long-term memory.
    pub enum Transfer {
        /// After a successful attempt (Algorithm 1).
        AfterSuccess = "success",
        /// After every attempt (section 2.3).
        Always = "always",
    }
}

pub const TRANSFER: TypedSetting<Transfer> = Transfer::setting(
    "transfer",
    "when short-term memory becomes long-term: after a successful attempt (Algorithm 1), or after every attempt (section 2.3)",
    Transfer::AfterSuccess,
    Paper,
);

setting_words! {
    /// How a step that reaches a subgoal is recognised.
    pub enum Subgoal {
        /// The progress rate rises.
        Progress = "progress",
        /// The reward is positive, as in ScienceWorld (section 2.1).
        Reward = "reward",
    }
}

pub const SUBGOAL: TypedSetting<Subgoal> = Subgoal::setting(
    "subgoal",
    "what counts as a subgoal: a rise in the progress rate, or a positive reward",
    Subgoal::Progress,
    BuiltIn,
);

/// Read by the prompt template.
pub const LONG_TERM: TypedSetting<u64> = TypedSetting::number(
    "long_term",
    "how many of the newest long-term memories are shown",
    MAX_NUMBER,
    (0, MAX_NUMBER),
    BuiltIn,
);

/// Read by the prompt template.
pub const SHORT_TERM: TypedSetting<u64> = TypedSetting::number(
    "short_term",
    "how many of the newest short-term memories are shown",
    MAX_NUMBER,
    (0, MAX_NUMBER),
    BuiltIn,
);

setting_words! {
    /// Where long-term memory applies.
    pub enum MemoryScope {
        Task = "task",
        TaskType = "type",
        Environment = "environment",
    }
}

pub const MEMORY_SCOPE: TypedSetting<MemoryScope> = MemoryScope::setting(
    "memory_scope",
    "which later episodes long-term memory reaches: all (Algorithm 1), tasks of the same type, or only the same task",
    MemoryScope::Environment,
    Paper,
)
.if_missing(MemoryScope::Task);

pub const REWARD_CARRIES: TypedSetting<bool> = TypedSetting::switch(
    "reward_carries",
    "the reward shown to the mentor accumulates across episodes, as in Algorithm 1",
    true,
    Paper,
);
