//! The command line: one file per verb. Only this module prints.
//!
//! [`main`] parses the arguments, reads the configuration, runs the verb and maps its result to an exit code. Verbs
//! return a [`CliError`] instead of printing errors, so that every error has the same format, as text or as JSON.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the command line prints")]

#[allow(missing_docs, reason = "flags describe themselves in their help texts")]
pub mod args;
mod bounded;
mod breakpoints;
mod calibrate;
mod calibration_setup;
pub mod config;
mod config_command;
mod default_action;
mod demo;
mod diff;
mod doctor;
mod dry_run;
mod effect;
pub mod error;
mod exemplars;
mod export;
mod exporters;
mod headless;
#[cfg(feature = "tui")]
mod host_services;
mod lesson_environments;
mod lesson_health;
mod lesson_kinds;
mod lesson_sources;
mod lesson_tests;
mod lessons;
mod lessons_command;
mod locate;
mod man_pages;
mod models;
mod open;
#[cfg(feature = "tui")]
mod opener;
pub mod output;
mod plain;
mod play;
pub mod pool;
mod printer;
mod report;
mod rerun;
mod rerun_plan;
mod resume;
mod run;
mod run_directory;
#[cfg(feature = "tui")]
mod saved_pools;
#[cfg(feature = "tui")]
mod screen;
#[cfg(not(feature = "tui"))]
#[path = "cli/no_screen.rs"]
mod screen;
#[cfg(feature = "tui")]
mod seen_hints;
mod sessions;
mod settings;
mod setup;
mod shipped_demos;
#[cfg(feature = "tui")]
mod start;
#[cfg(not(feature = "tui"))]
#[path = "cli/no_start.rs"]
mod start;
mod tasks;
mod verify;
mod worlds;

#[cfg(feature = "tui")]
pub use host_services::export_session;

#[cfg(test)]
mod tests;

use crate::catalog::Extension;
use crate::text;
use args::{Cli, Verb};
use clap::FromArgMatches as _;
use clap::error::ErrorKind;
use config::Config;
use error::{CliError, CliErrorKind};
use output::Output;
use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::Path;
use std::process::ExitCode;

/// Runs a program that has more methods or environments than the built-in ones (`docs/EXTENDING.md`).
pub fn main_with(extension: Extension, arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    name_program(&arguments);
    let extended = crate::catalog::extend(extension).map_err(|error| error.to_string());
    let checked = extended.and_then(|()| {
        add_environments(&arguments);
        config::check_entries()?;
        args::check_flags()
    });
    let Err(message) = checked else {
        return main(arguments);
    };
    let hint = "this is a mistake in the program's own entries (docs/EXTENDING.md)";
    let error = CliError::new(CliErrorKind::Method, message, hint);
    print_error(&error, false);
    ExitCode::from(error.exit_code())
}

/// Runs the program with these arguments (the first is the program's name).
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    name_program(&arguments);
    add_environments(&arguments);
    let json = has_flag(&arguments, "--json");
    if has_flag(&arguments, "--stage") {
        let typed = arguments.iter().map(|argument| argument.to_string_lossy().into_owned());
        let variables = std::env::vars_os().filter(|(name, _)| name.to_string_lossy().ends_with("BASE_URL"));
        let configured = variables.map(|(_, value)| value.to_string_lossy().into_owned());
        output::hide_from_audience(
            typed.chain(configured).flat_map(|text| crate::text::hosts_of(&text)).collect(),
        );
    }
    let parsed = args::command_line().try_get_matches_from(&arguments);
    let error = match parsed.and_then(|mut matches| Cli::from_arg_matches_mut(&mut matches)) {
        Ok(cli) => {
            let result = run_verb(cli);
            crate::driver::worlds::end_idle_programs();
            match result {
                Ok(()) => return ExitCode::SUCCESS,
                Err(error) => error,
            }
        }
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            // A closed output is not a failure when printing help.
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
        Err(error) => usage_error(&error, &arguments),
    };
    print_error(&error, json);
    ExitCode::from(error.exit_code())
}

