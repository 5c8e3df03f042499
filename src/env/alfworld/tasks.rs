//! Finds ALFWorld games in a data folder. Accepts and skips the same games as ALFWorld's own loader.
//!
//! A task's id is the path of its folder below the data folder, or the full path of a game outside it.

use super::{Game, NAME, Subgoals, Targets, TaskType, World};
use crate::domain::Task;
use crate::env::{EnvError, Environment, Label, LabelSource, TaskAccess, TaskCheck, TaskError, TaskSource};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The splits, by folder name.
const SPLITS: &[&str] = &["train", "valid_seen", "valid_unseen"];
const GAME_FILE: &str = "game.tw-pddl";
const TRAJ_FILE: &str = "traj_data.json";
/// The maximum folder depth searched; real data needs five.
const MAX_DEPTH: usize = 8;
const NO_DATA_HINT: &str = "set ALFWORLD_DATA or --data to the folder that contains json_2.1.1, or play the built-in --env household";

/// ALFWorld's games in the data folder, and in any other folder by path.
pub struct AlfWorldTasks;

impl TaskSource for AlfWorldTasks {
    fn open(&self, task: &Task, access: TaskAccess) -> Result<Box<dyn Environment>, EnvError> {
        Ok(Box::new(load_world(&task.id, access)?))
    }

    /// Returns the task of a game that is given as its file, its folder, or a path below the data folder.
    fn find(&self, text: &str, access: TaskAccess) -> Result<Task, TaskError> {
        let file = find_game_file(text, access)?;
        let goal = read_goal(&file, access).map_err(|why| TaskError::unknown_task(NAME, text, why))?;
        let traj_data = access.files.read(&file.with_file_name(TRAJ_FILE)).ok();
        let traj_data = traj_data.and_then(|bytes| serde_json::from_slice::<TrajData>(&bytes).ok());
        Ok(build_task(task_id_of(&file, access), goal, traj_data.map(|t| t.task_type)))
    }

    fn list(&self, access: TaskAccess) -> Result<Vec<Task>, TaskError> {
        list_games(None, access)
    }

    /// Returns the games of the smallest available split. So that thousands of games are listed quickly, solvability is
    /// not checked and only the first goals are read.
    fn list_offered(&self, access: TaskAccess) -> Result<Vec<Task>, TaskError> {
        const MAX_GOALS: usize = 150;
        let Some(data) = access.options.data.as_deref().filter(|d| access.files.is_dir(d)) else {
            return list_games(None, access);
        };
        let split = |name: &str| {
            data_roots(data, access).into_iter().map(|r| r.join(name)).find(|p| access.files.is_dir(p))
        };
        let root = ["valid_unseen", "valid_seen", "train"].into_iter().find_map(split);
        let mut folders = Vec::new();
        collect_game_folders(
            root.as_deref().unwrap_or(data),
            MAX_DEPTH,
            access,
            &mut Vec::new(),
            &mut folders,
        );
        folders.sort();
        let found: Vec<Task> = folders
            .iter()
            .filter(|folder| {
                !is_skipped_by_loader(folder, data) && access.files.is_file(&folder.join(GAME_FILE))
            })
            .enumerate()
            .map(|(n, folder)| {
                let file = folder.join(GAME_FILE);
                let text = if n < MAX_GOALS {
                    String::from_utf8(access.files.read(&file).unwrap_or_default()).unwrap_or_default()
                } else {
                    String::new()
                };
                let type_folder =
                    folder.parent().and_then(|p| p.file_name()).map(|n| n.to_string_lossy().into_owned());
                let task_type = type_folder
                    .and_then(|k| k.split('-').next().and_then(TaskType::from_name))
                    .map(|t| t.name().to_owned());
                build_task(task_id_of(&file, access), goal_in_grammar(&text), task_type)
            })
            .collect();
        if found.is_empty() { list_games(None, access) } else { Ok(found) }
    }

    /// Without data this reports the error; with data, thousands of games must not be played by accident.
    fn default_tasks(&self, access: TaskAccess) -> Result<Vec<Task>, TaskError> {
        match access.options.data {
            None => self.list(access),
            Some(_) => Err(TaskError::NoTaskChosen { env: NAME.to_owned() }),
        }
    }

    fn list_calibration(&self, _: usize, access: TaskAccess) -> Result<Vec<Task>, TaskError> {
        list_games(Some("train"), access)
    }

    fn list_split(&self, split: &str, access: TaskAccess) -> Result<Option<Vec<Task>>, TaskError> {
        list_games(Some(split), access).map(Some)
    }

    fn expand_set(&self, text: &str, access: TaskAccess) -> Result<Option<Vec<Task>>, TaskError> {
        if SPLITS.contains(&text) { self.list_split(text, access) } else { Ok(None) }
    }

