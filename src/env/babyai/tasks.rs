//! BabyAI levels: by name and seed, from a level file, or from a row of a list with subgoals.
//!
//! Ids: `GoToRedBall/1234` (a level and its seed), the path of a level file, or `PATH#ROW` for a row of a list.

use super::{Level, LevelStart, NAME, World};
use crate::domain::Task;
use crate::env::task_name::parse_range;
use crate::env::{EnvError, Environment, Label, LabelSource, TaskAccess, TaskError, TaskSource};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// The name of AgentBoard's split.
const TEST_SPLIT: &str = "test";
/// The seed of the first calibration task of a level.
const FIRST_CALIBRATION_SEED: u64 = 900_001;

/// BabyAI's levels with any seed, and level files.
pub struct BabyAiTasks;

impl TaskSource for BabyAiTasks {
    fn open(&self, task: &Task, access: TaskAccess) -> Result<Box<dyn Environment>, EnvError> {
        Ok(Box::new(World::new(Arc::new(load_start(&task.id, access)?))))
    }

    /// Returns the task of a level's name, of `NAME/SEED`, or of a level file. A name without a seed uses the seed of
    /// the options.
    fn find(&self, text: &str, access: TaskAccess) -> Result<Task, TaskError> {
        if let Some((level, seed)) = parse_level(text, access.options.seed) {
            return Ok(build_task(level, seed));
        }
        if !access.files.is_file(Path::new(text)) {
            let why = "a task is a level's number, short name or full id (`tasks --env babyai` lists them), optionally with /SEED, or a level file";
            return Err(TaskError::unknown_task(NAME, text, why));
        }
        let id = access.absolute_path(Path::new(text)).to_string_lossy().into_owned();
        let start = load_start(&id, access)?;
        Ok(task_of_start(id, &start))
    }

    /// Returns every level with the seed of the options.
    fn list(&self, access: TaskAccess) -> Result<Vec<Task>, TaskError> {
        Ok(Level::all().iter().map(|level| build_task(level, access.options.seed)).collect())
    }

    fn add_goal(&self, task: Task, access: TaskAccess) -> Result<Task, TaskError> {
        Ok(Task { goal: load_start(&task.id, access)?.goal, ..task })
    }

    fn default_tasks(&self, _: TaskAccess) -> Result<Vec<Task>, TaskError> {
        Err(TaskError::NoTaskChosen { env: NAME.to_owned() })
    }

    /// Returns `tasks_per_kind` tasks of every level that is not in the test split.
    fn list_calibration(&self, tasks_per_kind: usize, _: TaskAccess) -> Result<Vec<Task>, TaskError> {
        let last = FIRST_CALIBRATION_SEED.saturating_add(tasks_per_kind as u64);
        let levels = Level::all().iter().filter(|level| !level.in_test_split);
        let tasks =
            levels.flat_map(|level| (FIRST_CALIBRATION_SEED..last).map(|seed| build_task(level, seed)));
        Ok(tasks.collect())
    }

    fn list_split(&self, split: &str, _: TaskAccess) -> Result<Option<Vec<Task>>, TaskError> {
        if split != TEST_SPLIT {
            return Err(TaskError::unknown_split(NAME, split, "BabyAI's only split is AgentBoard's `test`"));
        }
        Ok(Some(Level::test_split().map(|(level, seed)| build_task(level, seed)).collect()))
    }

    fn expand_set(&self, text: &str, access: TaskAccess) -> Result<Option<Vec<Task>>, TaskError> {
        if text == TEST_SPLIT { self.list_split(text, access) } else { Ok(expand_pattern(text)) }
    }

    fn set_forms(&self) -> Option<&'static str> {
        Some("a set such as `test`, `GoToRedBall/0-19` or `*/7`")
    }

    /// A row with a `grid` is a level, not the name of a task.
    fn is_whole_task(&self, value: &Value) -> bool {
        value.get("grid").is_some()
    }

    fn task_of_row(
        &self,
        list: &Path,
        row: usize,
        value: &Value,
        access: TaskAccess,
    ) -> Option<Result<Task, EnvError>> {
        if !self.is_whole_task(value) {
            return None;
        }
        let id = format!("{}#{row}", access.absolute_path(list).display());
        Some(LevelStart::from_json(&id, value).map(|start| task_of_start(id, &start)))
    }

    fn labels(&self) -> Option<&'static dyn LabelSource> {
        Some(&Self)
    }

    fn with_seed(&self, task: Task, seed: u64) -> Task {
        match parse_level(&task.id, 0) {
            Some((level, _)) => build_task(level, seed),
            None => Task { seed, ..task },
        }
    }
}

