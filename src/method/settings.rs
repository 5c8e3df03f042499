//! The settings that methods, prompts and detectors read.

mod common;

use crate::domain::{Limits, SettingOrigin, Settings};
use serde_json::{Value, json};

/// Which version of a method to use where paper and public code differ (`--as`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PaperOrCode {
    /// As the paper describes it.
    #[default]
    Paper,
    /// As the public code does it.
    Code,
}

/// Describes one setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingSpec {
    pub name: &'static str,
    /// What the setting does, in one sentence.
    pub meaning: &'static str,
    /// The default; where paper and public code differ, the paper's.
    pub default: DefaultValue,
    /// The public code's value, if it differs.
    pub code_default: Option<DefaultValue>,
    /// Inclusive bounds of a number.
    pub range: (u64, u64),
    /// Source of the default.
    pub origin: SettingOrigin,
}

/// A default value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultValue {
    /// A whole number.
    Number(u64),
    /// A switch.
    Switch(bool),
    /// A word, with all allowed words.
    Choice(&'static str, &'static [&'static str]),
}

/// The greatest value of numbers stored in 32 bits.
pub const MAX_NUMBER: u64 = u32::MAX as u64;
/// The range of settings that are not numbers.
const NOT_A_NUMBER: (u64, u64) = (0, 0);

pub use common::LIST as COMMON;

/// Creates a setting that is a whole number within a range.
pub const fn number(
    name: &'static str,
    meaning: &'static str,
    default: u64,
    range: (u64, u64),
    origin: SettingOrigin,
) -> SettingSpec {
    SettingSpec { name, meaning, default: DefaultValue::Number(default), code_default: None, range, origin }
}

/// Creates a switch.
pub const fn switch(
    name: &'static str,
    meaning: &'static str,
    default: bool,
    origin: SettingOrigin,
) -> SettingSpec {
    let default = DefaultValue::Switch(default);
    SettingSpec { name, meaning, default, code_default: None, range: NOT_A_NUMBER, origin }
}

/// Creates a setting that is one of a few words.
pub const fn choice(
    name: &'static str,
    meaning: &'static str,
    default: &'static str,
    words: &'static [&'static str],
    origin: SettingOrigin,
) -> SettingSpec {
    let default = DefaultValue::Choice(default, words);
    SettingSpec { name, meaning, default, code_default: None, range: NOT_A_NUMBER, origin }
}

impl SettingSpec {
    /// Sets the value of the public code, which differs from the default.
    pub const fn with_code_default(mut self, value: DefaultValue) -> Self {
        self.code_default = Some(value);
        self
    }

    /// Describes the allowed values.
    pub fn allowed_values(&self) -> String {
        match (self.default, self.range) {
            (DefaultValue::Number(_), (from, MAX_NUMBER)) => format!("a whole number, at least {from}"),
            (DefaultValue::Number(_), (from, to)) => format!("a whole number from {from} to {to}"),
            (DefaultValue::Switch(_), _) => "true or false".to_owned(),
            (DefaultValue::Choice(_, words), _) => words.join(", "),
        }
    }

    /// Checks whether a value is allowed; numbers must be within their range.
    ///
    /// # Errors
    /// Returns a description of the allowed values.
    pub fn validate(&self, value: &Value) -> Result<(), String> {
        let is_allowed = match self.default {
            DefaultValue::Number(_) => {
                value.as_u64().is_some_and(|n| (self.range.0..=self.range.1).contains(&n))
            }
            DefaultValue::Switch(_) => value.is_boolean(),
            DefaultValue::Choice(_, words) => words.iter().any(|word| value == word),
        };
        let bound = match (value.as_u64(), self.range.1) {
            (Some(n), MAX_NUMBER) if n > MAX_NUMBER => format!(", at most {MAX_NUMBER}"),
            _ => String::new(),
        };
        if is_allowed { Ok(()) } else { Err(format!("expected {}{bound}", self.allowed_values())) }
    }
}

/// Copies limits given as settings to the fields where the engine reads them. Limits that are not set stay unchanged.
pub fn apply_limits(settings: &Settings, limits: &mut Limits, loop_detector: &mut bool) {
    let limit = |name: &str| settings.0.get(name).and_then(|s| s.value.as_u64());
    if let Some(moves) = limit("max_moves") {
        limits.moves = u32::try_from(moves).ok().filter(|n| *n > 0);
    }
    if let Some(seconds) = limit("wall_seconds") {
        limits.wall_seconds = Some(seconds).filter(|n| *n > 0);
    }
    *loop_detector = settings.flag("loop_detector", *loop_detector);
}

impl DefaultValue {
    /// Converts the value to JSON.
    pub fn to_json(self) -> Value {
        match self {
            Self::Number(n) => json!(n),
            Self::Switch(on) => json!(on),
            Self::Choice(word, _) => json!(word),
        }
    }
}
