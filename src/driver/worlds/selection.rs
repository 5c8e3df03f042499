//! Selects tasks of an environment.

use super::{WorldError, WorldOptions, alfworld, babyai, household, labels, pddl};
use crate::domain::Task;
use crate::env::household::PRESELECTED;
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

impl Selection {
    fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.list.is_none() && self.split.is_none()
    }
}

/// Returns the selected tasks: with their goals if `for_listing`, otherwise only tasks that can be played.
pub(super) fn select_tasks(
    env: &str,
    selection: &Selection,
    options: &WorldOptions,
    for_listing: bool,
) -> Result<Vec<Task>, WorldError> {
    if !super::ENVIRONMENT_NAMES.contains(&env) {
        return Err(WorldError::UnknownEnv { env: env.to_owned() });
    }
    if let Some(split) = &selection.split
        && matches!(env, "household" | "pddl")
    {
        let why = match env {
            "household" => "the built-in environment has no splits; use --tasks 'normal/*/1-20' for a set",
            _ => "it has no splits; use --tasks 'gripper/1-20' for a set",
        };
        return Err(WorldError::UnknownTask {
            env: env.to_owned(),
            task: split.clone(),
            why: why.to_owned(),
        });
    }
    let mut found = Vec::new();
    for text in &selection.tasks {
        found.push(super::find(env, text, options)?);
    }
    if let Some(list) = &selection.list {
        found.extend(tasks_in_list(env, list, options)?);
    }
    if let Some(split) = &selection.split {
        found.extend(match env {
            "babyai" => babyai::list_split(split)?,
            _ => alfworld::list_split(Some(split), options)?,
        });
    }
    if selection.is_empty() {
        found = match (env, for_listing) {
            ("household", true) => crate::env::household::tasks()?,
            // With `only`, take the first of the tasks that `retrospect tasks` lists; with no selection at all, play
            // the preselected game.
            ("household", false) if selection.only.is_some() => crate::env::household::offered_ids()
                .map(|id| household::build_task(id, String::new()))
                .collect(),
            ("household", false) => vec![household::build_task(PRESELECTED, String::new())],
            ("babyai", _) if for_listing || selection.only.is_some() => babyai::list_offered_tasks(options),
            ("pddl", true) => pddl::list_offered_tasks(options.goal_separator)?,
            ("pddl", false) => {
                let count = if selection.only.is_some() { usize::MAX } else { 1 };
                crate::env::pddl::offered_ids()
                    .take(count)
                    .map(|id| crate::env::pddl::task_without_goal(&id))
                    .collect()
            }
            ("babyai", false) => return Err(WorldError::NoTaskChosen { env: env.to_owned() }),
            (_, true) => alfworld::list_split(None, options)?,
            // Without data this reports the error; with data thousands of games must not be played by accident.
            (_, false) if selection.only.is_some() || options.data.is_none() => {
                alfworld::list_split(None, options)?
            }
            (_, false) => return Err(WorldError::NoTaskChosen { env: env.to_owned() }),
        };
    }
    found.truncate(selection.only.map_or(usize::MAX, |n| n as usize));
    if !for_listing {
        for task in &found {
            labels::check_playable(task, options)?;
        }
    }
    if for_listing && env == "household" {
        for task in found.iter_mut().filter(|t| t.goal.is_empty()) {
            if let Ok(id) = crate::env::household::TaskId::parse(&task.id) {
                *task = household::describe_task(id)?;
            }
        }
    }
    if for_listing && env == "babyai" {
        let add_goal = |task: Task| if task.env == env { babyai::add_goal(task) } else { Ok(task) };
        found = found.into_iter().map(add_goal).collect::<Result<_, _>>()?;
    } else if for_listing {
        pddl::add_goals(&mut found, options.goal_separator)?;
    }
    if found.is_empty() {
        return Err(WorldError::UnknownTask {
            env: env.to_owned(),
            task: selection.list.clone().or(selection.split.clone()).unwrap_or_default(),
            why: "the selection contains no usable task".to_owned(),
        });
    }
    Ok(found)
}

/// Returns the tasks of a file, otherwise of a set with this name.
fn tasks_in_list(env: &str, list: &str, options: &WorldOptions) -> Result<Vec<Task>, WorldError> {
    let path = Path::new(list);
    if path.is_file() {
        return tasks_in_file(env, path, options);
    }
    if env == "household"
        && let Some(ids) = household::expand_pattern(list)
    {
        return Ok(ids.into_iter().map(|id| household::build_task(id, String::new())).collect());
    }
    if env == "babyai" {
        if list == babyai::TEST_SPLIT {
            return babyai::list_split(list);
        }
        if let Some(tasks) = babyai::expand_pattern(list) {
            return Ok(tasks);
        }
    }
    if env == "pddl"
        && let Some(ids) = pddl::expand_pattern(list)
    {
        return Ok(ids.iter().map(crate::env::pddl::task_without_goal).collect());
    }
    if env == "alfworld" && alfworld::SPLITS.contains(&list) {
        return alfworld::list_split(Some(list), options);
    }
    Err(WorldError::UnknownTask {
        env: env.to_owned(),
        task: list.to_owned(),
        why: match env {
            "household" => "it is neither a file nor a set such as `normal/*/1-20` (easy|normal|hard|*, \
                            put|look|clean|heat|cool|two|*, numbers)"
                .to_owned(),
            "babyai" => {
                "it is neither a file nor a set such as `test`, `GoToRedBall/0-19` or `*/7`".to_owned()
            }
            "pddl" => "it is neither a file nor a set such as `gripper/1-20`, `*/hard/1-5` or `barman/*/7` \
                       (gripper|blockworld|barman|tyreworld|*, easy|normal|hard|*, numbers)"
                .to_owned(),
            _ => format!("it is neither a file nor a split ({})", alfworld::SPLITS.join(", ")),
        },
    })
}

#[derive(Deserialize)]
struct TaskRow {
    task: String,
    #[serde(default)]
    env: Option<String>,
    #[serde(default)]
    seed: Option<u64>,
}

fn tasks_in_file(env: &str, path: &Path, options: &WorldOptions) -> Result<Vec<Task>, WorldError> {
    let bytes = super::read_file(path)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let broken =
        |line: usize, reason: String| WorldError::List { path: path.to_owned(), line: line + 1, reason };
    if bytes.starts_with(&[0x1f, 0x8b]) {
        return Err(broken(0, "the file is compressed; unpack it with `gunzip` first".to_owned()));
    }
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
                found.push(labels::task_of_label(path, rows - 1, &value).map_err(|e| broken(number, e))?);
                continue;
            }
            if env == "babyai" && babyai::is_level_row(&value) {
                found.push(
                    babyai::task_of_row(path, rows - 1, &value).map_err(|e| broken(number, e.to_string()))?,
                );
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
        let mut task = super::find(env, &row.task, options).map_err(|e| broken(number, e.to_string()))?;
        if let Some(seed) = row.seed {
            task.seed = seed;
        }
        found.push(task);
    }
    Ok(found)
}
