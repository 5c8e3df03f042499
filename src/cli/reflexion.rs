//! Run directories of Reflexion's public code (methods.md 2.2): what its memory and results mean here.

use super::bounded;
use super::error::{CliError, CliErrorKind};
use super::pool::PoolLine;
use crate::domain::{LessonId, LessonOp, LessonOrigin, LessonText, ReflectionKind, RunSpec, Scope, hex};
use crate::engine::LessonCommand;
use jiff::Timestamp;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};

/// The results of a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TrialResults {
    /// The file.
    pub(super) file: PathBuf,
    /// The trial, counted from 0.
    pub(super) trial: u32,
    /// What became of each environment.
    pub(super) rows: Vec<EnvResult>,
}

/// An environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EnvResult {
    /// Its place among the tasks, counted from 0.
    pub(super) index: usize,
    /// The plans written after its attempts, the oldest first.
    pub(super) plans: Vec<String>,
    /// It was solved, or is to be left out.
    pub(super) is_done: bool,
}

/// Whether a path is a run directory or a file of results.
pub(super) fn is_results_path(path: &Path) -> bool {
    find_results_file(path).is_some()
}

/// The results file that is meant: of a directory that of the last trial.
fn find_results_file(path: &Path) -> Option<(u32, PathBuf)> {
    let number = |path: &Path| -> Option<u32> {
        path.file_name()?.to_str()?.strip_prefix("env_results_trial_")?.strip_suffix(".json")?.parse().ok()
    };
    if !path.is_dir() {
        return Some((number(path)?, path.to_owned()));
    }
    let files = std::fs::read_dir(path).ok()?.flatten().map(|e| e.path());
    files.filter_map(|file| Some((number(&file)?, file))).max()
}

/// Reads results. Keys that are not known are passed over, those that are missing have their first value.
pub(super) fn read_results(path: &Path) -> Result<TrialResults, CliError> {
    let Some((trial, file)) = find_results_file(path) else {
        return Err(CliError::usage(
            format!("{}: there is no env_results_trial_N.json", path.display()),
            "name a run directory of Reflexion, or one of its result files",
        ));
    };
    let text = bounded::read_text(&file).map_err(|e| CliError::file(&file, "could not be read", &e))?;
    let wrong = |place: String, why: &str| {
        let hint = "expected a JSON list of objects with name, memory (a list of texts) and is_success";
        CliError::new(CliErrorKind::File, format!("{}{place}: {why}", file.display()), hint)
    };
    let list: Vec<Value> =
        serde_json::from_str(&text).map_err(|e| wrong(format!(":{}", e.line()), &e.to_string()))?;
    let mut rows = Vec::new();
    for (at, entry) in list.iter().enumerate() {
        let entry = entry.as_object().ok_or_else(|| wrong(format!(", entry {at}"), "it is no object"))?;
        let named = entry.get("name").and_then(Value::as_str).and_then(|n| n.strip_prefix("env_"));
        let flag = |key: &str| entry.get(key).and_then(Value::as_bool).unwrap_or(false);
        let memory = match entry.get("memory") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(texts)) => {
                texts.iter().map(|t| t.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>().ok_or_else(
                    || wrong(format!(", entry {at}"), "its memory holds something that is no text"),
                )?
            }
            Some(_) => return Err(wrong(format!(", entry {at}"), "its memory is no list")),
        };
        rows.push(EnvResult {
            index: named.and_then(|n| n.parse().ok()).unwrap_or(at),
            plans: memory,
            is_done: flag("is_success") || flag("skip"),
        });
    }
    Ok(TrialResults { file, trial, rows })
}

/// The plans as lines of a pool file, each about the environment of its number.
pub(super) fn pool_lines(results: &TrialResults, at: Timestamp) -> Vec<PoolLine> {
    let mut lines = Vec::new();
    for row in &results.rows {
        for (number, plan) in row.plans.iter().enumerate().filter(|(_, plan)| !plan.trim().is_empty()) {
            let about = format!("env_{}", row.index);
            let hash = Sha256::digest(format!("reflexion\n{about}\n{number}\n{plan}").as_bytes());
            let op = LessonOp::Add {
                id: LessonId(hex(&hash[..6]).into()),
                kind: ReflectionKind::Plan,
                scope: Scope::Task,
                origin: LessonOrigin::File,
                text: LessonText::plain(plan.trim()),
                evidence: String::new(),
                rule: None,
                parents: Vec::new(),
                transition: None,
                task_key: Some(about),
            };
            lines.push(PoolLine {
                version: 1,
                written_at: at,
                session: String::new(),
                calibration: Vec::new(),
                operation: op,
            });
        }
    }
    lines
}

/// Says of lessons about `env_N` which task of the run that is; those about none are left out. Gives how many that were.
pub(super) fn bind_to_tasks(lessons: &mut Vec<(String, LessonCommand)>, spec: &RunSpec) -> usize {
    let before = lessons.len();
    lessons.retain_mut(|(_, wish)| {
        let LessonCommand::Load(lesson) = wish else { return true };
        let place = lesson
            .task_key
            .as_deref()
            .and_then(|a| a.strip_prefix("env_"))
            .and_then(|n| n.parse::<usize>().ok());
        let Some(place) = place else { return true };
        let task = spec.test_tasks().get(place);
        lesson.task_key = task.map(|t| t.key().into());
        task.is_some()
    });
    before - lessons.len()
}

/// Leaves out of a run the tasks that these results say are solved, and the trials that were played.
pub(super) fn skip_finished(results: &TrialResults, spec: &mut RunSpec) -> Result<String, CliError> {
    let learnt = spec.tasks.len() - spec.test_tasks().len();
    let settled = |place: usize| results.rows.iter().any(|r| r.index == place && r.is_done);
    let mut tasks = std::mem::take(&mut spec.tasks);
    let tests = tasks.split_off(learnt);
    let all = tests.len();
    tasks.extend(tests.into_iter().enumerate().filter(|(place, _)| !settled(*place)).map(|(_, task)| task));
    spec.tasks = tasks;
    let left = spec.test_tasks().len();
    let played = results.trial.saturating_add(1);
    if left == 0 || played >= spec.trials {
        return Err(CliError::usage(
            format!(
                "{}: nothing is left to play: {left} of {all} tasks are not solved, and {played} of {} trials were played",
                results.file.display(),
                spec.trials
            ),
            "choose more tasks, or more --trials",
        ));
    }
    spec.trials -= played;
    Ok(format!(
        "{}: {} of {all} tasks are solved and left out; {} trials are left, counted from 1 here",
        results.file.display(),
        all - left,
        spec.trials
    ))
}
