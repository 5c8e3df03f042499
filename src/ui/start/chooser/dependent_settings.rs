//! Settings that change others: preset, method and version bring their own settings, a model its server profile.

use super::Chooser;
use crate::catalog::{find_setting, mentor_default};
use crate::domain::SettingOrigin;
use crate::ui::start::types::{NO_PRESET, SettingRole, SettingRow, SettingsWanted};

impl Chooser {
    /// Updates the settings that depend on a changed one.
    pub(super) fn update_dependent(&mut self, changed: usize) {
        let role = self.model.settings[changed].role;
        if role.decides_settings() {
            self.replace_settings(role);
        }
        match role {
            SettingRole::Actor => self.select_model_profile(changed, SettingRole::ActorProfile),
            SettingRole::Mentor => self.select_model_profile(changed, SettingRole::MentorProfile),
            _ => {}
        }
        self.update_mentor_defaults();
    }

    fn setting_with(&self, role: SettingRole) -> Option<&SettingRow> {
        self.model.settings.iter().find(|setting| setting.role == role)
    }

    fn value_of(&self, role: SettingRole) -> String {
        self.setting_with(role).map(|setting| setting.value.clone()).unwrap_or_default()
    }

    /// Gives the settings that the person hasn't set the values that the mentor implies.
    fn update_mentor_defaults(&mut self) {
        let mentor = self.value_of(SettingRole::Mentor);
        for setting in self.model.settings.iter_mut().filter(|row| !self.changed.contains(&row.name)) {
            let Some(spec) = find_setting(&setting.name) else { continue };
            // On this screen, the origin is the paper only for a preset's value.
            if let Some((value, origin)) = mentor_default(spec, &mentor, setting.origin, true) {
                (setting.value, setting.origin) = (value.to_string(), origin);
            }
        }
    }

    /// Switches to the settings of the selected preset, method and version, and keeps the person's changes where the new
    /// settings allow them. Selecting a preset selects its method; selecting another method leaves the preset.
    fn replace_settings(&mut self, changed: SettingRole) {
        let preset = self.value_of(SettingRole::Preset);
        let method = self.value_of(SettingRole::Method);
        let paper_or_code = self.value_of(SettingRole::PaperOrCode);
        let find = |preset: &str, method| {
            (self.settings_for)(SettingsWanted { preset, method, paper_or_code: &paper_or_code })
        };
        let found = find(&preset, Some(&method)).or_else(|| match changed {
            SettingRole::Preset => find(&preset, None),
            _ => find(NO_PRESET, Some(&method)),
        });
        let Some(mut fresh) = found else { return };
        for setting in &mut fresh {
            let mine =
                self.model.settings.iter().chain(&self.hidden_settings).find(|k| k.name == setting.name);
            let mine = mine.filter(|k| self.changed.contains(&k.name) && k.allowed == setting.allowed);
            let Some(mine) = mine else { continue };
            if !setting.role.decides_settings() {
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
        if let Some(name) = self.setting_with(changed).map(|setting| setting.name.clone()) {
            self.select_setting(&name);
        }
    }

    /// Selects the profile that names the model of the setting `changed`, if one does.
    fn select_model_profile(&mut self, changed: usize, profile: SettingRole) {
        let model = &self.model.settings[changed].value;
        let Some((_, named)) = self.model.model_profiles.iter().find(|p| p.0 == *model) else { return };
        if let Some(setting) = self.model.settings.iter_mut().find(|setting| setting.role == profile) {
            setting.value.clone_from(named);
            setting.origin = SettingOrigin::Person;
            if !self.changed.contains(&setting.name) {
                self.changed.push(setting.name.clone());
            }
        }
    }
}
