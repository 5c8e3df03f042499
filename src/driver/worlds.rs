//! Environments and tasks: turns the names on the command line into files and games.
//!
//! A task's id is journaled, so it must find the same game again. For `household` the name alone determines the game;
//! for `alfworld` the id is the path below the data folder (or the full path of a game outside it); for `pddl` it is
//! a name or two paths.

mod alfworld;
mod babyai;
mod household;
mod labels;
mod pddl;
mod selection;

#[cfg(test)]
mod tests;

pub use pddl::task_id_from_files as pddl_files;
pub use selection::Selection;

use crate::domain::Task;
use crate::env::pddl::GoalSeparator;
use crate::env::{EnvError, Environment};
use std::path::{Path, PathBuf};

/// The environments of this program, in the order in which they are listed.
pub const ENVIRONMENT_NAMES: &[&str] = &["household", "alfworld", "babyai", "pddl"];

/// Options for opening and listing tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorldOptions {
    /// The folder of ALFWorld's data.
    pub data: Option<PathBuf>,
    /// The seed of generated tasks whose name contains none.
    pub seed: u64,
    /// How the sentences of a PDDL goal are joined.
    pub goal_separator: GoalSeparator,
}

/// Why an environment or a list of tasks is not available.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// No environment has this name.
    #[error("unknown environment {env:?}; available: {list}", list = ENVIRONMENT_NAMES.join(", "))]
    UnknownEnv { env: String },
    /// The environment has no such task.
    #[error("{env} has no task {task:?}: {why}")]
    UnknownTask {
        env: String,
        task: String,
        /// The reason.
        why: String,
    },
    /// The environment has many tasks, and no option selects among them.
    #[error("no {env} task selected: use --task T, --tasks FILE, --split S or --only N")]
    NoTaskChosen { env: String },
    /// ALFWorld's data is required.
    #[error("{what}")]
    NoData { what: String },
    /// The task can be listed but not played, because this program doesn't have its environment.
    #[error("{what}")]
    Unplayable {
        /// Which task, and the reason.
        what: String,
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

impl WorldError {
    /// Describes what to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::UnknownEnv { .. } => "choose one of them with --env",
            Self::UnknownTask { .. } | Self::NoTaskChosen { .. } => {
                "`retrospect tasks --env ENV` lists the tasks"
            }
            Self::NoData { .. } => {
                "set ALFWORLD_DATA or --data to the folder that contains json_2.1.1, or play the built-in --env household"
            }
            Self::Unplayable { .. } => "choose tasks of household, alfworld, babyai or pddl",
            Self::Io { .. } => "check the path and its permissions",
            Self::List { .. } => {
                "write one task id per line, JSON lines with a `task`, or rows of AgentBoard's label files"
            }
            Self::Env(EnvError::Broken { .. }) => "fix or replace the file, or choose another task",
            Self::Env(_) => "choose another task",
        }
    }
}

/// Opens the environment of a task, without resetting it.
///
/// # Errors
/// Returns [`EnvError::Broken`] for a damaged game, and [`EnvError::Refused`] for a task that is not found.
pub fn open(task: &Task, options: &WorldOptions) -> Result<Box<dyn Environment>, EnvError> {
    if let Some(opened) = labels::open(task, options) {
        return opened;
    }
    match task.env.as_str() {
        "household" => household::open(task),
        "alfworld" => alfworld::open(task, options),
        "babyai" => babyai::open(task),
        "pddl" => pddl::open(task, options),
        other => Err(to_env_error(&WorldError::UnknownEnv { env: other.to_owned() })),
    }
}

/// Returns the task that a text names in an environment.
///
/// # Errors
/// Returns [`WorldError`] if there is none.
pub fn find(env: &str, text: &str, options: &WorldOptions) -> Result<Task, WorldError> {
    if let Some(found) = labels::find(text) {
        return found;
    }
    match env {
        "household" => household::find(text),
        "alfworld" => alfworld::find(text, options),
        "babyai" => babyai::find(text, options),
        "pddl" => pddl::find(text, options),
        _ => Err(WorldError::UnknownEnv { env: env.to_owned() }),
    }
}

/// Returns the tasks to list, with their goals. For ALFWorld, those that its own loader accepts.
///
/// # Errors
/// Returns [`WorldError`] if the environment or its data is not available.
pub fn list_tasks(env: &str, selection: &Selection, options: &WorldOptions) -> Result<Vec<Task>, WorldError> {
    selection::select_tasks(env, selection, options, true)
}

/// Returns the tasks to offer on the start screen. To be fast, lists for ALFWorld only the smallest available split,
/// with the goals of the first few tasks.
///
/// # Errors
/// The same as [`list_tasks`].
pub fn list_offered_tasks(env: &str, options: &WorldOptions) -> Result<Vec<Task>, WorldError> {
    match env {
        "household" => {
            let preselected = household::describe_task(crate::env::household::PRESELECTED)?;
            let others = crate::env::household::tasks()?.into_iter().filter(|t| t.id != preselected.id);
            Ok(std::iter::once(preselected.clone()).chain(others).collect())
        }
        "alfworld" => alfworld::list_offered_tasks(options),
        "babyai" => babyai::list_offered_tasks(options).into_iter().map(babyai::add_goal).collect(),
        "pddl" => pddl::list_offered_tasks(options.goal_separator),
        _ => Err(WorldError::UnknownEnv { env: env.to_owned() }),
    }
}

/// Returns the tasks for a run to play, without their goals, which are read at reset. An empty selection means the
/// preselected task of the built-in environment.
///
/// # Errors
/// The same as [`list_tasks`]. An ALFWorld run without a task, file or split is an error too.
pub fn select_tasks(
    env: &str,
    selection: &Selection,
    options: &WorldOptions,
) -> Result<Vec<Task>, WorldError> {
    selection::select_tasks(env, selection, options, false)
}

/// Returns the task with another random seed.
pub fn with_seed(mut task: Task, seed: u64) -> Task {
    task.seed = seed;
    if task.env == "babyai" {
        babyai::with_seed(&mut task, seed);
    }
    task
}

/// Returns warnings about a task that can be played nevertheless, one sentence each.
pub fn warnings(task: &Task) -> Vec<String> {
    if task.env == "pddl" { pddl::warnings(task) } else { Vec::new() }
}

/// Returns the tasks from which a calibration may choose: ALFWorld's train split; for `household` the first
/// `tasks_per_kind` tasks of every kind among seeds that no list shows; for other environments what [`list_tasks`]
/// returns for an empty selection.
///
/// # Errors
/// The same as [`list_tasks`].
pub fn list_calibration_tasks(
    env: &str,
    tasks_per_kind: usize,
    options: &WorldOptions,
) -> Result<Vec<Task>, WorldError> {
    match env {
        "household" => Ok(household::list_calibration_tasks(tasks_per_kind)),
        "alfworld" => alfworld::list_split(Some("train"), options),
        _ => list_tasks(env, &Selection::default(), options),
    }
}

fn to_env_error(error: &WorldError) -> EnvError {
    EnvError::Refused { what: format!("{error}; {}", error.hint()) }
}

/// The maximum size of a task file or a game, in bytes. Their parsers have lower limits.
const MAX_FILE_BYTES: u64 = 64 << 20;

fn read_file(path: &Path) -> Result<Vec<u8>, WorldError> {
    read_bytes(path).map_err(|source| WorldError::Io { path: path.to_owned(), source })
}

/// Reads a regular file of bounded size.
fn read_bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    crate::files::read(path, MAX_FILE_BYTES)
}
