//! Finds ALFWorld games in a data folder. Accepts and skips the same games as ALFWorld's own loader.

use super::{WorldError, WorldOptions, read_file, to_env_error};
use crate::domain::Task;
use crate::env::alfworld::{Game, Subgoals, Targets, TaskType, World};
use crate::env::{EnvError, Environment};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The splits, by folder name.
pub(super) const SPLITS: &[&str] = &["train", "valid_seen", "valid_unseen"];
const GAME_FILE: &str = "game.tw-pddl";
const TRAJ_FILE: &str = "traj_data.json";
/// The maximum folder depth searched; real data needs five.
const MAX_DEPTH: usize = 8;

/// Opens the game of a task.
pub(super) fn open(task: &Task, options: &WorldOptions) -> Result<Box<dyn Environment>, EnvError> {
    load_world(&task.id, options).map(|world| Box::new(world) as Box<dyn Environment>)
}

/// Opens the game that a row of an AgentBoard label file names; the row's subgoals measure progress.
pub(super) fn open_labelled(
    game: &str,
    subgoals: Subgoals,
    options: &WorldOptions,
) -> Result<Box<dyn Environment>, EnvError> {
    Ok(Box::new(load_world(game, options)?.with_subgoals(subgoals)))
}

fn load_world(game: &str, options: &WorldOptions) -> Result<World, EnvError> {
    let file = find_game_file(game, options).map_err(|e| to_env_error(&e))?;
    let file_name = file.display().to_string();
    let bytes = read_file(&file).map_err(|e| to_env_error(&e))?;
    let traj_path = file.with_file_name(TRAJ_FILE);
    // Without traj_data, or without targets in it, progress is measured by the game's goal.
    let targets = match super::read_bytes(&traj_path) {
        Ok(bytes) => Some(Targets::from_traj_data(&traj_path.display().to_string(), &bytes)?),
        Err(_) => None,
    };
    World::new(Game::load(&file_name, &bytes)?, targets.as_ref())
}

/// Returns the task of a game that is given as its file, its folder, or a path below the data folder.
pub(super) fn find(text: &str, options: &WorldOptions) -> Result<Task, WorldError> {
    let file = find_game_file(text, options)?;
    let goal = read_goal(&file).map_err(|why| WorldError::UnknownTask {
        env: "alfworld".to_owned(),
        task: text.to_owned(),
        why,
    })?;
    let task_type = super::read_bytes(&file.with_file_name(TRAJ_FILE))
        .ok()
        .and_then(|bytes| serde_json::from_slice::<TrajData>(&bytes).ok())
        .map(|t| t.task_type);
    Ok(build_task(task_id_of(&file, options), goal, task_type))
}

fn build_task(id: String, goal: String, task_type: Option<String>) -> Task {
    Task { env: "alfworld".to_owned(), id, goal, task_type, difficulty: None, seed: 0 }
}

/// Returns the id of a game: its folder's path below the data folder, otherwise its full path.
fn task_id_of(file: &Path, options: &WorldOptions) -> String {
    // A symbolic link is not resolved here: the path through it is as good an id, and reveals less about the disk.
    let unresolved_data = options.data.as_deref().filter(|d| file.strip_prefix(d).is_ok());
    let full_path = match unresolved_data {
        Some(_) => file.to_owned(),
        None => file.canonicalize().unwrap_or_else(|_| file.to_owned()),
    };
    let data = unresolved_data.map(Path::to_owned).or_else(|| options.data.as_deref()?.canonicalize().ok());
    let relative = data
        .and_then(|d| full_path.strip_prefix(d).map(Path::to_owned).ok())
        .filter(|p| p.components().count() > 1);
    let path = relative.unwrap_or(full_path);
    let folder =
        if path.file_name().is_some_and(|n| n == GAME_FILE) { path.parent().unwrap_or(&path) } else { &path };
    folder.to_string_lossy().replace('\\', "/")
}

