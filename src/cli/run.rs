//! `run`, and the built-in episode of a bare `retrospect`.

use super::args::{self, Drive, OnError, Screen};
use super::breaks;
use super::config::Config;
use super::error::{CliError, CliErrorKind};
use super::learn::Learn;
use super::locate;
use super::out::Out;
use super::pool::PoolFile;
use super::printer::{EventPrinter, Voice};
use super::reflexion;
use super::setup::{Plan, meta, plan_after, playable};
use super::watch::{Ended, guard, guarded, run_to_end};
use crate::domain::{Lesson, RunSpec, SettingOrigin, Task};
use crate::driver::{Driver, RunConfig, worlds};
use crate::engine::{LessonCommand, SEED_EPISODE_SETTING, State};
use crate::report::{Tally, summary_line};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// `run`.
pub(super) fn run(mut config: Config, args: &args::Run, mut out: Out) -> Result<(), CliError> {
    config.flag("run.on_error", args.drive.on_error.map(policy_word))?;
    super::models::flags(&mut config, &args.models)?;
    let learn = args.calibrate.then(Learn::default);
    let mut plan = plan_after(&mut config, &args.world, &args.how, learn.as_ref())?;
    if let Some(folder) = &args.reflexion {
        let results = reflexion::read(folder)?;
        let mut pool = PoolFile::default();
        for line in reflexion::lines(&results, crate::driver::now()) {
            pool.take(line);
        }
        let source = results.file.display().to_string();
        let wish = |l: &Lesson| (source.clone(), LessonCommand::Load(Box::new(l.clone())));
        let mut plans: Vec<_> = pool.lessons().map(wish).collect();
        reflexion::bind(&mut plans, &plan.spec);
        plan.pool.extend(plans);
        out.note(&reflexion::go_on(&results, &mut plan.spec)?);
    }
    let odd = plan.spec.tasks.iter().flat_map(worlds::warnings);
    for warning in odd.chain(plan.warnings.iter().cloned()) {
        out.note(&format!("warning: {warning}"));
    }
    begin(&config, plan, &args.drive, &args.screen, out)
}

pub(super) fn policy_word(policy: OnError) -> &'static str {
    match policy {
        OnError::Stop => "stop",
        OnError::SkipTask => "skip-task",
    }
}

/// What a failed call comes to.
pub(super) fn policy(config: &Config) -> OnError {
    if config.text("run.on_error") == "skip-task" { OnError::SkipTask } else { OnError::Stop }
}

/// Starts a planned run with a screen, line by line, or without a person.
pub(super) fn begin(
    config: &Config,
    plan: Plan,
    drive: &Drive,
    screen: &Screen,
    mut out: Out,
) -> Result<(), CliError> {
    let breaks = breaks::wanted(config, &drive.breaks)?;
    let jobs = drive.jobs.unwrap_or(1);
    if jobs > 1 {
        independent(&plan, drive, screen)?;
    }
    let alone = drive.headless || drive.json || drive.quiet || jobs > 1;
    if !alone && screen.plain {
        playable(&plan)?;
        let root = locate::root(config);
        let guard = guard()?;
        let (handle, thread, session) = Driver::start(
            &root,
            meta(&plan.spec, 0),
            plan.spec.clone(),
            plan.pool.clone(),
            RunConfig { breaks, ..plan.launch },
        )?;
        guarded(&guard, &handle);
        return super::plain::interact(&handle, thread, &session.dir, plan.worlds, out);
    }
    if !alone && super::terminal() {
        return super::screen::start(config, plan, screen, breaks, &mut out);
    }
    if !alone {
        out.note("no terminal here: playing without a screen and printing the transcript");
    }
    if plan.spec.actor == "human" {
        return Err(CliError::usage(
            "--actor human needs a person: there is no screen here",
            "use --plain to play line by line",
        ));
    }
    let voice = voice(drive, jobs);
    headless(config, &plan, &breaks, jobs, voice, out)
}

/// What is told of a run without a screen.
pub(super) fn voice(drive: &Drive, jobs: u16) -> Voice {
    match (drive.json, drive.quiet, jobs > 1) {
        (true, ..) => Voice::Json,
        (_, true, _) => Voice::Silent,
        (_, _, true) => Voice::Outcomes,
        _ => Voice::Transcript,
    }
}

