//! What a run gives its method besides settings ([`MethodOption`]).

use crate::catalog::{GivenOptions, METHODS, MethodOption, OptionError, find_method};
use crate::cli::bounded;
use crate::cli::config::{Config, ValueOrigin, find_entry};
use crate::cli::error::{CliError, CliErrorKind};
use crate::cli::settings::setting_origin;
use crate::domain::{RunSpec, SettingOrigin};
use std::path::{Path, PathBuf};

/// Records the options of a run's method. Returns what a person should know of it before the run starts.
///
/// # Errors
/// Fails with a [`CliError`] if an option of another method was given by its flag, or if the method can't use one.
pub(super) fn record(config: &Config, spec: &mut RunSpec) -> Result<Option<String>, CliError> {
    let Some(method) = find_method(&spec.method) else { return Ok(None) };
    // A configuration may be for runs of several methods.
    let is_flag = |option: &MethodOption| {
        origin(config, option).is_some_and(|from| matches!(from, ValueOrigin::Flag(_)))
    };
    for other in METHODS.iter().filter(|other| other.name != method.name) {
        if let Some(option) = other.options.iter().find(|option| is_flag(option)) {
            return Err(CliError::usage(
                format!("{} is for the method {}, not for {}", option.flag, other.name, method.name),
                format!("omit {}, or choose --method {}", option.flag, other.name),
            ));
        }
    }
    (method.record_options)(&Given(config), &mut spec.settings).map_err(CliError::from)
}

impl From<OptionError> for CliError {
    fn from(error: OptionError) -> Self {
        let kind = if error.is_usage { CliErrorKind::Usage } else { CliErrorKind::File };
        Self::new(kind, error.message, error.hint)
    }
}

fn origin<'a>(config: &'a Config, option: &MethodOption) -> Option<&'a ValueOrigin> {
    Some(config.origin(find_entry(option.name)?))
}

struct Given<'a>(&'a Config);

impl GivenOptions for Given<'_> {
    fn text(&self, option: &MethodOption) -> String {
        find_entry(option.name).map_or_else(String::new, |entry| self.0.display(entry))
    }

    fn path(&self, option: &MethodOption) -> Option<PathBuf> {
        self.0.option_path(option)
    }

    fn origin(&self, option: &MethodOption) -> SettingOrigin {
        origin(self.0, option).map_or(SettingOrigin::BuiltIn, setting_origin)
    }

    fn read_text(&self, file: &Path) -> Result<String, OptionError> {
        bounded::read_text(file).map_err(|error| {
            let error = CliError::file(file, "could not be read", &error);
            OptionError::file(error.message, error.hint)
        })
    }
}
