//! AgentBoard's label files (`test.jsonl`) as sets of tasks: a row has `task`, `id`, `goal`, `subgoals`, `difficulty`
//! and `additional_info`. The id of a row's task is `FILE#ROW` (rows counted from 0); the row is read again when the
//! task is opened. Listing needs only the labels; the games must exist only when they are played.

#[cfg(test)]
mod tests;

use crate::catalog::{ENVIRONMENT_NAMES, ENVIRONMENTS, find_environment};
use crate::domain::Task;
use crate::env::{EnvError, Environment, Label, LabelSource, TaskAccess, TaskError};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Returns the environments whose labels can be played, with AgentBoard's names.
fn labelled_environments() -> impl Iterator<Item = (&'static str, &'static dyn LabelSource)> {
    ENVIRONMENTS.iter().filter_map(|entry| Some((entry.name, entry.tasks.labels()?)))
}

/// Returns whether a list row is a label rather than a whole task or the name of one.
pub(super) fn is_label(value: &Value) -> bool {
    let is_whole_task = || ENVIRONMENTS.iter().any(|entry| entry.tasks.is_whole_task(value));
    !is_whole_task() && (value.get("subgoals").is_some() || value.get("subgoals_1").is_some())
}

/// Returns the environment of a label, and how it plays it; `None` if this program doesn't have it, so that the label can
/// only be listed. A row that doesn't name its environment belongs to `env` if that reads such rows, else to the first one
/// that does.
fn environment_of<'a>(
    value: &'a Value,
    env: &str,
) -> Result<(&'a str, Option<&'static dyn LabelSource>), String> {
    let mut known = labelled_environments();
    let Some(name) = value.get("task") else {
        // AgentBoard's rows always contain it; lists of subgoals may omit it.
        let readers = || labelled_environments().filter(|(_, source)| source.reads_subgoals());
        let found = readers().find(|(name, _)| *name == env).or_else(|| readers().next());
        return found.map(|(env, source)| (env, Some(source))).ok_or("`task` is missing".to_owned());
    };
    let name = name.as_str().ok_or("`task` is not a string")?;
    match known.find(|(env, _)| *env == name) {
        Some((env, source)) => Ok((env, Some(source))),
        None if find_environment(name).is_none() => Ok((name, None)),
        None => {
            let names: Vec<&str> = labelled_environments().map(|(env, _)| env).collect();
            Err(format!("labels of {name:?} are not supported; supported are {}", names.join(", ")))
        }
    }
}

/// Returns the task of a label; `env` is the environment whose tasks are listed.
///
/// # Errors
/// Returns what is wrong with the row, without file and line.
pub(super) fn task_of_label(
    path: &Path,
    row: usize,
    value: &Value,
    env: &str,
    access: TaskAccess,
) -> Result<Task, String> {
    let (env, source) = environment_of(value, env)?;
    let file = access.absolute_path(path);
    let label = Label::parse(&file, row, value, source)?;
    let mut task = Task {
        env: env.to_owned(),
        id: label.task_id(),
        goal: label.goal.to_owned(),
        task_type: None,
        difficulty: label.difficulty.map(str::to_owned),
        seed: 0,
    };
    if let Some(source) = source {
        source.complete_task(&label, &mut task)?;
    }
    Ok(task)
}

/// Returns the task of `FILE#ROW`, if the text has this form and the row is a label.
pub(super) fn find(env: &str, text: &str, access: TaskAccess) -> Option<Result<Task, TaskError>> {
    let (path, row) = parse_row_id(text)?;
    let broken = |line, reason| TaskError::List { path: path.clone(), line, reason };
    Some(match read_row(&path, row, access) {
        Ok(Some((line, value))) if is_label(&value) => {
            task_of_label(&path, row, &value, env, access).map_err(|reason| broken(line, reason))
        }
        Ok(Some(_)) => return None,
        Ok(None) => Err(broken(row + 1, "no such row".to_owned())),
        Err(error) => Err(error),
    })
}

/// Opens the environment of a label's task. Returns `None` for any other task.
pub(super) fn open(task: &Task, access: TaskAccess) -> Option<Result<Box<dyn Environment>, EnvError>> {
    let (path, row) = parse_row_id(&task.id)?;
    let broken = |line, reason| TaskError::List { path: path.clone(), line, reason };
    let found = match read_row(&path, row, access) {
        Ok(Some((_, value))) if !is_label(&value) => return None,
        Ok(Some((line, value))) => {
            open_row(&path, row, &value, &task.env, access).map_err(|reason| broken(line, reason))
        }
        Ok(None) => Err(broken(row + 1, "no such row".to_owned())),
        Err(error) => Err(error),
    };
    Some(found.map_err(|e| e.to_env_error()))
}

/// Checks whether a label's task can be played here. Accepts any other task.
///
/// # Errors
/// Returns [`TaskError::List`] with what is missing, or [`TaskError::Unplayable`] if this program has no such
/// environment.
pub(super) fn check_playable(task: &Task, access: TaskAccess) -> Result<(), TaskError> {
    if find_environment(&task.env).is_none() {
        let (last, others) = ENVIRONMENT_NAMES.split_last().unwrap_or((&"", &[]));
        return Err(TaskError::Unplayable {
            what: format!(
                "{}: this program has no environment {}; its label files can be listed but cannot be played",
                task.id, task.env
            ),
            hint: format!("choose tasks of {} or {last}", others.join(", ")),
        });
    }
    let Some((path, row)) = parse_row_id(&task.id) else { return Ok(()) };
    let Some((line, value)) = read_row(&path, row, access)? else { return Ok(()) };
    if !is_label(&value) {
        return Ok(());
    }
    let check = || {
        let (_, source) = environment_of(&value, &task.env)?;
        let label = Label::parse(&path, row, &value, source)?;
        source.map_or(Ok(()), |source| source.check_playable(&label, access))
    };
    check().map_err(|reason| TaskError::List { path: path.clone(), line, reason })
}

fn open_row(
    path: &Path,
    row: usize,
    value: &Value,
    env: &str,
    access: TaskAccess,
) -> Result<Box<dyn Environment>, String> {
    let (_, source) = environment_of(value, env)?;
    let label = Label::parse(path, row, value, source)?;
    source
        .ok_or_else(|| {
            format!("this program has no environment {env}; its labels can be listed but cannot be played")
        })?
        .open(&label, access)
}

/// Returns file and row of `FILE#ROW`, if the file exists.
fn parse_row_id(id: &str) -> Option<(PathBuf, usize)> {
    let (path, row) = id.rsplit_once('#')?;
    let row = row.parse().ok()?;
    Path::new(path).is_file().then(|| (PathBuf::from(path), row))
}

/// Returns the line number (from 1) and the value of a row; `None` after the end of the file.
fn read_row(path: &Path, row: usize, access: TaskAccess) -> Result<Option<(usize, Value)>, TaskError> {
    let bytes = access.read(path)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut rows = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let Some((line, text)) = rows.nth(row) else { return Ok(None) };
    // A row that is not a JSON object is the name of a task, not a label.
    if !text.trim_start().starts_with('{') {
        return Ok(Some((line + 1, Value::Null)));
    }
    let broken = |e: serde_json::Error| TaskError::List {
        path: path.to_owned(),
        line: line + 1,
        reason: format!("invalid JSON: {e}"),
    };
    Ok(Some((line + 1, serde_json::from_str(text).map_err(broken)?)))
}
