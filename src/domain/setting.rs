//! What a setting of a run is: its name, type, default and meaning. Each is declared once, where it is used; the catalog
//! puts them into one table (`catalog::SETTINGS`).

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt;

/// A setting's origin says where its value comes from, such as a paper, public code, a flag or a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingOrigin {
    /// Stated in a paper.
    Paper,
    /// Taken from public code.
    Code,
    /// Our own default, where no source specifies one.
    #[serde(rename = "ours")]
    BuiltIn,
    Config,
    /// A command-line flag.
    Flag,
    /// A person, during the run.
    Person,
    /// Implied by the kind of mentor: a model, or a recording of one.
    Mentor,
}

/// A setting is a named value with its origin, as the start screen and the journal list it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    pub value: Value,
    pub origin: SettingOrigin,
}

/// A setting spec declares a setting of a run: its name, type, default and meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingSpec {
    pub name: &'static str,
    /// What lists call it, if that isn't the name with spaces.
    pub label: Option<&'static str>,
    /// What the setting does, in one sentence.
    pub meaning: &'static str,
    /// The default; where paper and public code differ, the paper's.
    pub default: DefaultValue,
    /// The public code's value, if it differs.
    pub code_default: Option<DefaultValue>,
    /// The default in a run whose mentor is a model, if it differs: naming a model means that it should be called.
    pub model_mentor_default: Option<DefaultValue>,
    /// Inclusive bounds of a number; of one with decimals, in hundredths.
    pub range: (u64, u64),
    /// Whether 0 means that there is no limit.
    pub is_unlimited_at_zero: bool,
    /// Source of the default.
    pub origin: SettingOrigin,
}

