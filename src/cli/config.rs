//! The configuration: one table of entries, resolved in layers (default, file, environment variable, flag), each value
//! with its origin. The table also generates the reference (`docs/CONFIG.md`), the file of `config init` and all
//! errors.

mod entries;
mod key;
pub mod keys;
mod named_tables;
mod presets;
mod programs;
mod read;
mod reference;
mod value;

#[cfg(test)]
mod tests;

pub use entries::{ENTRIES, check_entries, exemplar_entries, find_entry, method_entries};
pub use key::{ConfigValue, Entry, FilePath, Key};
pub use presets::help as preset_help;
pub(super) use presets::{
    InitialLessons, ProgramPreset, find_program_preset, program_presets, warnings as preset_warnings,
};
pub use programs::add_environments;
pub(super) use read::unknown_setting_message;
pub use reference::{reference_page, sample_file};
pub use value::{ValueOrigin, ValueType};

use super::error::{CliError, CliErrorKind};
use crate::catalog::MethodOption;
use crate::driver::TypedServers;
use crate::env::ExternalProgram;
use crate::provider::openai::Profile;
use etcetera::BaseStrategy as _;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The resolved configuration.
#[derive(Clone, Debug)]
pub struct Config {
    pub(super) values: BTreeMap<&'static str, (Value, ValueOrigin)>,
    /// `[preset.NAME]` tables of the file: named groups of method settings.
    pub(super) presets: BTreeMap<String, Vec<(String, Value)>>,
    /// `[models.NAME]` tables of the file: profiles of model servers.
    pub(super) models: BTreeMap<String, Profile>,
    /// `[environments.NAME]` tables of the file, and the program named on the command line.
    pub(super) programs: BTreeMap<String, ExternalProgram>,
    /// Problems with conditions of `run.breaks`. These conditions are left out with a warning, and no run starts.
    pub invalid_breakpoints: Vec<CliError>,
    /// Parts of the file that are left out, because they belong to another program; each with file and line.
    pub warnings: Vec<String>,
    /// Whether this command never calls a model (`--dry-run`), so that models need no address and no key.
    pub calls_no_model: bool,
    /// Path of the configuration file, which may not exist.
    pub file: PathBuf,
    /// Options of environments that are no keys: only their flag sets them.
    pub set_by_flag_alone: BTreeMap<&'static str, &'static str>,
    /// Folder that also holds `themes/` and `keys.toml`.
    pub folder: PathBuf,
    /// Addresses of model servers that a person has typed on the screen since the program started.
    pub typed_servers: TypedServers,
}

impl Config {
    /// Reads defaults, file and environment variables. `file` is what `--config` names.
    ///
    /// # Errors
    /// Fails with a [`CliError`] that names file and line, or the variable.
    pub fn load(file: Option<&Path>, variable: impl Fn(&str) -> Option<String>) -> Result<Self, CliError> {
        let folder = config_folder(file, &variable);
        let path = config_path(file, &folder);
        let mut config = Self::with_defaults(path.clone(), folder);
        match super::bounded::read_text(&path) {
            Ok(text) => read::apply_file(&mut config, &path, &text)?,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound && file.is_none() => {}
            Err(e) => return Err(CliError::file(&path, "the configuration could not be read", &e)),
        }
        config.apply_variables(&variable)?;
        Ok(config)
    }

    /// Resolves the configuration without the file: defaults and valid environment variables. `doctor` continues with
    /// this if the file is unusable.
    pub fn without_file(file: Option<&Path>, variable: impl Fn(&str) -> Option<String>) -> Self {
        let folder = config_folder(file, &variable);
        let file = config_path(file, &folder);
        let mut config = Self::with_defaults(file, folder);
        // A problem with a variable was reported with the file already, or is reported by the next verb.
        let _ = config.apply_variables(&variable);
        config
    }

    fn with_defaults(file: PathBuf, folder: PathBuf) -> Self {
        let (presets, models, programs) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let (invalid_breakpoints, warnings) = (Vec::new(), Vec::new());
        let (values, calls_no_model) = (default_values(), false);
        Self {
            values,
            presets,
            models,
            programs,
            invalid_breakpoints,
            warnings,
            calls_no_model,
            set_by_flag_alone: BTreeMap::new(),
            file,
            folder,
            typed_servers: TypedServers::default(),
        }
    }

    fn apply_variables(&mut self, variable: &impl Fn(&str) -> Option<String>) -> Result<(), CliError> {
        for entry in ENTRIES.iter() {
            let Some(text) = variable(entry.variable).filter(|t| !t.is_empty()) else { continue };
            let error = |why: String| {
                let message = format!("{}={text:?}: {why}", entry.variable);
                CliError::new(CliErrorKind::Config, message, "change or unset the variable")
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

    /// Sets a value from a flag; does nothing if the flag was not given.
    ///
    /// # Errors
    /// Fails with a usage [`CliError`] if the value is invalid.
    pub fn set_flag(&mut self, entry: &Entry, text: Option<&str>) -> Result<(), CliError> {
        let Some(text) = text else { return Ok(()) };
        let value = read::parse_value(entry, text).map_err(|why| {
            CliError::usage(format!("{} {text:?}: {why}", entry.flag), "see `--help` of this command")
        })?;
        self.values.insert(entry.name, (value, ValueOrigin::Flag(entry.flag)));
        Ok(())
    }

    /// Returns the value of a key.
    pub fn get<T: ConfigValue>(&self, key: Key<T>) -> T::Read<'_> {
        T::read(self.values.get(key.name).map(|v| &v.0))
    }

    /// Returns the path that a method's option names.
    pub fn option_path(&self, option: &MethodOption) -> Option<PathBuf> {
        FilePath::read(self.values.get(option.name).map(|v| &v.0))
    }

    /// Returns the value of an entry as text, as its flag would be given; empty if unset.
    pub fn display(&self, entry: &Entry) -> String {
        match self.values.get(entry.name).map(|v| &v.0) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Null) | None => String::new(),
            Some(other) => other.to_string(),
        }
    }

    /// Returns the origin of an entry's value.
    pub fn origin(&self, entry: &Entry) -> &ValueOrigin {
        self.values.get(entry.name).map_or(&ValueOrigin::Default, |v| &v.1)
    }

    /// Returns whether a flag has set an entry's value.
    pub fn is_set_by_flag(&self, entry: &Entry) -> bool {
        matches!(self.origin(entry), ValueOrigin::Flag(_))
    }
}

/// Returns the configuration file: `file`, else the one in the configuration folder.
fn config_path(file: Option<&Path>, folder: &Path) -> PathBuf {
    file.map_or_else(|| folder.join("config.toml"), Path::to_owned)
}

/// Returns the folder of `file`, else the user's configuration folder.
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
