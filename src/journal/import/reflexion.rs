//! Run directories of Reflexion's public code: `env_results_trial_N.json` (memory and results), `trial_N.log` (what was
//! played). Trials and environments (tasks, in that code) are numbered from 0 there.

use super::event_recorder::{EventRecorder, LoggedStep};
use super::{Content, FORMAT_SETTING, ImportError, ImportedSession, Importer, Source, unreadable};
use crate::domain::{
    Author, Autonomy, EndReason, Interface, LessonId, LessonOp, LessonOrigin, LessonText, Limits, Reflection,
    ReflectionItem, ReflectionKind, RoleSource, RunSpec, Scope, SettingOrigin, Settings, StepResult, Task,
    hex,
};
use crate::engine::{Cause, Event};
use crate::files;
use crate::journal::slug;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::path::Path;

/// Reads a run directory, or one of its results files.
pub(super) struct ReflexionRun;

/// The result of one environment in a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvResult {
    /// Index among the tasks, counted from 0.
    pub index: usize,
    /// Plans written after its attempts, oldest first.
    pub plans: Vec<String>,
    pub is_success: bool,
    /// Marked to be skipped.
    pub skip: bool,
}

/// One trial.
struct Trial {
    /// Counted from 0.
    number: u32,
    rows: Vec<EnvResult>,
    /// What was played, by environment; `None` without a log.
    log: Option<BTreeMap<usize, LoggedAttempt>>,
}

/// An attempt in a log.
#[derive(Default)]
struct LoggedAttempt {
    first_observation: String,
    steps: Vec<LoggedStep>,
}

/// The method of the runs, and the name of the format.
const METHOD: &str = "reflexion";
/// The name of what the files don't say: the actor and the environment.
const UNKNOWN: &str = "unknown";
/// The maximum number of steps in a log; one of the public code's has some 6,600.
const MAX_STEPS: usize = 200_000;
/// Maximum size of a file, in bytes.
const MAX_FILE_BYTES: u64 = 64 << 20;

const RESULTS_HINT: &str =
    "expected a JSON array of objects with name, memory (an array of strings) and is_success";

/// Returns the number of the trial whose results a file of this name contains.
pub fn results_trial(name: &str) -> Option<u32> {
    let number = name.strip_prefix("env_results_trial_")?.strip_suffix(".json")?;
    // Another spelling of a number, such as `01`, would name a second file of the same trial.
    number.parse().ok().filter(|parsed: &u32| parsed.to_string() == number)
}

/// Returns the id of a plan as a lesson: the same plan always gets the same one.
pub fn plan_id(task_key: &str, number: usize, plan: &str) -> LessonId {
    let hash = Sha256::digest(format!("reflexion\n{task_key}\n{number}\n{plan}").as_bytes());
    LessonId(hex(&hash[..6]).into())
}

/// Parses a results file. Ignores unknown keys; missing keys have Reflexion's initial values.
///
/// # Errors
/// Returns an error that names the line or the entry.
pub fn parse_results(file: &Path, bytes: &[u8]) -> Result<Vec<EnvResult>, ImportError> {
    let invalid = |location: String, why: &str| ImportError {
        path: format!("{}{location}", file.display()),
        problem: why.to_owned(),
        hint: RESULTS_HINT.to_owned(),
    };
    let list: Vec<Value> =
        serde_json::from_slice(bytes).map_err(|e| invalid(format!(":{}", e.line()), &e.to_string()))?;
    let mut rows = Vec::new();
    for (number, entry) in list.iter().enumerate() {
        let entry = entry.as_object().ok_or_else(|| invalid(format!(", entry {number}"), "not an object"))?;
        let env_number = entry.get("name").and_then(Value::as_str).and_then(|n| n.strip_prefix("env_"));
        let flag = |key: &str| entry.get(key).and_then(Value::as_bool).unwrap_or(false);
        let plans = match entry.get("memory") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(texts)) => {
                texts.iter().map(|t| t.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>().ok_or_else(
                    || invalid(format!(", entry {number}"), "memory has an element that is not a string"),
                )?
            }
            Some(_) => return Err(invalid(format!(", entry {number}"), "memory is not an array")),
        };
        let index = env_number.and_then(|n| n.parse().ok()).unwrap_or(number);
        rows.push(EnvResult { index, plans, is_success: flag("is_success"), skip: flag("skip") });
    }
    Ok(rows)
}