    fn set_forms(&self) -> Option<&'static str> {
        Some("a split (train, valid_seen, valid_unseen)")
    }

    fn labels(&self) -> Option<&'static dyn LabelSource> {
        Some(&Self)
    }

    /// Returns the parent folder's name: in ALFWorld's layout the last folder is only a trial number.
    fn title(&self, task: &Task) -> String {
        task.id.rsplit('/').nth(1).unwrap_or(&task.id).to_owned()
    }

    fn check(&self, access: TaskAccess) -> Option<TaskCheck> {
        let Some(data) = &access.options.data else {
            return Some(TaskCheck::Missing {
                detail: "ALFWORLD_DATA is not set".to_owned(),
                hint: "only needed for real ALFWorld games: set it to the folder that holds json_2.1.1",
            });
        };
        let found = self.list(access).and_then(|tasks| {
            let first = tasks.into_iter().next();
            first.ok_or_else(|| TaskError::unknown_task(NAME, "", TaskError::NO_USABLE_TASK))
        });
        Some(match found {
            Ok(first) => TaskCheck::Ok(format!("{}: found games, such as {}", data.display(), first.id)),
            Err(error) => TaskCheck::Broken {
                detail: error.to_string(),
                hint: "set ALFWORLD_DATA or --data to the folder that holds json_2.1.1",
            },
        })
    }
}

/// A label names its game; its subgoals measure progress.
impl LabelSource for AlfWorldTasks {
    fn complete_task(&self, label: &Label, task: &mut Task) -> Result<(), String> {
        let game = label.info_text("description")?;
        task.task_type = game.split('-').next().map(str::to_owned);
        Subgoals::compile(&label.subgoals).map(drop)
    }

    fn check_playable(&self, label: &Label, access: TaskAccess) -> Result<(), String> {
        find_game_file(label.info_text("description")?, access).map(drop).map_err(|e| e.to_string())
    }

    fn open(&self, label: &Label, access: TaskAccess) -> Result<Box<dyn Environment>, String> {
        let subgoals = Subgoals::compile(&label.subgoals)?;
        let world = load_world(label.info_text("description")?, access).map_err(|e| e.to_string())?;
        Ok(Box::new(world.with_subgoals(subgoals)))
    }
}

fn load_world(game: &str, access: TaskAccess) -> Result<World, EnvError> {
    let file = find_game_file(game, access).map_err(|e| e.to_env_error())?;
    let file_name = file.display().to_string();
    let bytes = access.read(&file).map_err(|e| e.to_env_error())?;
    let traj_path = file.with_file_name(TRAJ_FILE);
    // Without traj_data, or without targets in it, progress is measured by the game's goal.
    let targets = match access.files.read(&traj_path) {
        Ok(bytes) => Some(Targets::from_traj_data(&traj_path.display().to_string(), &bytes)?),
        Err(_) => None,
    };
    World::new(Game::load(&file_name, &bytes)?, targets.as_ref())
}

fn build_task(id: String, goal: String, task_type: Option<String>) -> Task {
    Task { env: NAME.to_owned(), id, goal, task_type, difficulty: None, seed: 0 }
}

/// Returns the id of a game: its folder's path below the data folder, otherwise its full path.
fn task_id_of(file: &Path, access: TaskAccess) -> String {
    // A symbolic link is not resolved here: the path through it is as good an id, and reveals less about the disk.
    let unresolved_data = access.options.data.as_deref().filter(|d| file.strip_prefix(d).is_ok());
    let full_path = match unresolved_data {
        Some(_) => file.to_owned(),
        None => access.files.canonicalize(file).unwrap_or_else(|_| file.to_owned()),
    };
    let data = unresolved_data
        .map(Path::to_owned)
        .or_else(|| access.files.canonicalize(access.options.data.as_deref()?).ok());
    let relative = data
        .and_then(|d| full_path.strip_prefix(d).map(Path::to_owned).ok())
        .filter(|p| p.components().count() > 1);
    let path = relative.unwrap_or(full_path);
    let folder =
        if path.file_name().is_some_and(|n| n == GAME_FILE) { path.parent().unwrap_or(&path) } else { &path };
    folder.to_string_lossy().replace('\\', "/")
}

