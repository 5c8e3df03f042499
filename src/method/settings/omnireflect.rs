//! OmniReflect's settings.

use super::{Fixed, MOST, NO_NUMBER, SettingSpec};
use crate::domain::SettingOrigin;

const OMNI: &[&str] = &["omnireflect"];

pub(super) const LIST: &[SettingSpec] = &[
    SettingSpec {
        name: "generation",
        meaning: "how reflections are written: by rules, by a mentor, or by a mentor that is shown what rules wrote",
        methods: OMNI,
        default: Fixed::Word("symbolic", &["symbolic", "neural", "neuro-symbolic"]),
        code: None,
        range: NO_NUMBER,
        origin: SettingOrigin::Paper,
    },
    SettingSpec {
        name: "reflect",
        meaning: "when rules reflect: when a condition fires, every r_freq turns, or never; a mentor always reflects every r_freq turns, or never",
        methods: OMNI,
        default: Fixed::Word("conditions", &["conditions", "periodic", "never"]),
        code: None,
        range: NO_NUMBER,
        origin: SettingOrigin::Paper,
    },
    SettingSpec {
        name: "r_freq",
        meaning: "turns from one periodic reflection to the next",
        methods: OMNI,
        default: Fixed::Number(10),
        code: None,
        range: (1, MOST),
        origin: SettingOrigin::Paper,
    },
    SettingSpec {
        name: "offset",
        meaning: "the first turn at which a periodic reflection fires, counted from 0",
        methods: OMNI,
        default: Fixed::Number(0),
        code: None,
        range: (0, MOST),
        origin: SettingOrigin::Paper,
    },
    SettingSpec {
        name: "progress",
        meaning: "whether a new Progress lesson replaces the one before or joins it",
        methods: OMNI,
        default: Fixed::Word("replace", &["replace", "append"]),
        code: None,
        range: NO_NUMBER,
        origin: SettingOrigin::Ours,
    },
    SettingSpec {
        name: "s_freq",
        meaning: "ended tasks from one summary of the constitution by the mentor to the next; 0: none",
        methods: OMNI,
        default: Fixed::Number(10),
        code: None,
        range: (0, MOST),
        origin: SettingOrigin::Paper,
    },
    SettingSpec {
        name: "reflect_at_end",
        meaning: "a reflection that is due at the turn that ends the episode is still written",
        methods: OMNI,
        default: Fixed::Switch(true),
        code: None,
        range: NO_NUMBER,
        origin: SettingOrigin::Paper,
    },
    SettingSpec {
        name: "kind_abstract",
        meaning: "Abstract reflections are written",
        methods: OMNI,
        default: Fixed::Switch(true),
        code: None,
        range: NO_NUMBER,
        origin: SettingOrigin::Paper,
    },
    SettingSpec {
        name: "kind_error",
        meaning: "Error reflections are written",
        methods: OMNI,
        default: Fixed::Switch(true),
        code: None,
        range: NO_NUMBER,
        origin: SettingOrigin::Paper,
    },
    SettingSpec {
        name: "kind_progress",
        meaning: "Progress reflections are written",
        methods: OMNI,
        default: Fixed::Switch(true),
        code: None,
        range: NO_NUMBER,
        origin: SettingOrigin::Paper,
    },
];
