//! The rows of AgentBoard's label files (`test.jsonl`): a task with the subgoals that measure its progress.

use super::Environment;
use super::task_access::TaskAccess;
use crate::domain::Task;
use serde_json::Value;
use std::path::Path;

/// The maximum number of subgoals in a row.
const MAX_SUBGOALS: usize = 1_000;
/// The maximum length of a text in a row, in bytes.
const MAX_TEXT_BYTES: usize = 8_192;

/// A row of a label file. Errors of its functions say what is wrong with the row, without file and line.
#[derive(Debug)]
pub struct Label<'v> {
    /// The label file.
    pub file: &'v Path,
    /// The row's position in that file, counted from 0.
    pub row: usize,
    /// The whole row.
    pub value: &'v Value,
    /// Its index in AgentBoard's own file.
    pub number: usize,
    /// Empty only if [`LabelSource::reads_subgoals`].
    pub goal: &'v str,
    /// Empty if [`LabelSource::reads_subgoals`].
    pub subgoals: Vec<String>,
    pub difficulty: Option<&'v str>,
}

/// How an environment plays the tasks of AgentBoard's labels.
pub trait LabelSource: Sync {
    /// Returns whether the environment reads the subgoals from the row itself. Then `task`, `goal` and `subgoals` may
    /// be missing, and a row without `task` belongs to this environment.
    fn reads_subgoals(&self) -> bool {
        false
    }

    /// Adds to a label's task what the environment knows about it (type, seed). Needs no data: labels can be listed
    /// where their games are missing.
    ///
    /// # Errors
    /// Returns what is wrong with the row.
    fn complete_task(&self, label: &Label, task: &mut Task) -> Result<(), String>;

    /// Checks that the files that the task needs are available.
    ///
    /// # Errors
    /// Returns what is missing.
    fn check_playable(&self, label: &Label, access: TaskAccess) -> Result<(), String> {
        let _ = (label, access);
        Ok(())
    }

    /// Opens the environment of a label's task.
    ///
    /// # Errors
    /// Returns what is wrong with the row or with the game.
    fn open(&self, label: &Label, access: TaskAccess) -> Result<Box<dyn Environment>, String>;
}

impl<'v> Label<'v> {
    /// Parses a row. `source` is that of its environment, or `None` if its labels can only be listed.
    ///
    /// # Errors
    /// Returns what is wrong with the row.
    pub fn parse(
        file: &'v Path,
        row: usize,
        value: &'v Value,
        source: Option<&dyn LabelSource>,
    ) -> Result<Self, String> {
        let environment_reads_subgoals = source.is_some_and(LabelSource::reads_subgoals);
        let id = value.get("id").map(|id| id.as_u64().and_then(|id| usize::try_from(id).ok()));
        let number = id.unwrap_or(Some(row)).ok_or("`id` is not a whole number of at least 0")?;
        let goal = match value.get("goal") {
            None if environment_reads_subgoals => "",
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
        let subgoals = if environment_reads_subgoals { Vec::new() } else { parse_subgoals(value)? };
        Ok(Self { file, row, value, number, goal, subgoals, difficulty })
    }

    /// Returns the id of the row's task.
    pub fn task_id(&self) -> String {
        format!("{}#{}", self.file.display(), self.row)
    }

    /// Returns whether a task's id is that of a row: `FILE#ROW`.
    pub fn is_task_id(id: &str) -> bool {
        id.rsplit_once('#').is_some_and(|(_, row)| row.parse::<usize>().is_ok())
    }

    /// Returns a field of `additional_info`.
    pub fn info(&self, key: &str) -> Option<&'v Value> {
        self.value.get("additional_info")?.get(key)
    }

    /// Returns a string of `additional_info`.
    ///
    /// # Errors
    /// Returns that it is missing, empty or too long.
    pub fn info_text(&self, key: &str) -> Result<&'v str, String> {
        let found = self.info(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        check_length(found.ok_or_else(|| format!("`additional_info.{key}` is missing or not a string"))?, key)
    }
}

fn parse_subgoals(value: &Value) -> Result<Vec<String>, String> {
    let list = value
        .get("subgoals")
        .ok_or("`subgoals` is missing; alternatives (`subgoals_1`, `subgoals_2`) aren't supported here")?;
    let list = list.as_array().ok_or("`subgoals` is not a list")?;
    if list.is_empty() || list.len() > MAX_SUBGOALS {
        return Err(format!("`subgoals` has {} entries; 1 to {MAX_SUBGOALS} are supported", list.len()));
    }
    let parse = |(n, subgoal): (usize, &Value)| {
        let subgoal = subgoal.as_str().ok_or_else(|| format!("`subgoals[{n}]` is not a string"))?;
        check_length(subgoal, "a subgoal").map(str::to_owned)
    };
    list.iter().enumerate().map(parse).collect()
}

fn check_length<'t>(text: &'t str, what: &str) -> Result<&'t str, String> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(format!("{what} has {} bytes; at most {MAX_TEXT_BYTES} are supported", text.len()));
    }
    Ok(text)
}
