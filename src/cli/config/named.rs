//! What the configuration file names: profiles of model servers, and presets of settings.

use super::{Config, Fault, Profile};
use serde_json::Value;

impl Config {
    /// A profile by name: one of the file, else a shipped one.
    ///
    /// # Errors
    /// A usage [`Fault`] when there is none of this name.
    pub fn profile(&self, name: &str) -> Result<Profile, Fault> {
        let found = self.models.get(name).cloned().or_else(|| Profile::shipped(name));
        found.ok_or_else(|| {
            let known = self.models.keys().cloned().chain(Profile::shipped_names()).collect::<Vec<_>>();
            Fault::usage(
                format!("there is no profile {name:?}; there are {}", known.join(", ")),
                format!("write one as a table [models.{name}] of {}", self.file.display()),
            )
        })
    }

    /// The models of the profiles that name one, as one is chosen on the screen.
    #[cfg(feature = "tui")]
    pub fn models_named(&self) -> Vec<String> {
        let named = self.models.iter();
        named.filter_map(|(name, p)| Some(format!("openai:{} profile {name}", p.model.as_ref()?))).collect()
    }

    /// The settings of a preset.
    ///
    /// # Errors
    /// A usage [`Fault`] when the file has no such preset.
    pub fn preset(&self, name: &str) -> Result<&[(String, Value)], Fault> {
        self.presets.get(name).map(Vec::as_slice).ok_or_else(|| {
            let known = self.presets.keys().cloned().collect::<Vec<_>>().join(", ");
            let known = if known.is_empty() { "it has none".to_owned() } else { format!("it has {known}") };
            Fault::usage(
                format!("{}: there is no preset {name:?}; {known}", self.file.display()),
                format!(
                    "write one as a table [preset.{name}] of settings; `retrospect config show` lists these and those that come with the program"
                ),
            )
        })
    }
}
