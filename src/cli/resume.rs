//! `resume`.

use super::args;
use super::breaks::Break;
use super::config::Config;
use super::fault::Fault;
use super::out::Out;
use super::setup::{launch, world_options};
use super::tell::{Teller, Voice};
use super::watch::{Shown, run_to_end};
use super::{place, plain, run, screen, terminal};
use crate::driver::{Driver, DriverError, Resumed};
use crate::report::{Tally, summary_line};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Takes a session up again.
pub(super) fn take_up(config: &Config, dir: &Path) -> Result<Resumed, Fault> {
    let worlds = world_options(config);
    Ok(Driver::resume(dir, |spec| {
        launch(spec, config, &worlds).map_err(|f| DriverError::Refused(f.message, f.hint))
    })?)
}

/// `resume PATH`.
pub(super) fn resume(mut config: Config, args: &args::Resume, mut out: Out) -> Result<(), Fault> {
    config.flag(
        "run.on_error",
        args.drive.on_error.map(|p| match p {
            args::OnError::Stop => "stop",
            args::OnError::SkipTask => "skip-task",
        }),
    )?;
    if args.drive.jobs.is_some() {
        return Err(Fault::usage("--jobs: one session is taken up at a time", "leave --jobs away"));
    }
    let breaks = args.drive.breaks.iter().map(|b| Break::parse(b)).collect::<Result<Vec<_>, _>>()?;
    let dir = place::session_dir(&config, args.path.as_deref())?;
    let worlds = world_options(&config);
    let resumed = take_up(&config, &dir)?;
    if let Some(torn) = &resumed.torn {
        out.note(&format!("{}: {torn}", dir.display()));
    }
    let alone = args.drive.headless || args.drive.json || args.drive.quiet;
    if !alone && args.screen.plain {
        return plain::interact(&resumed.handle, resumed.thread, &dir, &breaks, worlds, out);
    }
    if !alone && terminal() {
        let shown = Shown {
            handle: &resumed.handle,
            thread: Some(resumed.thread),
            dir: &dir,
            at: None,
            breaks: &breaks,
        };
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
    let mut teller = Teller::new(voice, shared.clone(), &dir, None, worlds);
    // What stood in the journal before is not told again, but for the run itself.
    let before = resumed.handle.store.timeline().since(teller.since());
    let reopened = before
        .iter()
        .rposition(|e| matches!(e.event, crate::engine::Event::Reopened))
        .unwrap_or(before.len());
    let (first, old) = before[..reopened].split_at(usize::from(reopened > 0));
    for envelope in first {
        teller.event(envelope)?;
    }
    teller.catch_up(old);
    let ended = run_to_end(&resumed.handle, resumed.thread, &mut teller, &breaks, run::policy(&config))?;
    let mut out = shared.lock().unwrap_or_else(PoisonError::into_inner);
    let path = dir.display().to_string();
    let tally = Tally::of([&teller.state]);
    if voice == Voice::Json {
        out.line(&summary_line(&tally, ended.word(), std::slice::from_ref(&path)))?;
    } else {
        out.line(&tally.sentence())?;
    }
    run::outcome(&ended, Some(&path))
}
