//! What an environment says about its tasks.

use super::label::LabelSource;
use super::task_access::TaskAccess;
use super::task_error::TaskError;
use super::{EnvError, Environment, TimeLimits};
use crate::domain::{Task, pluralize};
use serde_json::Value;
use std::path::Path;

/// The tasks of an environment: how they are named, listed and opened.
///
/// A task's id is journaled, so it must find the same game again. A small environment implements `open`, `find` and
/// `list`; everything else has a default.
pub trait TaskSource: Sync {
    /// Opens the environment of a task, without resetting it.
    ///
    /// # Errors
    /// Returns [`EnvError::Broken`] for a damaged game, and [`EnvError::Refused`] for a task that is not found.
    fn open(&self, task: &Task, access: TaskAccess) -> Result<Box<dyn Environment>, EnvError>;

    /// Returns the task that a text names. The goal may be empty.
    ///
    /// # Errors
    /// Returns [`TaskError`] if there is none.
    fn find(&self, text: &str, access: TaskAccess) -> Result<Task, TaskError>;

    /// Returns the tasks to list if none are selected. Goals may be empty; `add_goal` adds them.
    ///
    /// # Errors
    /// Returns [`TaskError`] if the environment's data is not available.
    fn list(&self, access: TaskAccess) -> Result<Vec<Task>, TaskError>;

    /// Returns a task, whose goal is empty, with its goal.
    ///
    /// # Errors
    /// Returns [`TaskError`] if the task can't be read or generated.
    fn add_goal(&self, task: Task, access: TaskAccess) -> Result<Task, TaskError> {
        let _ = access;
        Ok(task)
    }

    /// Returns the tasks to offer on the start screen, the preselected one first. Must be fast.
    ///
    /// # Errors
    /// The same as [`TaskSource::list`].
    fn list_offered(&self, access: TaskAccess) -> Result<Vec<Task>, TaskError> {
        let add_goal = |task: Task| if task.goal.is_empty() { self.add_goal(task, access) } else { Ok(task) };
        self.list(access)?.into_iter().map(add_goal).collect()
    }

    /// Returns the tasks of a run that selects none: by default the first one of the list.
    ///
    /// # Errors
    /// The same as [`TaskSource::list`], and [`TaskError::NoTaskChosen`] if a person must choose.
    fn default_tasks(&self, access: TaskAccess) -> Result<Vec<Task>, TaskError> {
        Ok(self.list(access)?.into_iter().take(1).collect())
    }

    /// Returns the tasks from which a calibration may choose. `tasks_per_kind` limits generated ones.
    ///
    /// # Errors
    /// The same as [`TaskSource::list`].
    fn list_calibration(&self, tasks_per_kind: usize, access: TaskAccess) -> Result<Vec<Task>, TaskError> {
        let _ = tasks_per_kind;
        self.list_offered(access)
    }

    /// Returns the tasks of a split, or `None` if the environment has no splits.
    ///
    /// # Errors
    /// Returns [`TaskError`] if there is no such split.
    fn list_split(&self, split: &str, access: TaskAccess) -> Result<Option<Vec<Task>>, TaskError> {
        let _ = (split, access);
        Ok(None)
    }

    /// Returns the tasks of a set, or `None` if the text is not the name or pattern of one.
    ///
    /// # Errors
    /// Returns [`TaskError`] if the set's data is not available.
    fn expand_set(&self, text: &str, access: TaskAccess) -> Result<Option<Vec<Task>>, TaskError> {
        let _ = (text, access);
        Ok(None)
    }

