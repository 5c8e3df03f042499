//! The `resume` verb.

use super::args;
use super::config::{Config, keys};
use super::error::CliError;
use super::headless::{ScreenSession, close_on_signal, guard_session_signals, run_to_end};
use super::models::with_servers_of_flags;
use super::output::Output;
use super::printer;
use super::printer::EventPrinter;
use super::setup::{build_run_config, check_templates};
use super::worlds::world_options;
use super::{breakpoints, can_show_screen, locate, plain, run, screen, settings};
use crate::catalog;
use crate::domain::common_settings::CONTEXT_TOKENS;
use crate::domain::{BranchId, RunSpec, Seq, sampling_param};
use crate::driver::{Driver, DriverError, Resumed, Signal, TYPING_DELAY};
use crate::engine::Command;
use crate::report::{Tally, session_measures, summary_line};
use crate::text::program_name;
use serde_json::Value;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Options for resuming a session.
#[derive(Default)]
pub(super) struct ResumeOptions {
    /// A person is present.
    pub(super) attended: bool,
    /// Accept prompt templates that differ from those that the session was started with.
    pub(super) accepts_prompts: bool,
    /// Settings to change first, by name.
    pub(super) changes: Vec<(String, Value)>,
}

/// Resumes a session. `typing` is the delay before each word of the rule-based actor.
pub(super) fn resume_session(
    config: &Config,
    (dir, branch): (&Path, &BranchId),
    typing: Duration,
    options: ResumeOptions,
) -> Result<Resumed, CliError> {
    let worlds = world_options(config);
    let (mut cli_error, mut new_templates) = (None, None);
    let resumed = Driver::resume_at(dir, branch, |spec| {
        let templates =
            check_environments(spec).and_then(|()| check_templates(spec, config, options.accepts_prompts));
        let run_config = templates.and_then(|other| {
            new_templates = other;
            check_changes(spec, &options.changes)?;
            let mut run_config = build_run_config(spec, config, &worlds, typing)?;
            run_config.policy.is_attended = options.attended;
            Ok(run_config)
        });
        run_config.map_err(|error| {
            let driver_error = DriverError::Refused(error.message.clone(), error.hint.clone());
            cli_error = Some(error);
            driver_error
        })
    });
    let resumed = resumed.map_err(|error| cli_error.unwrap_or_else(|| error.into()))?;
    // The next `resume` must find the server that this one calls.
    let moved = resumed.initial_state.run.as_deref().and_then(|run| with_servers_of_flags(run, config));
    if let Some(moved) = moved {
        resumed.handle.send(Command::ChangeRun(Box::new(moved)));
    }
    for (name, value) in new_templates.into_iter().chain(options.changes) {
        resumed.handle.send(Command::ChangeSetting { name, value });
    }
    Ok(resumed)
}

/// Checks that this program has the environments of a run.
fn check_environments(spec: &RunSpec) -> Result<(), CliError> {
    let Some(env) = catalog::missing_environment(spec) else { return Ok(()) };
    Err(CliError::usage(
        format!("{} has no environment {env:?}, in which this session plays", program_name()),
        format!(
            "resume it with the program that has it, or add it to the configuration (docs/ENVIRONMENTS.md); `{} open` reads it",
            program_name()
        ),
    ))
}

/// Returns a warning for each recorded setting of a resumed run that has an invalid value, unless it is changed now.
pub(super) fn setting_warnings(resumed: &Resumed, changes: &[(String, Value)]) -> Vec<String> {
    let run = resumed.initial_state.run.as_deref().cloned();
    let valid = run.map(|mut run| {
        run.settings.retain(|name| changes.iter().all(|(changed, _)| changed != name));
        run
    });
    let invalid = valid.map_or_else(Vec::new, |run| settings::invalid_settings(&run));
    invalid.into_iter().map(|why| format!("warning: {why}")).collect()
}

