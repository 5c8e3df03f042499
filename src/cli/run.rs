//! `run`, and the built-in episode of a bare `retrospect`.

use super::args::{self, DriveArgs, OnError, ScreenArgs};
use super::breakpoints;
use super::calibration_setup::CalibrationOptions;
use super::config::Config;
use super::error::{CliError, CliErrorKind};
use super::headless::{Ending, close_on_signal, guard_session_signals, run_to_end};
use super::locate;
use super::output::Output;
use super::pool::PoolFile;
use super::printer::{EventPrinter, PrintMode};
use super::reflexion;
use super::setup::{Plan, check_playable, plan_run_with_calibration, session_meta};
use crate::domain::{Lesson, RunSpec, SettingOrigin, Task};
use crate::driver::{Driver, RunConfig, worlds};
use crate::engine::{LessonCommand, SEED_EPISODE_SETTING, State};
use crate::report::{Tally, summary_line};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// `run`.
pub(super) fn run(mut config: Config, args: &args::Run, mut out: Output) -> Result<(), CliError> {
    config.set_flag("run.on_error", args.drive.on_error.map(on_error_name))?;
    super::models::apply_flags(&mut config, &args.models)?;
    let learn = args.calibrate.then(CalibrationOptions::default);
    let mut plan = plan_run_with_calibration(&mut config, &args.world, &args.method_args, learn.as_ref())?;
    if let Some(folder) = &args.reflexion {
        let results = reflexion::read_results(folder)?;
        let mut pool = PoolFile::default();
        for line in reflexion::pool_lines(&results, crate::driver::wall_clock_now()) {
            pool.merge_line(line);
        }
        let source = results.file.display().to_string();
        let wish = |l: &Lesson| (source.clone(), LessonCommand::Load(Box::new(l.clone())));
        let mut plans: Vec<_> = pool.lessons().map(wish).collect();
        reflexion::bind_to_tasks(&mut plans, &plan.spec);
        plan.lessons.extend(plans);
        out.print_note(&reflexion::skip_finished(&results, &mut plan.spec)?);
    }
    let odd = plan.spec.tasks.iter().flat_map(worlds::warnings);
    for warning in odd.chain(plan.warnings.iter().cloned()) {
        out.print_note(&format!("warning: {warning}"));
    }
    start_run(&config, plan, &args.drive, &args.screen, out)
}

pub(super) fn on_error_name(policy: OnError) -> &'static str {
    match policy {
        OnError::Stop => "stop",
        OnError::SkipTask => "skip-task",
    }
}

/// What a failed call comes to.
pub(super) fn on_error(config: &Config) -> OnError {
    if config.text("run.on_error") == "skip-task" { OnError::SkipTask } else { OnError::Stop }
}

/// Starts a planned run with a screen, line by line, or without a person.
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
    let alone = drive.headless || drive.json || drive.quiet || jobs > 1;
    if !alone && screen.plain {
        check_playable(&plan)?;
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
        return super::plain::interact(&handle, thread, &session.dir, plan.world_options, out);
    }
    if !alone && super::can_show_screen() {
        return super::screen::start_run(config, plan, screen, breaks, &mut out);
    }
    if !alone {
        out.print_note("no terminal here: playing without a screen and printing the transcript");
    }
    if plan.spec.actor == "human" {
        return Err(CliError::usage(
            "--actor human needs a person: there is no screen here",
            "use --plain to play line by line",
        ));
    }
    let voice = print_mode(drive, jobs);
    run_headless(config, &plan, &breaks, jobs, voice, out)
}

/// What is told of a run without a screen.
pub(super) fn print_mode(drive: &DriveArgs, jobs: u16) -> PrintMode {
    match (drive.json, drive.quiet, jobs > 1) {
        (true, ..) => PrintMode::Json,
        (_, true, _) => PrintMode::Silent,
        (_, _, true) => PrintMode::Outcomes,
        _ => PrintMode::Transcript,
    }
}

