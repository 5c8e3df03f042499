//! Changing the value of the selected setting: with the arrow keys, by typing and by pasting.

use super::Chooser;
use crate::catalog::SETTINGS;
use crate::domain::SettingOrigin;
use crate::text::one_line;
use crate::ui::start::types::{AllowedValues, SettingRow};
use crate::ui::widget::list_index::wrapped_index;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use serde_json::Value;

/// The longest value that can be typed, in bytes. No path is longer.
const MAX_VALUE_LEN: usize = 4096;

impl Chooser {
    /// Selects another value of the selected setting, or adds to a number.
    pub(super) fn change_value(&mut self, by: isize) {
        self.is_typing = false;
        let Some(place) = self.selected_setting() else { return };
        let setting = &mut self.model.settings[place];
        match &setting.allowed {
            AllowedValues::Number(from, to) => {
                let number: u64 = setting.value.parse().unwrap_or(*from);
                setting.value = number.saturating_add_signed(by as i64).clamp(*from, *to).to_string();
            }
            AllowedValues::OneOf(words) | AllowedValues::Text { suggestions: words, .. } => {
                let at = words.iter().position(|word| *word == setting.value).unwrap_or(0);
                let Some(word) = words.get(wrapped_index(at, by, words.len())) else { return };
                setting.value.clone_from(word);
            }
        }
        self.mark_changed(place);
    }

    fn mark_changed(&mut self, place: usize) {
        let setting = &mut self.model.settings[place];
        setting.origin = SettingOrigin::Person;
        let name = setting.name.clone();
        if !self.changed.contains(&name) {
            self.changed.push(name.clone());
        }
        self.update_dependent(place);
        self.note = self.model.settings.iter().find(|setting| setting.name == name).and_then(value_error);
    }

    /// Returns the changed settings that exist for the selected preset, method and version.
    fn changed_settings(&self) -> impl Iterator<Item = &SettingRow> {
        self.changed.iter().filter_map(|name| self.model.settings.iter().find(|row| row.name == *name))
    }

    /// Returns the names and values of the changed settings.
    pub(super) fn changed_values(&self) -> Vec<(String, String)> {
        self.changed_settings().map(|setting| (setting.name.clone(), effective_value(setting))).collect()
    }

    /// Returns the first changed setting with an invalid value, and what is wrong.
    pub(super) fn first_error(&self) -> Option<(String, String)> {
        self.changed_settings().find_map(|setting| Some((setting.name.clone(), value_error(setting)?)))
    }

    /// Returns the index of the selected setting if its value can be typed.
    fn typed_setting(&self) -> Option<usize> {
        let place = self.selected_setting()?;
        (!matches!(self.model.settings[place].allowed, AllowedValues::OneOf(_))).then_some(place)
    }

    /// Types into the selected setting. Returns whether it takes text.
    pub(super) fn type_value(&mut self, key: KeyEvent) -> bool {
        let Some(place) = self.typed_setting() else { return false };
        let replaces = self.replaces_value(place);
        let setting = &mut self.model.settings[place];
        let plain = !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        match (key.code, &setting.allowed) {
            (KeyCode::Char(c), AllowedValues::Number(..))
                if c.is_ascii_digit() && setting.value.len() < 18 =>
            {
                if replaces || setting.value == "0" {
                    setting.value.clear();
                }
                setting.value.push(c);
            }
            (KeyCode::Char(c), AllowedValues::Text { .. })
                if plain && setting.value.len() < MAX_VALUE_LEN =>
            {
                if replaces {
                    setting.value.clear();
                }
                let mut bytes = [0; 4];
                setting.value.push_str(&one_line(c.encode_utf8(&mut bytes)));
            }
            (KeyCode::Backspace, _) => {
                setting.value.pop();
            }
            _ => return true,
        }
        self.is_typing = true;
        self.mark_changed(place);
        true
    }

    /// Pastes into the selected setting. Returns whether it takes text.
    pub(super) fn paste_value(&mut self, text: &str) -> bool {
        let Some(place) = self.typed_setting() else { return false };
        let replaces = self.replaces_value(place);
        let setting = &mut self.model.settings[place];
        if !matches!(setting.allowed, AllowedValues::Text { .. }) {
            return false;
        }
        if replaces {
            setting.value.clear();
        }
        setting.value.extend(one_line(text).trim().chars().take(MAX_VALUE_LEN));
        self.is_typing = true;
        self.mark_changed(place);
        true
    }

    /// Returns whether typing replaces the value: it is a number or a suggestion, and nothing has been typed yet.
    fn replaces_value(&self, place: usize) -> bool {
        let setting = &self.model.settings[place];
        let is_replaceable = match &setting.allowed {
            AllowedValues::Number(..) => true,
            AllowedValues::Text { suggestions, .. } => suggestions.contains(&setting.value),
            AllowedValues::OneOf(_) => false,
        };
        is_replaceable && !self.is_typing
    }
}

/// Returns an error message if the value of a setting is invalid.
fn value_error(setting: &SettingRow) -> Option<String> {
    let (from, to) = match setting.allowed {
        AllowedValues::Number(from, to) => (from, to),
        AllowedValues::OneOf(_) => return None,
        AllowedValues::Text { .. } => {
            let spec = SETTINGS.iter().find(|spec| spec.name == setting.name)?;
            let value =
                setting.value.parse::<f64>().map_or_else(|_| setting.value.as_str().into(), Value::from);
            let reason = spec.validate(&value).err()?;
            return Some(format!("{} {}: {reason}", setting.label, setting.value));
        }
    };
    let number: Option<u64> = effective_value(setting).parse().ok();
    let error = match (SETTINGS.iter().find(|spec| spec.name == setting.name), number) {
        (Some(spec), Some(number)) => spec.validate(&number.into()).err(),
        (Some(spec), None) => Some(format!("expected {}", spec.allowed_values())),
        (None, Some(number)) if (from..=to).contains(&number) => None,
        (None, _) => Some(format!("expected an integer of at least {from}")),
    };
    error.map(|reason| format!("{} {}: {reason}", setting.label, effective_value(setting)))
}

/// Returns the value to use: 0 for an empty number.
fn effective_value(setting: &SettingRow) -> String {
    if setting.value.is_empty() && matches!(setting.allowed, AllowedValues::Number(..)) {
        return "0".to_owned();
    }
    setting.value.clone()
}
