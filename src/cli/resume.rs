//! `resume`.

use super::args;
use super::config::Config;
use super::error::CliError;
use super::out::Out;
use super::printer;
use super::printer::{EventPrinter, Voice};
use super::setup::{launch, same_templates};
use super::watch::{Shown, guard, guarded, run_to_end};
use super::worlds::world_options;
use super::{breaks, locate, plain, run, screen, settings, terminal};
use crate::domain::{BranchId, RunSpec, Seq, sampling_param};
use crate::driver::{Driver, DriverError, Resumed, Signal, TYPING};
use crate::engine::Command;
use crate::report::{Tally, summary_line};
use serde_json::Value;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How a session is taken up again.
#[derive(Default)]
pub(super) struct HowResumed {
    /// A person is there.
    pub(super) attended: bool,
    /// Other prompt templates than it was begun with are meant.
    pub(super) accepts_prompts: bool,
    /// Settings that are changed first, by name.
    pub(super) changes: Vec<(String, Value)>,
}

/// Takes a session up again. `typing` is the built-in actor's pause before a word.
pub(super) fn take_up(
    config: &Config,
    (dir, branch): (&Path, &BranchId),
    typing: Duration,
    how: HowResumed,
) -> Result<Resumed, CliError> {
    let worlds = world_options(config);
    let (mut said, mut changed) = (None, None);
    let resumed = Driver::resume_at(dir, branch, |spec| {
        let launch = same_templates(spec, config, how.accepts_prompts).and_then(|other| {
            changed = other;
            can_change(spec, &how.changes)?;
            let mut launch = launch(spec, config, &worlds, typing)?;
            launch.policy.is_attended = how.attended;
            Ok(launch)
        });
        launch.map_err(|error| {
            let refused = DriverError::Refused(error.message.clone(), error.hint.clone());
            said = Some(error);
            refused
        })
    });
    let resumed = resumed.map_err(|error| said.unwrap_or_else(|| error.into()))?;
    if let Some(hash) = changed {
        resumed.handle.send(Command::ChangeSetting { name: "templates".to_owned(), value: hash.into() });
    }
    for (name, value) in how.changes {
        resumed.handle.send(Command::ChangeSetting { name, value });
    }
    Ok(resumed)
}

/// Whether the models of a run can be sampled otherwise.
fn can_change(spec: &RunSpec, changes: &[(String, Value)]) -> Result<(), CliError> {
    for (name, value) in changes {
        let Some((asked, param)) = sampling_param(name) else { continue };
        spec.check_param_supported(asked, param, value).map_err(|why| {
            CliError::usage(format!("--set {name}: {why}"), "leave it away, or name the other role")
        })?;
    }
    Ok(())
}

/// `resume PATH`.
pub(super) fn resume(mut config: Config, args: &args::Resume, mut out: Out) -> Result<(), CliError> {
    config.flag(
        "run.on_error",
        args.drive.on_error.map(|p| match p {
            args::OnError::Stop => "stop",
            args::OnError::SkipTask => "skip-task",
        }),
    )?;
    config.flag("run.prompts", args.prompts.as_ref().map(|p| p.display().to_string()).as_deref())?;
    super::models::flags(&mut config, &args.models)?;
    config.flag("run.exemplars", args.exemplars.as_ref().map(|p| p.display().to_string()).as_deref())?;
    if args.drive.jobs.is_some() {
        return Err(CliError::usage("--jobs: one session is taken up at a time", "leave --jobs away"));
    }
    let breaks = breaks::given(&args.drive.breaks)?;
    let changes = settings::changes(&args.set, &["context_tokens"])?;
    let (dir, branch) = locate::session_branch(&config, args.path.as_deref())?;
    for passed in locate::passed_over(&dir)? {
        out.note(&passed);
    }
    let worlds = world_options(&config);
    let alone = args.drive.headless || args.drive.json || args.drive.quiet;
    let on_screen = !alone && !args.screen.plain && terminal();
    let attended = on_screen || (!alone && args.screen.plain);
    let typing = if on_screen { TYPING } else { Duration::ZERO };
    let guard = guard()?;
    let how = HowResumed { attended, accepts_prompts: args.accept_prompts, changes };
    let resumed = take_up(&config, (&dir, &branch), typing, how)?;
    guarded(&guard, &resumed.handle);
    if let Some(torn) = &resumed.torn {
        out.note(&format!("{}: {torn}", dir.display()));
        if on_screen {
            resumed.handle.store.signal(Signal::Said(torn.clone()));
        }
    }
    if args.no_breaks {
        breaks::switch_off(&resumed.handle);
    }
    breaks::set(&resumed.handle, &breaks);
    if !alone && args.screen.plain {
        return plain::interact(&resumed.handle, resumed.thread, &dir, worlds, out);
    }
    if on_screen {
        let shown = Shown { handle: &resumed.handle, thread: Some(resumed.thread), dir: &dir, at: None };
        return screen::show(&config, shown, &args.screen, &mut out);
    }
    if !alone {
        out.note("no terminal here: going on without a screen and printing the transcript");
    }
    let voice = match (args.drive.json, args.drive.quiet) {
        (true, _) => Voice::Json,
        (_, true) => Voice::Silent,
        _ => Voice::Transcript,
    };
    let shared = Arc::new(Mutex::new(out));
    let mut teller = EventPrinter::new(voice, shared.clone(), &dir, None, worlds);
    // What stood in the journal before is not told again, but for the run itself; nor is it read again.
    let (store, before) = (resumed.handle.store.clone(), resumed.before);
    for envelope in printer::read(&store, Seq(0), Seq(1))? {
        teller.event(&envelope)?;
    }
    teller.go_on_from(&before, |after, to| printer::read(&store, after, to))?;
    let ended = run_to_end(&resumed.handle, resumed.thread, &mut teller, run::policy(&config))?;
    let mut out = shared.lock().unwrap_or_else(PoisonError::into_inner);
    let path = dir.display().to_string();
    let tally = Tally::from_states([&teller.state]);
    if voice == Voice::Json {
        out.json(&summary_line(&tally, ended.word(), std::slice::from_ref(&path)))?;
    } else {
        out.line(&tally.sentence())?;
    }
    run::outcome(&ended, Some(&path))
}
