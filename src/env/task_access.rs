//! The files and options that an environment's tasks are found and opened with.

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

/// A configuration key of an environment: one of a few words that decide how its tasks are opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnvironmentOption {
    /// The key with the environment's name in front, such as `pddl.goal`.
    pub name: &'static str,
    /// What it decides, in one sentence.
    pub meaning: &'static str,
    /// The allowed words; the first one is the default.
    pub words: &'static [&'static str],
    /// The environment variable that sets it.
    pub variable: &'static str,
}

/// Options for opening and listing tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskOptions {
    /// The folder of data that is not part of this program: ALFWorld's games, AgentBoard's problems.
    pub data: Option<PathBuf>,
    /// The seed of generated tasks whose name contains none.
    pub seed: u64,
    /// The words chosen for environments' options, by name; an option that is absent has its default.
    pub chosen: BTreeMap<&'static str, String>,
}

/// What an environment uses to find and open tasks.
#[derive(Clone, Copy)]
pub struct TaskAccess<'a> {
    pub files: &'a dyn TaskFiles,
    pub options: &'a TaskOptions,
}

impl TaskOptions {
    /// Returns the word chosen for an option.
    pub fn word(&self, option: &EnvironmentOption) -> &str {
        self.chosen.get(option.name).map_or(option.words[0], String::as_str)
    }

    /// Returns the options for the environments of a recorded run: the words that its settings contain, under the names of
    /// the options, replace the words chosen here.
    #[must_use]
    pub fn with_recorded(&self, settings: &Settings) -> Self {
        let mut options = self.clone();
        for (name, word) in &mut options.chosen {
            if let Some(recorded) = settings.0.get(*name).and_then(|setting| setting.value.as_str()) {
                recorded.clone_into(word);
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