/// A default value is what a setting is if nobody sets it. It also gives the type of the setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultValue {
    /// A whole number.
    Number(u64),
    /// A number with decimals, given here in hundredths.
    Decimal(u64),
    /// A switch.
    Switch(bool),
    /// A word, with all allowed words.
    Choice(&'static str, &'static [&'static str]),
}

/// A typed setting is a setting together with the type of its values, which [`Settings::get`](super::Settings::get) returns.
#[derive(Clone, Copy, Debug)]
pub struct TypedSetting<T> {
    pub spec: SettingSpec,
    /// The value in a run that doesn't have the setting: one of an older version, or of a method without it.
    pub if_missing: T,
}

/// A type of values of settings.
pub trait SettingValue: Copy {
    /// Reads a recorded value; `None` if it has another type or is an unknown word.
    fn read(value: &Value) -> Option<Self>;
}

impl SettingValue for bool {
    fn read(value: &Value) -> Option<Self> {
        value.as_bool()
    }
}

impl SettingValue for u64 {
    fn read(value: &Value) -> Option<Self> {
        value.as_u64()
    }
}

impl SettingValue for f64 {
    fn read(value: &Value) -> Option<Self> {
        value.as_f64()
    }
}

/// Declares an enum of the words that a setting allows, with a function that creates such a setting.
#[macro_export]
macro_rules! setting_words {
    ($(#[$attribute:meta])* $visibility:vis enum $name:ident {
        $($(#[$variant_attribute:meta])* $variant:ident = $word:literal,)+
    }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visibility enum $name {
            $($(#[$variant_attribute])* $variant,)+
        }

        impl $name {
            /// All words, in the order of the declaration.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// Returns the word of this value.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// Returns the value of a word.
            pub fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }

            /// Returns this value as a default.
            pub const fn as_default(self) -> $crate::domain::DefaultValue {
                $crate::domain::DefaultValue::Choice(self.word(), Self::WORDS)
            }

            /// Creates a setting with these words.
            pub const fn setting(
                name: &'static str,
                meaning: &'static str,
                default: Self,
                origin: $crate::domain::SettingOrigin,
            ) -> $crate::domain::TypedSetting<Self> {
                $crate::domain::TypedSetting::new(name, meaning, default.as_default(), default, origin)
            }
        }

        impl $crate::domain::SettingValue for $name {
            fn read(value: &serde_json::Value) -> Option<Self> {
                value.as_str().and_then(Self::from_word)
            }
        }
    };
}
pub use setting_words;

setting_words! {
    /// Which version of a method to use where paper and public code differ (`--as`).
    #[derive(Default)]
    pub enum PaperOrCode {
        /// As the paper describes it.
        #[default]
        Paper = "paper",
        /// As the public code does it.
        Code = "code",
    }
}

/// The greatest value of numbers stored in 32 bits.
pub const MAX_NUMBER: u64 = u32::MAX as u64;

impl TypedSetting<u64> {
    /// Creates a setting that is a whole number within a range.
    pub const fn number(
        name: &'static str,
        meaning: &'static str,
        default: u64,
        range: (u64, u64),
        origin: SettingOrigin,
    ) -> Self {
        let mut setting = Self::new(name, meaning, DefaultValue::Number(default), default, origin);
        setting.spec.range = range;
        setting
    }
}

impl TypedSetting<f64> {
    /// Creates a setting that is a number with decimals; default and range are given in hundredths.
    pub const fn decimal(
        name: &'static str,
        meaning: &'static str,
        default: u64,
        range: (u64, u64),
        origin: SettingOrigin,
    ) -> Self {
        let mut setting =
            Self::new(name, meaning, DefaultValue::Decimal(default), default as f64 / 100.0, origin);
        setting.spec.range = range;
        setting
    }
}

impl TypedSetting<bool> {
    /// Creates a switch.
    pub const fn switch(
        name: &'static str,
        meaning: &'static str,
        default: bool,
        origin: SettingOrigin,
    ) -> Self {
        Self::new(name, meaning, DefaultValue::Switch(default), default, origin)
    }
}

impl<T: Copy> TypedSetting<T> {
    /// Creates a setting whose default is given as both types.
    pub const fn new(
        name: &'static str,
        meaning: &'static str,
        default: DefaultValue,
        if_missing: T,
        origin: SettingOrigin,
    ) -> Self {
        let (label, code_default, model_mentor_default) = (None, None, None);
        let spec = SettingSpec {
            name,
            label,
            meaning,
            default,
            code_default,
            model_mentor_default,
            range: (0, 0),
            is_unlimited_at_zero: false,
            origin,
        };
        Self { spec, if_missing }
    }

    /// Sets what lists call it: its name is an abbreviation.
    pub const fn with_label(mut self, label: &'static str) -> Self {
        self.spec.label = Some(label);
        self
    }

    /// Makes 0 mean that there is no limit.
    pub const fn unlimited_at_zero(mut self) -> Self {
        self.spec.is_unlimited_at_zero = true;
        self
    }

    /// Sets the value of the public code, which differs from the default.
    pub const fn with_code_default(mut self, value: DefaultValue) -> Self {
        self.spec.code_default = Some(value);
        self
    }

    /// Sets the default in a run whose mentor is a model.
    pub const fn with_model_mentor_default(mut self, value: DefaultValue) -> Self {
        self.spec.model_mentor_default = Some(value);
        self
    }

    /// Sets the value in a run that doesn't have the setting, which differs from the default.
    pub const fn if_missing(mut self, value: T) -> Self {
        self.if_missing = value;
        self
    }
}

impl SettingSpec {
    /// Returns what lists call the setting.
    pub fn label(&self) -> Cow<'static, str> {
        self.label.map_or_else(|| self.name.replace('_', " ").into(), Cow::Borrowed)
    }

    /// Describes the allowed values.
    pub fn allowed_values(&self) -> String {
        match (self.default, self.range) {
            (DefaultValue::Number(_), (from, MAX_NUMBER)) => format!("a whole number, at least {from}"),
            (DefaultValue::Number(_), (from, to)) => format!("a whole number from {from} to {to}"),
            (DefaultValue::Decimal(_), (from, to)) => {
                format!("a number from {} to {}", from as f64 / 100.0, to as f64 / 100.0)
            }
            (DefaultValue::Switch(_), _) => "true or false".to_owned(),
            (DefaultValue::Choice(_, words), _) => words.join(", "),
        }
    }

    /// Formats the default; the greatest number means that there is no limit.
    pub fn describe_default(&self) -> String {
        match self.default {
            DefaultValue::Number(MAX_NUMBER) => "no limit".to_owned(),
            default => default.to_json().to_string(),
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
            DefaultValue::Decimal(_) => value
                .as_f64()
                .is_some_and(|n| (self.range.0 as f64..=self.range.1 as f64).contains(&(n * 100.0))),
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

/// As a person writes it in a flag or a configuration.
impl fmt::Display for DefaultValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(out),
            Self::Decimal(hundredths) => (*hundredths as f64 / 100.0).fmt(out),
            Self::Switch(is_on) => is_on.fmt(out),
            Self::Choice(word, _) => out.write_str(word),
        }
    }
}

impl DefaultValue {
    /// Converts the value to JSON.
    pub fn to_json(self) -> Value {
        match self {
            Self::Number(n) => json!(n),
            Self::Decimal(hundredths) => json!(hundredths as f64 / 100.0),
            Self::Switch(on) => json!(on),
            Self::Choice(word, _) => json!(word),
        }
    }
}
