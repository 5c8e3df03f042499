//! Environments and tasks: turns the names on the command line into files and games.

mod disk_files;
mod labels;
mod preview;
mod selection;

#[cfg(test)]
mod tests;

pub use selection::Selection;

use super::guarded_world::GuardedWorld;
use crate::catalog::{ENVIRONMENT_NAMES, ENVIRONMENTS, find_environment};
use crate::domain::{StepResult, Task};
use crate::env::{EnvError, Environment, TaskCheck, TaskError, TaskOptions, TaskSource, TimeLimits};
use disk_files::access;
use std::time::Duration;

/// How long an environment may take for one answer if it keeps no limits by itself.
pub(super) const DEFAULT_DEADLINE: Duration = Duration::from_secs(60);
/// What is added to the limits that an environment keeps by itself, so that it reports the timeout and ends what it has
/// started. Opening one may first wait for a preview ([`PREVIEW_WAIT`]) and close the environment before it, whose program has 2 s
/// (unless `timeouts` sets more) for its last reply, 2 s to end by itself, 2 s after a signal, and a moment to be killed.
const DEADLINE_MARGIN: Duration = Duration::from_secs(20);

/// How long opening an environment waits for a preview of the same one: longer than a simulator takes to start, and within
/// [`DEADLINE_MARGIN`], so that a preview that hangs can't end a run.
const PREVIEW_WAIT: Duration = Duration::from_secs(12);

/// Returns the tasks of an environment.
fn task_source(env: &str) -> Result<&'static dyn TaskSource, TaskError> {
    let entry = find_environment(env)
        .ok_or_else(|| TaskError::UnknownEnv { env: env.to_owned(), available: &ENVIRONMENT_NAMES })?;
    Ok(entry.tasks)
}

/// Opens the environment of a task, without resetting it.
///
/// # Errors
/// Returns [`EnvError::Broken`] for a damaged game, and [`EnvError::Refused`] for a task that is not found.
pub fn open(task: &Task, options: &TaskOptions) -> Result<Box<dyn Environment>, EnvError> {
    if is_external(&task.env) {
        preview::wait_for(&task.env, PREVIEW_WAIT);
    }
    open_at_once(task, options)
}

fn open_at_once(task: &Task, options: &TaskOptions) -> Result<Box<dyn Environment>, EnvError> {
    if let Some(opened) = labels::open(task, access(options)) {
        return opened;
    }
    task_source(&task.env).map_err(|e| e.to_env_error())?.open(task, access(options))
}

/// Opens the environment of a task on a thread of its own, with the driver's time limits for each answer, for a caller that
/// waits for them. Dropping it waits until it is closed.
///
/// # Errors
/// The same as [`open`], and of an environment that doesn't answer.
pub fn open_guarded(task: &Task, options: &TaskOptions) -> Result<Box<dyn Environment>, EnvError> {
    let (limits, task, options) = (answer_deadlines(task, options), task.clone(), options.clone());
    Ok(Box::new(GuardedWorld::open(limits, move || open(&task, &options))?))
}

/// Returns what the environment of a task says at its start. A program that was started for that is kept for a run that follows.
/// Each answer takes no longer than the driver's time limits.
///
/// # Errors
/// The same as [`open`], and of an environment that doesn't answer.
pub fn first_result(task: &Task, options: &TaskOptions) -> Result<StepResult, EnvError> {
    let _preview = is_external(&task.env).then(|| preview::begin(&task.env, PREVIEW_WAIT));
    let (limits, task, options) = (answer_deadlines(task, options), task.clone(), options.clone());
    let mut world = GuardedWorld::open(limits, move || open_at_once(&task, &options))?;
    world.reset()
}

/// Returns whether an environment is another program.
fn is_external(env: &str) -> bool {
    find_environment(env).is_some_and(|entry| entry.tasks.is_external())
}

/// Returns whether opening a task may take seconds, so that a person should see the session meanwhile.
pub fn starts_slowly(task: &Task) -> bool {
    find_environment(&task.env).is_some_and(|entry| entry.tasks.starts_slowly())
}

