//! The settings of a run: recorded values with their origins, and the typed fields parsed from them.

use super::common_settings::KEEP_ATTEMPTS;
use super::run_settings::Recorded;
use super::{RunSettings, Setting, SettingOrigin, SettingValue, TypedSetting};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// Settings are all values that a method or the engine uses, by name. In files they are a map of [`Setting`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    recorded: Recorded,
    typed: RunSettings,
}

impl Settings {
    /// Returns the settings that the engine reads, as typed fields.
    pub fn typed(&self) -> &RunSettings {
        &self.typed
    }

    /// Returns the value of a setting.
    pub fn get<T: SettingValue>(&self, setting: TypedSetting<T>) -> T {
        self.find(setting).unwrap_or(setting.if_missing)
    }

    /// Returns the value of a setting, or `None` if the run doesn't have it.
    pub fn find<T: SettingValue>(&self, setting: TypedSetting<T>) -> Option<T> {
        setting.read(&self.recorded)
    }

    /// Returns what is recorded under a name.
    pub fn recorded(&self, name: &str) -> Option<&Setting> {
        self.recorded.get(name)
    }

    /// Returns the value that is recorded under a name.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.recorded(name).map(|setting| &setting.value)
    }

    /// Returns a setting as text, or `default` if it is absent or of another type.
    pub fn text<'a>(&'a self, name: &str, default: &'a str) -> &'a str {
        self.value(name).and_then(Value::as_str).unwrap_or(default)
    }

    /// Returns whether something is recorded under a name.
    pub fn contains(&self, name: &str) -> bool {
        self.recorded.contains_key(name)
    }

    /// Returns all settings, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Setting)> {
        self.recorded.iter().map(|(name, setting)| (name.as_str(), setting))
    }

    /// Sets a value and its origin.
    pub fn set(&mut self, name: &str, value: impl Into<Value>, origin: SettingOrigin) {
        self.insert(name, Setting { value: value.into(), origin });
    }

    /// Records a setting, in place of any that has the same name.
    pub fn insert(&mut self, name: impl Into<String>, setting: Setting) {
        self.recorded.insert(name.into(), setting);
        self.typed = RunSettings::parse(&self.recorded);
    }

    /// Records a setting unless there is one with its name.
    pub fn insert_missing(&mut self, name: &str, setting: Setting) {
        if !self.contains(name) {
            self.insert(name, setting);
        }
    }

    /// Records all settings of others, in place of any with their names.
    pub fn extend(&mut self, others: impl IntoIterator<Item = (String, Setting)>) {
        self.recorded.extend(others);
        self.typed = RunSettings::parse(&self.recorded);
    }

    /// Removes a setting.
    pub fn remove(&mut self, name: &str) {
        self.recorded.remove(name);
        self.typed = RunSettings::parse(&self.recorded);
    }

    /// Keeps only the settings with these names.
    pub fn retain(&mut self, is_kept: impl Fn(&str) -> bool) {
        self.recorded.retain(|name, _| is_kept(name));
        self.typed = RunSettings::parse(&self.recorded);
    }
}

impl IntoIterator for Settings {
    type Item = (String, Setting);
    type IntoIter = std::collections::btree_map::IntoIter<String, Setting>;

    fn into_iter(self) -> Self::IntoIter {
        self.recorded.into_iter()
    }
}

impl Serialize for Settings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.recorded.serialize(serializer)
    }
}

/// Reads settings and upgrades those of older sessions, in which any `strategy` implied `keep_attempts`.
impl<'de> Deserialize<'de> for Settings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut recorded = Recorded::deserialize(deserializer)?;
        if recorded.contains_key("strategy") && !recorded.contains_key(KEEP_ATTEMPTS.spec.name) {
            let setting = Setting { value: true.into(), origin: SettingOrigin::BuiltIn };
            recorded.insert(KEEP_ATTEMPTS.spec.name.to_owned(), setting);
        }
        let typed = RunSettings::parse(&recorded);
        Ok(Self { recorded, typed })
    }
}
