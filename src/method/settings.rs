//! What methods, prompts and detectors obey besides the fields of a run: one table for the documents and the start screen.

use crate::domain::{Limits, SettingOrigin, Settings};
use crate::symbolic::thresholds;
use serde_json::{Value, json};

/// Which reading of a method is wanted where paper and public code differ (`--as`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PaperOrCode {
    /// What the paper says.
    #[default]
    Paper,
    /// What the public code does.
    Code,
}

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct SettingSpec {
    /// Its name.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub meaning: &'static str,
    /// The methods it is for; none: all.
    pub methods: &'static [&'static str],
    /// Its default.
    pub default: Fixed,
    /// Where the default comes from.
    pub origin: SettingOrigin,
}

/// A default value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fixed {
    /// A whole number.
    Number(u64),
    /// A switch.
    Switch(bool),
    /// A word, and the words it may be replaced by.
    Word(&'static str, &'static [&'static str]),
}

const OMNI: &[&str] = &["omnireflect"];

/// Every setting by name.
pub const SETTINGS: &[SettingSpec] = &[
    SettingSpec {
        name: "context_tokens",
        meaning: "tokens a prompt may have, by our estimate; the oldest steps are left out first",
        methods: &[],
        default: Fixed::Number(8192),
        origin: SettingOrigin::Ours,
    },
    SettingSpec {
        name: "examples",
        meaning: "solved tasks shown in a prompt, 0 to 2",
        methods: &[],
        default: Fixed::Number(2),
        origin: SettingOrigin::Paper,
    },
    SettingSpec {
        name: "lessons_by_scope",
        meaning: "only lessons whose scope reaches the task enter the prompt",
        methods: &[],
        default: Fixed::Switch(false),
        origin: SettingOrigin::Ours,
    },
    SettingSpec {
        name: "thoughts_count",
        meaning: "a step that only thinks counts against the cap",
        methods: &[],
        default: Fixed::Switch(true),
        origin: SettingOrigin::Code,
    },
    SettingSpec {
        name: "thoughts_sent",
        meaning: "thoughts are sent to the world as actions",
        methods: &[],
        default: Fixed::Switch(true),
        origin: SettingOrigin::Code,
    },
    SettingSpec {
        name: "generation",
        meaning: "how reflections are written",
        methods: OMNI,
        default: Fixed::Word("symbolic", &["symbolic"]),
        origin: SettingOrigin::Paper,
    },
    SettingSpec {
        name: "reflect",
        meaning: "when to reflect: when a condition fires, every r_freq turns, or never",
        methods: OMNI,
        default: Fixed::Word("conditions", &["conditions", "periodic", "never"]),
        origin: SettingOrigin::Paper,
    },
    SettingSpec {
        name: "r_freq",
        meaning: "turns from one periodic reflection to the next",
        methods: OMNI,
        default: Fixed::Number(10),
        origin: SettingOrigin::Paper,
    },
    SettingSpec {
        name: "offset",
        meaning: "the first turn at which a periodic reflection fires, counted from 0",
        methods: OMNI,
        default: Fixed::Number(0),
        origin: SettingOrigin::Paper,
    },
    SettingSpec {
        name: "progress",
        meaning: "whether a new Progress lesson replaces the one before or joins it",
        methods: OMNI,
        default: Fixed::Word("replace", &["replace", "append"]),
        origin: SettingOrigin::Ours,
    },
    SettingSpec {
        name: "repeat_after",
        meaning: "how often the same action does nothing before it is called a repeat",
        methods: &[],
        default: Fixed::Number(thresholds::REPEAT_AFTER),
        origin: SettingOrigin::Ours,
    },
    SettingSpec {
        name: "circle_visits",
        meaning: "visits of one place without progress that are called going in circles",
        methods: &[],
        default: Fixed::Number(thresholds::CIRCLE_VISITS),
        origin: SettingOrigin::Ours,
    },
    SettingSpec {
        name: "circle_window",
        meaning: "steps without progress before going in circles can be noted",
        methods: &[],
        default: Fixed::Number(thresholds::CIRCLE_WINDOW),
        origin: SettingOrigin::Ours,
    },
];

impl Fixed {
    /// As a JSON value.
    pub fn value(self) -> Value {
        match self {
            Self::Number(n) => json!(n),
            Self::Switch(on) => json!(on),
            Self::Word(word, _) => json!(word),
        }
    }
}

/// The limits, settings and loop detector a method starts with, each setting with its origin.
///
/// Papers give 50 steps; ReAct's public code (and so Reflexion's) counts from 1 to below 50, which is 49. OmniReflect has
/// no public code, so both readings are the paper's. The loop detector is Reflexion's and off here.
pub fn defaults(method: &str, reading: PaperOrCode) -> (Limits, Settings, bool) {
    let steps = match (method, reading) {
        ("react", PaperOrCode::Code) => 49,
        _ => 50,
    };
    let mut settings = Settings::default();
    for spec in SETTINGS.iter().filter(|s| s.methods.is_empty() || s.methods.contains(&method)) {
        settings.set(spec.name, spec.default.value(), spec.origin);
    }
    (Limits { steps, moves: None, wall_seconds: None }, settings, false)
}
