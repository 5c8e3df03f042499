//! FCRF's settings.

use crate::domain::SettingOrigin::Paper;
use crate::method::reflexion::settings::{EMPTY_ACTION, KEEP_ATTEMPTS, MEMORY, REFLECT_AFTER_LAST};
use crate::method::settings::{DefaultValue, SettingSpec, choice, number, switch};

/// See [`SettingSpec`].
pub const LIST: &[SettingSpec] = &[
    choice(
        "k_table",
        "how many trials get a simple reflection before in-depth ones begin: by equation 7 of the paper, or as the public code rounds it",
        "paper",
        &["paper", "code"],
        Paper,
    )
    .with_code_default(DefaultValue::Choice("code", &["paper", "code"])),
    number(
        "eptotal",
        "number of trials in the difficulty formula (5 in the paper, fixed in the code)",
        5,
        (1, 1000),
        Paper,
    ),
    switch(
        "experience",
        "a reflection first summarizes the useful experience of the attempt",
        true,
        Paper,
    ),
    switch("lesson", "in-depth reflections take a tip from the pool", true, Paper),
    choice(
        "lesson_pool",
        "how the pool grows when a failed task is solved: the mentor's lesson is appended; the mentor also shortens the pool after each trial; or only a person adds lessons",
        "append",
        &["append", "summary", "person"],
        Paper,
    ),
    MEMORY,
    REFLECT_AFTER_LAST,
    EMPTY_ACTION,
    KEEP_ATTEMPTS,
];
