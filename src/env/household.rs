//! The built-in environment: generated rooms and household tasks in ALFWorld's formats, with nothing to download.
//!
//! This module generates data. A task id ([`TaskId`]) becomes a game file exactly as `alfworld-generate` would write
//! it: a PDDL domain, a problem, a grammar and a walkthrough in `game.tw-pddl`, with `traj_data.json` beside it. They
//! run in the same engine as real ALFWorld games, and in ALFWorld's Python implementation; both print the same text.
//!
//! Guarantees: the same task id gives the same bytes on every machine; every game can be won, and its walkthrough wins
//! it; no game is won at its start. The module opens no files; callers that want folders write what [`export_folder`]
//! returns.
//!
//! `stock.toml` defines how the rooms are furnished; [`Difficulty`] defines easy, normal and hard.

mod export;
mod furnish;
mod id;
mod problem;
mod scene;
mod stock;
mod tasks;
mod walkthrough;

#[cfg(test)]
mod tests;

pub use export::export_folder;
pub use id::{BadTaskId, Difficulty, TaskId, TaskKind};
pub use tasks::HouseholdTasks;

use crate::domain::Task;
use crate::env::EnvError;
use crate::env::alfworld::{Game, Targets, World};

/// The environment's name in tasks and journals.
pub const NAME: &str = "household";

/// Version of the generator. It changes whenever any task id would produce a different game.
pub const GENERATION: &str = "household 1";

/// The rules of the built-in household, in PDDL.
pub const DOMAIN: &str = include_str!("household/domain.pddl");

/// The templates of observations and feedback, in TextWorld's grammar language; `UNKNOWN GOAL` is a placeholder for the
/// game's goal sentence.
pub const GRAMMAR: &str = include_str!("household/grammar.twl2");

/// The task that is preselected, chosen for its story: the rule-based actor looks for a mug, takes a cellphone, and is
/// still searching when it reaches the step limit; one lesson about where mugs are makes it win (`tests/runs/story.rs`).
pub const PRESELECTED: TaskId = TaskId { difficulty: Difficulty::Normal, kind: TaskKind::Heat, seed: 71 };

/// One generated game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedGame {
    pub id: TaskId,
    /// The bytes of `game.tw-pddl`: one JSON object with `pddl_domain`, `grammar`, `pddl_problem`, `solvable` and
    /// `walkthrough`.
    pub game_json: String,
    /// The bytes of `traj_data.json`.
    pub traj_json: String,
    /// ALFWorld's name of the task type, such as `pick_heat_then_place_in_recep`.
    pub task_type: &'static str,
    /// The goal sentence, without introduction and full stop.
    pub goal: String,
    /// Commands that win the game from its start.
    pub walkthrough: Vec<String>,
    /// The folder that ALFWorld would store the game in, such as
    /// `pick_heat_then_place_in_recep-Apple-None-Fridge-12/trial_household_normal_heat_17`.
    pub folder: String,
}

/// Generates the game with this id and plays it once to verify that it can be won. Performs no IO.
///
/// # Errors
/// [`EnvError`] if the generated game fails verification, which is a bug; tests check over a hundred ids for this.
pub fn generate(id: &TaskId) -> Result<GeneratedGame, EnvError> {
    let game = build_game(*id)?;
    checked_world(&game)?;
    Ok(game)
}

/// Generates the game with this id and opens it for play.
///
/// # Errors
/// The same as [`generate`].
pub fn open_world(id: &TaskId) -> Result<World, EnvError> {
    let mut world = checked_world(&build_game(*id)?)?;
    world.restart()?;
    Ok(world)
}

/// Opens a game after verifying that its walkthrough wins it and that it isn't won at the start.
fn checked_world(game: &GeneratedGame) -> Result<World, EnvError> {
    let label = format!("household/{}", game.id);
    let generation_error =
        |what: String| EnvError::Refused { what: format!("`{label}` was generated incorrectly: {what}") };
    let targets = Targets::from_traj_data(&label, game.traj_json.as_bytes())?;
    let mut world = World::new(Game::load(&label, game.game_json.as_bytes())?, Some(&targets))?;
    for command in &game.walkthrough {
        if world.is_won() {
            return Err(generation_error(format!("it is won before `{command}`")));
        }
        if !world.play(command)?.accepted {
            return Err(generation_error(format!("`{command}` of its walkthrough is not admissible")));
        }
    }
    if world.is_won() {
        Ok(world)
    } else {
        Err(generation_error("its walkthrough doesn't reach the goal".to_owned()))
    }
}

fn build_game(id: TaskId) -> Result<GeneratedGame, EnvError> {
    let stock = stock::Stock::embedded()?;
    let (scene, goal) = furnish::draw_task(stock, id)?;
    let names = problem::assign_names(&scene);
    let walkthrough = walkthrough::find_walkthrough(&scene, &names, &goal).ok_or_else(|| {
        EnvError::Refused { what: format!("the game generated for `{id}` has no solution") }
    })?;
    let trial = format!("trial_household_{}_{}_{}", id.difficulty.word(), id.kind.word(), id.seed);
    let problem = problem::problem_text(stock, &scene, &goal, &format!("plan_{trial}"));
    export::assemble_game(id, &scene, &goal, &problem, walkthrough, &trial)
}

/// Returns one task with its goal, without the verification that [`generate`] performs.
///
/// # Errors
/// The same as [`generate`].
pub fn task(id: &TaskId) -> Result<Task, EnvError> {
    Ok(Task { goal: build_game(*id)?.goal, ..task_without_goal(id) })
}

/// Returns the task without its goal, which requires no generation.
pub fn task_without_goal(id: &TaskId) -> Task {
    Task {
        env: NAME.to_owned(),
        id: id.to_string(),
        goal: String::new(),
        task_type: Some(id.kind.task_type().to_owned()),
        difficulty: None,
        seed: u64::from(id.seed),
    }
}

/// Returns the ids of the tasks shown in lists: of each kind one easy, two normal and one hard. Any other [`TaskId`] can
/// be played as well.
pub fn offered_ids() -> impl Iterator<Item = TaskId> {
    let rows =
        [(Difficulty::Easy, 1), (Difficulty::Normal, 1), (Difficulty::Normal, 2), (Difficulty::Hard, 1)];
    rows.into_iter().flat_map(|(difficulty, seed)| {
        TaskKind::ALL.into_iter().map(move |kind| TaskId { difficulty, kind, seed })
    })
}