    /// Describes the texts that `expand_set` understands, such as "a set such as `normal/*/1-20`". `None` if the
    /// environment has no sets.
    fn set_forms(&self) -> Option<&'static str> {
        None
    }

    /// Returns whether a row of a list contains a whole task of this environment, so that it is no label even if it has
    /// fields of one.
    fn is_whole_task(&self, value: &Value) -> bool {
        let _ = value;
        false
    }

    /// Returns the task of a row of a list if the row contains a whole task, not just its name.
    ///
    /// # Errors
    /// Returns what is wrong with the row.
    fn task_of_row(
        &self,
        list: &Path,
        row: usize,
        value: &Value,
        access: TaskAccess,
    ) -> Option<Result<Task, EnvError>> {
        let _ = (list, row, value, access);
        None
    }

    /// Returns the tasks of a list that is a file in a form of the environment's own, such as that of a data set. `None` if it
    /// is a list like any other.
    fn tasks_of_file(
        &self,
        list: &Path,
        bytes: &[u8],
        access: TaskAccess,
    ) -> Option<Result<Vec<Task>, TaskError>> {
        let _ = (list, bytes, access);
        None
    }

    /// Returns how the environment plays AgentBoard's labels, or `None` if it doesn't.
    fn labels(&self) -> Option<&'static dyn LabelSource> {
        None
    }

    /// Returns the task with another random seed.
    fn with_seed(&self, task: Task, seed: u64) -> Task {
        Task { seed, ..task }
    }

    /// Returns a short title for a task whose goal isn't known yet.
    fn title(&self, task: &Task) -> String {
        task.id.clone()
    }

    /// Returns warnings about a task that can be played nevertheless, one sentence each.
    fn warnings(&self, task: &Task, access: TaskAccess) -> Vec<String> {
        let _ = (task, access);
        Vec::new()
    }

    /// Returns the limits that an opened environment keeps by itself, ending an answer that takes longer with
    /// [`EnvError::TimedOut`]. `None` if it keeps none, as an environment that only computes: after a minute without an
    /// answer it is abandoned. That kills its child processes, and ends whatever else it has registered with its thread's
    /// [`StopHandle`](super::StopHandle).
    fn time_limits(&self, access: TaskAccess) -> Option<TimeLimits> {
        let _ = access;
        None
    }

    /// Returns whether it is a program whose command a person has to give, and hasn't given here.
    fn lacks_command(&self, access: TaskAccess) -> bool {
        let _ = access;
        false
    }

    /// Returns whether an opened environment is more than memory and computing time, such as another program: then no
    /// second one is opened for the fields `admissible` and `world` of `run --json`, which are empty.
    fn is_external(&self) -> bool {
        false
    }

    /// Returns whether opening a task may take seconds, because a large program is started. Then the screen opens before the first
    /// task is, and a task that can't be opened is a failed call of the session.
    fn starts_slowly(&self) -> bool {
        false
    }

    /// Ends the processes that wait for their next episode. Called before this program ends.
    fn end_idle_processes(&self) {}

    /// Checks for `doctor` whether the environment works here: by default, whether the first of its tasks can be begun. `None` if
    /// there is nothing to check; no other program is started unasked.
    fn check(&self, access: TaskAccess) -> Option<TaskCheck> {
        if self.is_external() {
            return None;
        }
        let begin = || {
            let tasks = self.list(access).map_err(|error| error.to_string())?;
            let Some(first) = tasks.first() else { return Ok("it lists no tasks".to_owned()) };
            let begun = self.open(first, access).and_then(|mut world| world.reset());
            begun.map_err(|error| format!("{}: {error}", first.id))?;
            Ok(format!("{}, such as {}", pluralize(tasks.len() as u64, "task"), first.id))
        };
        Some(match begin() {
            Ok(detail) => TaskCheck::Ok(detail),
            Err(detail) => {
                TaskCheck::Broken { detail, hint: "its first task must always work; report this bug" }
            }
        })
    }
}

/// Whether an environment works here.
pub enum TaskCheck {
    /// It works; the text says what was tried.
    Ok(String),
    /// It needs something that is not there.
    Missing { detail: String, hint: &'static str },
    /// It doesn't work.
    Broken { detail: String, hint: &'static str },
}

/// A game as a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedGame {
    /// The folder, relative to a directory of the caller's choice, with `/` as the separator.
    pub folder: String,
    /// The files, as pairs of name and content.
    pub files: Vec<(&'static str, String)>,
}

#[cfg(test)]
mod tests;
