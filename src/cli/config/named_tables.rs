//! What the configuration file names or lists: profiles of model servers, presets of settings, and texts.

use super::{CliError, Config, Profile};
use serde_json::Value;

impl Config {
    /// A profile by name: one of the file, else a shipped one.
    ///
    /// # Errors
    /// A usage [`CliError`] when there is none of this name.
    pub fn profile(&self, name: &str) -> Result<Profile, CliError> {
        let found = self.models.get(name).cloned().or_else(|| Profile::shipped(name));
        found.ok_or_else(|| {
            let known = self.models.keys().cloned().chain(Profile::shipped_names()).collect::<Vec<_>>();
            CliError::usage(
                format!("there is no profile {name:?}; there are {}", known.join(", ")),
                format!("write one as a table [models.{name}] of {}", self.file.display()),
            )
        })
    }

    /// Whether a profile is one that comes with the program and not one of the file.
    pub fn is_shipped(&self, name: &str) -> bool {
        !self.models.contains_key(name) && Profile::shipped(name).is_some()
    }

    /// The profiles of the file, then the shipped ones.
    pub fn profile_names(&self) -> Vec<String> {
        let shipped = Profile::shipped_names().into_iter().filter(|name| !self.models.contains_key(name));
        self.models.keys().cloned().chain(shipped).collect()
    }

    /// The profiles of the file that name a model, with its name.
    pub fn profiles_with_model(&self) -> impl Iterator<Item = (&str, &str)> {
        self.models.iter().filter_map(|(name, profile)| Some((name.as_str(), profile.model.as_deref()?)))
    }

    /// The presets of the file.
    pub fn preset_names(&self) -> impl Iterator<Item = &str> {
        self.presets.keys().map(String::as_str)
    }

    /// The settings of a preset.
    ///
    /// # Errors
    /// A usage [`CliError`] when the file has no such preset.
    pub fn preset_settings(&self, name: &str) -> Result<&[(String, Value)], CliError> {
        self.presets.get(name).map(Vec::as_slice).ok_or_else(|| {
            let own: Vec<&str> = self.preset_names().collect();
            let own = if own.is_empty() { String::new() } else { format!("; your own: {}", own.join(", ")) };
            CliError::usage(
                format!("--preset {name:?}: there is no such preset"),
                format!(
                    "those that come with the program: {}{own}; another one is a table [preset.{name}] of settings in {}",
                    crate::report::metrics::paper_rows().iter().map(|r| r.preset.as_str()).collect::<Vec<_>>().join(", "),
                    self.file.display()
                ),
            )
        })
    }

    /// A value as a list of texts; empty where nothing is set.
    pub fn list(&self, name: &str) -> Vec<String> {
        let all = self.values.get(name).and_then(|v| v.0.as_array());
        all.into_iter().flatten().filter_map(|v| v.as_str().map(str::to_owned)).collect()
    }
}
