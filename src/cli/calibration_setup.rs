//! Calibration before the test tasks of a run: its tasks, and those of earlier calibrations.

use super::args::TaskArgs;
use super::error::CliError;
use super::pool::{self, PoolFile, PoolLine, TaskKey};
use super::worlds::task_selection;
use crate::catalog::{CALIBRATION_METHOD, ModelNeed, calibration_method, find_environment};
use crate::domain::common_settings::{EXPLORE, PER_TYPE};
use crate::domain::{
    CALIBRATION_SETTING, EXPLORATION_SETTING, ModelRole, RoleSource, RunSpec, SettingOrigin, Task,
};
use crate::driver::worlds;
use crate::engine::State;
use crate::env::TaskOptions;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::path::Path;

/// Options of the calibration before the test tasks of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct CalibrationOptions {
    /// The run is calibration only (verb `calibrate`).
    pub(super) is_calibration_only: bool,
    /// `--per-type`.
    pub(super) per_type: Option<u64>,
    /// `--explore`.
    pub(super) explore: Option<u64>,
}

/// Records in the first of `lines` which tasks their session was calibrated on.
pub(super) fn record_calibration_tasks(lines: &mut [PoolLine], state: &State) {
    let calibration_tasks = state.ended_episodes.iter().filter(|p| p.role.is_calibration());
    let tasks: BTreeSet<TaskKey> = calibration_tasks.map(|p| TaskKey::from_task(&p.task)).collect();
    if let Some(first) = lines.first_mut() {
        first.calibration = tasks.into_iter().collect();
    }
}

/// Inserts the calibration and exploration tasks before the test tasks of a run.
pub(super) fn add_calibration_tasks(
    spec: &mut RunSpec,
    calibration: &CalibrationOptions,
    env: &str,
    world: &TaskArgs,
    options: &TaskOptions,
) -> Result<(), CliError> {
    if spec.role_source(ModelRole::Mentor) == RoleSource::Nobody {
        return Err(CliError::usage(
            "calibrate: --mentor none writes no lessons, so nothing can be learned",
            "choose a mentor: --mentor symbolic, or a model",
        ));
    }
    let settings = &mut spec.settings;
    for (setting, value) in [(PER_TYPE, calibration.per_type), (EXPLORE, calibration.explore)] {
        if let Some(value) = value {
            settings.set(setting.spec.name, value, SettingOrigin::Flag);
        }
    }
    let rules_reflect =
        matches!(CALIBRATION_METHOD.model_need, ModelNeed::If(reason) if reason(settings).is_none());
    let explore_is_set =
        settings.recorded(EXPLORE.spec.name).is_some_and(|s| s.origin != SettingOrigin::BuiltIn);
    // The rules derive Abstract lessons only from episodes with a goal, and other methods don't explore.
    let explores = calibration_method(&spec.method).settings.contains(&EXPLORE.spec);
    if !explores && explore_is_set {
        return Err(CliError::usage(
            format!("the method {} gathers attempts at tasks with a goal; it doesn't explore", spec.method),
            "leave out --explore",
        ));
    }
    let hides_goal = find_environment(env).is_none_or(|entry| entry.texts.goal_lines.is_some());
    if explores && !hides_goal && settings.get(EXPLORE) > 0 && explore_is_set {
        return Err(CliError::usage(
            format!(
                "{env}: the first observation of a task is its goal, so nothing can be explored without it"
            ),
            "leave out --explore, or set it to 0",
        ));
    }
    if !explores || !hides_goal || rules_reflect && !explore_is_set {
        settings.set(EXPLORE.spec.name, 0, SettingOrigin::BuiltIn);
    }
    let count = |setting| usize::try_from(settings.get(setting)).unwrap_or(usize::MAX);
    let (per_type, explore) = (count(PER_TYPE), count(EXPLORE));
    let selection = task_selection(env, world);
    let are_tasks_chosen = calibration.is_calibration_only
        && !(selection.tasks.is_empty() && selection.list.is_none() && selection.split.is_none());
    let has_task_ids = are_tasks_chosen && selection.list.is_none() && selection.split.is_none();
    let tasks = if are_tasks_chosen {
        worlds::select_tasks(env, &selection, options)?
    } else {
        worlds::list_calibration_tasks(env, per_type, options)?
    };
    let calibration_tasks =
        sample_per_type(tasks.clone(), if has_task_ids { usize::MAX } else { per_type }, spec.seed);
    let explored = sample_per_type(calibration_tasks.clone(), explore, spec.seed);
    spec.settings.set(CALIBRATION_SETTING, calibration_tasks.len(), SettingOrigin::Flag);
    spec.settings.set(EXPLORATION_SETTING, explored.len(), SettingOrigin::Flag);
    let test_tasks = std::mem::take(&mut spec.tasks);
    spec.tasks = calibration_tasks.into_iter().chain(explored).chain(test_tasks).collect();
    Ok(())
}

/// Selects up to `per_type` tasks of every type, types in order of first occurrence. The selection depends only on the
/// seed.
fn sample_per_type(tasks: Vec<Task>, per_type: usize, seed: u64) -> Vec<Task> {
    let mut types: Vec<(Option<String>, Vec<Task>)> = Vec::new();
    for task in tasks {
        match types.iter_mut().find(|(task_type, _)| *task_type == task.task_type) {
            Some((_, found)) => found.push(task),
            None => types.push((task.task_type.clone(), vec![task])),
        }
    }
    let draw = |task: &Task| Sha256::digest(format!("{seed}\n{}", task.key()).as_bytes());
    for (_, found) in &mut types {
        if found.len() > per_type {
            found.sort_by_cached_key(draw);
            found.truncate(per_type);
        }
    }
    types.into_iter().flat_map(|(_, found)| found).collect()
}

/// Returns a warning for each source of initial lessons that were learned from a test task: results on that task don't
/// generalize.
pub(super) fn tasks_seen_in_calibration(spec: &RunSpec, files: &[&Path]) -> Result<Vec<String>, CliError> {
    let mut calibration_tasks: Vec<(String, BTreeSet<TaskKey>)> = Vec::new();
    for file in files.iter().filter(|f| pool::is_pool(f)) {
        calibration_tasks.push((file.display().to_string(), PoolFile::read(file)?.calibration));
    }
    let run_tasks =
        spec.calibration_tasks().iter().chain(spec.exploration_tasks()).map(TaskKey::from_task).collect();
    calibration_tasks.push(("this run's calibration".to_owned(), run_tasks));
    let warn = |(source, tasks): (String, BTreeSet<TaskKey>)| {
        let overlap: BTreeSet<TaskKey> =
            spec.test_tasks().iter().map(TaskKey::from_task).filter(|t| tasks.contains(t)).collect();
        let first = overlap.first()?;
        let more = if overlap.len() > 1 { format!(" and {} more", overlap.len() - 1) } else { String::new() };
        Some(format!(
            "{source}: its lessons were learned from {}{more}, also a test task of this run; results on it say \
             nothing about other tasks",
            first.id
        ))
    };
    Ok(calibration_tasks.into_iter().filter_map(warn).collect())
}