/// Adds the environments that the configuration names, if nothing has looked for one yet.
fn add_environments(arguments: &[OsString]) {
    config::add_environments(arguments, |name| std::env::var(name).ok());
}

/// Names the program in its messages as the first argument does, without its folder.
fn name_program(arguments: &[OsString]) {
    let stem = arguments.first().and_then(|invoked| Path::new(invoked).file_stem());
    if let Some(name) = stem.filter(|name| !name.is_empty()) {
        text::set_program_name(name.to_string_lossy().into_owned());
    }
}

fn run_verb(mut cli: Cli) -> Result<(), CliError> {
    let variable = |name: &str| std::env::var(name).ok();
    let file = cli.common.config.as_deref();
    let (mut config, config_error) = match (Config::load(file, variable), &cli.verb) {
        (Ok(config), _) => (config, None),
        // `doctor` continues with the defaults, to report every problem.
        (Err(error), Some(Verb::Doctor(_))) => (Config::without_file(file, variable), Some(error)),
        (Err(error), _) => return Err(error),
    };
    cli.common.keys.apply(&mut config)?;
    let mut out = Output::new();
    merge_screen_flags(&mut cli)?;
    for warning in &config.warnings {
        out.print_note(&format!("warning: {warning}"));
    }
    // Verbs that start a run reject invalid breakpoints, and `doctor` lists them; the others only warn.
    if !matches!(cli.verb, None | Some(Verb::Run(_) | Verb::Calibrate(_) | Verb::Doctor(_))) {
        for bad in &config.invalid_breakpoints {
            out.print_note(&format!(
                "warning: {}; this condition is ignored, and no run starts until it is fixed",
                bad.message
            ));
        }
    }
    if let Some((flags, no_screen)) = screen_flags(&mut cli) {
        screen::check_theme(&config, flags)?;
        let term = std::env::var("TERM").unwrap_or_default();
        if !no_screen && !flags.plain && can_show_screen() && is_dumb_terminal(&term) {
            out.print_note(
                "TERM names a terminal that cannot move the cursor; continuing line by line, as with --plain",
            );
            flags.plain = true;
        }
    }
    match cli.verb {
        None => default_action::run_without_verb(config, &cli.screen, out),
        Some(Verb::Run(args)) => run::run(config, &args, out),
        Some(Verb::Calibrate(args)) => calibrate::calibrate(config, &args, out),
        Some(Verb::Resume(args)) => resume::resume(config, &args, out),
        Some(Verb::Open(args)) => open::open(&config, &args, out),
        Some(Verb::Play(args)) => play::play(&mut config, &args, &mut out),
        Some(Verb::Demo(args)) => demo::demo(&config, &args, out),
        Some(Verb::Tasks(args)) => tasks::tasks(&mut config, &args, &mut out),
        Some(Verb::Sessions(args)) => sessions::sessions(&config, &args, &mut out),
        Some(Verb::Lessons(args)) => lessons_command::run_lessons_command(&mut config, &args, &mut out),
        Some(Verb::Verify(args)) => verify::verify(&mut config, &args, &mut out),
        Some(Verb::Diff(args)) => diff::diff(&config, &args, &mut out),
        Some(Verb::Export(args)) => export::export(&config, &args, &mut out),
        Some(Verb::Doctor(args)) => doctor::doctor(&mut config, config_error.as_ref(), &args, &mut out),
        Some(Verb::Report(args)) => report::report(&config, &args, &mut out),
        Some(Verb::Rerun(args)) => rerun::rerun(config, &args, out),
        Some(Verb::Completions(args)) => man_pages::completions(&args, &mut out),
        Some(Verb::Man(args)) => man_pages::man(&args, &mut out),
        Some(Verb::Config(args)) => config_command::run_config_verb(&config, &args, &mut out),
    }
}

