//! The files and options that an environment's tasks are found and opened with.

use super::external_program::ExternalProgram;
use super::task_error::TaskError;
use crate::domain::Settings;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The files that tasks are read from. Environments open no files themselves; the driver implements this.
pub trait TaskFiles: Sync {
    /// Reads a regular file of bounded size. Follows symbolic links.
    ///
    /// # Errors
    /// Returns the operating system's error, or that the file is too large or not a regular one.
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>>;

    /// Returns whether the path leads to a regular file.
    fn is_file(&self, path: &Path) -> bool;

    /// Returns whether the path leads to a folder.
    fn is_dir(&self, path: &Path) -> bool;

    /// Returns the files and folders in a folder, in no particular order; none if it can't be read.
    fn list(&self, folder: &Path) -> Vec<PathBuf>;

    /// Returns the absolute path without symbolic links.
    ///
    /// # Errors
    /// Returns the operating system's error if there is nothing at the path.
    fn canonicalize(&self, path: &Path) -> std::io::Result<PathBuf>;
}

/// A configuration key of an environment, which decides how its tasks are opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnvironmentOption {
    /// The key with the environment's name in front, such as `pddl.goal`.
    pub name: &'static str,
    /// What it decides, in one sentence.
    pub meaning: &'static str,
    pub values: OptionValues,
    /// The environment variable that sets it.
    pub variable: &'static str,
}

/// The values of an option. Of an [`EnvironmentOption`], all but paths and local words are recorded with a session, and what is recorded is used when it
/// is opened again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionValues {
    /// One of these words; the first one is the default.
    Words(&'static [&'static str]),
    /// A whole number.
    Number { minimum: u64, default: u64 },
    /// Any text. Sessions come from other people too, so it must not name a program to run.
    Text { default: &'static str },
    /// One of these words; the first one is the default. It concerns only this machine and is never recorded.
    LocalWords(&'static [&'static str]),
    /// The path of a file or folder on this machine; none by default. It is never recorded.
    Path,
}

impl OptionValues {
    /// Returns the default as text; empty if there is none.
    pub fn default_text(self) -> String {
        match self {
            Self::Words(words) | Self::LocalWords(words) => {
                words.first().copied().unwrap_or_default().to_owned()
            }
            Self::Number { default, .. } => default.to_string(),
            Self::Text { default } => default.to_owned(),
            Self::Path => String::new(),
        }
    }

    /// Returns whether a session keeps the value. Paths and local words are valid only on the machine where they were set.
    pub fn is_recorded(self) -> bool {
        !matches!(self, Self::Path | Self::LocalWords(_))
    }
}

/// Options for opening and listing tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskOptions {
    /// The folder of data that is not part of this program: games and problems of others.
    pub data: Option<PathBuf>,
    /// The seed of generated tasks whose name contains none.
    pub seed: u64,
    /// The words, numbers and texts chosen for environments' options, by name; an option that is absent has its default.
    pub chosen: BTreeMap<&'static str, String>,
    /// The words chosen for environments' options that concern only this machine, by name; an option that is absent has its default.
    pub local_words: BTreeMap<&'static str, String>,
    /// The paths chosen for environments' options, by name.
    pub paths: BTreeMap<&'static str, PathBuf>,
    /// The programs of environments that are other programs, by the environment's name.
    pub programs: BTreeMap<String, ExternalProgram>,
}

/// What an environment uses to find and open tasks.
#[derive(Clone, Copy)]
pub struct TaskAccess<'a> {
    pub files: &'a dyn TaskFiles,
    pub options: &'a TaskOptions,
}

impl TaskOptions {
    /// Returns the value of an option whose values are words.
    pub fn word(&self, option: &EnvironmentOption) -> &str {
        let (default, chosen) = match option.values {
            OptionValues::Words(words) => (words.first().copied().unwrap_or_default(), &self.chosen),
            OptionValues::LocalWords(words) => {
                (words.first().copied().unwrap_or_default(), &self.local_words)
            }
            _ => ("", &self.chosen),
        };
        chosen.get(option.name).map_or(default, String::as_str)
    }

    /// Returns the value of an option whose values are texts.
    pub fn text(&self, option: &EnvironmentOption) -> &str {
        let default = match option.values {
            OptionValues::Text { default } => default,
            _ => "",
        };
        self.chosen.get(option.name).map_or(default, String::as_str)
    }

