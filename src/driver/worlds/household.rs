//! The built-in environment: a task's name determines its generated game.

use super::{WorldError, to_env_error};
use crate::domain::Task;
use crate::env::alfworld::{Game, Targets, World};
use crate::env::household::{Difficulty, TaskId, TaskKind, generate};
use crate::env::{EnvError, Environment};

/// Generates the game and opens it.
pub(super) fn open(task: &Task) -> Result<Box<dyn Environment>, EnvError> {
    let id = TaskId::parse(&task.id).map_err(|e| to_env_error(&unknown_task(&task.id, &e.to_string())))?;
    let game = generate(&id)?;
    let label = format!("household {id}");
    let targets = Targets::from_traj_data(&label, game.traj_json.as_bytes())?;
    let game = Game::load(&label, game.game_json.as_bytes())?;
    Ok(Box::new(World::new(game, Some(&targets))?))
}

/// Returns the task with this name.
pub(super) fn find(text: &str) -> Result<Task, WorldError> {
    let id = TaskId::parse(text).map_err(|e| unknown_task(text, &e.to_string()))?;
    Ok(build_task(id, String::new()))
}

/// Returns the task with its goal.
pub(super) fn describe_task(id: TaskId) -> Result<Task, WorldError> {
    Ok(build_task(id, generate(&id)?.goal))
}

pub(super) fn build_task(id: TaskId, goal: String) -> Task {
    Task {
        env: "household".to_owned(),
        id: id.to_string(),
        goal,
        task_type: Some(id.kind.task_type().to_owned()),
        difficulty: None,
        seed: u64::from(id.seed),
    }
}

/// The first seed of the calibration tasks, far above those in lists and tests.
const FIRST_CALIBRATION_SEED: u32 = 900_001;

/// Returns `tasks_per_kind` tasks of normal difficulty of every kind, for calibration.
pub(super) fn list_calibration_tasks(tasks_per_kind: usize) -> Vec<Task> {
    let tasks_per_kind = u32::try_from(tasks_per_kind).unwrap_or(u32::MAX - FIRST_CALIBRATION_SEED);
    let tasks_with = |seed| TaskKind::ALL.map(|kind| TaskId { difficulty: Difficulty::Normal, kind, seed });
    let ids =
        (FIRST_CALIBRATION_SEED..FIRST_CALIBRATION_SEED.saturating_add(tasks_per_kind)).flat_map(tasks_with);
    ids.map(|id| build_task(id, String::new())).collect()
}

/// Returns the tasks of a pattern such as `normal/*/1-20`: `*` is any difficulty or kind, the seeds are a number or a
/// range. The kinds alternate, so that the first few tasks cover all of them. Returns `None` if the text is not a
/// pattern.
pub(super) fn expand_pattern(text: &str) -> Option<Vec<TaskId>> {
    let mut parts = text.strip_prefix("household/").unwrap_or(text).split('/');
    let (difficulty, kind, seeds, None) = (parts.next()?, parts.next()?, parts.next()?, parts.next()) else {
        return None;
    };
    let difficulties: Vec<Difficulty> =
        Difficulty::ALL.into_iter().filter(|d| difficulty == "*" || d.word() == difficulty).collect();
    let kinds: Vec<TaskKind> =
        TaskKind::ALL.into_iter().filter(|k| kind == "*" || k.word() == kind).collect();
    let (first, last) = seeds.split_once('-').unwrap_or((seeds, seeds));
    let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
    const MAX_SEEDS: u32 = 100_000;
    if difficulties.is_empty() || kinds.is_empty() || last < first || last - first >= MAX_SEEDS {
        return None;
    }
    let mut ids = Vec::new();
    for difficulty in difficulties {
        for seed in first..=last {
            ids.extend(kinds.iter().map(|kind| TaskId { difficulty, kind: *kind, seed }));
        }
    }
    Some(ids)
}

fn unknown_task(task: &str, why: &str) -> WorldError {
    WorldError::UnknownTask { env: "household".to_owned(), task: task.to_owned(), why: why.to_owned() }
}