/// Returns the file of a game that is given as that file, its folder, or a path below the data folder.
pub(super) fn find_game_file(text: &str, options: &WorldOptions) -> Result<PathBuf, WorldError> {
    let unknown_task =
        |why: String| WorldError::UnknownTask { env: "alfworld".to_owned(), task: text.to_owned(), why };
    if text.is_empty() {
        return Err(unknown_task(
            "a task id is a game.tw-pddl, its folder, or a path below the data folder".to_owned(),
        ));
    }
    let mut bases = vec![PathBuf::new()];
    if let Some(data) = &options.data {
        bases.push(data.clone());
        for root in data_roots(data) {
            bases.extend(SPLITS.iter().map(|split| root.join(split)));
            bases.push(root);
        }
    }
    for base in &bases {
        let path = base.join(text);
        if path.is_file() {
            return Ok(path);
        }
        if path.join(GAME_FILE).is_file() {
            return Ok(path.join(GAME_FILE));
        }
        let mut trials: Vec<PathBuf> =
            subfolders(&path).into_iter().map(|d| d.join(GAME_FILE)).filter(|f| f.is_file()).collect();
        trials.sort();
        match trials.as_slice() {
            [] => {}
            [trial] => return Ok(trial.clone()),
            [first, ..] => {
                return Err(unknown_task(format!(
                    "it has {} trials; choose one, such as {}",
                    trials.len(),
                    task_id_of(first, options)
                )));
            }
        }
    }
    match &options.data {
        None => Err(unknown_task(
            "no such file or folder, and ALFWORLD_DATA is not set, so there is no data folder to look in"
                .to_owned(),
        )),
        Some(data) => {
            Err(unknown_task(format!("no such game in the current folder or in {}", data.display())))
        }
    }
}

/// Returns the goal of a game file. Fails if the file is not a game, so that no session is created for it.
fn read_goal(file: &Path) -> Result<String, String> {
    #[derive(Deserialize)]
    struct GameParts {
        #[serde(rename = "pddl_domain")]
        _domain: serde::de::IgnoredAny,
        #[serde(rename = "pddl_problem")]
        _problem: serde::de::IgnoredAny,
        #[serde(default)]
        grammar: String,
    }
    let bytes = super::read_bytes(file).map_err(|e| format!("{}: could not be read: {e}", file.display()))?;
    serde_json::from_slice::<GameParts>(&bytes)
        .map(|parts| goal_in_grammar(&parts.grammar))
        .map_err(|e| format!("{} is not a {GAME_FILE}: {e}", file.display()))
}

/// Returns the data folder and the `json_*` folders in it.
fn data_roots(data: &Path) -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> = subfolders(data)
        .into_iter()
        .filter(|p| p.file_name().is_some_and(|n| n.to_string_lossy().starts_with("json_")))
        .collect();
    roots.sort();
    roots.insert(0, data.to_owned());
    roots
}

fn subfolders(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(path) else { return Vec::new() };
    entries.flatten().map(|e| e.path()).filter(|p| p.is_dir()).collect()
}

#[derive(Deserialize)]
struct TrajData {
    task_type: String,
}

#[derive(Deserialize)]
struct GameHeader {
    #[serde(default)]
    solvable: Option<bool>,
    #[serde(default)]
    grammar: String,
}

/// Returns the games of a split (or of all splits) that ALFWorld's loader accepts: `traj_data.json` exists, the path
/// contains neither `movable` nor `Sliced`, the type is one of the six, and the game is marked solvable. Sorted by
/// path.
pub(super) fn list_split(split: Option<&str>, options: &WorldOptions) -> Result<Vec<Task>, WorldError> {
    let Some(data) = &options.data else {
        return Err(WorldError::NoData {
            what: "ALFWorld's games are not part of this program, and ALFWORLD_DATA is not set".to_owned(),
        });
    };
    if !data.is_dir() {
        return Err(WorldError::NoData {
            what: format!("the data folder {} does not exist", data.display()),
        });
    }
    let roots = match split {
        None => vec![data.clone()],
        Some(split) => {
            let found: Vec<PathBuf> =
                data_roots(data).into_iter().map(|root| root.join(split)).filter(|p| p.is_dir()).collect();
            if found.is_empty() {
                return Err(WorldError::NoData {
                    what: format!(
                        "the data folder {} has no split {split:?}; splits: {}",
                        data.display(),
                        SPLITS.join(", ")
                    ),
                });
            }
            found
        }
    };
    let mut folders = Vec::new();
    for root in roots {
        collect_game_folders(&root, MAX_DEPTH, &mut Vec::new(), &mut folders);
    }
    folders.sort();
    Ok(folders.into_iter().filter_map(|folder| load_task_unless_skipped(&folder, data, options)).collect())
}

