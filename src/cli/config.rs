//! The configuration: one table of entries, filled in layers (default, file, environment variable, flag), each value
//! with its origin. The reference (`docs/CONFIG.md`), the file that `config init` writes and all errors come from the table.

mod entries;
mod named_tables;
mod presets;
mod read;
mod reference;
mod show;
mod value;

#[cfg(test)]
mod tests;

pub use entries::ENTRIES;
pub use presets::help as preset_help;
pub(super) use read::{closest_name, unknown_setting_message};
pub use reference::{reference_page, sample_file};
pub use show::{run_config_verb, write_sample_file};
pub use value::{ValueOrigin, ValueType};

use super::error::{CliError, CliErrorKind};
use crate::provider::openai::Profile;
use etcetera::BaseStrategy as _;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// One thing that can be configured.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name, with its table: `screen.theme`.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub meaning: &'static str,
    /// What it may be.
    pub value_type: ValueType,
    /// Its default as JSON; an empty text where there is none.
    pub default: &'static str,
    /// The environment variable that sets it.
    pub variable: &'static str,
    /// The flag that sets it; empty where there is none.
    pub flag: &'static str,
}

/// The configuration in force.
#[derive(Clone, Debug)]
pub struct Config {
    values: BTreeMap<&'static str, (Value, ValueOrigin)>,
    /// `[preset.NAME]` tables of the file: settings of methods by name.
    presets: BTreeMap<String, Vec<(String, Value)>>,
    /// `[models.NAME]` tables of the file: profiles of model servers by name.
    models: BTreeMap<String, Profile>,
    /// What is wrong with conditions of `run.breaks`: those are left out, which is told, and no run begins without them.
    pub invalid_breakpoints: Vec<CliError>,
    /// The file, whether it is there or not.
    pub file: PathBuf,
    /// The folder that also holds `themes/` and `keys.toml`.
    pub folder: PathBuf,
}

impl Config {
    /// Reads defaults, file and environment variables. `file` is what `--config` names.
    ///
    /// # Errors
    /// A [`CliError`] that names file and line, or the variable.
    pub fn load(file: Option<&Path>, variable: impl Fn(&str) -> Option<String>) -> Result<Self, CliError> {
        let folder = config_folder(file, &variable);
        let path = file.map_or_else(|| folder.join("config.toml"), Path::to_owned);
        let mut config = Self::with_defaults(path.clone(), folder);
        match super::bounded::read_text(&path) {
            Ok(text) => read::apply_file(&mut config, &path, &text)?,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound && file.is_none() => {}
            Err(e) => return Err(CliError::file(&path, "the configuration could not be read", &e)),
        }
        config.apply_variables(&variable)?;
        Ok(config)
    }

    /// What is left where the file cannot be used: defaults and environment variables that say something possible. For
    /// `doctor`, which has to go on.
    pub fn without_file(file: Option<&Path>, variable: impl Fn(&str) -> Option<String>) -> Self {
        let folder = config_folder(file, &variable);
        let file = file.map_or_else(|| folder.join("config.toml"), Path::to_owned);
        let mut config = Self::with_defaults(file, folder);
        // Whatever is wrong with a variable was told with the file already, or is told by the next verb.
        let _ = config.apply_variables(&variable);
        config
    }

    fn with_defaults(file: PathBuf, folder: PathBuf) -> Self {
        let (presets, models) = (BTreeMap::new(), BTreeMap::new());
        Self { values: default_values(), presets, models, invalid_breakpoints: Vec::new(), file, folder }
    }

    fn apply_variables(&mut self, variable: &impl Fn(&str) -> Option<String>) -> Result<(), CliError> {
        for entry in ENTRIES {
            let Some(text) = variable(entry.variable).filter(|t| !t.is_empty()) else { continue };
            let error = |why: String| {
                let what = format!("{}={text:?}: {why}", entry.variable);
                CliError::new(CliErrorKind::Config, what, "change or unset the variable")
            };
            let value = if let ValueType::Conditions = entry.value_type {
                let (read, bad) = read::parse_conditions(&text);
                self.invalid_breakpoints = bad.into_iter().map(&error).collect();
                read
            } else {
                read::parse_value(entry, &text).map_err(error)?
            };
            self.values.insert(entry.name, (value, ValueOrigin::Variable(entry.variable)));
        }
        Ok(())
    }

    /// Sets a value that a flag gives; nothing happens where the flag was not given.
    ///
    /// # Errors
    /// A usage [`CliError`] when the value is none of those allowed.
    pub fn set_flag(&mut self, name: &'static str, text: Option<&str>) -> Result<(), CliError> {
        let (Some(text), Some(entry)) = (text, ENTRIES.iter().find(|e| e.name == name)) else {
            return Ok(());
        };
        let value = read::parse_value(entry, text).map_err(|why| {
            CliError::usage(format!("{} {text:?}: {why}", entry.flag), "see `--help` of this verb")
        })?;
        self.values.insert(entry.name, (value, ValueOrigin::Flag(entry.flag)));
        Ok(())
    }

    /// A value as text; empty where nothing is set.
    pub fn text(&self, name: &str) -> &str {
        self.values.get(name).and_then(|v| v.0.as_str()).unwrap_or("")
    }

    /// A value as a path, `~/` filled in; none where nothing is set.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        let text = self.text(name);
        if text.is_empty() {
            return None;
        }
        match (text.strip_prefix("~/"), etcetera::home_dir()) {
            (Some(rest), Ok(home)) => Some(home.join(rest)),
            _ => Some(PathBuf::from(text)),
        }
    }

    /// A value as a number.
    pub fn number(&self, name: &str) -> u64 {
        self.values.get(name).and_then(|v| v.0.as_u64()).unwrap_or(0)
    }

    /// A value as a switch.
    pub fn is_on(&self, name: &str) -> bool {
        self.values.get(name).and_then(|v| v.0.as_bool()).unwrap_or(false)
    }

    /// Where a value comes from.
    pub fn origin(&self, name: &str) -> &ValueOrigin {
        self.values.get(name).map_or(&ValueOrigin::Default, |v| &v.1)
    }
}

/// The folder of the file that is named, else the user's configuration folder.
fn config_folder(file: Option<&Path>, variable: &impl Fn(&str) -> Option<String>) -> PathBuf {
    if let Some(file) = file {
        return file.parent().map(Path::to_owned).unwrap_or_default();
    }
    if let Some(dir) = variable("RETROSPECT_CONFIG_DIR").filter(|d| !d.is_empty()) {
        return PathBuf::from(dir);
    }
    etcetera::choose_base_strategy()
        .map_or_else(|_| PathBuf::from(".retrospect"), |s| s.config_dir().join("retrospect"))
}

fn default_values() -> BTreeMap<&'static str, (Value, ValueOrigin)> {
    ENTRIES
        .iter()
        .map(|e| (e.name, (read::parse_value(e, e.default).unwrap_or(Value::Null), ValueOrigin::Default)))
        .collect()
}