impl Importer for ReflexionRun {
    fn name(&self) -> &'static str {
        "run directories of Reflexion's code"
    }

    fn detect(&self, source: &Source) -> bool {
        #[derive(Deserialize)]
        struct Row {
            #[serde(rename = "memory")]
            _memory: IgnoredAny,
            #[serde(rename = "is_success")]
            _is_success: IgnoredAny,
        }
        match &source.content {
            Content::Folder(names) => names.iter().any(|name| results_trial(name).is_some()),
            Content::File(bytes) => {
                serde_json::from_slice::<Vec<Row>>(bytes).is_ok_and(|rows| !rows.is_empty())
            }
        }
    }

    fn import(&self, source: &Source) -> Result<ImportedSession, ImportError> {
        let trials = read_trials(source)?;
        let tasks = tasks(&trials);
        let attempts = trials.iter().filter_map(|trial| trial.log.as_ref()).flat_map(BTreeMap::values);
        let mut settings = Settings::default();
        settings.set(FORMAT_SETTING, METHOD, SettingOrigin::BuiltIn);
        let spec = RunSpec {
            method: METHOD.to_owned(),
            actor: UNKNOWN.to_owned(),
            mentor: RoleSource::NOBODY.to_owned(),
            interface: Interface::Raw,
            tasks: tasks.values().cloned().collect(),
            trials: trials.last().map_or(1, |trial| trial.number.saturating_add(1)),
            seed: 0,
            autonomy: Autonomy::Auto,
            limits: Limits {
                steps: attempts.map(|attempt| attempt.steps.len() as u32).max().unwrap_or(0),
                moves: None,
                wall_seconds: None,
            },
            loop_detector: false,
            settings,
        };
        let name = source.path.file_stem().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let session = slug(&format!("reflexion {name}"));
        let mut recorder = EventRecorder::new(&session, spec, source.modified);
        let mut known: BTreeMap<usize, EnvResult> = BTreeMap::new();
        for (place, trial) in trials.iter().enumerate() {
            // If earlier trials are missing, when their plans were written isn't known.
            let starts_late = place == 0 && trial.number > 0;
            warn_of_gaps(&mut recorder, trial, &known);
            for row in &trial.rows {
                let Some(task) = tasks.get(&row.index) else { continue };
                if starts_late {
                    load_plans(&mut recorder, source, task, row);
                }
                if !was_solved(&known, row) {
                    let attempt = trial.log.as_ref().map(|log| log.get(&row.index));
                    record_attempt(&mut recorder, task, trial.number, row, attempt.flatten());
                    let before = known.get(&row.index).map_or(0, |earlier| earlier.plans.len());
                    if !starts_late {
                        record_plans(&mut recorder, &task.id, &row.plans, before);
                    }
                }
                if recorder.is_full() {
                    return Err(ImportError::new(
                        &source.path,
                        format!("trial {} is too long to be imported", trial.number),
                        "import fewer trials",
                    ));
                }
            }
            known.extend(trial.rows.iter().map(|row| (row.index, row.clone())));
        }
        Ok(recorder.finish(format!("Reflexion run {name}")))
    }
}

