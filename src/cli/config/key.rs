//! Configuration keys: one entry each, and the type of its values.

use super::value::ValueType;
use crate::domain::SettingValue;
use serde_json::Value;
use std::marker::PhantomData;
use std::ops::Deref;
use std::path::PathBuf;

/// One configuration key. Everything about it is said here once: the file, its environment variable, its flag with the
/// help of the command line and the completions, the start screen and the reference use this.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name with its table, such as `screen.theme`.
    pub name: &'static str,
    /// Description, one sentence.
    pub meaning: &'static str,
    pub value_type: ValueType,
    /// Default in the form of a flag's value; empty if there is none.
    pub default: &'static str,
    /// Environment variable that sets it.
    pub variable: &'static str,
    /// Flag that sets it, such as `--seed`; empty if there is none.
    pub flag: &'static str,
    /// What the help of the flag calls its value.
    pub value_name: &'static str,
    /// A phrase for what to type on the start screen, such as "a URL"; empty if the type of the values says it.
    pub expected: &'static str,
    /// What the start screen shows for an empty value.
    pub none_label: &'static str,
}

/// A configuration key together with the type of its values, which [`Config::get`](super::Config::get) returns.
pub struct Key<T> {
    entry: Entry,
    read: PhantomData<fn() -> T>,
}

impl<T> Clone for Key<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Key<T> {}

impl<T> Deref for Key<T> {
    type Target = Entry;

    fn deref(&self) -> &Entry {
        &self.entry
    }
}

impl<T> Key<T> {
    /// Creates a key with neither variable nor flag.
    pub const fn new(
        name: &'static str,
        meaning: &'static str,
        value_type: ValueType,
        default: &'static str,
    ) -> Self {
        let (variable, flag, value_name, expected, none_label) = ("", "", "", "", "none");
        let entry =
            Entry { name, meaning, value_type, default, variable, flag, value_name, expected, none_label };
        Self { entry, read: PhantomData }
    }

    /// Says what to type on the start screen, and what it shows for an empty value.
    #[must_use]
    pub const fn typed(mut self, expected: &'static str, none_label: &'static str) -> Self {
        self.entry.expected = expected;
        self.entry.none_label = none_label;
        self
    }

    /// Adds the environment variable that sets it.
    #[must_use]
    pub const fn variable(mut self, name: &'static str) -> Self {
        self.entry.variable = name;
        self
    }

    /// Adds the flag that sets it.
    #[must_use]
    pub const fn flag(mut self, flag: &'static str, value_name: &'static str) -> Self {
        self.entry.flag = flag;
        self.entry.value_name = value_name;
        self
    }

    /// Returns the entry of this key.
    pub const fn entry(&self) -> Entry {
        self.entry
    }
}

/// A type of configuration values.
pub trait ConfigValue {
    type Read<'a>;

    /// Reads a value, which is valid; `None` if the key isn't set.
    fn read(value: Option<&Value>) -> Self::Read<'_>;
}

/// A text; empty if unset.
pub enum Text {}

/// A path, with `~/` expanded.
pub enum FilePath {}

/// A list of texts.
pub enum TextList {}

impl ConfigValue for Text {
    type Read<'a> = &'a str;

    fn read(value: Option<&Value>) -> &str {
        value.and_then(Value::as_str).unwrap_or("")
    }
}

impl ConfigValue for FilePath {
    type Read<'a> = Option<PathBuf>;

    fn read(value: Option<&Value>) -> Option<PathBuf> {
        let text = Text::read(value);
        if text.is_empty() {
            return None;
        }
        match (text.strip_prefix("~/"), etcetera::home_dir()) {
            (Some(rest), Ok(home)) => Some(home.join(rest)),
            _ => Some(PathBuf::from(text)),
        }
    }
}

impl ConfigValue for TextList {
    type Read<'a> = Vec<String>;

    fn read(value: Option<&Value>) -> Vec<String> {
        let all = value.and_then(Value::as_array);
        all.into_iter().flatten().filter_map(|v| v.as_str().map(str::to_owned)).collect()
    }
}

/// A word of a setting, or `ask`, as older configurations have it: the default, until a person chooses another.
pub struct OrAsk<T>(PhantomData<T>);

impl<T> OrAsk<T> {
    /// The word for no choice in advance.
    pub const ASK: &'static str = "ask";
}

impl<T: SettingValue> ConfigValue for OrAsk<T> {
    type Read<'a> = Option<T>;

    fn read(value: Option<&Value>) -> Option<T> {
        value.and_then(T::read)
    }
}

/// Numbers, switches and enums of words.
impl<T: SettingValue + Default> ConfigValue for T {
    type Read<'a> = T;

    fn read(value: Option<&Value>) -> T {
        value.and_then(T::read).unwrap_or_default()
    }
}
