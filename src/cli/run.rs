//! The `run` verb, and the built-in episode of a bare `retrospect`.

use super::args::{self, DriveArgs, ScreenArgs};
use super::breakpoints;
use super::calibration_setup::CalibrationOptions;
use super::config::{Config, keys};
use super::error::{CliError, CliErrorKind};
use super::headless::{Ending, close_on_signal, guard_session_signals, run_to_end};
use super::locate;
use super::output::Output;
use super::pool::PoolFile;
use super::printer::{EventPrinter, PrintMode};
use super::run_directory;
use super::setup::{
    Plan, check_first_task_playable, plan_run_with_calibration, record_templates, session_meta,
};
use crate::catalog::{Carryover, METHODS, MethodEntry, find_method};
use crate::domain::{Lesson, ModelRole, RoleSource, RunSpec, SEED_EPISODE_SETTING, SettingOrigin, Task};
use crate::driver::{Driver, RunConfig, worlds};
use crate::engine::{LessonCommand, State};
use crate::report::{SessionMeasures, Tally, session_measures, summary_line};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Runs `run`.
pub(super) fn run(mut config: Config, args: &args::Run, mut out: Output) -> Result<(), CliError> {
    args.drive.keys.apply(&mut config)?;
    args.models.apply(&mut config)?;
    config.calls_no_model = args.dry_run;
    let calibration = args.calibrate.then(CalibrationOptions::default);
    let mut plan =
        plan_run_with_calibration(&mut config, &args.world, &args.method_args, calibration.as_ref())?;
    if let Some(folder) = &args.run_directory {
        let results = run_directory::read_results(folder)?;
        let mut pool = PoolFile::default();
        for line in run_directory::pool_lines(&results, crate::driver::wall_clock_now()) {
            pool.merge_line(line);
        }
        let source = results.file.display().to_string();
        let load = |l: &Lesson| (source.clone(), LessonCommand::Load(Box::new(l.clone())));
        let mut plans: Vec<_> = pool.lessons().map(load).collect();
        run_directory::bind_to_tasks(&mut plans, &plan.spec);
        plan.lessons.extend(plans);
        out.print_note(&run_directory::skip_finished(&results, &mut plan.spec)?);
        record_templates(&mut plan.spec, &config)?;
    }
    let of_task = |task| worlds::warnings(task, &plan.world_options);
    let task_warnings: BTreeSet<String> = plan.spec.tasks.iter().flat_map(of_task).collect();
    for warning in task_warnings.into_iter().chain(plan.warnings.iter().cloned()) {
        out.print_note(&format!("warning: {warning}"));
    }
    if args.dry_run {
        return super::dry_run::dry_run(&config, &plan, args.drive.json, &mut out);
    }
    start_run(&config, plan, &args.drive, &args.screen, out)
}

/// Starts a planned run on the screen, in plain mode, or headless.
pub(super) fn start_run(
    config: &Config,
    plan: Plan,
    drive: &DriveArgs,
    screen: &ScreenArgs,
    mut out: Output,
) -> Result<(), CliError> {
    let breaks = breakpoints::initial_breakpoints(config, &drive.breaks)?;
    let jobs = drive.jobs.unwrap_or(1);
    if jobs > 1 {
        check_independent(&plan, drive, screen)?;
    }
    let is_headless = drive.headless || drive.json || drive.quiet || jobs > 1;
    if !is_headless && screen.plain {
        check_first_task_playable(&plan)?;
        let root = locate::sessions_folder(config);
        let guard = guard_session_signals()?;
        let (handle, thread, session) = Driver::start(
            &root,
            session_meta(&plan.spec, 0),
            plan.spec.clone(),
            plan.lessons.clone(),
            RunConfig { breakpoints: breaks, ..plan.run_config },
        )?;
        close_on_signal(&guard, &handle);
        return super::plain::interact(&handle, thread, &session.dir, plan.world_options, config, out);
    }
    if !is_headless && super::can_show_screen() {
        return super::screen::start_run(config, plan, screen, breaks, &mut out);
    }
    if !is_headless {
        out.print_note("no terminal here: running without a screen and printing the transcript");
    }
    if plan.spec.role_source(ModelRole::Actor) == RoleSource::Person {
        return Err(CliError::usage(
            "--actor human is interactive, but there is no screen here",
            "add --plain to play line by line",
        ));
    }
    run_headless(config, &plan, &breaks, jobs, drive, out)
}

/// Returns what to print of a run without a screen.
pub(super) fn print_mode(drive: &DriveArgs, jobs: u16) -> PrintMode {
    match (drive.json, drive.quiet, jobs > 1) {
        (_, true, _) => PrintMode::Silent,
        (true, ..) => PrintMode::Json,
        (_, _, true) => PrintMode::Outcomes,
        _ => PrintMode::Transcript,
    }
}