/// Returns the file of a game that is given as that file, its folder, or a path below the data folder.
fn find_game_file(text: &str, access: TaskAccess) -> Result<PathBuf, TaskError> {
    let unknown_task = |why: String| TaskError::unknown_task(NAME, text, why);
    if text.is_empty() {
        return Err(unknown_task(
            "a task id is a game.tw-pddl, its folder, or a path below the data folder".to_owned(),
        ));
    }
    let mut bases = vec![PathBuf::new()];
    if let Some(data) = &access.options.data {
        bases.push(data.clone());
        for root in data_roots(data, access) {
            bases.extend(SPLITS.iter().map(|split| root.join(split)));
            bases.push(root);
        }
    }
    for base in &bases {
        let path = base.join(text);
        if access.files.is_file(&path) {
            return Ok(path);
        }
        if access.files.is_file(&path.join(GAME_FILE)) {
            return Ok(path.join(GAME_FILE));
        }
        let mut trials: Vec<PathBuf> = access
            .subfolders(&path)
            .into_iter()
            .map(|d| d.join(GAME_FILE))
            .filter(|f| access.files.is_file(f))
            .collect();
        trials.sort();
        match trials.as_slice() {
            [] => {}
            [trial] => return Ok(trial.clone()),
            [first, ..] => {
                return Err(unknown_task(format!(
                    "it has {} trials; choose one, such as {}",
                    trials.len(),
                    task_id_of(first, access)
                )));
            }
        }
    }
    match &access.options.data {
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
fn read_goal(file: &Path, access: TaskAccess) -> Result<String, String> {
    #[derive(Deserialize)]
    struct GameParts {
        #[serde(rename = "pddl_domain")]
        _domain: serde::de::IgnoredAny,
        #[serde(rename = "pddl_problem")]
        _problem: serde::de::IgnoredAny,
        #[serde(default)]
        grammar: String,
    }
    let bytes = access.files.read(file).map_err(|e| format!("{}: could not be read: {e}", file.display()))?;
    serde_json::from_slice::<GameParts>(&bytes)
        .map(|parts| goal_in_grammar(&parts.grammar))
        .map_err(|e| format!("{} is not a {GAME_FILE}: {e}", file.display()))
}

/// Returns the data folder and the `json_*` folders in it.
fn data_roots(data: &Path, access: TaskAccess) -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> = access
        .subfolders(data)
        .into_iter()
        .filter(|p| p.file_name().is_some_and(|n| n.to_string_lossy().starts_with("json_")))
        .collect();
    roots.sort();
    roots.insert(0, data.to_owned());
    roots
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

/// Returns the games of a split (or of all splits if it is `None`) that ALFWorld's loader accepts: `traj_data.json` exists, the path
/// contains neither `movable` nor `Sliced`, the type is one of the six, and the game is marked solvable. Sorted by
/// path.
fn list_games(split: Option<&str>, access: TaskAccess) -> Result<Vec<Task>, TaskError> {
    let no_data = |what| Err(TaskError::NoData { what, hint: NO_DATA_HINT });
    let Some(data) = &access.options.data else {
        return no_data(
            "ALFWorld's games are not part of this program, and ALFWORLD_DATA is not set".to_owned(),
        );
    };
    if !access.files.is_dir(data) {
        return no_data(format!("the data folder {} does not exist", data.display()));
    }
    let roots = match split {
        None => vec![data.clone()],
        Some(split) => {
            let found: Vec<PathBuf> = data_roots(data, access)
                .into_iter()
                .map(|root| root.join(split))
                .filter(|p| access.files.is_dir(p))
                .collect();
            if found.is_empty() {
                return no_data(format!(
                    "the data folder {} has no split {split:?}; splits: {}",
                    data.display(),
                    SPLITS.join(", ")
                ));
            }
            found
        }
    };
    let mut folders = Vec::new();
    for root in roots {
        collect_game_folders(&root, MAX_DEPTH, access, &mut Vec::new(), &mut folders);
    }
    folders.sort();
    Ok(folders.into_iter().filter_map(|folder| load_task_unless_skipped(&folder, data, access)).collect())
}

/// Returns whether the loader skips the game because of its path.
fn is_skipped_by_loader(folder: &Path, data: &Path) -> bool {
    let relative = folder.strip_prefix(data).unwrap_or(folder).to_string_lossy();
    relative.contains("movable") || relative.contains("Sliced")
}

/// Collects the folders with a `traj_data.json`. Follows symbolic links, because large data is often kept elsewhere.
/// `ancestors` contains the real paths of the parent folders, so that a link to one of them ends the search.
fn collect_game_folders(
    dir: &Path,
    depth: usize,
    access: TaskAccess,
    ancestors: &mut Vec<PathBuf>,
    found: &mut Vec<PathBuf>,
) {
    let Ok(real) = access.files.canonicalize(dir) else { return };
    if ancestors.contains(&real) {
        return;
    }
    if access.files.is_file(&dir.join(TRAJ_FILE)) {
        found.push(dir.to_owned());
    }
    let Some(depth) = depth.checked_sub(1) else { return };
    ancestors.push(real);
    for subfolder in access.subfolders(dir) {
        collect_game_folders(&subfolder, depth, access, ancestors, found);
    }
    ancestors.pop();
}

fn load_task_unless_skipped(folder: &Path, data: &Path, access: TaskAccess) -> Option<Task> {
    if is_skipped_by_loader(folder, data) {
        return None;
    }
    let traj: TrajData = serde_json::from_slice(&access.files.read(&folder.join(TRAJ_FILE)).ok()?).ok()?;
    TaskType::from_name(&traj.task_type)?;
    let file = folder.join(GAME_FILE);
    let header: GameHeader = serde_json::from_slice(&access.files.read(&file).ok()?).ok()?;
    header.solvable.filter(|s| *s)?;
    Some(build_task(task_id_of(&file, access), goal_in_grammar(&header.grammar), Some(traj.task_type)))
}

/// Returns the goal sentence of the grammar. It is the one that the game shows.
fn goal_in_grammar(grammar: &str) -> String {
    let Some((_, rest)) = grammar.split_once("Your task is to: ") else { return String::new() };
    let sentence = rest.split(['"', '\\', '\n', ';']).next().unwrap_or_default().trim_end();
    sentence.strip_suffix('.').unwrap_or(sentence).to_owned()
}
