//! What a run learns from before its tests: the tasks of its calibration, and what earlier ones leave behind.

use super::args::TaskArgs;
use super::error::{CliError, CliErrorKind};
use super::pool::{self, PoolFile, PoolLine, TaskKey};
use super::worlds::task_selection;
use crate::domain::{CALIBRATION_SETTING, EXPLORATION_SETTING, ReflectionKind, RunSpec, SettingOrigin, Task};
use crate::driver::worlds::{self, WorldOptions};
use crate::engine::State;
use crate::prompt::{Templates, forms};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What a run learns from before its tests.
#[derive(Clone, Debug, Default)]
pub(super) struct CalibrationOptions {
    /// There are no tests.
    pub(super) has_no_tests: bool,
    /// `--per-type`.
    pub(super) per_type: Option<u64>,
    /// `--explore`.
    pub(super) explore: Option<u64>,
}

/// Says in the first of some lines which tasks their session was calibrated on.
pub(super) fn record_calibration_tasks(lines: &mut [PoolLine], state: &State) {
    let learnt = state.ended_episodes.iter().filter(|p| p.role.is_calibration());
    let tasks: BTreeSet<TaskKey> = learnt.map(|p| TaskKey::from_task(&p.task)).collect();
    if let Some(first) = lines.first_mut() {
        first.calibration = tasks.into_iter().collect();
    }
}

/// Puts the tasks to learn from before those of a run.
pub(super) fn add_calibration_tasks(
    spec: &mut RunSpec,
    learn: &CalibrationOptions,
    env: &str,
    world: &TaskArgs,
    options: &WorldOptions,
) -> Result<(), CliError> {
    if spec.mentor == "none" {
        return Err(CliError::usage(
            "calibrate: --mentor none writes no lessons, so there is nothing to learn",
            "name a mentor: symbolic, or a model",
        ));
    }
    let settings = &mut spec.settings;
    for (name, value) in [("per_type", learn.per_type), ("explore", learn.explore)] {
        if let Some(value) = value {
            settings.set(name, value, SettingOrigin::Flag);
        }
    }
    let by_rules = settings.text("generation", "symbolic") == "symbolic";
    let chosen = settings.0.get("explore").is_some_and(|s| s.origin != SettingOrigin::BuiltIn);
    if by_rules && !chosen {
        // The rules draw their Abstract lessons from what served a goal.
        settings.set("explore", 0, SettingOrigin::BuiltIn);
    }
    let count = |name| usize::try_from(settings.number(name, 1)).unwrap_or(usize::MAX);
    let (each, explored) = (count("per_type"), count("explore"));
    let selection = task_selection(world);
    let own = learn.has_no_tests
        && !(selection.tasks.is_empty() && selection.list.is_none() && selection.split.is_none());
    let named = own && selection.list.is_none() && selection.split.is_none();
    let tasks = if own {
        worlds::select_tasks(env, &selection, options)?
    } else {
        worlds::list_calibration_tasks(env, each, options)?
    };
    let learnt = sample_per_type(tasks.clone(), if named { usize::MAX } else { each }, spec.seed);
    let explored = sample_per_type(learnt.clone(), explored, spec.seed);
    spec.settings.set(CALIBRATION_SETTING, learnt.len(), SettingOrigin::Flag);
    spec.settings.set(EXPLORATION_SETTING, explored.len(), SettingOrigin::Flag);
    let tests = std::mem::take(&mut spec.tasks);
    spec.tasks = learnt.into_iter().chain(explored).chain(tests).collect();
    Ok(())
}

/// Up to `each` tasks of every type, types in the order in which they come. Which ones the seed decides, and nothing else.
fn sample_per_type(tasks: Vec<Task>, each: usize, seed: u64) -> Vec<Task> {
    let mut types: Vec<(Option<String>, Vec<Task>)> = Vec::new();
    for task in tasks {
        match types.iter_mut().find(|(of, _)| *of == task.task_type) {
            Some((_, found)) => found.push(task),
            None => types.push((task.task_type.clone(), vec![task])),
        }
    }
    let draw = |task: &Task| Sha256::digest(format!("{seed}\n{}", task.key()).as_bytes());
    for (_, found) in &mut types {
        if found.len() > each {
            found.sort_by_cached_key(draw);
            found.truncate(each);
        }
    }
    types.into_iter().flat_map(|(_, found)| found).collect()
}

/// Which tasks of a run its lessons were learnt from: what comes of them says nothing of others.
pub(super) fn tasks_seen_in_calibration(
    spec: &RunSpec,
    files: &[&Option<PathBuf>],
) -> Result<Vec<String>, CliError> {
    let mut learnt: Vec<(String, BTreeSet<TaskKey>)> = Vec::new();
    for file in files.iter().filter_map(|f| f.as_deref()).filter(|f| pool::is_pool(f)) {
        learnt.push((file.display().to_string(), PoolFile::read(file)?.calibration));
    }
    let own =
        spec.calibration_tasks().iter().chain(spec.exploration_tasks()).map(TaskKey::from_task).collect();
    learnt.push(("this run's calibration".to_owned(), own));
    let warn = |(source, tasks): (String, BTreeSet<TaskKey>)| {
        let again: BTreeSet<TaskKey> =
            spec.test_tasks().iter().map(TaskKey::from_task).filter(|t| tasks.contains(t)).collect();
        let first = again.first()?;
        let more = if again.len() > 1 { format!(" and {} more", again.len() - 1) } else { String::new() };
        Some(format!(
            "{source}: its lessons were learnt from {}{more}, which this run is tested on; what comes of that says \
             nothing of other tasks",
            first.id
        ))
    };
    Ok(learnt.into_iter().filter_map(warn).collect())
}

/// Templates whose exemplars for neuro-symbolic generation are the lessons that rules wrote into a pool file.
///
/// # Errors
/// A [`CliError`] when the file cannot be read, or no rule wrote anything in it.
pub(super) fn with_exemplars(templates: Templates, file: &Path) -> Result<Templates, CliError> {
    let pool = PoolFile::read(file)?;
    let of = |kind| -> String {
        let lessons = pool.lessons().filter(|l| l.kind == kind && l.rule.is_some() && l.is_active());
        lessons.map(|l| forms::lesson_line(l.text())).collect()
    };
    let texts = [ReflectionKind::Abstract, ReflectionKind::Error, ReflectionKind::Progress]
        .map(|kind| (kind, of(kind)));
    if texts.iter().all(|(_, text)| text.is_empty()) {
        return Err(CliError::new(
            CliErrorKind::File,
            format!("{}: there is no lesson in it that a rule wrote", file.display()),
            "make it with `retrospect calibrate --mentor symbolic --out FILE`",
        ));
    }
    let filled = texts.into_iter().filter(|(_, text)| !text.is_empty()).collect();
    Ok(templates.with_exemplars(filled))
}
