//! AgentBoard's label files (`test.jsonl`) as sets of tasks: a row has `task`, `id`, `goal`, `subgoals`, `difficulty`
//! and `additional_info`. The id of a row's task is `FILE#ROW` (rows counted from 0); the row is read again when the
//! task is opened. Listing needs only the labels; the games must exist only when they are played.

mod problem;
#[cfg(test)]
mod tests;

use super::{WorldError, WorldOptions, alfworld, babyai, pddl, read_file, to_env_error};
use crate::domain::Task;
use crate::env::alfworld::Subgoals;
use crate::env::{EnvError, Environment};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// AgentBoard's names of the environments whose labels are supported.
const LABELLED_ENVIRONMENTS: [&str; 4] = ["alfworld", "babyai", "pddl", LIST_ONLY_ENVIRONMENT];
/// The one that can be listed but not played.
pub(super) const LIST_ONLY_ENVIRONMENT: &str = "scienceworld";
/// The maximum number of subgoals in a row.
const MAX_SUBGOALS: usize = 1_000;
/// The maximum length of a text in a row, in bytes.
const MAX_TEXT_BYTES: usize = 8_192;

/// A row of a label file.
#[derive(Debug, PartialEq)]
struct Label<'v> {
    env: &'v str,
    /// Its index in AgentBoard's own file.
    number: usize,
    goal: &'v str,
    subgoals: Vec<String>,
    difficulty: Option<&'v str>,
    /// Its `additional_info`.
    info: Option<&'v Value>,
}

/// Returns whether a list row is a label rather than a level or the name of a task.
pub(super) fn is_label(value: &Value) -> bool {
    value.get("grid").is_none() && (value.get("subgoals").is_some() || value.get("subgoals_1").is_some())
}

/// Returns the task of a label.
///
/// # Errors
/// Returns what is wrong with the row, without file and line.
pub(super) fn task_of_label(path: &Path, row: usize, value: &Value) -> Result<Task, String> {
    let label = Label::parse(row, value)?;
    let id = format!("{}#{row}", absolute_path(path).display());
    let mut task = Task {
        env: label.env.to_owned(),
        id,
        goal: label.goal.to_owned(),
        task_type: None,
        difficulty: label.difficulty.map(str::to_owned),
        seed: 0,
    };
    match label.env {
        "babyai" => {
            let level =
                babyai::load_labelled_level(&task.id, label.number, value).map_err(|e| error_text(&e))?;
            label.check_level(&level)?;
            (task.seed, task.task_type) = (level.start.seed, level.task_type());
        }
        "alfworld" => {
            let game = label.info_text("description")?;
            task.task_type = game.split('-').next().map(str::to_owned);
            Subgoals::compile(&label.subgoals)?;
        }
        "pddl" => task.task_type = Some(label.domain()?.word().to_owned()),
        _ => {
            task.task_type = Some(label.info_text("env_name")?.to_owned());
            let variation = label.info.and_then(|info| info.get("var")).map(Value::as_u64);
            task.seed = variation.unwrap_or(Some(0)).ok_or("`additional_info.var` is not a whole number")?;
        }
    }
    Ok(task)
}

/// Returns the task of `FILE#ROW`, if the text has this form and the row is a label.
pub(super) fn find(text: &str) -> Option<Result<Task, WorldError>> {
    let (path, row) = parse_row_id(text)?;
    let broken = |line, reason| WorldError::List { path: path.clone(), line, reason };
    Some(match read_row(&path, row) {
        Ok(Some((line, value))) if is_label(&value) => {
            task_of_label(&path, row, &value).map_err(|reason| broken(line, reason))
        }
        Ok(Some(_)) => return None,
        Ok(None) => Err(WorldError::List { path, line: row + 1, reason: "no such row".to_owned() }),
        Err(error) => Err(error),
    })
}