/// Reads the trials in order.
fn read_trials(source: &Source) -> Result<Vec<Trial>, ImportError> {
    let names = match &source.content {
        Content::File(bytes) => {
            let name = source.path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
            if bytes.len() as u64 > MAX_FILE_BYTES {
                let problem = format!("too large for a results file (at most {} MiB)", MAX_FILE_BYTES >> 20);
                return Err(ImportError::new(&source.path, problem, "import a part of its entries"));
            }
            let rows = parse_results(&source.path, bytes)?;
            return Ok(vec![Trial { number: results_trial(&name).unwrap_or(0), rows, log: None }]);
        }
        Content::Folder(names) => names,
    };
    let mut numbers: Vec<u32> = names.iter().filter_map(|name| results_trial(name)).collect();
    numbers.sort_unstable();
    let read = |name: &str| {
        let path = source.path.join(name);
        let bytes = files::read(&path, MAX_FILE_BYTES).map_err(|e| unreadable(&path, &e))?;
        Ok((path, bytes))
    };
    let mut trials = Vec::new();
    for number in numbers {
        let (path, bytes) = read(&format!("env_results_trial_{number}.json"))?;
        let rows = parse_results(&path, &bytes)?;
        let log_name = format!("trial_{number}.log");
        let mut log = None;
        if names.contains(&log_name) {
            let (path, bytes) = read(&log_name)?;
            let text = String::from_utf8(bytes).map_err(|e| {
                let offset = e.utf8_error().valid_up_to();
                ImportError::new(&path, format!("not UTF-8 from byte {offset} on"), "convert it to UTF-8")
            })?;
            if text.lines().filter(|line| line.starts_with("> ")).count() > MAX_STEPS {
                let problem = format!("more than {MAX_STEPS} steps");
                return Err(ImportError::new(&path, problem, "check that it is a log of Reflexion's code"));
            }
            log = Some(parse_log(&text));
        }
        trials.push(Trial { number, rows, log });
    }
    Ok(trials)
}

/// Returns the attempts of a log by environment, without those that it only mentions as solved earlier.
fn parse_log(text: &str) -> BTreeMap<usize, LoggedAttempt> {
    let pieces = text.split("#####\n\nEnvironment #").skip(1);
    let attempts = pieces.filter_map(|piece| {
        let (number, rest) = piece.split_once(':')?;
        // `N: Success` stands for an environment that was solved before.
        let history = rest.strip_prefix('\n')?;
        let history = history.rsplit_once("\n\nSTATUS: ").map_or(history, |(history, _)| history);
        // Before it there are examples, which look like steps.
        let (_, task) = history.rsplit_once("Here is the task:")?;
        Some((number.parse().ok()?, parse_attempt(task)))
    });
    attempts.collect()
}

fn parse_attempt(text: &str) -> LoggedAttempt {
    let mut attempt = LoggedAttempt::default();
    for line in text.trim().lines() {
        let own = line.strip_prefix("> ").map(|action| (action, false));
        if let Some((action, by_person)) =
            own.or_else(|| line.strip_prefix("[human edit]: ").map(|action| (action, true)))
        {
            let (action, observation) = (action.to_owned(), String::new());
            attempt.steps.push(LoggedStep { action, by_person, observation });
            continue;
        }
        let last = attempt.steps.last_mut();
        let text = last.map_or(&mut attempt.first_observation, |step| &mut step.observation);
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(line);
    }
    attempt
}

/// Returns the tasks of all trials by index, with the goals that the logs state.
fn tasks(trials: &[Trial]) -> BTreeMap<usize, Task> {
    let mut tasks = BTreeMap::new();
    for index in trials.iter().flat_map(|trial| trial.rows.iter().map(|row| row.index)) {
        let logs = trials.iter().filter_map(|trial| trial.log.as_ref()?.get(&index));
        let mut goals = logs.filter_map(|attempt| goal_of(&attempt.first_observation));
        tasks.entry(index).or_insert_with(|| Task {
            env: UNKNOWN.to_owned(),
            id: format!("env_{index}"),
            goal: goals.next().unwrap_or_default(),
            task_type: None,
            difficulty: None,
            seed: 0,
        });
    }
    tasks
}

fn goal_of(observation: &str) -> Option<String> {
    let (_, goal) = observation.split_once("Your task is to: ")?;
    Some(goal.lines().next()?.trim().trim_end_matches('.').to_owned())
}

/// Returns whether an environment wasn't played, because it had been solved or is to be skipped.
fn was_solved(known: &BTreeMap<usize, EnvResult>, row: &EnvResult) -> bool {
    row.skip || known.get(&row.index).is_some_and(|earlier| earlier.is_success)
}

