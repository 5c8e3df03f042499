//! Selects tasks of an environment.

use super::{labels, task_source};
use crate::catalog::{ENVIRONMENT_NAMES, find_environment};
use crate::domain::Task;
use crate::env::{TaskAccess, TaskError, TaskSource};
use serde::Deserialize;
use std::path::Path;

/// A selection among the tasks of an environment, as on the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Single tasks by name; they come first.
    pub tasks: Vec<String>,
    /// A file of tasks, or the name or pattern of a set.
    pub list: Option<String>,
    /// A split of the environment.
    pub split: Option<String>,
    /// The maximum number of tasks; the first ones are selected.
    pub only: Option<u32>,
}

/// An operation that returns tasks of an environment.
type ListTasks = fn(&(dyn TaskSource + 'static), TaskAccess) -> Result<Vec<Task>, TaskError>;

impl Selection {
    /// Returns the selected tasks; `default` provides them if nothing is selected.
    pub(super) fn tasks_of(
        &self,
        env: &str,
        default: ListTasks,
        access: TaskAccess,
    ) -> Result<Vec<Task>, TaskError> {
        let source = task_source(env)?;
        let mut found = Vec::new();
        for text in &self.tasks {
            let task = super::find(env, text, access.options);
            found.push(task.map_err(|error| with_other_environment(error, env, text, access))?);
        }
        if let Some(list) = &self.list {
            found.extend(tasks_in_list(env, list, access)?);
        }
        if let Some(split) = &self.split {
            let tasks = source.list_split(split, access)?;
            found.extend(tasks.ok_or_else(|| TaskError::unknown_split(env, split, explain_no_split(env)))?);
        }
        if self.tasks.is_empty() && self.list.is_none() && self.split.is_none() {
            found = default(source, access)?;
        }
        found.truncate(self.only.map_or(usize::MAX, |n| n as usize));
        if found.is_empty() {
            let text = self.list.as_ref().or(self.split.as_ref()).map_or("", String::as_str);
            return Err(TaskError::unknown_task(env, text, TaskError::NO_USABLE_TASK));
        }
        Ok(found)
    }
}

/// Adds to the error about an unknown task which environment has it, if it is a file or folder that another one can play.
fn with_other_environment(error: TaskError, env: &str, text: &str, access: TaskAccess) -> TaskError {
    let TaskError::UnknownTask { why, .. } = &error else { return error };
    if !Path::new(text).exists() {
        return error;
    }
    // One that starts another program isn't asked.
    let has_it = |name: &&&str| {
        let is_own = task_source(name).is_ok_and(|source| !source.is_external());
        **name != env && is_own && super::find(name, text, access.options).is_ok()
    };
    match ENVIRONMENT_NAMES.iter().find(has_it) {
        Some(other) => TaskError::unknown_task(env, text, format!("{why}; `--env {other}` plays this file")),
        None => error,
    }
}

/// Explains why an environment has no tasks for a split.
fn explain_no_split(env: &str) -> String {
    match find_environment(env).map_or(&[][..], |entry| entry.task_facts.splits) {
        [] => "the environment has no splits".to_owned(),
        splits => format!("its splits are {}", splits.join(", ")),
    }
}

/// Returns the tasks of a file, otherwise of a set with this name.
fn tasks_in_list(env: &str, list: &str, access: TaskAccess) -> Result<Vec<Task>, TaskError> {
    let path = Path::new(list);
    if path.is_file() {
        return tasks_in_file(env, path, access);
    }
    let source = task_source(env)?;
    if let Some(tasks) = source.expand_set(list, access)? {
        return Ok(tasks);
    }
    let why = match source.set_forms() {
        Some(forms) => format!("it is neither a file nor {forms}"),
        None => "it is not a file, and there are no named sets".to_owned(),
    };
    Err(TaskError::unknown_task(env, list, why))
}

#[derive(Deserialize)]
struct TaskRow {
    task: String,
    #[serde(default)]
    env: Option<String>,
    #[serde(default)]
    seed: Option<u64>,
}

fn tasks_in_file(env: &str, path: &Path, access: TaskAccess) -> Result<Vec<Task>, TaskError> {
    let source = task_source(env)?;
    let bytes = access.read(path)?;
    let broken =
        |line: usize, reason: String| TaskError::List { path: path.to_owned(), line: line + 1, reason };
    if bytes.starts_with(&[0x1f, 0x8b]) {
        return Err(broken(0, "the file is compressed; unpack it with `gunzip` first".to_owned()));
    }
    if let Some(tasks) = source.tasks_of_file(path, &bytes, access) {
        return tasks;
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let mut found = Vec::new();
    let mut rows = 0;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        rows += 1;
        if line.starts_with('#') {
            continue;
        }
        if line.starts_with('{') {
            let value =
                serde_json::from_str(line).map_err(|e| broken(number, format!("invalid JSON: {e}")))?;
            if labels::is_label(&value) {
                found.push(
                    labels::task_of_label(path, rows - 1, &value, env, access)
                        .map_err(|e| broken(number, e))?,
                );
                continue;
            }
            if let Some(task) = source.task_of_row(path, rows - 1, &value, access) {
                found.push(task.map_err(|e| broken(number, e.to_string()))?);
                continue;
            }
        }
        let row = if line.starts_with('{') {
            serde_json::from_str(line)
                .map_err(|e| broken(number, format!("not a JSON object with a `task`: {e}")))?
        } else {
            TaskRow { task: line.to_owned(), env: None, seed: None }
        };
        let env = row.env.as_deref().unwrap_or(env);
        let mut task =
            super::find(env, &row.task, access.options).map_err(|e| broken(number, e.to_string()))?;
        if let Some(seed) = row.seed {
            task.seed = seed;
        }
        found.push(task);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::explain_no_split;

    /// Regression: an environment with splits that doesn't have this one was said to have none.
    #[test]
    fn a_missing_split_is_explained_with_those_that_exist() {
        assert_eq!(explain_no_split("alfworld"), "its splits are train, valid_seen, valid_unseen");
        assert_eq!(explain_no_split("pddl"), "the environment has no splits");
    }
}