/// Independent runs must not share lessons, nor a terminal.
fn check_independent(plan: &Plan, drive: &DriveArgs, screen: &ScreenArgs) -> Result<(), CliError> {
    if screen.plain || !(drive.headless || drive.json || drive.quiet) {
        return Err(CliError::usage(
            "--jobs runs several sessions at once, and a screen shows one",
            "add --headless or --json",
        ));
    }
    if !plan.spec.calibration_tasks().is_empty() {
        return Err(CliError::usage(
            "--jobs: what is learnt in calibration is for all tasks, so they cannot be played apart",
            "calibrate first, and run with --constitution",
        ));
    }
    if let Some(what) = shared_between_tasks(&plan.spec) {
        return Err(CliError::usage(
            format!(
                "--jobs: with method {} {what} cross from task to task, so its tasks cannot run at the same time",
                plan.spec.method
            ),
            "leave --jobs away, or take --method react or reflexion, or --mentor none",
        ));
    }
    Ok(())
}

/// What a task leaves behind for the tasks after it, in words; none where every task is played as if it were alone.
fn shared_between_tasks(spec: &RunSpec) -> Option<String> {
    if spec.tasks.len() < 2 || spec.mentor == "none" {
        return None;
    }
    let of_a_task = match spec.method.as_str() {
        "react" | "planning" => return None,
        // A plan is for the next trial of its task.
        "reflexion" => "plans",
        "sweet_sour" => match spec.settings.text("memory_scope", "task") {
            "task" => "memories",
            scope => return Some(format!("memories (memory_scope {scope})")),
        },
        "fcrf" => return Some("lessons (one pool of all tasks)".to_owned()),
        _ => return Some("lessons".to_owned()),
    };
    let twice = |(at, task): (usize, &Task)| spec.tasks[..at].iter().any(|t| t.key() == task.key());
    let twice = spec.tasks.iter().enumerate().find(|task| twice(*task))?;
    Some(format!("{of_a_task} of task {} (it is listed twice)", twice.1.id))
}

/// The part of a run that plays one of its tasks alone, with the seeds that the task has in the whole run.
fn single_task_spec(whole: &RunSpec, number: usize, task: &Task) -> RunSpec {
    let mut part = RunSpec { tasks: vec![task.clone()], ..whole.clone() };
    let first = whole.settings.number(SEED_EPISODE_SETTING, 1).max(1);
    part.settings.set(SEED_EPISODE_SETTING, first.saturating_add(number as u64), SettingOrigin::Flag);
    part
}

pub(super) struct SessionResult {
    pub(super) ending: Result<Ending, CliError>,
    pub(super) state: Option<State>,
    pub(super) dir: Option<PathBuf>,
}

fn run_headless(
    config: &Config,
    plan: &Plan,
    breaks: &[String],
    jobs: u16,
    voice: PrintMode,
    out: Output,
) -> Result<(), CliError> {
    let root = locate::sessions_folder(config);
    // Also between the sessions of several tasks.
    let _guard = super::headless::guard_screen_signals()?;
    let shared = Arc::new(Mutex::new(out));
    let done = if jobs > 1 {
        run_parallel(config, plan, breaks, jobs, voice, &root, &shared)
    } else {
        vec![run_one(config, plan, breaks, voice, &root, &shared, None)]
    };
    let mut out = shared.lock().unwrap_or_else(PoisonError::into_inner);
    report_results(&done, voice, &mut out)
}

