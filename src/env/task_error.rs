//! Why a task is not available.

use super::EnvError;
use std::borrow::Cow;
use std::path::PathBuf;

/// Why an environment or a list of tasks is not available.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// No environment has this name.
    #[error("unknown environment {env:?}; available: {list}", list = available.join(", "))]
    UnknownEnv { env: String, available: &'static [&'static str] },
    /// The environment has no such task.
    #[error("{env} has no task {task:?}: {why}")]
    UnknownTask {
        env: String,
        task: String,
        /// The reason.
        why: String,
    },
    /// The environment has no such split of its tasks.
    #[error("{env} has no split {split:?}: {why}")]
    UnknownSplit {
        env: String,
        split: String,
        /// Which splits there are, or that there are none.
        why: String,
    },
    /// The environment has many tasks, and no option selects among them.
    #[error(
        "{env} has many tasks and no default one: choose with --task T, --tasks FILE, --split S or --only N"
    )]
    NoTaskChosen { env: String },
    /// Data that is not part of this program is required.
    #[error("{what}")]
    NoData {
        what: String,
        /// How to provide it.
        hint: &'static str,
    },
    /// The task can be listed but not played, because this program doesn't have its environment.
    #[error("{what}")]
    Unplayable {
        /// Which task, and the reason.
        what: String,
        /// What can be played.
        hint: String,
    },
    /// A file or folder could not be read.
    #[error("{path}: could not be read: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// A list of tasks is invalid.
    #[error("{path}:{line}: {reason}")]
    List {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The environment reported an error.
    #[error(transparent)]
    Env(#[from] EnvError),
}

impl TaskError {
    /// Why a selection is rejected that selects nothing.
    pub const NO_USABLE_TASK: &'static str = "the selection contains no usable task";

    /// Returns the error for a text that names no task of an environment.
    pub fn unknown_task(env: &str, task: &str, why: impl Into<String>) -> Self {
        Self::UnknownTask { env: env.to_owned(), task: task.to_owned(), why: why.into() }
    }

    /// Returns the error for a name that no split of an environment has.
    pub fn unknown_split(env: &str, split: &str, why: impl Into<String>) -> Self {
        Self::UnknownSplit { env: env.to_owned(), split: split.to_owned(), why: why.into() }
    }

    /// Describes what to do next.
    pub fn hint(&self) -> Cow<'_, str> {
        let hint = match self {
            Self::UnknownEnv { .. } => "choose one of them with --env",
            Self::UnknownTask { env, .. } | Self::UnknownSplit { env, .. } | Self::NoTaskChosen { env } => {
                return format!("`retrospect tasks --env {env}` lists the tasks").into();
            }
            Self::NoData { hint, .. } => hint,
            Self::Unplayable { hint, .. } => hint,
            Self::Io { .. } => "check the path and its permissions",
            Self::List { .. } => {
                "write one task id per line, JSON lines with a `task`, or rows of AgentBoard's label files"
            }
            Self::Env(EnvError::Broken { .. }) => "fix or replace the file, or choose another task",
            Self::Env(EnvError::Refused { .. }) => "choose another task",
            Self::Env(EnvError::NotStarted { .. }) => {
                "its command stands after `--`, or in the configuration (docs/ENVIRONMENTS.md)"
            }
            Self::Env(_) => {
                "start its program by hand to see what is wrong, or check its limits (docs/ENVIRONMENTS.md)"
            }
        };
        hint.into()
    }

    /// Returns the error as that of an environment that refuses to open.
    pub fn to_env_error(&self) -> EnvError {
        EnvError::Refused { what: format!("{self}; {}", self.hint()) }
    }

    /// Returns the error as that of an environment for which a program is missing: another task wouldn't help.
    pub fn to_start_error(&self) -> EnvError {
        match self {
            Self::NoData { what, hint } => EnvError::NotStarted { what: format!("{what}; {hint}") },
            other => other.to_env_error(),
        }
    }
}
