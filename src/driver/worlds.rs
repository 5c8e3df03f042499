//! Where worlds and tasks come from: the one place that turns names on the command line into files and games.
//!
//! A task's id stands in the journal, so it has to find the same game again: for `household` the name alone decides, for
//! `alfworld` it is the path below the data folder (or the whole path, for a game that lies elsewhere), for `pddl` a name or two paths.

mod alfworld;
mod babyai;
mod household;
mod labels;
mod pddl;
mod selection;

#[cfg(test)]
mod tests;

pub use pddl::files_id as pddl_files;
pub use selection::Selection;

use crate::domain::Task;
use crate::env::pddl::GoalSeparator;
use crate::env::{EnvError, Environment};
use std::path::{Path, PathBuf};

/// The environments of this program, in the order in which screens list them.
pub const NAMES: &[&str] = &["household", "alfworld", "babyai", "pddl"];

/// What opening and listing depend on besides the task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorldOptions {
    /// The folder of ALFWorld's data.
    pub data: Option<PathBuf>,
    /// The seed of a task that is made from one and does not name its own.
    pub seed: u64,
    /// How the sentences of a PDDL goal are joined.
    pub joining: GoalSeparator,
}

/// Why a world or a list of tasks is not to be had.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// No environment has this name.
    #[error("there is no environment {env:?}; there are {list}", list = NAMES.join(", "))]
    UnknownEnv {
        /// What was asked for.
        env: String,
    },
    /// The environment has no such task.
    #[error("{env} has no task {task:?}: {why}")]
    UnknownTask {
        /// The environment.
        env: String,
        /// What was asked for.
        task: String,
        /// Why it is none.
        why: String,
    },
    /// Nothing says which tasks of many are meant.
    #[error("no task of {env} is chosen: say which with --task T, --tasks FILE, --split S or --only N")]
    NoTaskChosen {
        /// The environment.
        env: String,
    },
    /// ALFWorld's data are needed.
    #[error("{what}")]
    NoData {
        /// What is missing.
        what: String,
    },
    /// The tasks can be listed, and this program has no world to play them in.
    #[error("{what}")]
    Unplayable {
        /// Which, and why.
        what: String,
    },
    /// A file or folder could not be read.
    #[error("{path}: could not be read: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's word.
        source: std::io::Error,
    },
    /// A list of tasks is not understood.
    #[error("{path}:{line}: {reason}")]
    List {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The world itself.
    #[error(transparent)]
    Env(#[from] EnvError),
}

impl WorldError {
    /// What to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::UnknownEnv { .. } => "choose one of them with --env",
            Self::UnknownTask { .. } | Self::NoTaskChosen { .. } => {
                "`retrospect tasks --env ENV` lists the tasks"
            }
            Self::NoData { .. } => {
                "set ALFWORLD_DATA or --data to the folder that holds json_2.1.1, or play the built-in --env household"
            }
            Self::Unplayable { .. } => "choose tasks of household, alfworld, babyai or pddl",
            Self::Io { .. } => "check the path and its permissions",
            Self::List { .. } => {
                "write one task id a line, JSON lines with a `task`, or rows as AgentBoard's label files have them"
            }
            Self::Env(EnvError::Broken { .. }) => "mend or replace the file, or choose another task",
            Self::Env(_) => "choose another task",
        }
    }
}

/// Opens the world of a task; it has still to be reset.
///
/// # Errors
/// [`EnvError::Broken`] for a damaged game, [`EnvError::Refused`] for a task that is not to be found.
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

/// The task that a text names in an environment.
///
/// # Errors
/// [`WorldError`] when there is none.
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

/// The tasks that a list shows, with their goals. For ALFWorld those its own loader would keep.
///
/// # Errors
/// [`WorldError`] when the environment or its data are not there.
pub fn list_tasks(env: &str, selection: &Selection, options: &WorldOptions) -> Result<Vec<Task>, WorldError> {
    selection::select_tasks(env, selection, options, true)
}

/// The tasks a start screen offers, found fast: for ALFWorld the smallest split there is, with the goals of the first few.
///
/// # Errors
/// [`WorldError`] as [`tasks`].
pub fn list_offered_tasks(env: &str, options: &WorldOptions) -> Result<Vec<Task>, WorldError> {
    match env {
        "household" => {
            let preselected = household::describe_task(crate::env::household::PRESELECTED)?;
            let others = crate::env::household::tasks()?.into_iter().filter(|t| t.id != preselected.id);
            Ok(std::iter::once(preselected.clone()).chain(others).collect())
        }
        "alfworld" => alfworld::list_offered_tasks(options),
        "babyai" => babyai::list_offered_tasks(options).into_iter().map(babyai::add_goal).collect(),
        "pddl" => pddl::list_offered_tasks(options.joining),
        _ => Err(WorldError::UnknownEnv { env: env.to_owned() }),
    }
}

/// The tasks a run is to play, without goals: those are read when each is reset. Nothing selected is the preselected
/// task of the built-in world.
///
/// # Errors
/// [`WorldError`] as [`tasks`]; also for an ALFWorld run that names no task, file or split.
pub fn select_tasks(
    env: &str,
    selection: &Selection,
    options: &WorldOptions,
) -> Result<Vec<Task>, WorldError> {
    selection::select_tasks(env, selection, options, false)
}

/// The same task with another seed of its world's chance.
pub fn with_seed(mut task: Task, seed: u64) -> Task {
    task.seed = seed;
    if task.env == "babyai" {
        babyai::with_seed(&mut task, seed);
    }
    task
}

/// What is odd about a task without keeping anybody from playing it, a sentence each.
pub fn warnings(task: &Task) -> Vec<String> {
    if task.env == "pddl" { pddl::warnings(task) } else { Vec::new() }
}

/// The tasks that a calibration may choose from: ALFWorld's train split, for `household` the first `each` of every kind
/// among numbers that no list shows, and what the environment offers elsewhere.
///
/// # Errors
/// [`WorldError`] as [`tasks`].
pub fn list_calibration_tasks(
    env: &str,
    each: usize,
    options: &WorldOptions,
) -> Result<Vec<Task>, WorldError> {
    match env {
        "household" => Ok(household::list_calibration_tasks(each)),
        "alfworld" => alfworld::list_split(Some("train"), options),
        _ => list_tasks(env, &Selection::default(), options),
    }
}

fn to_env_error(error: &WorldError) -> EnvError {
    EnvError::Refused { what: format!("{error}; {}", error.hint()) }
}

/// Bytes of a file of tasks or of a game; what takes the file has bounds of its own, which are lower.
const MAX_FILE_BYTES: u64 = 64 << 20;

fn read_file(path: &Path) -> Result<Vec<u8>, WorldError> {
    read_bytes(path).map_err(|source| WorldError::Io { path: path.to_owned(), source })
}

/// Reads a regular file, but no endless one.
fn read_bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    crate::files::read(path, MAX_FILE_BYTES)
}