/// Independent runs must not share lessons, nor a terminal.
fn independent(plan: &Plan, drive: &Drive, screen: &Screen) -> Result<(), CliError> {
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
    if let Some(what) = crossing(&plan.spec) {
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
fn crossing(spec: &RunSpec) -> Option<String> {
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
fn part(whole: &RunSpec, number: usize, task: &Task) -> RunSpec {
    let mut part = RunSpec { tasks: vec![task.clone()], ..whole.clone() };
    let first = whole.settings.number(SEED_EPISODE_SETTING, 1).max(1);
    part.settings.set(SEED_EPISODE_SETTING, first.saturating_add(number as u64), SettingOrigin::Flag);
    part
}

pub(super) struct Done {
    pub(super) ended: Result<Ended, CliError>,
    pub(super) state: Option<State>,
    pub(super) dir: Option<PathBuf>,
}

fn headless(
    config: &Config,
    plan: &Plan,
    breaks: &[String],
    jobs: u16,
    voice: Voice,
    out: Out,
) -> Result<(), CliError> {
    let root = locate::root(config);
    // Also between the sessions of several tasks.
    let _guard = super::watch::guard_screen()?;
    let shared = Arc::new(Mutex::new(out));
    let done = if jobs > 1 {
        parallel(config, plan, breaks, jobs, voice, &root, &shared)
    } else {
        vec![one(config, plan, breaks, voice, &root, &shared, None)]
    };
    let mut out = shared.lock().unwrap_or_else(PoisonError::into_inner);
    finish(&done, voice, &mut out)
}

/// Plays one session from beginning to end. `salt` tells sessions of one command apart and marks their lines.
pub(super) fn one(
    config: &Config,
    plan: &Plan,
    breaks: &[String],
    voice: Voice,
    root: &std::path::Path,
    out: &Arc<Mutex<Out>>,
    salt: Option<u64>,
) -> Done {
    let about = meta(&plan.spec, salt.unwrap_or(0));
    // Who skips what cannot be played wants the tasks after it, and a session that says what was skipped.
    let playable = if policy(config) == OnError::SkipTask { Ok(()) } else { playable(plan) };
    let mut launch = plan.launch.clone();
    launch.policy.is_attended = false;
    launch.breaks = breaks.to_vec();
    let started = playable.and_then(|()| {
        let guard = guard()?;
        let started = Driver::start(root, about, plan.spec.clone(), plan.pool.clone(), launch)?;
        guarded(&guard, &started.0);
        Ok((guard, started))
    });
    let (_guard, (handle, thread, session)) = match started {
        Ok(started) => started,
        Err(error) => return Done { ended: Err(error), state: None, dir: None },
    };
    let label = salt.map(|_| session.meta.session.clone());
    let mut teller = EventPrinter::new(voice, out.clone(), &session.dir, label, plan.worlds.clone());
    let ended = run_to_end(&handle, thread, &mut teller, policy(config));
    Done { ended, state: Some(teller.state), dir: Some(session.dir) }
}

fn parallel(
    config: &Config,
    plan: &Plan,
    breaks: &[String],
    jobs: u16,
    voice: Voice,
    root: &std::path::Path,
    out: &Arc<Mutex<Out>>,
) -> Vec<Done> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Done)>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(task) = plan.spec.tasks.get(number) else { break };
                    let own = Plan { spec: part(&plan.spec, number, task), ..plan.clone() };
                    let of = one(config, &own, breaks, voice, root, out, Some(number as u64 + 1));
                    let over = matches!(of.ended, Ok(Ended::Interrupted) | Err(_));
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

pub(super) fn finish(done: &[Done], voice: Voice, out: &mut Out) -> Result<(), CliError> {
    if let Some(error) = done.iter().find_map(|d| d.ended.as_ref().err()) {
        return Err(error.clone());
    }
    let worst = done
        .iter()
        .filter_map(|d| d.ended.as_ref().ok())
        .max_by_key(|e| match e {
            Ended::Finished => 0,
            Ended::Stopped(_) | Ended::Diverged(_) => 1,
            Ended::Interrupted => 2,
        })
        .cloned()
        .unwrap_or(Ended::Finished);
    let tally = Tally::from_states(done.iter().filter_map(|d| d.state.as_ref()));
    let paths: Vec<String> =
        done.iter().filter_map(|d| d.dir.as_ref()).map(|d| d.display().to_string()).collect();
    if voice == Voice::Json {
        out.json(&summary_line(&tally, worst.word(), &paths))?;
    } else {
        out.line(&tally.sentence())?;
        if let [one] = paths.as_slice() {
            out.line(&format!("session: {one}"))?;
        } else {
            out.line(&format!(
                "{} sessions, the first: {}",
                paths.len(),
                paths.first().map_or("-", String::as_str)
            ))?;
        }
    }
    outcome(&worst, paths.first().map(String::as_str))
}

/// The exit of a session that was driven without a screen.
pub(super) fn outcome(ended: &Ended, path: Option<&str>) -> Result<(), CliError> {
    let resume = format!("go on with `{}`", super::error::resume_command(path.unwrap_or("--last")));
    match ended {
        Ended::Finished => Ok(()),
        Ended::Stopped(why) => Err(CliError::new(CliErrorKind::Stopped, format!("stopped: {why}"), resume)),
        Ended::Diverged(why) => {
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
        Ended::Interrupted => Err(CliError::interrupted(resume)),
    }
}