/// Warns if the log of a trial lacks attempts.
fn warn_of_gaps(recorder: &mut EventRecorder, trial: &Trial, known: &BTreeMap<usize, EnvResult>) {
    let played: Vec<usize> =
        trial.rows.iter().filter(|row| !was_solved(known, row)).map(|row| row.index).collect();
    let found = |index: &&usize| trial.log.as_ref().is_some_and(|log| log.contains_key(*index));
    let missing = played.len() - played.iter().filter(found).count();
    if missing > 0 {
        let (trial, all) = (trial.number, played.len());
        let text = format!("trial_{trial}.log doesn't contain the steps of {missing} of {all} attempts");
        recorder.push(Cause::Policy, Event::Warned { step: 0, text });
    }
}

fn record_attempt(
    recorder: &mut EventRecorder,
    task: &Task,
    trial: u32,
    row: &EnvResult,
    attempt: Option<&LoggedAttempt>,
) {
    let steps = attempt.map_or(&[][..], |attempt| &attempt.steps);
    let result = |observation: &str, is_last: bool| {
        let won = is_last && row.is_success;
        StepResult {
            observation: observation.to_owned(),
            reward: f64::from(u8::from(won)),
            progress: f64::from(u8::from(won)),
            done: won,
            won,
            valid: observation.trim() != "Nothing happens.",
            ..StepResult::default()
        }
    };
    let first = attempt.map_or("", |attempt| &attempt.first_observation);
    recorder.start_episode(task, trial.saturating_add(1), result(first, steps.is_empty()));
    for (number, step) in steps.iter().enumerate() {
        recorder.add_step(step, result(&step.observation, number + 1 == steps.len()));
    }
    // The public code ends an attempt after two equal actions or at the step limit.
    let reason = match steps {
        _ if row.is_success => EndReason::Won,
        [] => EndReason::Done,
        [.., a, b] if a.action == b.action => EndReason::Loop,
        _ => EndReason::StepLimit,
    };
    recorder.end_episode(reason);
}

/// Records the plans that are new after an attempt.
fn record_plans(recorder: &mut EventRecorder, task: &str, plans: &[String], before: usize) {
    for (number, plan) in plans.iter().enumerate().skip(before).filter(|(_, plan)| !plan.trim().is_empty()) {
        let text = LessonText::plain(plan.trim());
        let position = recorder.state.episode.as_ref().map_or((0, 0), |e| (e.number, e.steps.len() as u32));
        let items = vec![ReflectionItem { text: text.clone(), ..ReflectionItem::default() }];
        let reflection = Reflection::new(ReflectionKind::Plan, Author::Mentor, position, items);
        recorder.push(Cause::Model, Event::Reflected { reflection: Box::new(reflection) });
        let op = Box::new(plan_lesson(plan_id(task, number, plan), LessonOrigin::Mentor, text, None));
        recorder.push(Cause::Model, Event::LessonChanged { op, author: Author::Mentor });
    }
}

/// Loads the plans of a task whose trials aren't known.
fn load_plans(recorder: &mut EventRecorder, source: &Source, task: &Task, row: &EnvResult) {
    let plans: Vec<_> = row.plans.iter().enumerate().filter(|(_, plan)| !plan.trim().is_empty()).collect();
    if plans.is_empty() {
        return;
    }
    let loaded =
        Event::PoolLoaded { source: source.path.display().to_string(), lesson_count: plans.len() as u32 };
    recorder.push(Cause::Policy, loaded);
    for (number, plan) in plans {
        let (id, text) = (plan_id(&task.id, number, plan), LessonText::plain(plan.trim()));
        let op = Box::new(plan_lesson(id, LessonOrigin::File, text, Some(task.key())));
        recorder.push(Cause::Policy, Event::LessonChanged { op, author: Author::File });
    }
}

/// Returns the operation that adds a plan; `task_key` names its task if it wasn't learnt there.
pub fn plan_lesson(
    id: LessonId,
    origin: LessonOrigin,
    text: LessonText,
    task_key: Option<String>,
) -> LessonOp {
    LessonOp::Add {
        id,
        kind: ReflectionKind::Plan,
        scope: Scope::Task,
        origin,
        text,
        evidence: String::new(),
        rule: None,
        parents: Vec::new(),
        transition: None,
        task_key,
        task_type: None,
        pinned: false,
        taken_from: None,
        sources: None,
    }
}

#[cfg(test)]
mod tests;
