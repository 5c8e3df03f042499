//! What a run can give a method besides values of settings: names and files, which become settings before the run starts, so that
//! a resumed run needs none of them.

use crate::domain::{ReflectionKind, SettingOrigin, Settings};
use crate::env::OptionValues;
use std::path::{Path, PathBuf};

/// An option of a method: a configuration key with its variable and its flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodOption {
    /// The key, `run.` and a name.
    pub name: &'static str,
    /// What it decides, in one sentence.
    pub meaning: &'static str,
    pub values: OptionValues,
    /// The environment variable that sets it.
    pub variable: &'static str,
    /// The flag that sets it, such as `--prompter`.
    pub flag: &'static str,
    /// What the help calls its value, such as `FILE`.
    pub value_name: &'static str,
}

/// An option that names a pool file of a run. Its rule-written lessons replace the examples of reflections that a mentor's questions
/// show (text `exemplars_KIND` of an environment), so it is for the method that reflects, which in a calibration isn't the run's.
/// Like a folder of templates the file is read again by a resumed run.
#[derive(Clone, Copy, Debug)]
pub struct ExemplarFile {
    pub option: MethodOption,
    /// The kinds of reflections that have examples.
    pub kinds: &'static [ReflectionKind],
    /// Returns why the questions of a run with these settings show none, and what changes that. Returns `None` if they show some.
    pub unused: fn(&Settings) -> Option<&'static str>,
}

/// The options of a run, as its command line and configuration say them.
pub trait GivenOptions {
    /// Returns the value of an option, or its default.
    fn text(&self, option: &MethodOption) -> String;

    /// Returns the path that an option names.
    fn path(&self, option: &MethodOption) -> Option<PathBuf>;

    /// Returns where an option's value comes from.
    fn origin(&self, option: &MethodOption) -> SettingOrigin;

    /// Reads a text file of limited size.
    ///
    /// # Errors
    /// Fails with an [`OptionError`] if it can't be read, is too large or isn't UTF-8.
    fn read_text(&self, file: &Path) -> Result<String, OptionError>;
}

/// Options that a run can't be started with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct OptionError {
    /// What failed, with which value, where.
    pub message: String,
    /// What to do next.
    pub hint: String,
    /// Whether the command line is wrong, rather than a file.
    pub is_usage: bool,
}

impl OptionError {
    /// Creates an error of the command line or the configuration.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into(), is_usage: true }
    }

    /// Creates an error of a file.
    pub fn file(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into(), is_usage: false }
    }
}

/// Makes settings of the options, and returns what a person should know of it before the run starts.
pub type RecordOptions = fn(&dyn GivenOptions, &mut Settings) -> Result<Option<String>, OptionError>;