/// Merges `--theme`, `--plain` and `--stage` given before the verb into the verb's own; a theme after the verb wins.
fn merge_screen_flags(cli: &mut Cli) -> Result<(), CliError> {
    let before = cli.screen.clone();
    if cli.verb.is_none() || (before.theme.is_none() && !before.plain && !before.stage) {
        return Ok(());
    }
    let Some((flags, _)) = screen_flags(cli) else {
        let flag = match (before.plain, before.stage) {
            (true, _) => "--plain",
            (_, true) => "--stage",
            _ => "--theme",
        };
        return Err(CliError::usage(
            format!("{flag}: this command has no screen"),
            "omit the flag; only run, resume, open and demo accept it",
        ));
    };
    flags.plain |= before.plain;
    flags.stage |= before.stage;
    flags.theme = flags.theme.take().or(before.theme);
    Ok(())
}

/// Returns the screen flags of a verb and whether its other flags rule out a screen; `None` for verbs without one.
fn screen_flags(cli: &mut Cli) -> Option<(&mut args::ScreenArgs, bool)> {
    let no_screen = |d: &args::DriveArgs| d.headless || d.json || d.quiet || d.jobs.is_some_and(|n| n > 1);
    match &mut cli.verb {
        None => Some((&mut cli.screen, false)),
        Some(Verb::Run(args)) => Some((&mut args.screen, no_screen(&args.drive))),
        Some(Verb::Calibrate(args)) => {
            let no_screen = no_screen(&args.drive) || args.out.is_some();
            Some((&mut args.screen, no_screen))
        }
        Some(Verb::Resume(args)) => Some((&mut args.screen, no_screen(&args.drive))),
        Some(Verb::Rerun(args)) => Some((&mut args.screen, no_screen(&args.drive))),
        Some(Verb::Open(args)) => Some((&mut args.screen, args.json)),
        Some(Verb::Demo(args)) => Some((&mut args.screen, false)),
        _ => None,
    }
}

/// Returns whether a terminal with this `TERM` cannot move its cursor. On Windows, `TERM` is usually unset.
fn is_dumb_terminal(term: &str) -> bool {
    term == "dumb" || (term.is_empty() && cfg!(unix))
}

/// Returns whether standard input and output are terminals and this build has the screen.
pub(crate) fn can_show_screen() -> bool {
    cfg!(feature = "tui") && std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Looks for a flag in the raw arguments: parse errors must be JSON, or for an audience, too. After `--` it is a value.
fn has_flag(arguments: &[OsString], flag: &str) -> bool {
    arguments.iter().skip(1).take_while(|a| *a != "--").any(|a| a == flag)
}

/// Converts an error of the argument parser.
fn usage_error(error: &clap::Error, arguments: &[OsString]) -> CliError {
    let program = args::command_line();
    let verb = arguments.iter().skip(1).find_map(|a| program.find_subcommand(a));
    if let Some(verb) = verb.filter(|_| error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand) {
        let choices: Vec<&str> = verb.get_subcommands().map(clap::Command::get_name).collect();
        let name = verb.get_name();
        return CliError::usage(
            format!("`retrospect {name}` needs a subcommand: {}", choices.join(", ")),
            format!("see `retrospect {name} --help`"),
        );
    }
    let text = error.render().to_string();
    let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty());
    let message = lines.next().unwrap_or("invalid command line");
    let message = message.strip_prefix("error: ").unwrap_or(message).to_owned();
    let mut details: Vec<&str> =
        lines.take_while(|l| !l.starts_with("Usage:") && !l.starts_with("For more information")).collect();
    details.retain(|l| !l.starts_with("tip:") || l.contains("similar"));
    // What the parser passes on from the standard library.
    let message = message.replace("invalid digit found in string", "expected a whole number");
    let message = if details.is_empty() { message } else { format!("{message} {}", details.join(" ")) };
    let verb = verb.map(clap::Command::get_name);
    let verb = verb.map_or_else(String::new, |verb| format!("{verb} "));
    CliError::usage(message, format!("see `retrospect {verb}--help`"))
}

fn print_error(error: &CliError, json: bool) {
    let mut out = Output::new();
    if error.kind == CliErrorKind::OutputClosed || error.message.is_empty() {
        return;
    }
    if json {
        // If standard output is closed, the error cannot be reported anywhere.
        let _ = out.print_json(&error.json());
        return;
    }
    out.print_note(&format!("{}: {}", text::program_name(), error.message));
    if !error.hint.is_empty() {
        out.print_note(&format!("  {}", error.hint));
    }
}
