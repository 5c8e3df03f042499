//! The `tasks` verb: lists the tasks of an environment.

use super::args;
use super::config::{Config, keys};
use super::error::{CliError, CliErrorKind};
use super::output::Output;
use super::worlds::{task_selection, world_options};
use crate::catalog::{ENVIRONMENTS, ExportTask, find_environment};
use crate::domain::Task;
use crate::driver::worlds;
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
    args.world.apply(config)?;
    let env = config.get(keys::ENV).to_owned();
    let export = find_environment(&env).and_then(|entry| entry.task_facts.export_task);
    if args.write.is_some() && export.is_none() {
        let others = ENVIRONMENTS.iter().filter(|entry| entry.task_facts.export_task.is_some());
        let flags: Vec<String> = others.map(|entry| format!("--env {}", entry.name)).collect();
        return Err(CliError::usage(
            format!("--write: tasks of {env} can't be written as folders"),
            format!("--write works with {}", flags.join(" or ")),
        ));
    }
    let written_to = args.write.as_deref().zip(export);
    let found = worlds::list_tasks(&env, &task_selection(&env, &args.world), &world_options(config))?;
    let width = found.iter().map(|t| t.id.len()).max().unwrap_or(0).min(60);
    for task in &found {
        let folder = written_to.map(|(dir, export)| write_game(dir, task, export)).transpose()?;
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

/// Writes a generated game in the folder layout that its public loader reads; returns the folder.
fn write_game(dir: &Path, task: &Task, export: ExportTask) -> Result<String, CliError> {
    let game = export(&task.id).map_err(|e| {
        CliError::new(
            CliErrorKind::World,
            format!("task {} can't be generated: {e}", task.id),
            "this is a bug; please report it",
        )
    })?;
    let folder = dir.join(&game.folder);
    files::create_folder(&folder).map_err(|e| CliError::file(&folder, "could not be created", &e))?;
    for (name, text) in &game.files {
        let path = folder.join(name);
        files::replace_shared(&path, text.as_bytes())
            .map_err(|e| CliError::file(&path, "could not be written", &e))?;
    }
    Ok(folder.display().to_string())
}