/// Opens the environment of a label's task. Returns `None` for any other task.
pub(super) fn open(task: &Task, options: &WorldOptions) -> Option<Result<Box<dyn Environment>, EnvError>> {
    let (path, row) = parse_row_id(&task.id)?;
    let found = match read_row(&path, row) {
        Ok(Some((_, value))) if !is_label(&value) => return None,
        Ok(Some((line, value))) => open_row(&path, row, &value, options)
            .map_err(|reason| to_env_error(&WorldError::List { path, line, reason })),
        Ok(None) => {
            let reason = "no such row".to_owned();
            Err(to_env_error(&WorldError::List { path, line: row + 1, reason }))
        }
        Err(error) => Err(to_env_error(&error)),
    };
    Some(found)
}

/// Checks whether a label's task can be played here. Accepts any other task.
///
/// # Errors
/// Returns [`WorldError::List`] with what is missing, or [`WorldError::Unplayable`] if this program has no such
/// environment.
pub(super) fn check_playable(task: &Task, options: &WorldOptions) -> Result<(), WorldError> {
    if task.env == LIST_ONLY_ENVIRONMENT {
        let what = format!(
            "{}: this program has no ScienceWorld environment; its label files can be listed but cannot be played",
            task.id
        );
        return Err(WorldError::Unplayable { what });
    }
    let Some((path, row)) = parse_row_id(&task.id) else { return Ok(()) };
    let Some((line, value)) = read_row(&path, row)? else { return Ok(()) };
    if !is_label(&value) {
        return Ok(());
    }
    let broken = |reason| WorldError::List { path: path.clone(), line, reason };
    let label = Label::parse(row, &value).map_err(broken)?;
    match label.env {
        "alfworld" => label.info_text("description").map_err(broken).and_then(|game| {
            alfworld::find_game_file(game, options).map(drop).map_err(|e| broken(e.to_string()))
        }),
        "pddl" => label.problem_task_id(&path, options).map(drop).map_err(broken),
        _ => Ok(()),
    }
}

fn open_row(
    path: &Path,
    row: usize,
    value: &Value,
    options: &WorldOptions,
) -> Result<Box<dyn Environment>, String> {
    let label = Label::parse(row, value)?;
    match label.env {
        "babyai" => {
            let level =
                babyai::load_labelled_level(&format!("{}#{row}", path.display()), label.number, value);
            let level = level.map_err(|e| error_text(&e))?;
            label.check_level(&level)?;
            Ok(level.open())
        }
        "alfworld" => {
            let subgoals = Subgoals::compile(&label.subgoals)?;
            alfworld::open_labelled(label.info_text("description")?, subgoals, options)
                .map_err(|e| error_text(&e))
        }
        "pddl" => {
            pddl::open_files(&label.problem_task_id(path, options)?, options).map_err(|e| error_text(&e))
        }
        _ => {
            Err("this program has no ScienceWorld environment; its labels can be listed but cannot be played"
                .to_owned())
        }
    }
}