/// Returns the games of the smallest available split, for a list to choose from. So that thousands of games are listed
/// quickly, solvability is not checked and only the first goals are read.
pub(super) fn list_offered_tasks(options: &WorldOptions) -> Result<Vec<Task>, WorldError> {
    const MAX_GOALS: usize = 150;
    let Some(data) = options.data.as_deref().filter(|d| d.is_dir()) else { return list_split(None, options) };
    let split = |name: &str| data_roots(data).into_iter().map(|r| r.join(name)).find(|p| p.is_dir());
    let root = ["valid_unseen", "valid_seen", "train"].into_iter().find_map(split);
    let mut folders = Vec::new();
    collect_game_folders(root.as_deref().unwrap_or(data), MAX_DEPTH, &mut Vec::new(), &mut folders);
    folders.sort();
    let found: Vec<Task> = folders
        .iter()
        .filter(|folder| !is_skipped_by_loader(folder, data) && folder.join(GAME_FILE).is_file())
        .enumerate()
        .map(|(n, folder)| {
            let file = folder.join(GAME_FILE);
            let text = if n < MAX_GOALS {
                String::from_utf8(super::read_bytes(&file).unwrap_or_default()).unwrap_or_default()
            } else {
                String::new()
            };
            let type_folder =
                folder.parent().and_then(|p| p.file_name()).map(|n| n.to_string_lossy().into_owned());
            let task_type = type_folder
                .and_then(|k| k.split('-').next().and_then(TaskType::from_name))
                .map(|t| t.name().to_owned());
            build_task(task_id_of(&file, options), goal_in_grammar(&text), task_type)
        })
        .collect();
    if found.is_empty() { list_split(None, options) } else { Ok(found) }
}

/// Returns whether the loader skips the game because of its path.
fn is_skipped_by_loader(folder: &Path, data: &Path) -> bool {
    let relative = folder.strip_prefix(data).unwrap_or(folder).to_string_lossy();
    relative.contains("movable") || relative.contains("Sliced")
}

/// Collects the folders with a `traj_data.json`. Follows symbolic links, because large data is often kept elsewhere.
/// `ancestors` contains the real paths of the parent folders, so that a link to one of them ends the search.
fn collect_game_folders(dir: &Path, depth: usize, ancestors: &mut Vec<PathBuf>, found: &mut Vec<PathBuf>) {
    let Ok(real) = dir.canonicalize() else { return };
    if ancestors.contains(&real) {
        return;
    }
    if dir.join(TRAJ_FILE).is_file() {
        found.push(dir.to_owned());
    }
    let Some(depth) = depth.checked_sub(1) else { return };
    ancestors.push(real);
    for subfolder in subfolders(dir) {
        collect_game_folders(&subfolder, depth, ancestors, found);
    }
    ancestors.pop();
}

fn load_task_unless_skipped(folder: &Path, data: &Path, options: &WorldOptions) -> Option<Task> {
    if is_skipped_by_loader(folder, data) {
        return None;
    }
    let traj: TrajData = serde_json::from_slice(&super::read_bytes(&folder.join(TRAJ_FILE)).ok()?).ok()?;
    TaskType::from_name(&traj.task_type)?;
    let file = folder.join(GAME_FILE);
    let header: GameHeader = serde_json::from_slice(&super::read_bytes(&file).ok()?).ok()?;
    header.solvable.filter(|s| *s)?;
    Some(build_task(task_id_of(&file, options), goal_in_grammar(&header.grammar), Some(traj.task_type)))
}

/// Returns the goal sentence of the grammar. It is the one that the game shows.
fn goal_in_grammar(grammar: &str) -> String {
    let Some((_, rest)) = grammar.split_once("Your task is to: ") else { return String::new() };
    let sentence = rest.split(['"', '\\', '\n', ';']).next().unwrap_or_default().trim_end();
    sentence.strip_suffix('.').unwrap_or(sentence).to_owned()
}
