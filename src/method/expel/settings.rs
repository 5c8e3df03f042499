//! ExpeL's settings.

use crate::domain::SettingOrigin::{BuiltIn, Code};
use crate::domain::common_settings::{KEEP_ATTEMPTS, KEEP_SUCCESSES, MEMORY, PER_TYPE};
use crate::domain::{MAX_NUMBER, SettingSpec, TypedSetting};

/// All of them, in the order of the table.
pub const LIST: &[SettingSpec] = &[
    PER_TYPE.spec,
    GATHER_TRIALS.spec,
    SUCCESS_BATCH.spec,
    MAX_INSIGHTS.spec,
    RECALL.spec,
    MEMORY.spec,
    KEEP_ATTEMPTS.spec,
    KEEP_SUCCESSES.spec,
];

pub const GATHER_TRIALS: TypedSetting<u64> = TypedSetting::number(
    "gather_trials",
    "attempts at each training task, a plan being written after each failed one but the last",
    4,
    (1, MAX_NUMBER),
    Code,
);

/// Also read by the prompt templates.
pub const SUCCESS_BATCH: TypedSetting<u64> = TypedSetting::number(
    "success_batch",
    "how many successful attempts at different tasks the mentor draws insights from at once",
    8,
    (1, 1000),
    BuiltIn,
);

pub const MAX_INSIGHTS: TypedSetting<u64> = TypedSetting::number(
    "max_insights",
    "from this number of insights on, none is added, and a vote against one counts three times",
    20,
    (1, 1000),
    Code,
);

/// Read by the prompt templates.
pub const RECALL: TypedSetting<u64> = TypedSetting::number(
    "recall",
    "how many successful attempts at the most similar training tasks a prompt shows, in place of as many examples",
    2,
    (0, 100),
    BuiltIn,
);
