//! The tasks of the built-in environment: a task's name determines its generated game.

use super::{Difficulty, PRESELECTED, TaskId, TaskKind, generate, offered_ids, task, task_without_goal};
use crate::domain::Task;
use crate::env::alfworld::{Game, Targets, World};
use crate::env::task_name::{parse_range, select};
use crate::env::{EnvError, Environment, TaskAccess, TaskCheck, TaskError, TaskSource};

/// The first seed of the calibration tasks, far above those in lists and tests.
const FIRST_CALIBRATION_SEED: u32 = 900_001;

/// The tasks of the built-in environment. They need no files.
pub struct HouseholdTasks;

impl TaskSource for HouseholdTasks {
    fn open(&self, task: &Task, _: TaskAccess) -> Result<Box<dyn Environment>, EnvError> {
        let id = parse_id(&task.id).map_err(|e| e.to_env_error())?;
        let game = generate(&id)?;
        let label = format!("household {id}");
        let targets = Targets::from_traj_data(&label, game.traj_json.as_bytes())?;
        let game = Game::load(&label, game.game_json.as_bytes())?;
        Ok(Box::new(World::new(game, Some(&targets))?))
    }

    fn find(&self, text: &str, _: TaskAccess) -> Result<Task, TaskError> {
        Ok(task_without_goal(&parse_id(text)?))
    }

    fn list(&self, _: TaskAccess) -> Result<Vec<Task>, TaskError> {
        Ok(offered_ids().map(|id| task_without_goal(&id)).collect())
    }

    fn add_goal(&self, known: Task, _: TaskAccess) -> Result<Task, TaskError> {
        Ok(task(&parse_id(&known.id)?)?)
    }

    fn list_offered(&self, _: TaskAccess) -> Result<Vec<Task>, TaskError> {
        let others = offered_ids().filter(|id| *id != PRESELECTED);
        Ok(std::iter::once(PRESELECTED).chain(others).map(|id| task(&id)).collect::<Result<_, _>>()?)
    }

    fn default_tasks(&self, _: TaskAccess) -> Result<Vec<Task>, TaskError> {
        Ok(vec![task_without_goal(&PRESELECTED)])
    }

    /// Returns `tasks_per_kind` tasks of normal difficulty of every kind, with seeds that no list shows.
    fn list_calibration(&self, tasks_per_kind: usize, _: TaskAccess) -> Result<Vec<Task>, TaskError> {
        let tasks_per_kind = u32::try_from(tasks_per_kind).unwrap_or(u32::MAX - FIRST_CALIBRATION_SEED);
        let ids_with = |seed| TaskKind::ALL.map(|kind| TaskId { difficulty: Difficulty::Normal, kind, seed });
        let ids = (FIRST_CALIBRATION_SEED..FIRST_CALIBRATION_SEED.saturating_add(tasks_per_kind))
            .flat_map(ids_with);
        Ok(ids.map(|id| task_without_goal(&id)).collect())
    }

    fn list_split(&self, split: &str, _: TaskAccess) -> Result<Option<Vec<Task>>, TaskError> {
        let why = "the built-in environment has no splits; use --tasks 'normal/*/1-20' for a set";
        Err(TaskError::unknown_split(super::NAME, split, why))
    }

    fn expand_set(&self, text: &str, _: TaskAccess) -> Result<Option<Vec<Task>>, TaskError> {
        Ok(expand_pattern(text).map(|ids| ids.iter().map(task_without_goal).collect()))
    }

    fn set_forms(&self) -> Option<&'static str> {
        Some("a set such as `normal/*/1-20` (easy|normal|hard|*, put|look|clean|heat|cool|two|*, numbers)")
    }

    /// Returns the goal, which is quickly generated.
    fn title(&self, untitled: &Task) -> String {
        let goal = untitled.id.parse().ok().and_then(|id| task(&id).ok()).map(|task| task.goal);
        goal.unwrap_or_else(|| untitled.id.clone())
    }

    /// Plays the preselected game to its end and checks that it is won.
    fn check(&self, access: TaskAccess) -> Option<TaskCheck> {
        Some(match self.win_preselected_game(access) {
            Ok(steps) => TaskCheck::Ok(format!("built-in environment: {PRESELECTED} won in {steps} steps")),
            Err(why) => TaskCheck::Broken {
                detail: format!("{PRESELECTED}: {why}"),
                hint: "report this bug: the built-in environment must always work",
            },
        })
    }
}

impl HouseholdTasks {
    /// Returns the number of steps of the preselected game's walkthrough.
    fn win_preselected_game(&self, access: TaskAccess) -> Result<usize, String> {
        let error_text = |e: EnvError| e.to_string();
        let game = generate(&PRESELECTED).map_err(error_text)?;
        let mut env = self.open(&task_without_goal(&PRESELECTED), access).map_err(error_text)?;
        env.reset().map_err(error_text)?;
        let mut won = false;
        for command in &game.walkthrough {
            won = env.step(command).map_err(error_text)?.won;
        }
        if won { Ok(game.walkthrough.len()) } else { Err("its walkthrough does not win".to_owned()) }
    }
}

/// Returns the tasks of a pattern such as `normal/*/1-20`: `*` is any difficulty or kind, the seeds are a number or a
/// range. The kinds alternate, so that the first few tasks cover all of them. Returns `None` if the text is not a
/// pattern.
fn expand_pattern(text: &str) -> Option<Vec<TaskId>> {
    let mut parts = text.strip_prefix("household/").unwrap_or(text).split('/');
    let (difficulty, kind, seeds, None) = (parts.next()?, parts.next()?, parts.next()?, parts.next()) else {
        return None;
    };
    let kinds = select(kind, &TaskKind::ALL, TaskKind::word)?;
    let seeds = parse_range::<u32>(seeds)?;
    let mut ids = Vec::new();
    for difficulty in select(difficulty, &Difficulty::ALL, Difficulty::word)? {
        for seed in seeds.clone() {
            ids.extend(kinds.iter().map(|kind| TaskId { difficulty, kind: *kind, seed }));
        }
    }
    Some(ids)
}

fn parse_id(text: &str) -> Result<TaskId, TaskError> {
    TaskId::parse(text).map_err(|e| TaskError::unknown_task(super::NAME, text, e.to_string()))
}
