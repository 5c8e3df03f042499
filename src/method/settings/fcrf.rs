//! FCRF's settings.

use super::{DefaultValue, SettingSpec, choice, number, switch};
use crate::domain::SettingOrigin::Paper;

/// See [`SettingSpec`].
pub const LIST: &[SettingSpec] = &[
    choice(
        "k_table",
        "how many trials get a simple reflection before in-depth ones begin: by equation 7 of the paper, or as the public code rounds it",
        &["fcrf"],
        "paper",
        &["paper", "code"],
        Paper,
    )
    .with_code_default(DefaultValue::Choice("code", &["paper", "code"])),
    number(
        "eptotal",
        "number of trials in the difficulty formula (5 in the paper, fixed in the code)",
        &["fcrf"],
        5,
        (1, 1000),
        Paper,
    ),
    switch(
        "experience",
        "a reflection first summarizes the useful experience of the attempt",
        &["fcrf"],
        true,
        Paper,
    ),
    switch("lesson", "in-depth reflections take a tip from the pool", &["fcrf"], true, Paper),
    choice(
        "lesson_pool",
        "how the pool grows when a failed task is solved: the mentor's lesson is appended; the mentor also shortens the pool after each trial; or only a person adds lessons",
        &["fcrf"],
        "append",
        &["append", "summary", "person"],
        Paper,
    ),
];
