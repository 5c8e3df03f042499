//! Converts a generated game into the files and folders that ALFWorld's loaders expect.

use super::furnish::TaskGoal;
use super::id::TaskId;
use super::scene::Scene;
use super::{DOMAIN, GRAMMAR, GeneratedGame, generate};
use crate::env::{EnvError, ExportedGame};
use serde::Serialize;

/// Returns the folder and files of a task, laid out as by `alfworld-generate`. Performs no IO: the caller writes them.
///
/// # Errors
/// The same as [`generate`].
pub fn export_folder(id: &TaskId) -> Result<ExportedGame, EnvError> {
    let game = generate(id)?;
    Ok(ExportedGame {
        folder: game.folder,
        files: vec![("game.tw-pddl", game.game_json), ("traj_data.json", game.traj_json)],
    })
}

#[derive(Serialize)]
struct GameFile<'a> {
    pddl_domain: &'a str,
    grammar: &'a str,
    pddl_problem: &'a str,
    solvable: bool,
    walkthrough: &'a [String],
}

#[derive(Serialize)]
struct TrajData<'a> {
    task_id: &'a str,
    task_type: &'a str,
    pddl_params: Params<'a>,
    scene: SceneName,
    turk_annotations: Annotations<'a>,
}

#[derive(Serialize)]
struct Params<'a> {
    object_target: &'a str,
    parent_target: &'a str,
    toggle_target: &'a str,
    mrecep_target: &'a str,
    object_sliced: bool,
}

#[derive(Serialize)]
struct SceneName {
    floor_plan: String,
    scene_num: i32,
}

#[derive(Serialize)]
struct Annotations<'a> {
    anns: [Annotation<'a>; 1],
}

#[derive(Serialize)]
struct Annotation<'a> {
    task_desc: &'a str,
}

/// Assembles a game from its parts.
pub(super) fn assemble_game(
    id: TaskId,
    scene: &Scene,
    goal: &TaskGoal,
    problem: &str,
    walkthrough: Vec<String>,
    trial: &str,
) -> Result<GeneratedGame, EnvError> {
    let grammar = GRAMMAR.replace("UNKNOWN GOAL", &goal.sentence);
    let file = GameFile {
        pddl_domain: DOMAIN,
        grammar: &grammar,
        pddl_problem: problem,
        solvable: true,
        walkthrough: &walkthrough,
    };
    let data = TrajData {
        task_id: trial,
        task_type: id.kind.task_type(),
        pddl_params: Params {
            object_target: goal.object,
            parent_target: goal.target,
            toggle_target: goal.lamp,
            mrecep_target: "",
            object_sliced: false,
        },
        scene: SceneName { floor_plan: format!("FloorPlan{}", scene.number), scene_num: scene.number },
        turk_annotations: Annotations { anns: [Annotation { task_desc: &goal.sentence }] },
    };
    let target = if goal.lamp.is_empty() { goal.target } else { goal.lamp };
    Ok(GeneratedGame {
        id,
        game_json: to_json(&file)?,
        traj_json: to_json(&data)?,
        task_type: id.kind.task_type(),
        goal: goal.sentence.clone(),
        folder: format!("{}-{}-None-{target}-{}/{trial}", id.kind.task_type(), goal.object, scene.number),
        walkthrough,
    })
}

fn to_json(value: &impl Serialize) -> Result<String, EnvError> {
    serde_json::to_string(value).map_err(|error| EnvError::Refused {
        what: format!("a generated game could not be written as JSON: {error}"),
    })
}
