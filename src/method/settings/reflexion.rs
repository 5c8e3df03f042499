//! Reflexion's settings, which FCRF's runner shares.

use super::{Fixed, MOST, NO_NUMBER, SettingSpec};
use crate::domain::SettingOrigin;

pub(super) const LIST: &[SettingSpec] = &[
    SettingSpec {
        name: "strategy",
        meaning: "what a new trial is told of those before it: nothing, the last attempt, the plans written after them, or both",
        methods: &["reflexion"],
        default: Fixed::Word("reflexion", &["none", "last-attempt", "reflexion", "both"]),
        code: None,
        range: NO_NUMBER,
        origin: SettingOrigin::Code,
    },
    SettingSpec {
        name: "memory",
        meaning: "newest plans of the task that are shown",
        methods: &["reflexion", "fcrf"],
        default: Fixed::Number(3),
        code: None,
        range: (0, MOST),
        origin: SettingOrigin::Code,
    },
    SettingSpec {
        name: "reflect_after_last",
        meaning: "a plan is written after the last trial too, though nobody will read it",
        methods: &["reflexion", "fcrf"],
        default: Fixed::Switch(false),
        code: Some(Fixed::Switch(true)),
        range: NO_NUMBER,
        origin: SettingOrigin::Paper,
    },
    SettingSpec {
        name: "keep_attempts",
        meaning: "the last failed attempt at each task is kept in memory, for prompts that show it",
        methods: &["fcrf"],
        default: Fixed::Switch(true),
        code: None,
        range: NO_NUMBER,
        origin: SettingOrigin::Ours,
    },
];
