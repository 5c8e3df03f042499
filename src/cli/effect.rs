//! `lessons effect`: measures whether lessons help, by paired episodes, without a screen.

mod design;
#[cfg(feature = "tui")]
mod earlier;
mod merged;
mod output;
#[cfg(feature = "tui")]
mod screen;
mod store;

use super::args::{EffectArgs, ExpectedVerdict, KeepWord};
use super::config::Config;
use super::error::{CliError, CliErrorKind};
use super::headless::guard_session_signals;
use super::output::Output;
use crate::driver::measure::{
    Keep, LogFileError, MeasureError, MeasureOptions, MeasureUpdate, OpenMeasurement, WITH, WITHOUT, Wanted,
    measure_in_turn,
};
use crate::timeline::effect::{
    EffectLog, EffectPlan, EffectResult, EffectScope, Outcome, PanelVerdict, StopReason, Verdict,
};
use design::Prepared;
use output::ResultPrinter;
#[cfg(feature = "tui")]
pub(super) use screen::ScreenMeasurement;
use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::watch;

/// How long to wait before an episode that couldn't be played is tried again.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// A finished or stopped measurement.
struct Measured {
    plan: EffectPlan,
    result: EffectResult,
}

/// Runs `lessons effect`.
pub(super) fn measure_effect(
    config: &mut Config,
    pool: &Path,
    args: &EffectArgs,
    out: &mut Output,
) -> Result<(), CliError> {
    let mut printer = ResultPrinter::new(args, out);
    if !args.merge.is_empty() {
        let measured = merged::merge(&args.merge, &mut printer)?;
        store::store_result(config, pool, &measured, printer.out())?;
        return finish(args, &[measured], &mut printer);
    }
    let mut prepared = design::prepare(config, pool, args, printer.out())?;
    for column in &mut prepared {
        column.find_played()?;
    }
    for column in &prepared {
        printer.print_plan(column, usize::from(args.jobs))?;
    }
    confirm(args, &mut printer)?;
    let guard = guard_session_signals()?;
    let (sender, wanted) = watch::channel(Wanted::Running);
    let has_ended = Arc::new(AtomicBool::new(false));
    {
        let (sender, has_ended) = (sender.clone(), has_ended.clone());
        let stop = move || {
            // The measurement has ended if nobody listens.
            let _ = sender.send(Wanted::Stopped);
        };
        guard.set_session(stop, move || has_ended.load(Ordering::Relaxed));
    }
    let outcome = run(&prepared, args, &wanted, &mut printer);
    has_ended.store(true, Ordering::Relaxed);
    drop(guard);
    let measured = outcome?;
    for done in &measured {
        store::store_result(config, pool, done, printer.out())?;
    }
    if *wanted.borrow() == Wanted::Stopped {
        printer.print_results(&measured)?;
        return Err(CliError::interrupted("the same command continues the measurement"));
    }
    finish(args, &measured, &mut printer)
}

/// Plays the columns in turn, or continues them.
fn run(
    prepared: &[Prepared],
    args: &EffectArgs,
    wanted: &watch::Receiver<Wanted>,
    printer: &mut ResultPrinter<'_>,
) -> Result<Vec<Measured>, CliError> {
    let options = MeasureOptions {
        jobs: usize::from(args.jobs),
        keep: match args.keep {
            KeepWord::Differing => Keep::Differing,
            KeepWord::All => Keep::All,
            KeepWord::None => Keep::None,
        },
        retry_delay: RETRY_DELAY,
        ..MeasureOptions::default()
    };
    let mut columns = Vec::new();
    for column in prepared {
        let opened = OpenMeasurement::open(&column.measurement, &column.log);
        columns.push(opened.map_err(|error| log_error(&error))?);
    }
    let mut printed = Ok(());
    let mut on_update = |_: usize, log: &EffectLog, update: MeasureUpdate<'_>| match update {
        MeasureUpdate::Record(record) if printed.is_ok() => printed = printer.on_record(log, record),
        MeasureUpdate::Record(_) => {}
        MeasureUpdate::Outage(outage) => printer.on_outage(outage),
    };
    let logs = measure_in_turn(columns, options, wanted, &mut on_update);
    let logs = logs.map_err(|error| measure_error(&error))?;
    printed?;
    let measured =
        logs.iter().map(|log| Measured { plan: log.plan().clone(), result: EffectResult::from_log(log) });
    Ok(measured.collect())
}