    /// Returns the value of an option whose values are numbers.
    pub fn number(&self, option: &EnvironmentOption) -> u64 {
        let OptionValues::Number { minimum, default } = option.values else { return 0 };
        let chosen = self.chosen.get(option.name).and_then(|text| text.parse().ok());
        // A journal may contain anything.
        chosen.filter(|number| *number >= minimum).unwrap_or(default)
    }

    /// Returns the value of an option whose values are paths, as it was written: it may be relative. `None` if it isn't set.
    pub fn path(&self, option: &EnvironmentOption) -> Option<&Path> {
        self.paths.get(option.name).map(PathBuf::as_path)
    }

    /// Returns the options for the environments of a recorded run: the values that its settings contain, under the names of
    /// the options, replace those chosen here. Paths and local words are never replaced.
    #[must_use]
    pub fn with_recorded(&self, settings: &Settings) -> Self {
        let mut options = self.clone();
        for (name, value) in &mut options.chosen {
            if let Some(recorded) = settings.recorded(name).and_then(|setting| setting.value.as_str()) {
                recorded.clone_into(value);
            }
        }
        options
    }
}

impl TaskAccess<'_> {
    /// Reads a file.
    ///
    /// # Errors
    /// Returns [`TaskError::Io`], which names the file.
    pub fn read(&self, path: &Path) -> Result<Vec<u8>, TaskError> {
        self.files.read(path).map_err(|source| TaskError::Io { path: path.to_owned(), source })
    }

    /// Returns a path that finds the file from any folder.
    pub fn absolute_path(&self, path: &Path) -> PathBuf {
        self.files.canonicalize(path).unwrap_or_else(|_| path.to_owned())
    }

    /// Returns the folders in a folder, in no particular order; none if it can't be read.
    pub fn subfolders(&self, folder: &Path) -> Vec<PathBuf> {
        self.files.list(folder).into_iter().filter(|path| self.files.is_dir(path)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::SettingOrigin;

    const fn option(name: &'static str, values: OptionValues) -> EnvironmentOption {
        EnvironmentOption { name, meaning: "", values, variable: "" }
    }

    const WORD: EnvironmentOption = option("e.word", OptionValues::Words(&["a", "b"]));
    const NUMBER: EnvironmentOption = option("e.number", OptionValues::Number { minimum: 2, default: 5 });
    const TEXT: EnvironmentOption = option("e.text", OptionValues::Text { default: "none" });
    const PATH: EnvironmentOption = option("e.path", OptionValues::Path);
    const LOCAL: EnvironmentOption = option("e.local", OptionValues::LocalWords(&["c", "d"]));

    fn read(options: &TaskOptions) -> (&str, u64, &str, Option<&Path>) {
        (options.word(&WORD), options.number(&NUMBER), options.text(&TEXT), options.path(&PATH))
    }

    #[test]
    fn recorded_values_replace_chosen_ones_but_no_path() {
        let defaults = TaskOptions::default();
        assert_eq!(read(&defaults), ("a", 5, "none", None));
        let chosen =
            [WORD, NUMBER, TEXT].map(|option| (option.name, option.values.default_text())).into_iter();
        let paths = [(PATH.name, PathBuf::from("/here"))].into();
        let local_words = [(LOCAL.name, "c".to_owned())].into();
        let options = TaskOptions { chosen: chosen.collect(), paths, local_words, ..defaults };
        assert_eq!(read(&options), ("a", 5, "none", Some(Path::new("/here"))));
        let mut settings = Settings::default();
        for (option, value) in [(WORD, "b"), (NUMBER, "7"), (TEXT, "some"), (PATH, "/evil"), (LOCAL, "d")] {
            settings.set(option.name, value, SettingOrigin::Config);
        }
        let recorded = options.with_recorded(&settings);
        assert_eq!(read(&recorded), ("b", 7, "some", Some(Path::new("/here"))));
        assert_eq!(recorded.word(&LOCAL), "c");
        for value in ["1", "-3", "x", ""] {
            settings.set(NUMBER.name, value, SettingOrigin::Config);
            assert_eq!(options.with_recorded(&settings).number(&NUMBER), 5, "{value:?}");
        }
    }
}
