//! `calibrate`: runs calibration episodes and writes the resulting constitution.

use super::args::{self};
use super::calibration_setup::{CalibrationOptions, record_calibration_tasks};
use super::config::{Config, keys};
use super::error::CliError;
use super::output::Output;
use super::pool::{self, PoolFile, PoolLine};
use super::{lesson_environments, lesson_sources, locate, run, setup};
use crate::catalog::{CALIBRATION_METHOD, calibration_method};
use crate::domain::{Lesson, ModelRole, RoleSource, pluralize};
use crate::driver::wall_clock_now;
use crate::engine::State;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Runs `calibrate`.
pub(super) fn calibrate(mut config: Config, args: &args::Calibrate, mut out: Output) -> Result<(), CliError> {
    args.models.apply(&mut config)?;
    args.drive.keys.apply(&mut config)?;
    config.calls_no_model = args.dry_run;
    let method = args.how.keys.get(&keys::METHOD).unwrap_or(CALIBRATION_METHOD.name);
    let learning = calibration_method(method).name;
    if method != learning {
        return Err(CliError::usage(
            format!("calibrate: the method {method} doesn't learn a constitution by itself; {learning} does"),
            format!(
                "leave out --method, then give {method} the constitution with `retrospect run --method {method} \
                 --constitution FILE`"
            ),
        ));
    }
    config.set_flag(&keys::METHOD, Some(learning))?;
    let calibration =
        CalibrationOptions { is_calibration_only: true, per_type: args.per_type, explore: args.explore };
    let plan = setup::plan_run_with_calibration(&mut config, &args.world, &args.how, Some(&calibration))?;
    for warning in &plan.warnings {
        out.print_note(&format!("warning: {warning}"));
    }
    if args.dry_run {
        return super::dry_run::dry_run(&config, &plan, args.drive.json, &mut out);
    }
    let Some(file) = &args.out else {
        return run::start_run(&config, plan, &args.drive, &args.screen, out);
    };
    if plan.spec.role_source(ModelRole::Actor) == RoleSource::Person || args.drive.jobs.is_some() {
        return Err(CliError::usage(
            "--out writes the lessons of one unattended session: it can't be combined with --jobs or --actor human",
            "omit --out, then promote the lessons with `retrospect lessons promote SESSION`",
        ));
    }
    // Rejects a file that isn't a pool before the run, not after it.
    PoolFile::read(file)?;
    let breaks = super::breakpoints::initial_breakpoints(&config, &args.drive.breaks)?;
    let print_mode = run::print_mode(&args.drive, 1);
    let shared = Arc::new(Mutex::new(out));
    let outcome =
        run::run_one(&config, &plan, &breaks, print_mode, &locate::sessions_folder(&config), &shared, None);
    let mut out = shared.lock().unwrap_or_else(PoisonError::into_inner);
    let finished = matches!(outcome.ending, Ok(super::headless::Ending::Finished));
    let state = outcome.state.clone();
    run::report_results(std::slice::from_ref(&outcome), args.drive.json, &mut out)?;
    match state {
        Some(state) if finished => write_constitution(file, &state, &mut out),
        _ => Ok(()),
    }
}

/// Adds the constitution of a session to a pool file, or the lessons about one type of task if there are no others.
fn write_constitution(file: &Path, state: &State, out: &mut Output) -> Result<(), CliError> {
    let mut pool = PoolFile::read(file)?;
    let mut lessons: Vec<&Lesson> = state.pool.all().filter(|l| l.is_in_constitution()).collect();
    let is_constitution = !lessons.is_empty();
    if !is_constitution {
        lessons = state.pool.all().filter(|l| l.is_general()).collect();
    }
    if lessons.is_empty() {
        out.print_note(&format!(
            "no lesson was learned, so nothing was written to {}; `retrospect open --last` shows what happened",
            file.display()
        ));
        return Ok(());
    }
    let at = wall_clock_now();
    let environments: BTreeSet<String> = pool.environments().into_values().collect();
    let before = pool.lessons().count() as u64;
    let mut lines: Vec<PoolLine> = lessons
        .iter()
        .map(|l| lesson_environments::with_task(l, state))
        .flat_map(|l| pool::missing_lines(&pool, at, &state.session, &l))
        .collect();
    record_calibration_tasks(&mut lines, state);
    lesson_sources::record(&mut lines, state);
    lesson_environments::record(&mut lines, &lesson_environments::of_session(state));
    lines.retain(|line| pool.merge_line(line.clone()));
    pool::append(file, &lines)?;
    let added = pool.lessons().count() as u64 - before;
    let earlier = match before {
        0 => String::new(),
        before if environments.is_empty() => format!(", which had {before}"),
        before => {
            format!(", which had {before} ({})", environments.into_iter().collect::<Vec<_>>().join(", "))
        }
    };
    let file = file.display();
    let usage = if is_constitution {
        format!("use it with `retrospect run --constitution {file}`")
    } else {
        format!("each is about one type of task: use them with `retrospect run --pool {file}`")
    };
    out.print_note(&format!("added {} to {file}{earlier}; {usage}", pluralize(added, "lesson")));
    Ok(())
}
