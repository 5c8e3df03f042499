//! Settings that change others: preset, method and `run.as` bring their own settings, a model its server profile.

use super::{Chooser, Section};
use crate::catalog::{find_setting, mentor_default};
use crate::domain::SettingOrigin;
use crate::ui::start::types::SettingsVariant;

/// The setting for a preset: a row of a paper's table, or a preset of the configuration.
const PRESET: &str = "run.preset";
/// The setting for the method.
const METHOD: &str = "run.method";
/// The setting for whether the paper or its public code is followed.
const PAPER_OR_CODE: &str = "run.as";
/// The settings for a model, each with the one for its server profile.
const MODEL_SETTINGS: [(&str, &str); 2] =
    [("run.actor", "run.profile"), ("run.mentor", "run.mentor_profile")];

impl Chooser {
    /// Updates the settings that depend on a changed one.
    pub(super) fn update_dependent(&mut self, changed: &str) {
        if matches!(changed, PRESET | METHOD | PAPER_OR_CODE) {
            self.apply_variant(changed);
        }
        self.apply_model_profile(changed);
        self.update_mentor_defaults();
    }

    /// Gives the settings that the person hasn't set the values that the mentor implies.
    fn update_mentor_defaults(&mut self) {
        let value = |name: &str| self.model.settings.iter().find(|k| k.name == name).map(|k| k.value.clone());
        let mentor = value(MODEL_SETTINGS[1].0).unwrap_or_default();
        for setting in self.model.settings.iter_mut().filter(|k| !self.changed.contains(&k.name)) {
            let Some(spec) = find_setting(&setting.name) else { continue };
            // On this screen, the origin is the paper only for a preset's value.
            if let Some((value, origin)) = mentor_default(spec, &mentor, setting.origin, true) {
                (setting.value, setting.origin) = (value.to_string(), origin);
            }
        }
    }

    /// Switches to the settings of the selected preset, method and `run.as`, and keeps the person's changes where the
    /// new settings allow them. Selecting a preset selects its method; selecting another method leaves the preset.
    fn apply_variant(&mut self, changed: &str) {
        let value = |name: &str| {
            self.model.settings.iter().find(|k| k.name == name).map(|k| k.value.clone()).unwrap_or_default()
        };
        let (preset, method, paper_or_code) = (value(PRESET), value(METHOD), value(PAPER_OR_CODE));
        let candidates = || self.model.variants.iter().filter(|v| v.paper_or_code == paper_or_code);
        let same = |v: &&SettingsVariant| v.preset == preset && v.method == method;
        let found = match changed {
            PRESET => candidates().find(same).or_else(|| candidates().find(|v| v.preset == preset)),
            _ => candidates().find(same).or_else(|| candidates().find(|v| v.method == method)),
        };
        let Some(found) = found else { return };
        let mut fresh = found.settings.clone();
        for setting in &mut fresh {
            let mine =
                self.model.settings.iter().chain(&self.hidden_settings).find(|k| k.name == setting.name);
            let mine = mine.filter(|k| self.changed.contains(&k.name) && k.allowed == setting.allowed);
            let Some(mine) = mine else { continue };
            // The three that select the variant keep the variant's values.
            if !matches!(setting.name.as_str(), PRESET | METHOD | PAPER_OR_CODE) {
                setting.clone_from(mine);
            } else if mine.value == setting.value {
                setting.origin = mine.origin;
            }
        }
        self.model.settings = fresh;
        let settings = &self.model.settings;
        self.changed.retain(|name| settings.iter().any(|k| k.name == *name));
        self.hidden_settings.clear();
        self.hide_settings();
        if let Some(place) = self.model.settings.iter().position(|k| k.name == changed) {
            self.section = Section::Setting(place);
        }
    }

    /// Selects the profile that names the changed setting's model, if one does.
    fn apply_model_profile(&mut self, changed: &str) {
        let Some((role, profile)) = MODEL_SETTINGS.iter().find(|r| r.0 == changed) else { return };
        let Some(model) = self.model.settings.iter().find(|k| k.name == *role).map(|k| &k.value) else {
            return;
        };
        let Some((_, named)) = self.model.model_profiles.iter().find(|p| p.0 == *model) else { return };
        if let Some(setting) = self.model.settings.iter_mut().find(|k| k.name == *profile) {
            setting.value.clone_from(named);
            setting.origin = SettingOrigin::Person;
            if !self.changed.iter().any(|name| name == profile) {
                self.changed.push((*profile).to_owned());
            }
        }
    }
}