/// A label's number selects a level of the test split.
impl LabelSource for BabyAiTasks {
    fn reads_subgoals(&self) -> bool {
        true
    }

    fn complete_task(&self, label: &Label, task: &mut Task) -> Result<(), String> {
        let start = load_labelled(label)?;
        (task.seed, task.task_type) = (start.seed, task_type(&start));
        if task.goal.is_empty() {
            task.goal.clone_from(&start.goal);
        }
        Ok(())
    }

    fn open(&self, label: &Label, _: TaskAccess) -> Result<Box<dyn Environment>, String> {
        Ok(Box::new(World::new(load_labelled(label)?)))
    }
}

/// Loads the level with a label's number, with the label's subgoals. Checks that the label was written for this level.
fn load_labelled(label: &Label) -> Result<Arc<LevelStart>, String> {
    let start = LevelStart::from_task_row(&label.task_id(), label.value, label.number);
    let start = Arc::new(start.map_err(|e| e.to_string())?);
    if !label.goal.is_empty() && ![start.goal.as_str(), start.mission.as_str()].contains(&label.goal) {
        return Err(format!(
            "number {} of the test split is {:?} with seed {}, whose goal is {:?}, not {:?}; `id` must be the index in AgentBoard's own file",
            label.number, start.env_id, start.seed, start.goal, label.goal
        ));
    }
    let observation = label.info("init_obs").and_then(Value::as_str);
    let is_first = |text: &str| text.trim() == World::new(Arc::clone(&start)).restart().trim();
    if observation.is_some_and(|text| !is_first(text)) {
        return Err("`additional_info.init_obs` is not the level's first observation".to_owned());
    }
    Ok(start)
}

/// Returns the tasks of a pattern such as `GoToRedBall/0-19` or `*/7`: all levels or one, and a seed or a range of
/// seeds.
fn expand_pattern(text: &str) -> Option<Vec<Task>> {
    let (name, seeds) = text.split_once('/')?;
    let seeds = parse_range::<u64>(seeds)?;
    let levels: Vec<&Level> =
        if name == "*" { Level::all().iter().collect() } else { vec![Level::from_name(name)?] };
    Some(seeds.flat_map(|seed| levels.iter().map(move |level| build_task(level, seed))).collect())
}

fn load_start(id: &str, access: TaskAccess) -> Result<LevelStart, EnvError> {
    if let Some((level, seed)) = parse_level(id, 0) {
        return level.generate(seed);
    }
    let to_error = |e: TaskError| e.to_env_error();
    let Some((path, number)) = id.rsplit_once('#').and_then(|(path, row)| Some((path, row.parse().ok()?)))
    else {
        return LevelStart::parse(id, &access.read(Path::new(id)).map_err(to_error)?);
    };
    let bytes = access.read(Path::new(path)).map_err(to_error)?;
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

/// Returns a key for each task of AgentBoard's test split: level and seed.
pub fn published_keys() -> Vec<String> {
    Level::test_split().map(|(level, seed)| build_task(level, seed).id).collect()
}

/// Returns the key of a task in AgentBoard's test split, also if it is a row of labels or of a list of levels. `None` for an
/// unknown level.
pub fn published_key(task: &Task) -> Option<String> {
    let (level, seed) = parse_level(&task.id, task.seed)
        .or_else(|| Some((Level::from_name(task.task_type.as_deref()?)?, task.seed)))?;
    Some(build_task(level, seed).id)
}

fn build_task(level: &Level, seed: u64) -> Task {
    Task {
        env: NAME.to_owned(),
        id: format!("{}/{seed}", level.name),
        goal: String::new(),
        task_type: Some(level.name.to_owned()),
        difficulty: None,
        seed,
    }
}

fn task_of_start(id: String, start: &LevelStart) -> Task {
    let task_type = task_type(start);
    Task { env: NAME.to_owned(), id, goal: start.goal.clone(), task_type, difficulty: None, seed: start.seed }
}

/// Returns the name of the level, if it is a known one.
fn task_type(start: &LevelStart) -> Option<String> {
    Level::from_name(&start.env_id).map(|level| level.name.to_owned())
}
