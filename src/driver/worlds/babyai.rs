//! BabyAI levels: by name and seed, from a level file, or from a row of a list with subgoals.
//!
//! Ids: `GoToRedBall/1234` (a level and its seed), the path of a level file, or `PATH#ROW` for a row of a list.

use super::{WorldError, WorldOptions, read_file, to_env_error};
use crate::domain::Task;
use crate::env::babyai::{Level, LevelStart, World};
use crate::env::{EnvError, Environment};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The name of AgentBoard's split.
pub(super) const TEST_SPLIT: &str = "test";

/// Opens the level of a task.
pub(super) fn open(task: &Task) -> Result<Box<dyn Environment>, EnvError> {
    Ok(Box::new(World::new(Arc::new(load_start(&task.id)?))))
}

/// Returns the task of a level's name, of `NAME/SEED`, or of a level file. A name without a seed uses the seed of the
/// options.
pub(super) fn find(text: &str, options: &WorldOptions) -> Result<Task, WorldError> {
    if let Some((level, seed)) = parse_level(text, options.seed) {
        return Ok(build_task(level, seed));
    }
    if !Path::new(text).is_file() {
        return Err(unknown_task(
            text,
            "a task is a level's number, short name or full id (`tasks --env babyai` lists them), optionally with /SEED, or a level file",
        ));
    }
    let path = absolute_path(Path::new(text));
    let id = path.to_string_lossy().into_owned();
    let start = load_start(&id)?;
    Ok(task_of_start(id, &start))
}

/// Changes the seed of a task whose level is generated from one.
pub(super) fn with_seed(task: &mut Task, seed: u64) {
    if let Some((level, _)) = parse_level(&task.id, 0) {
        *task = self::build_task(level, seed);
    }
}

/// Adds the task's goal.
pub(super) fn add_goal(mut task: Task) -> Result<Task, WorldError> {
    if task.goal.is_empty() {
        task.goal = load_start(&task.id)?.goal;
    }
    Ok(task)
}

/// Returns the default tasks: every level with the seed of the options.
pub(super) fn list_offered_tasks(options: &WorldOptions) -> Vec<Task> {
    Level::all().iter().map(|level| build_task(level, options.seed)).collect()
}

/// Returns the tasks of a split.
pub(super) fn list_split(name: &str) -> Result<Vec<Task>, WorldError> {
    if name != TEST_SPLIT {
        return Err(unknown_task(name, "BabyAI's only split is AgentBoard's `test`"));
    }
    Ok(Level::test_split().map(|(level, seed)| build_task(level, seed)).collect())
}

/// Returns the tasks of a pattern such as `GoToRedBall/0-19` or `*/7`: all levels or one, and a seed or a range of
/// seeds.
pub(super) fn expand_pattern(text: &str) -> Option<Vec<Task>> {
    const MAX_SEEDS: u64 = 100_000;
    let (name, seeds) = text.split_once('/')?;
    let (first, last) = seeds.split_once('-').unwrap_or((seeds, seeds));
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    if last < first || last - first >= MAX_SEEDS {
        return None;
    }
    let levels: Vec<&Level> =
        if name == "*" { Level::all().iter().collect() } else { vec![Level::from_name(name)?] };
    Some((first..=last).flat_map(|seed| levels.iter().map(move |level| build_task(level, seed))).collect())
}

/// The level of an AgentBoard label.
pub(super) struct LabelledLevel {
    pub(super) start: Arc<LevelStart>,
}

impl LabelledLevel {
    pub(super) fn task_type(&self) -> Option<String> {
        Level::from_name(&self.start.env_id).map(|level| level.name.to_owned())
    }

    pub(super) fn first_observation(&self) -> String {
        World::new(Arc::clone(&self.start)).restart()
    }

    pub(super) fn open(self) -> Box<dyn Environment> {
        Box::new(World::new(self.start))
    }
}

/// Loads the level with a label's number, with the label's subgoals.
pub(super) fn load_labelled_level(
    id: &str,
    number: usize,
    value: &serde_json::Value,
) -> Result<LabelledLevel, EnvError> {
    Ok(LabelledLevel { start: Arc::new(LevelStart::from_task_row(id, value, number)?) })
}

/// Returns the task of a list row that contains a complete level.
pub(super) fn task_of_row(path: &Path, row: usize, value: &serde_json::Value) -> Result<Task, EnvError> {
    let id = format!("{}#{row}", absolute_path(path).display());
    let start = LevelStart::from_json(&id, value)?;
    Ok(task_of_start(id, &start))
}

/// Returns whether a list row is a level rather than the name of a task.
pub(super) fn is_level_row(value: &serde_json::Value) -> bool {
    value.get("grid").is_some()
}

fn load_start(id: &str) -> Result<LevelStart, EnvError> {
    if let Some((level, seed)) = parse_level(id, 0) {
        return level.generate(seed);
    }
    let to_error = |e: WorldError| to_env_error(&e);
    let Some((path, number)) = id.rsplit_once('#').and_then(|(path, row)| Some((path, row.parse().ok()?)))
    else {
        return LevelStart::parse(id, &read_file(Path::new(id)).map_err(to_error)?);
    };
    let bytes = read_file(Path::new(path)).map_err(to_error)?;
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().filter(|line| !line.trim().is_empty()).nth(number);
    let broken = |reason: String| EnvError::Broken {
        file: path.to_owned(),
        place: format!("row {number}, counted from 0"),
        reason,
    };
    let line = line.ok_or_else(|| broken("no such row".to_owned()))?;
    let value = serde_json::from_str(line).map_err(|e| broken(format!("invalid JSON: {e}")))?;
    LevelStart::from_json(id, &value)
}

fn parse_level(text: &str, seed: u64) -> Option<(&'static Level, u64)> {
    match text.split_once('/') {
        None => Some((Level::from_name(text)?, seed)),
        Some((name, seed)) => Some((Level::from_name(name)?, seed.parse().ok()?)),
    }
}

fn build_task(level: &Level, seed: u64) -> Task {
    Task {
        env: "babyai".to_owned(),
        id: format!("{}/{seed}", level.name),
        goal: String::new(),
        task_type: Some(level.name.to_owned()),
        difficulty: None,
        seed,
    }
}

fn task_of_start(id: String, start: &LevelStart) -> Task {
    let task_type = Level::from_name(&start.env_id).map(|level| level.name.to_owned());
    Task {
        env: "babyai".to_owned(),
        id,
        goal: start.goal.clone(),
        task_type,
        difficulty: None,
        seed: start.seed,
    }
}

/// Returns a path that finds the file from any folder.
fn absolute_path(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn unknown_task(task: &str, why: &str) -> WorldError {
    WorldError::UnknownTask { env: "babyai".to_owned(), task: task.to_owned(), why: why.to_owned() }
}
