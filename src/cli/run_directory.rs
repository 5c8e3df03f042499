//! Continues run directories of Reflexion's public code: loads their plans and skips what they have solved.

use super::bounded;
use super::error::{CliError, CliErrorKind};
use super::pool::PoolLine;
use crate::domain::{LessonOrigin, LessonText, RunSpec};
use crate::engine::LessonCommand;
use crate::journal::import::{EnvResult, parse_results, plan_id, plan_lesson, results_trial};
use jiff::Timestamp;
use std::path::{Path, PathBuf};

/// The results of one trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TrialResults {
    pub(super) file: PathBuf,
    /// Trial number, counted from 0.
    pub(super) trial: u32,
    pub(super) rows: Vec<EnvResult>,
}

/// Returns whether a path is a run directory or a results file.
pub(super) fn is_results_path(path: &Path) -> bool {
    find_results_file(path).is_some()
}

/// Returns trial number and path of a results file; for a directory, the file of its last trial.
fn find_results_file(path: &Path) -> Option<(u32, PathBuf)> {
    let number = |path: &Path| results_trial(path.file_name()?.to_str()?);
    if !path.is_dir() {
        return Some((number(path)?, path.to_owned()));
    }
    let files = std::fs::read_dir(path).ok()?.flatten().map(|e| e.path());
    files.filter_map(|file| Some((number(&file)?, file))).max()
}

/// Reads results, as [`parse_results`] does.
pub(super) fn read_results(path: &Path) -> Result<TrialResults, CliError> {
    let Some((trial, file)) = find_results_file(path) else {
        return Err(CliError::usage(
            format!("{}: no env_results_trial_N.json found", path.display()),
            "name a run directory that has such files, or one of them",
        ));
    };
    let bytes = bounded::read_file(&file).map_err(|e| CliError::file(&file, "could not be read", &e))?;
    let rows =
        parse_results(&file, &bytes).map_err(|e| CliError::new(CliErrorKind::File, e.to_string(), e.hint))?;
    Ok(TrialResults { file, trial, rows })
}

/// Returns the plans as pool lines, each with its environment (`env_N`) as task key.
pub(super) fn pool_lines(results: &TrialResults, at: Timestamp) -> Vec<PoolLine> {
    let mut lines = Vec::new();
    for row in &results.rows {
        for (number, plan) in row.plans.iter().enumerate().filter(|(_, plan)| !plan.trim().is_empty()) {
            let task_key = format!("env_{}", row.index);
            let (id, text) = (plan_id(&task_key, number, plan), LessonText::plain(plan.trim()));
            let op = plan_lesson(id, LessonOrigin::File, text, Some(task_key));
            lines.push(PoolLine::new(at, op));
        }
    }
    lines
}

/// Replaces the task key `env_N` of lessons by the key of the run's task N, and removes lessons of tasks that the run
/// doesn't have. Returns the number of lessons removed.
pub(super) fn bind_to_tasks(lessons: &mut Vec<(String, LessonCommand)>, spec: &RunSpec) -> usize {
    let before = lessons.len();
    lessons.retain_mut(|(_, command)| {
        let LessonCommand::Load(lesson) = command else { return true };
        let index = lesson
            .task_key
            .as_deref()
            .and_then(|a| a.strip_prefix("env_"))
            .and_then(|n| n.parse::<usize>().ok());
        let Some(index) = index else { return true };
        let task = spec.test_tasks().get(index);
        lesson.task_key = task.map(|t| t.key().into());
        task.is_some()
    });
    before - lessons.len()
}

/// Removes from a run the tasks that are solved according to these results, and the trials already played. Returns a
/// note about it.
pub(super) fn skip_finished(results: &TrialResults, spec: &mut RunSpec) -> Result<String, CliError> {
    let first_test = spec.tasks.len() - spec.test_tasks().len();
    let is_done = |index: usize| results.rows.iter().any(|r| r.index == index && (r.is_success || r.skip));
    let mut tasks = std::mem::take(&mut spec.tasks);
    let test_tasks = tasks.split_off(first_test);
    let total = test_tasks.len();
    tasks.extend(
        test_tasks.into_iter().enumerate().filter(|(index, _)| !is_done(*index)).map(|(_, task)| task),
    );
    spec.tasks = tasks;
    let unsolved = spec.test_tasks().len();
    let played = results.trial.saturating_add(1);
    if unsolved == 0 || played >= spec.trials {
        return Err(CliError::usage(
            format!(
                "{}: nothing left to play: {unsolved} of {total} tasks unsolved, {played} of {} trials played",
                results.file.display(),
                spec.trials
            ),
            "add tasks, or raise --trials",
        ));
    }
    spec.trials -= played;
    Ok(format!(
        "{}: skipping {} of {total} tasks, which are solved; trials left: {} (numbered from 1)",
        results.file.display(),
        total - unsolved,
        spec.trials
    ))
}