/// Returns how long the driver waits for an answer of a task's environment before it abandons it.
pub fn answer_deadlines(task: &Task, options: &TaskOptions) -> TimeLimits {
    let entry = find_environment(&task.env);
    let own_limits = entry.and_then(|entry| entry.tasks.time_limits(access(options)));
    own_limits.map_or(TimeLimits::uniform(DEFAULT_DEADLINE), |limits| limits.extended_by(DEADLINE_MARGIN))
}

/// Returns the task that a text names in an environment.
///
/// # Errors
/// Returns [`TaskError`] if there is none.
pub fn find(env: &str, text: &str, options: &TaskOptions) -> Result<Task, TaskError> {
    if let Some(found) = labels::find(env, text, access(options)) {
        return found;
    }
    task_source(env)?.find(text, access(options))
}

/// Returns the tasks to list, with their goals.
///
/// # Errors
/// Returns [`TaskError`] if the environment or its data is not available.
pub fn list_tasks(env: &str, selection: &Selection, options: &TaskOptions) -> Result<Vec<Task>, TaskError> {
    let mut found = selection.tasks_of(env, <dyn TaskSource>::list, access(options))?;
    for task in found.iter_mut().filter(|task| task.goal.is_empty()) {
        if let Some(entry) = find_environment(&task.env) {
            *task = entry.tasks.add_goal(task.clone(), access(options))?;
        }
    }
    Ok(found)
}

/// Returns the tasks to offer on the start screen, which is fast even where listing all tasks isn't.
///
/// # Errors
/// The same as [`list_tasks`].
pub fn list_offered_tasks(env: &str, options: &TaskOptions) -> Result<Vec<Task>, TaskError> {
    task_source(env)?.list_offered(access(options))
}

/// Returns the tasks for a run to play, without their goals, which are read at reset. An empty selection means the
/// environment's default; with `only`, the first of the tasks that [`list_tasks`] returns.
///
/// # Errors
/// The same as [`list_tasks`]; also if the environment has no default, or if a task can be listed but not played here.
pub fn select_tasks(env: &str, selection: &Selection, options: &TaskOptions) -> Result<Vec<Task>, TaskError> {
    let default =
        if selection.only.is_some() { <dyn TaskSource>::list } else { <dyn TaskSource>::default_tasks };
    let found = selection.tasks_of(env, default, access(options))?;
    for task in &found {
        labels::check_playable(task, access(options))?;
    }
    Ok(found)
}

/// Returns the task with another random seed.
pub fn with_seed(task: Task, seed: u64) -> Task {
    match find_environment(&task.env) {
        Some(entry) => entry.tasks.with_seed(task, seed),
        None => Task { seed, ..task },
    }
}

/// Returns whether an environment is a program whose command a person has to give, and hasn't given in these options.
pub fn lacks_command(env: &str, options: &TaskOptions) -> bool {
    find_environment(env).is_some_and(|entry| entry.tasks.lacks_command(access(options)))
}

/// Returns warnings about a task that can be played nevertheless, one sentence each.
pub fn warnings(task: &Task, options: &TaskOptions) -> Vec<String> {
    let entry = find_environment(&task.env);
    entry.map(|entry| entry.tasks.warnings(task, access(options))).unwrap_or_default()
}

/// Returns the tasks from which a calibration may choose: tasks that tests don't use (a train split, generated tasks that
/// no list shows) if the environment has them, otherwise those of the start screen. `tasks_per_kind` limits generated ones.
///
/// # Errors
/// The same as [`list_tasks`].
pub fn list_calibration_tasks(
    env: &str,
    tasks_per_kind: usize,
    options: &TaskOptions,
) -> Result<Vec<Task>, TaskError> {
    task_source(env)?.list_calibration(tasks_per_kind, access(options))
}

/// Ends the programs of environments that wait for their next episode. Called before this program ends.
pub fn end_idle_programs() {
    for entry in ENVIRONMENTS.iter() {
        entry.tasks.end_idle_processes();
    }
}

/// Checks whether an environment works here. Returns `None` if there is nothing to check, or no such environment.
pub fn check(env: &str, options: &TaskOptions) -> Option<TaskCheck> {
    find_environment(env)?.tasks.check(access(options))
}