/// Checks that tasks can run in parallel: they must not share lessons or the terminal.
fn check_independent(plan: &Plan, drive: &DriveArgs, screen: &ScreenArgs) -> Result<(), CliError> {
    if screen.plain || !(drive.headless || drive.json || drive.quiet) {
        return Err(CliError::usage(
            "--jobs runs several sessions at once, but the screen shows only one",
            "add --headless or --json",
        ));
    }
    if !plan.spec.calibration_tasks().is_empty() {
        return Err(CliError::usage(
            "--jobs: all tasks use the lessons of calibration, so they can't run independently",
            "calibrate first, then run with --constitution",
        ));
    }
    if let Some(what) = shared_between_tasks(&plan.spec) {
        return Err(CliError::usage(
            format!(
                "--jobs: with method {}, {what} carry over from task to task, so the tasks can't run at the same time",
                plan.spec.method
            ),
            format!(
                "omit --jobs, or use --method {}, or --mentor none",
                independent_methods(&plan.spec).join(" or ")
            ),
        ));
    }
    Ok(())
}

/// Returns the methods whose tasks leave nothing for other tasks.
fn independent_methods(spec: &RunSpec) -> Vec<&'static str> {
    let leaves_something = |entry: &&&MethodEntry| {
        let other = RunSpec { method: entry.name.to_owned(), ..spec.clone() };
        matches!((entry.carryover)(&other), Carryover::AllTasks(_))
    };
    METHODS.iter().filter(|entry| !leaves_something(entry)).map(|entry| entry.name).collect()
}

/// Describes what a task leaves for the tasks after it. Returns `None` if all tasks are independent.
fn shared_between_tasks(spec: &RunSpec) -> Option<String> {
    if spec.tasks.len() < 2 || spec.role_source(ModelRole::Mentor) == RoleSource::Nobody {
        return None;
    }
    let kept_per_task = match (find_method(&spec.method)?.carryover)(spec) {
        Carryover::Nothing => return None,
        Carryover::AllTasks(what) => return Some(what),
        Carryover::SameTask(what) => what,
    };
    let is_repeated =
        |(index, task): (usize, &Task)| spec.tasks[..index].iter().any(|t| t.key() == task.key());
    let (_, repeated) = spec.tasks.iter().enumerate().find(|task| is_repeated(*task))?;
    Some(format!("{kept_per_task} of task {} (listed twice)", repeated.id))
}

/// Returns the plan of a run of one task, with the seeds that the task has in the whole run.
fn single_task_plan(config: &Config, plan: &Plan, number: usize, task: &Task) -> Result<Plan, CliError> {
    let mut spec = RunSpec { tasks: vec![task.clone()], ..plan.spec.clone() };
    let first = plan.spec.settings.typed().place.seed_episode;
    spec.settings.set(SEED_EPISODE_SETTING, first.saturating_add(number as u64), SettingOrigin::Flag);
    record_templates(&mut spec, config)?;
    Ok(Plan { spec, ..plan.clone() })
}

/// How a session ended.
pub(super) struct SessionResult {
    pub(super) ending: Result<Ending, CliError>,
    pub(super) state: Option<State>,
    pub(super) dir: Option<PathBuf>,
    /// The measures of its environments' own.
    pub(super) measures: SessionMeasures,
}

impl SessionResult {
    fn failed(error: CliError) -> Self {
        Self { ending: Err(error), state: None, dir: None, measures: SessionMeasures::new() }
    }
}

fn run_headless(
    config: &Config,
    plan: &Plan,
    breaks: &[String],
    jobs: u16,
    drive: &DriveArgs,
    out: Output,
) -> Result<(), CliError> {
    let mode = print_mode(drive, jobs);
    let root = locate::sessions_folder(config);
    // The guard is held between the sessions of several tasks as well.
    let _guard = super::headless::guard_screen_signals()?;
    let shared = Arc::new(Mutex::new(out));
    let results = if jobs > 1 {
        run_parallel(config, plan, breaks, jobs, mode, &root, &shared)
    } else {
        vec![run_one(config, plan, breaks, mode, &root, &shared, None)]
    };
    let mut out = shared.lock().unwrap_or_else(PoisonError::into_inner);
    report_results(&results, drive.json, &mut out)
}