/// Plays one session from beginning to end. `salt` tells sessions of one command apart and marks their lines.
pub(super) fn run_one(
    config: &Config,
    plan: &Plan,
    breaks: &[String],
    voice: PrintMode,
    root: &std::path::Path,
    out: &Arc<Mutex<Output>>,
    salt: Option<u64>,
) -> SessionResult {
    let about = session_meta(&plan.spec, salt.unwrap_or(0));
    // Who skips what cannot be played wants the tasks after it, and a session that says what was skipped.
    let playable = if on_error(config) == OnError::SkipTask { Ok(()) } else { check_playable(plan) };
    let mut launch = plan.run_config.clone();
    launch.policy.is_attended = false;
    launch.breakpoints = breaks.to_vec();
    let started = playable.and_then(|()| {
        let guard = guard_session_signals()?;
        let started = Driver::start(root, about, plan.spec.clone(), plan.lessons.clone(), launch)?;
        close_on_signal(&guard, &started.0);
        Ok((guard, started))
    });
    let (_guard, (handle, thread, session)) = match started {
        Ok(started) => started,
        Err(error) => return SessionResult { ending: Err(error), state: None, dir: None },
    };
    let label = salt.map(|_| session.meta.session.clone());
    let mut teller = EventPrinter::new(voice, out.clone(), &session.dir, label, plan.world_options.clone());
    let ended = run_to_end(&handle, thread, &mut teller, on_error(config));
    SessionResult { ending: ended, state: Some(teller.state), dir: Some(session.dir) }
}

fn run_parallel(
    config: &Config,
    plan: &Plan,
    breaks: &[String],
    jobs: u16,
    voice: PrintMode,
    root: &std::path::Path,
    out: &Arc<Mutex<Output>>,
) -> Vec<SessionResult> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, SessionResult)>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(task) = plan.spec.tasks.get(number) else { break };
                    let own = Plan { spec: single_task_spec(&plan.spec, number, task), ..plan.clone() };
                    let of = run_one(config, &own, breaks, voice, root, out, Some(number as u64 + 1));
                    let over = matches!(of.ending, Ok(Ending::Interrupted) | Err(_));
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((number, of));
                    if over {
                        // The others end after the task they are at.
                        next.store(usize::MAX / 2, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|d| d.0);
    done.into_iter().map(|d| d.1).collect()
}

pub(super) fn report_results(
    done: &[SessionResult],
    voice: PrintMode,
    out: &mut Output,
) -> Result<(), CliError> {
    if let Some(error) = done.iter().find_map(|d| d.ending.as_ref().err()) {
        return Err(error.clone());
    }
    let worst = done
        .iter()
        .filter_map(|d| d.ending.as_ref().ok())
        .max_by_key(|e| match e {
            Ending::Finished => 0,
            Ending::Stopped(_) | Ending::Diverged(_) => 1,
            Ending::Interrupted => 2,
        })
        .cloned()
        .unwrap_or(Ending::Finished);
    let tally = Tally::from_states(done.iter().filter_map(|d| d.state.as_ref()));
    let paths: Vec<String> =
        done.iter().filter_map(|d| d.dir.as_ref()).map(|d| d.display().to_string()).collect();
    if voice == PrintMode::Json {
        out.print_json(&summary_line(&tally, worst.name(), &paths))?;
    } else {
        out.print_line(&tally.sentence())?;
        if let [one] = paths.as_slice() {
            out.print_line(&format!("session: {one}"))?;
        } else {
            out.print_line(&format!(
                "{} sessions, the first: {}",
                paths.len(),
                paths.first().map_or("-", String::as_str)
            ))?;
        }
    }
    exit_result(&worst, paths.first().map(String::as_str))
}

/// The exit of a session that was driven without a screen.
pub(super) fn exit_result(ended: &Ending, path: Option<&str>) -> Result<(), CliError> {
    let resume = format!("go on with `{}`", super::error::resume_command(path.unwrap_or("--last")));
    match ended {
        Ending::Finished => Ok(()),
        Ending::Stopped(why) => Err(CliError::new(CliErrorKind::Stopped, format!("stopped: {why}"), resume)),
        Ending::Diverged(why) => {
            let path = path.unwrap_or("--last");
            Err(CliError::new(
                CliErrorKind::Stopped,
                format!("stopped: {why}"),
                format!(
                    "open it with `retrospect resume {path}` on a screen, or with `retrospect resume {path} --plain`: \
                     `retry` accepts the world as it is now, `end` gives the episode up"
                ),
            ))
        }
        Ending::Interrupted => Err(CliError::interrupted(resume)),
    }
}