/// Prints the results, and turns them into the exit code.
fn finish(args: &EffectArgs, measured: &[Measured], printer: &mut ResultPrinter<'_>) -> Result<(), CliError> {
    printer.print_results(measured)?;
    if measured.iter().any(|m| m.plan.shard.is_some()) {
        return Ok(());
    }
    let verdicts: Vec<Verdict> = measured.iter().map(|m| m.result.verdict()).collect();
    let decisive = panel_verdict(measured).map_or_else(
        || verdicts.first().copied().unwrap_or_default(),
        |panel| match panel {
            PanelVerdict::Lesson | PanelVerdict::Answer => Verdict::Helped,
            PanelVerdict::Harmful => Verdict::Harmful,
            PanelVerdict::NoEffectSeen => Verdict::NoEffectSeen,
            PanelVerdict::Inconsistent => Verdict::Inconsistent,
            PanelVerdict::Undecided => Verdict::Undecided,
        },
    );
    if let Some(expected) = args.expect {
        let wanted = match expected {
            ExpectedVerdict::Helped => Verdict::Helped,
            ExpectedVerdict::NoEffect => Verdict::NoEffectSeen,
            ExpectedVerdict::Harmful => Verdict::Harmful,
        };
        if decisive != wanted {
            return Err(CliError::new(
                CliErrorKind::Check,
                format!("expected {wanted}, but the verdict is: {decisive}"),
                "the log in effects/ has every pair",
            ));
        }
        return Ok(());
    }
    if decisive == Verdict::Undecided && measured.iter().any(|m| m.result.absent > 0) {
        return Err(CliError::new(
            CliErrorKind::Stopped,
            "undecided, and shards are missing",
            "name the logs of all shards after --merge",
        ));
    }
    let is_out_of_budget = |m: &Measured| {
        // Without a verdict, as with tokens, all pairs are all that there is to have.
        let has_all = m.plan.outcome == Outcome::Tokens && m.result.stopped == Some(StopReason::Pairs);
        // A person who asked for all pairs and got them has a result.
        !has_all
            && !m.plan.budget.keep_going
            && m.result.verdict() == Verdict::Undecided
            && m.result.stopped.is_some_and(StopReason::is_budget)
    };
    if measured.iter().any(|m| m.result.stopped == Some(StopReason::FailedCalls)) {
        return Err(CliError::new(
            CliErrorKind::Stopped,
            "no verdict: most episodes ended at a failed call",
            "correct what the result names, then give the same command again: it plays all pairs again",
        ));
    }
    if decisive == Verdict::Undecided && measured.iter().any(is_out_of_budget) {
        let has_every_task = |m: &Measured| {
            m.plan.scope == EffectScope::Tasks
                && m.result.stopped == Some(StopReason::Pairs)
                && m.plan.tasks.len() <= m.plan.pairs as usize
        };
        let hint = if measured.iter().any(has_every_task) {
            "a pair is a task, and all tasks are played: --tasks names more, --these plays the same ones again"
        } else {
            "the same command with a larger budget or --pairs continues the measurement"
        };
        let are_all_played = measured
            .iter()
            .filter(|m| is_out_of_budget(m))
            .all(|m| m.result.stopped == Some(StopReason::Pairs));
        let message = if are_all_played {
            "undecided after all planned pairs"
        } else {
            "stopped by a budget while undecided"
        };
        return Err(CliError::new(CliErrorKind::Stopped, message, hint));
    }
    Ok(())
}

/// Returns the verdict about the lesson in both columns, if both were measured and it is what was measured.
fn panel_verdict(measured: &[Measured]) -> Option<PanelVerdict> {
    let is_about_lesson =
        |m: &Measured| m.plan.contrasts.first().is_some_and(|c| c.first == WITH && c.second == WITHOUT);
    match measured {
        [here, elsewhere] if is_about_lesson(here) => {
            Some(PanelVerdict::combine(here.result.verdict(), elsewhere.result.verdict()))
        }
        _ => None,
    }
}

/// Asks a person whether to start. Without a terminal, a flag must say so.
fn confirm(args: &EffectArgs, printer: &mut ResultPrinter<'_>) -> Result<(), CliError> {
    if args.yes || args.has_budget() {
        return Ok(());
    }
    if args.json || !std::io::stdin().is_terminal() || !printer.out().is_terminal() {
        return Err(CliError::usage(
            "lessons effect: nobody can confirm the plan",
            "start with --yes, or with a budget: --pairs, --episodes, --tokens, --calls, --cost or --minutes",
        ));
    }
    print!("Start? [y/N] ");
    // A closed terminal can't answer either.
    let _ = std::io::stdout().flush();
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    if read.is_ok() && answer.trim().eq_ignore_ascii_case("y") {
        return Ok(());
    }
    Err(CliError::new(CliErrorKind::Stopped, "not started", "answer y to start the measurement"))
}

fn log_error(error: &LogFileError) -> CliError {
    let hint = match error {
        LogFileError::Io { .. } => {
            "free some disk space or check the permissions; the same command continues the measurement"
        }
        LogFileError::Malformed { .. } => "move the file away, or name another pool or session",
        LogFileError::Locked { .. } => "wait until it has ended; `--shard I/N` shares the work",
    };
    CliError::new(CliErrorKind::File, error.to_string(), hint)
}

fn measure_error(error: &MeasureError) -> CliError {
    match error {
        MeasureError::Log(error) => log_error(error),
        MeasureError::Journal(error) => CliError::new(
            CliErrorKind::File,
            error.to_string(),
            "free some disk space, or keep no journals (--keep none); the same command continues the measurement",
        ),
        MeasureError::Thread(_) => {
            CliError::new(CliErrorKind::Session, error.to_string(), "close other programs, then try again")
        }
        MeasureError::OtherMeasurement { .. } => {
            CliError::new(CliErrorKind::File, error.to_string(), "move the folder away, then start again")
        }
    }
}