impl<'v> Label<'v> {
    fn parse(row: usize, value: &'v Value) -> Result<Self, String> {
        let env = match value.get("task") {
            // AgentBoard's rows always contain it; lists of BabyAI subgoals may omit it.
            None => "babyai",
            Some(task) => task.as_str().ok_or("`task` is not a string")?,
        };
        if !LABELLED_ENVIRONMENTS.contains(&env) {
            return Err(format!(
                "labels of {env:?} are not supported; supported are {}",
                LABELLED_ENVIRONMENTS.join(", ")
            ));
        }
        let id = value.get("id").map(|id| id.as_u64().and_then(|id| usize::try_from(id).ok()));
        let number = id.unwrap_or(Some(row)).ok_or("`id` is not a whole number of at least 0")?;
        let goal = match value.get("goal") {
            None if env == "babyai" => "",
            None => return Err("`goal` is missing".to_owned()),
            Some(goal) => check_length(goal.as_str().ok_or("`goal` is not a string")?, "`goal`")?,
        };
        let difficulty = match value.get("difficulty") {
            None | Some(Value::Null) => None,
            Some(difficulty) => Some(
                difficulty
                    .as_str()
                    .filter(|difficulty| matches!(*difficulty, "easy" | "hard"))
                    .ok_or("`difficulty` is neither \"easy\" nor \"hard\"")?,
            ),
        };
        if env != "babyai" && value.get("subgoals").is_none() {
            return Err(
                "`subgoals` is missing; only BabyAI has alternatives (`subgoals_1`, `subgoals_2`)".to_owned()
            );
        }
        let mut subgoals = Vec::new();
        // BabyAI's own parser reads the alternatives.
        if let Some(list) = value.get("subgoals").filter(|_| env != "babyai") {
            let list = list.as_array().ok_or("`subgoals` is not a list")?;
            if list.is_empty() || list.len() > MAX_SUBGOALS {
                return Err(format!(
                    "`subgoals` has {} entries; 1 to {MAX_SUBGOALS} are supported",
                    list.len()
                ));
            }
            for (n, subgoal) in list.iter().enumerate() {
                let subgoal = subgoal.as_str().ok_or_else(|| format!("`subgoals[{n}]` is not a string"))?;
                subgoals.push(check_length(subgoal, "a subgoal")?.to_owned());
            }
        }
        Ok(Self { env, number, goal, subgoals, difficulty, info: value.get("additional_info") })
    }

    /// Returns a string of `additional_info`.
    fn info_text(&self, key: &str) -> Result<&'v str, String> {
        let found = self.info.and_then(|info| info.get(key)).and_then(Value::as_str);
        let found = found.filter(|text| !text.is_empty());
        check_length(found.ok_or_else(|| format!("`additional_info.{key}` is missing or not a string"))?, key)
    }

    /// Checks that the level of the label's number is the one for which the label was written.
    fn check_level(&self, level: &babyai::LabelledLevel) -> Result<(), String> {
        let known = [level.start.goal.as_str(), level.start.mission.as_str()];
        if !self.goal.is_empty() && !known.contains(&self.goal) {
            return Err(format!(
                "number {} of the test split is {:?} with seed {}, whose goal is {:?}, not {:?}; `id` must be the index in AgentBoard's own file",
                self.number, level.start.env_id, level.start.seed, level.start.goal, self.goal
            ));
        }
        let observation = self.info.and_then(|info| info.get("init_obs")).and_then(Value::as_str);
        if observation.is_some_and(|observation| observation.trim() != level.first_observation().trim()) {
            return Err("`additional_info.init_obs` is not the level's first observation".to_owned());
        }
        Ok(())
    }
}

fn check_length<'t>(text: &'t str, what: &str) -> Result<&'t str, String> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(format!("{what} has {} bytes; at most {MAX_TEXT_BYTES} are supported", text.len()));
    }
    Ok(text)
}

/// Returns file and row of `FILE#ROW`, if the file exists.
fn parse_row_id(id: &str) -> Option<(PathBuf, usize)> {
    let (path, row) = id.rsplit_once('#')?;
    let row = row.parse().ok()?;
    Path::new(path).is_file().then(|| (PathBuf::from(path), row))
}

/// Returns the line number (from 1) and the value of a row; `None` after the end of the file.
fn read_row(path: &Path, row: usize) -> Result<Option<(usize, Value)>, WorldError> {
    let bytes = read_file(path)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut rows = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let Some((line, text)) = rows.nth(row) else { return Ok(None) };
    // A row that is not a JSON object is the name of a task, not a label.
    if !text.trim_start().starts_with('{') {
        return Ok(Some((line + 1, Value::Null)));
    }
    let broken = |e: serde_json::Error| WorldError::List {
        path: path.to_owned(),
        line: line + 1,
        reason: format!("invalid JSON: {e}"),
    };
    Ok(Some((line + 1, serde_json::from_str(text).map_err(broken)?)))
}

fn error_text(error: &EnvError) -> String {
    error.to_string()
}

/// Returns a path that finds the file from any folder.
fn absolute_path(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