/// Runs one session to its end. `salt` distinguishes the sessions of one command; their lines are then labelled.
pub(super) fn run_one(
    config: &Config,
    plan: &Plan,
    breaks: &[String],
    mode: PrintMode,
    root: &std::path::Path,
    out: &Arc<Mutex<Output>>,
    salt: Option<u64>,
) -> SessionResult {
    let meta = session_meta(&plan.spec, salt.unwrap_or(0));
    // With `skip-task`, an unplayable first task is skipped like any other, and the session records it.
    let playable = if config.get(keys::ON_ERROR) == keys::OnError::SkipTask {
        Ok(())
    } else {
        check_first_task_playable(plan)
    };
    let mut run_config = plan.run_config.clone();
    run_config.policy.is_attended = false;
    run_config.breakpoints = breaks.to_vec();
    let started = playable.and_then(|()| {
        let guard = guard_session_signals()?;
        let started = Driver::start(root, meta, plan.spec.clone(), plan.lessons.clone(), run_config)?;
        close_on_signal(&guard, &started.0);
        Ok((guard, started))
    });
    let (_guard, (handle, thread, session)) = match started {
        Ok(started) => started,
        Err(error) => return SessionResult::failed(error),
    };
    let label = salt.map(|_| session.meta.session.clone());
    let mut printer = EventPrinter::new(mode, out.clone(), &session.dir, label, plan.world_options.clone());
    let ending = run_to_end(&handle, thread, &mut printer, config.get(keys::ON_ERROR));
    let measures = session_measures(&printer.state, |seq| handle.store.state_at(seq));
    SessionResult { ending, state: Some(printer.state), dir: Some(session.dir), measures }
}

fn run_parallel(
    config: &Config,
    plan: &Plan,
    breaks: &[String],
    jobs: u16,
    mode: PrintMode,
    root: &std::path::Path,
    out: &Arc<Mutex<Output>>,
) -> Vec<SessionResult> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, SessionResult)>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(task) = plan.spec.tasks.get(number) else { break };
                    let result = match single_task_plan(config, plan, number, task) {
                        Ok(plan) => run_one(config, &plan, breaks, mode, root, out, Some(number as u64 + 1)),
                        Err(error) => SessionResult::failed(error),
                    };
                    let stop = matches!(result.ending, Ok(Ending::Interrupted) | Err(_));
                    results.lock().unwrap_or_else(PoisonError::into_inner).push((number, result));
                    if stop {
                        // The other threads finish their current task.
                        next.store(usize::MAX / 2, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|d| d.0);
    results.into_iter().map(|d| d.1).collect()
}

/// Prints the summary of all sessions, as text or as a line of JSON, and returns the error of the first one that failed.
pub(super) fn report_results(
    results: &[SessionResult],
    json: bool,
    out: &mut Output,
) -> Result<(), CliError> {
    if let Some(error) = results.iter().find_map(|d| d.ending.as_ref().err()) {
        return Err(error.clone());
    }
    let worst = results
        .iter()
        .filter_map(|d| d.ending.as_ref().ok())
        .max_by_key(|e| match e {
            Ending::Finished => 0,
            Ending::Stopped(_) | Ending::Diverged(_) => 1,
            Ending::Interrupted => 2,
        })
        .cloned()
        .unwrap_or(Ending::Finished);
    let tally = Tally::from_sessions(results.iter().filter_map(|d| Some((d.state.as_ref()?, &d.measures))));
    let paths: Vec<String> =
        results.iter().filter_map(|d| d.dir.as_ref()).map(|d| d.display().to_string()).collect();
    if json {
        out.print_json(&summary_line(&tally, worst.name(), &paths))?;
    } else {
        out.print_line(&tally.describe())?;
        if let [path] = paths.as_slice() {
            out.print_line(&format!("session: {path}"))?;
        } else {
            out.print_line(&format!(
                "{} sessions, first: {}",
                paths.len(),
                paths.first().map_or("-", String::as_str)
            ))?;
        }
    }
    exit_result(&worst, paths.first().map(String::as_str))
}

/// Returns the result of a session that ran without a screen.
pub(super) fn exit_result(ending: &Ending, path: Option<&str>) -> Result<(), CliError> {
    let resume = format!("resume with `{}`", super::error::resume_command(path.unwrap_or("--last")));
    match ending {
        Ending::Finished => Ok(()),
        Ending::Stopped(why) => Err(CliError::new(CliErrorKind::Stopped, format!("stopped: {why}"), resume)),
        Ending::Diverged(why) => {
            let path = path.unwrap_or("--last");
            Err(CliError::new(
                CliErrorKind::Stopped,
                format!("stopped: {why}"),
                format!(
                    "resume it with `retrospect resume {path}` (add --plain if there is no screen): \
                     `retry` accepts the environment as it is now, `end` ends the episode"
                ),
            ))
        }
        Ending::Interrupted => Err(CliError::interrupted(resume)),
    }
}
