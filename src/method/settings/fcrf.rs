//! FCRF's settings.

use super::{Fixed, NO_NUMBER, SettingSpec};
use crate::domain::SettingOrigin;

pub(super) const LIST: &[SettingSpec] = &[
    SettingSpec {
        name: "k_table",
        meaning: "after how many trials the reflection changes from simple to in-depth: by equation 7 of the paper, or as the public code rounds it",
        methods: &["fcrf"],
        default: Fixed::Word("paper", &["paper", "code"]),
        code: Some(Fixed::Word("code", &["paper", "code"])),
        range: NO_NUMBER,
        origin: SettingOrigin::Paper,
    },
    SettingSpec {
        name: "eptotal",
        meaning: "trials the difficulty of a task is spread over (5 in the paper, and fixed in the code)",
        methods: &["fcrf"],
        default: Fixed::Number(5),
        code: None,
        range: (1, 1000),
        origin: SettingOrigin::Paper,
    },
    SettingSpec {
        name: "experience",
        meaning: "what was worth keeping of an attempt is summarised first",
        methods: &["fcrf"],
        default: Fixed::Switch(true),
        code: None,
        range: NO_NUMBER,
        origin: SettingOrigin::Paper,
    },
    SettingSpec {
        name: "lesson",
        meaning: "in-depth reflection takes a tip from the pool",
        methods: &["fcrf"],
        default: Fixed::Switch(true),
        code: None,
        range: NO_NUMBER,
        origin: SettingOrigin::Paper,
    },
    SettingSpec {
        name: "lesson_pool",
        meaning: "how the pool of lessons grows with a task that was corrected: the mentor's lesson is appended, the mentor also makes the pool shorter after each trial, or only a person adds to it",
        methods: &["fcrf"],
        default: Fixed::Word("append", &["append", "summary", "person"]),
        code: None,
        range: NO_NUMBER,
        origin: SettingOrigin::Paper,
    },
];