/// Checks that the models of a run support the changed sampling parameters.
fn check_changes(spec: &RunSpec, changes: &[(String, Value)]) -> Result<(), CliError> {
    for (name, value) in changes {
        let Some((role, param)) = sampling_param(name) else { continue };
        spec.check_param_supported(role, param, value).map_err(|why| {
            CliError::usage(format!("--set {name}: {why}"), "omit it, or set it for the other role")
        })?;
    }
    Ok(())
}

/// Runs `resume PATH`.
pub(super) fn resume(mut config: Config, args: &args::Resume, mut out: Output) -> Result<(), CliError> {
    args.drive.keys.apply(&mut config)?;
    args.keys.apply(&mut config)?;
    args.program.apply_to_session(&mut config)?;
    args.models.apply(&mut config)?;
    if args.drive.jobs.is_some() {
        return Err(CliError::usage("--jobs: only one session can be resumed at a time", "omit --jobs"));
    }
    let breaks = breakpoints::checked_conditions(&args.drive.breaks)?;
    let changes = settings::parse_set_flags(&args.set, &[CONTEXT_TOKENS.spec.name])?;
    let (dir, branch) = locate::find_session_branch(&config, args.path.as_deref())?;
    for skipped in locate::skipped_branches(&dir)? {
        out.print_note(&skipped);
    }
    let worlds = world_options(&config);
    let is_headless = args.drive.headless || args.drive.json || args.drive.quiet;
    let on_screen = !is_headless && !args.screen.plain && can_show_screen();
    let attended = on_screen || (!is_headless && args.screen.plain);
    let typing = if on_screen { TYPING_DELAY } else { Duration::ZERO };
    let guard = guard_session_signals()?;
    let options = ResumeOptions { attended, accepts_prompts: args.accept_prompts, changes: changes.clone() };
    let resumed = resume_session(&config, (&dir, &branch), typing, options)?;
    close_on_signal(&guard, &resumed.handle);
    for notice in resumed.cut_off_tail.iter().cloned().chain(setting_warnings(&resumed, &changes)) {
        out.print_note(&format!("{}: {notice}", dir.display()));
        if on_screen {
            resumed.handle.store.signal(Signal::Notice(notice));
        }
    }
    if args.no_breaks {
        breakpoints::disable_all(&resumed.handle);
    }
    breakpoints::add_breakpoints(&resumed.handle, &breaks);
    if !is_headless && args.screen.plain {
        return plain::interact(&resumed.handle, resumed.thread, &dir, worlds, &config, out);
    }
    if on_screen {
        let shown = ScreenSession {
            handle: &resumed.handle,
            thread: Some(resumed.thread),
            dir: &dir,
            demo: None,
            is_demo: false,
            position: None,
        };
        return screen::show_session(&config, shown, &args.screen, &mut out);
    }
    if !is_headless {
        out.print_note("no terminal here: continuing without a screen and printing the transcript");
    }
    let mode = run::print_mode(&args.drive, 1);
    let shared = Arc::new(Mutex::new(out));
    let mut printer = EventPrinter::new(mode, shared.clone(), &dir, None, worlds);
    // Old events are neither read nor printed again, except for the start of the run.
    let (store, before) = (resumed.handle.store.clone(), resumed.initial_state);
    for envelope in printer::read_events(&store, Seq(0), Seq(1))? {
        printer.print_event(&envelope)?;
    }
    printer.continue_from(&before, |after, to| printer::read_events(&store, after, to))?;
    let ending = run_to_end(&resumed.handle, resumed.thread, &mut printer, config.get(keys::ON_ERROR))?;
    let mut out = shared.lock().unwrap_or_else(PoisonError::into_inner);
    let path = dir.display().to_string();
    let measures = session_measures(&printer.state, |seq| store.state_at(seq));
    let tally = Tally::from_sessions([(&printer.state, &measures)]);
    if args.drive.json {
        out.print_json(&summary_line(&tally, ending.name(), std::slice::from_ref(&path)))?;
    } else {
        out.print_line(&tally.describe())?;
    }
    run::exit_result(&ending, Some(&path))
}
