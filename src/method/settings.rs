//! What methods, prompts and detectors obey besides the fields of a run: one table for the documents and the start screen.

mod common;
mod fcrf;
mod omnireflect;
mod planning;
mod reflexion;
mod sweet_sour;

use crate::domain::{Limits, SettingOrigin, Settings};
use serde_json::{Value, json};
use std::sync::LazyLock;

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
    /// Its default; where paper and public code differ, the paper's.
    pub default: DefaultValue,
    /// The public code's value, where it is another.
    pub code_default: Option<DefaultValue>,
    /// The least and the greatest number it may be, where it is a number.
    pub range: (u64, u64),
    /// Where the default comes from.
    pub origin: SettingOrigin,
}

/// A default value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultValue {
    /// A whole number.
    Number(u64),
    /// A switch.
    Switch(bool),
    /// A word, and the words it may be replaced by.
    Word(&'static str, &'static [&'static str]),
}

/// The greatest number of what is counted in 32 bits.
const MAX_NUMBER: u64 = u32::MAX as u64;
/// The range of what is no number.
const NOT_A_NUMBER: (u64, u64) = (0, 0);
/// Every setting by name.
pub static SETTINGS: LazyLock<Vec<SettingSpec>> = LazyLock::new(|| {
    [common::LIST, omnireflect::LIST, reflexion::LIST, fcrf::LIST, sweet_sour::LIST, planning::LIST].concat()
});

/// A whole number within a range.
const fn number(
    name: &'static str,
    meaning: &'static str,
    methods: &'static [&'static str],
    default: u64,
    range: (u64, u64),
    origin: SettingOrigin,
) -> SettingSpec {
    SettingSpec {
        name,
        meaning,
        methods,
        default: DefaultValue::Number(default),
        code_default: None,
        range,
        origin,
    }
}

/// A switch.
const fn switch(
    name: &'static str,
    meaning: &'static str,
    methods: &'static [&'static str],
    default: bool,
    origin: SettingOrigin,
) -> SettingSpec {
    let default = DefaultValue::Switch(default);
    SettingSpec { name, meaning, methods, default, code_default: None, range: NOT_A_NUMBER, origin }
}

/// One of a few words.
const fn word(
    name: &'static str,
    meaning: &'static str,
    methods: &'static [&'static str],
    default: &'static str,
    words: &'static [&'static str],
    origin: SettingOrigin,
) -> SettingSpec {
    let default = DefaultValue::Word(default, words);
    SettingSpec { name, meaning, methods, default, code_default: None, range: NOT_A_NUMBER, origin }
}

impl SettingSpec {
    /// The same, with another value in the public code.
    const fn with_code_default(mut self, value: DefaultValue) -> Self {
        self.code_default = Some(value);
        self
    }

    /// What it may be, in words.
    pub fn allowed_values(&self) -> String {
        match (self.default, self.range) {
            (DefaultValue::Number(_), (from, MAX_NUMBER)) => format!("a whole number from {from} on"),
            (DefaultValue::Number(_), (from, to)) => format!("a whole number from {from} to {to}"),
            (DefaultValue::Switch(_), _) => "true or false".to_owned(),
            (DefaultValue::Word(_, words), _) => words.join(", "),
        }
    }

    /// Whether it may have this value; numbers never leave their range.
    ///
    /// # Errors
    /// What was expected, in words.
    pub fn validate(&self, value: &Value) -> Result<(), String> {
        let fits = match self.default {
            DefaultValue::Number(_) => {
                value.as_u64().is_some_and(|n| (self.range.0..=self.range.1).contains(&n))
            }
            DefaultValue::Switch(_) => value.is_boolean(),
            DefaultValue::Word(_, words) => words.iter().any(|word| value == word),
        };
        let bound = match (value.as_u64(), self.range.1) {
            (Some(n), MAX_NUMBER) if n > MAX_NUMBER => format!(", at most {MAX_NUMBER}"),
            _ => String::new(),
        };
        if fits { Ok(()) } else { Err(format!("expected {}{bound}", self.allowed_values())) }
    }
}

/// Puts the bounds that are named among the settings where the engine looks for them. Where none is named the bounds stay.
pub fn apply_limits(settings: &Settings, limits: &mut Limits, loop_detector: &mut bool) {
    let bound = |name: &str| settings.0.get(name).and_then(|s| s.value.as_u64());
    if let Some(moves) = bound("max_moves") {
        limits.moves = u32::try_from(moves).ok().filter(|n| *n > 0);
    }
    if let Some(seconds) = bound("wall_seconds") {
        limits.wall_seconds = Some(seconds).filter(|n| *n > 0);
    }
    *loop_detector = settings.flag("loop_detector", *loop_detector);
}

impl DefaultValue {
    /// As a JSON value.
    pub fn to_json(self) -> Value {
        match self {
            Self::Number(n) => json!(n),
            Self::Switch(on) => json!(on),
            Self::Word(word, _) => json!(word),
        }
    }
}

/// The limits, settings and loop detector a method starts with, each setting with its origin.
///
/// Papers give 50 steps; the public code of ReAct, Reflexion and FCRF counts from 1 to below 50, which is 49. OmniReflect and
/// Sweet&Sour have no public code, so both readings are the paper's.
pub fn defaults(method: &str, reading: PaperOrCode) -> (Limits, Settings, bool) {
    let steps = match (method, reading) {
        ("react" | "reflexion" | "fcrf", PaperOrCode::Code) => 49,
        _ => 50,
    };
    let mut settings = Settings::default();
    for spec in SETTINGS.iter().filter(|s| s.methods.is_empty() || s.methods.contains(&method)) {
        match spec.code_default.filter(|_| reading == PaperOrCode::Code) {
            Some(code) => settings.set(spec.name, code.to_json(), SettingOrigin::Code),
            None => settings.set(spec.name, spec.default.to_json(), spec.origin),
        }
    }
    for (name, value) in code_defaults(method) {
        settings.set(name, value.to_json(), SettingOrigin::Code);
    }
    let loops = settings.flag("loop_detector", false);
    (Limits { steps, moves: None, wall_seconds: None }, settings, loops)
}

/// What Reflexion's public code does where other methods leave it.
const REFLEXION_CODE_DEFAULTS: &[(&str, DefaultValue)] = &[
    ("loop_detector", DefaultValue::Switch(true)),
    ("ask_again", DefaultValue::Number(5)),
    ("least_reply", DefaultValue::Number(5)),
    ("warmer", DefaultValue::Switch(true)),
];

/// The values that a method's public code has for settings that all methods share.
fn code_defaults(method: &str) -> &'static [(&'static str, DefaultValue)] {
    match method {
        "reflexion" => REFLEXION_CODE_DEFAULTS,
        // FCRF's runner is Reflexion's, and mends actions.
        "fcrf" => {
            const FCRF: &[(&str, DefaultValue)] = &[
                REFLEXION_CODE_DEFAULTS[0],
                REFLEXION_CODE_DEFAULTS[1],
                REFLEXION_CODE_DEFAULTS[2],
                REFLEXION_CODE_DEFAULTS[3],
                ("action_rule", DefaultValue::Word("fcrf", &["none", "fcrf"])),
            ];
            FCRF
        }
        _ => &[],
    }
}

/// Trials a task gets where nobody says how many: 15 for Reflexion (its shipped logs and OmniReflect's comparison), 5 for
/// FCRF and its baseline, up to four attempts for Sweet&Sour, else one.
pub fn default_trials(method: &str) -> u32 {
    match method {
        "reflexion" => 15,
        "fcrf" | "planning" => 5,
        "sweet_sour" => 4,
        _ => 1,
    }
}
