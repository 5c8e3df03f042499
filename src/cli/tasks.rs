//! The `tasks` verb: lists the tasks of an environment.

use super::args;
use super::config::Config;
use super::error::{CliError, CliErrorKind};
use super::output::Output;
use super::worlds::{task_selection, world_options};
use crate::domain::Task;
use crate::driver::worlds;
use crate::env::household::{TaskId, export_folder};
use crate::files;
use serde::Serialize;
use std::path::Path;

#[derive(Serialize)]
struct Row<'a> {
    env: &'a str,
    task: &'a str,
    goal: &'a str,
    #[serde(rename = "type")]
    task_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    difficulty: Option<&'a str>,
    seed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<String>,
}

/// Runs `tasks`.
pub(super) fn tasks(config: &mut Config, args: &args::Tasks, out: &mut Output) -> Result<(), CliError> {
    config.set_flag("run.env", args.world.files.implied_env(args.world.env.as_ref()).as_deref())?;
    let env = config.text("run.env").to_owned();
    if args.write.is_some() && env != "household" {
        return Err(CliError::usage(
            format!("--write: {env} games are already files on disk"),
            "--write works with the built-in environment: --env household",
        ));
    }
    let found = worlds::list_tasks(&env, &task_selection(&args.world), &world_options(config))?;
    let width = found.iter().map(|t| t.id.len()).max().unwrap_or(0).min(60);
    for task in &found {
        let folder = args.write.as_deref().map(|dir| write_game(dir, task)).transpose()?;
        if args.json {
            let row = Row {
                env: &task.env,
                task: &task.id,
                goal: &task.goal,
                task_type: task.task_type.as_deref(),
                difficulty: task.difficulty.as_deref(),
                seed: task.seed,
                folder,
            };
            out.print_json(&serde_json::to_string(&row).unwrap_or_default())?;
        } else if let Some(folder) = folder {
            out.print_line(&folder)?;
        } else {
            out.print_line(&format!("{:<width$}  {}", task.id, task.goal))?;
        }
    }
    Ok(())
}

/// Writes a generated game in the folder layout of ALFWorld's loader; returns the folder.
fn write_game(dir: &Path, task: &Task) -> Result<String, CliError> {
    let generator_error = |e: String| {
        CliError::new(
            CliErrorKind::World,
            format!("task {} can't be generated: {e}", task.id),
            "this is a bug; please report it",
        )
    };
    let id = TaskId::parse(&task.id).map_err(|e| generator_error(e.to_string()))?;
    let game = export_folder(&id).map_err(|e| generator_error(e.to_string()))?;
    let folder = dir.join(&game.folder);
    files::create_folder(&folder).map_err(|e| CliError::file(&folder, "could not be created", &e))?;
    for (name, text) in &game.files {
        let path = folder.join(name);
        files::replace_shared(&path, text.as_bytes())
            .map_err(|e| CliError::file(&path, "could not be written", &e))?;
    }
    Ok(folder.display().to_string())
}
