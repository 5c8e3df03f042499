//! FCRF's settings.

use crate::domain::SettingOrigin::Paper;
use crate::domain::common_settings::{
    EMPTY_ACTION, KEEP_ATTEMPTS, KEPT_ATTEMPT, MEMORY, REFLECT_AFTER_LAST, SUMMARY_KEEPS, SUMMARY_TOKENS,
};
use crate::domain::{SettingSpec, TypedSetting, setting_words};

/// All of them, in the order of the table.
pub const LIST: &[SettingSpec] = &[
    K_TABLE.spec,
    EPTOTAL.spec,
    EXPERIENCE.spec,
    LESSON.spec,
    LESSON_POOL.spec,
    KEPT_ATTEMPT.spec,
    SUMMARY_KEEPS.spec,
    SUMMARY_TOKENS.spec,
    MEMORY.spec,
    REFLECT_AFTER_LAST.spec,
    EMPTY_ACTION.spec,
    KEEP_ATTEMPTS.spec,
];

setting_words! {
    /// How the number of simple reflections is computed.
    pub enum SimpleTrials {
        /// Equation 7 of the paper.
        Paper = "paper",
        /// The rounding of the public code.
        Code = "code",
    }
}

pub const K_TABLE: TypedSetting<SimpleTrials> = SimpleTrials::setting(
    "k_table",
    "how many trials get a simple reflection before in-depth ones begin: by equation 7 of the paper, or as the public code rounds it",
    SimpleTrials::Paper,
    Paper,
)
.with_code_default(SimpleTrials::Code.as_default());

pub const EPTOTAL: TypedSetting<u64> = TypedSetting::number(
    "eptotal",
    "number of trials in the difficulty formula (5 in the paper, fixed in the code)",
    5,
    (1, 1000),
    Paper,
);

pub const EXPERIENCE: TypedSetting<bool> = TypedSetting::switch(
    "experience",
    "a reflection first summarizes the useful experience of the attempt",
    true,
    Paper,
);

pub const LESSON: TypedSetting<bool> =
    TypedSetting::switch("lesson", "in-depth reflections take a tip from the pool", true, Paper);

setting_words! {
    /// How the pool of lessons grows when a failed task is solved.
    pub enum PoolGrowth {
        /// The mentor's lesson is appended.
        Append = "append",
        /// The mentor also shortens the pool after each trial.
        Summary = "summary",
        /// Only a person adds lessons.
        Person = "person",
    }
}

pub const LESSON_POOL: TypedSetting<PoolGrowth> = PoolGrowth::setting(
    "lesson_pool",
    "how the pool grows when a failed task is solved: the mentor's lesson is appended; the mentor also shortens the pool after each trial; or only a person adds lessons",
    PoolGrowth::Append,
    Paper,
);
