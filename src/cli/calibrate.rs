//! `calibrate`: a run of episodes that are played to learn from, and the constitution that comes of it.

use super::args::{self};
use super::config::Config;
use super::error::CliError;
use super::learn::{Learn, name_tasks};
use super::out::Out;
use super::pool::{self, PoolFile, PoolLine};
use super::{locate, run, setup};
use crate::domain::Lesson;
use crate::driver::now;
use crate::engine::State;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// `calibrate`.
pub(super) fn calibrate(mut config: Config, args: &args::Calibrate, mut out: Out) -> Result<(), CliError> {
    super::models::flags(&mut config, &args.models)?;
    config.flag("run.on_error", args.drive.on_error.map(run::policy_word))?;
    if args.how.method.as_deref().is_some_and(|m| m != "omnireflect") {
        return Err(CliError::usage(
            "calibrate: OmniReflect is the method that writes a constitution",
            "leave --method away; any method takes the constitution with `run --constitution FILE`",
        ));
    }
    config.flag("run.method", Some("omnireflect"))?;
    let learn = Learn { alone: true, per_type: args.per_type, explore: args.explore };
    let plan = setup::plan_after(&mut config, &args.world, &args.how, Some(&learn))?;
    for warning in &plan.warnings {
        out.note(&format!("warning: {warning}"));
    }
    let Some(file) = &args.out else {
        return run::begin(&config, plan, &args.drive, &args.screen, out);
    };
    if plan.spec.actor == "human" || args.drive.jobs.is_some() {
        return Err(CliError::usage(
            "--out: the constitution is written at the end of a run without a screen, in one session",
            "leave --out away and take the lessons over with `retrospect lessons promote SESSION`",
        ));
    }
    // A file that is no pool is refused before the work, not after it.
    PoolFile::read(file)?;
    let breaks = super::breaks::wanted(&config, &args.drive.breaks)?;
    let voice = run::voice(&args.drive, 1);
    let shared = Arc::new(Mutex::new(out));
    let done = run::one(&config, &plan, &breaks, voice, &locate::root(&config), &shared, None);
    let mut out = shared.lock().unwrap_or_else(PoisonError::into_inner);
    let finished = matches!(done.ended, Ok(super::watch::Ended::Finished));
    let state = done.state.clone();
    run::finish(std::slice::from_ref(&done), voice, &mut out)?;
    match state {
        Some(state) if finished => write(file, &state, &mut out),
        _ => Ok(()),
    }
}

/// Adds the constitution of a session to a pool file.
fn write(file: &Path, state: &State, out: &mut Out) -> Result<(), CliError> {
    let mut pool = PoolFile::read(file)?;
    let lessons: Vec<&Lesson> = state.pool.all().filter(|l| pool::constitutes(l)).collect();
    let at = now();
    let mut lines: Vec<PoolLine> =
        lessons.iter().flat_map(|l| pool::missing_lines(&pool, at, &state.session, l)).collect();
    name_tasks(&mut lines, state);
    lines.retain(|line| pool.take(line.clone()));
    pool::append(file, &lines)?;
    out.note(&format!(
        "the constitution of {} lessons is in {}; use it with `retrospect run --constitution {}`",
        lessons.len(),
        file.display(),
        file.display()
    ));
    Ok(())
}
