//! Profiles of model servers, presets of settings, and lists of strings in the configuration.

use super::{CliError, Config, Profile, program_presets};
use serde_json::Value;

impl Config {
    /// Returns a profile by name: from the file, else a built-in one.
    ///
    /// # Errors
    /// Fails with a usage [`CliError`] if neither exists.
    pub fn profile(&self, name: &str) -> Result<Profile, CliError> {
        let found = self.models.get(name).cloned().or_else(|| Profile::shipped(name));
        found.ok_or_else(|| {
            let available = self.models.keys().cloned().chain(Profile::shipped_names()).collect::<Vec<_>>();
            CliError::usage(
                format!("no profile named {name:?}; available: {}", available.join(", ")),
                format!("define one as a table [models.{name}] in {}", self.file.display()),
            )
        })
    }

    /// Returns whether a profile is built in and not overridden by the file.
    pub fn is_shipped(&self, name: &str) -> bool {
        !self.models.contains_key(name) && Profile::shipped(name).is_some()
    }

    /// Returns the names of the file's profiles, then of the built-in ones.
    pub fn profile_names(&self) -> Vec<String> {
        let shipped = Profile::shipped_names().into_iter().filter(|name| !self.models.contains_key(name));
        self.models.keys().cloned().chain(shipped).collect()
    }

    /// Returns the file's profiles that name a model, as pairs of profile name and model name.
    pub fn profiles_with_model(&self) -> impl Iterator<Item = (&str, &str)> {
        self.models.iter().filter_map(|(name, profile)| Some((name.as_str(), profile.model.as_deref()?)))
    }

    /// Returns the addresses of the file's profiles.
    pub fn profile_addresses(&self) -> impl Iterator<Item = &str> {
        self.models.values().filter_map(|profile| profile.base_url.as_deref())
    }

    /// Returns the names of the file's presets.
    pub fn preset_names(&self) -> impl Iterator<Item = &str> {
        self.presets.keys().map(String::as_str)
    }

    /// Returns the settings of a preset of the file.
    ///
    /// # Errors
    /// Fails with a usage [`CliError`] if the file has no such preset.
    pub fn preset_settings(&self, name: &str) -> Result<&[(String, Value)], CliError> {
        self.presets.get(name).map(Vec::as_slice).ok_or_else(|| {
            let names: Vec<&str> = self.preset_names().collect();
            let own_presets =
                if names.is_empty() { String::new() } else { format!("; your own: {}", names.join(", ")) };
            CliError::usage(
                format!("--preset {name:?}: no such preset"),
                format!(
                    "built in: {}{own_presets}; define your own as a table [preset.{name}] of settings in {}",
                    program_presets().iter().map(|preset| preset.name).collect::<Vec<_>>().join(", "),
                    self.file.display()
                ),
            )
        })
    }
}
