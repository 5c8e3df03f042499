//! FCRF's settings.

use super::{DefaultValue, SettingSpec, number, switch, word};
use crate::domain::SettingOrigin::Paper;

pub(super) const LIST: &[SettingSpec] = &[
    word(
        "k_table",
        "after how many trials the reflection changes from simple to in-depth: by equation 7 of the paper, or as the public code rounds it",
        &["fcrf"],
        "paper",
        &["paper", "code"],
        Paper,
    )
    .with_code_default(DefaultValue::Word("code", &["paper", "code"])),
    number(
        "eptotal",
        "trials the difficulty of a task is spread over (5 in the paper, and fixed in the code)",
        &["fcrf"],
        5,
        (1, 1000),
        Paper,
    ),
    switch(
        "experience",
        "what was worth keeping of an attempt is summarised first",
        &["fcrf"],
        true,
        Paper,
    ),
    switch("lesson", "in-depth reflection takes a tip from the pool", &["fcrf"], true, Paper),
    word(
        "lesson_pool",
        "how the pool of lessons grows with a task that was corrected: the mentor's lesson is appended, the mentor also makes the pool shorter after each trial, or only a person adds to it",
        &["fcrf"],
        "append",
        &["append", "summary", "person"],
        Paper,
    ),
];
