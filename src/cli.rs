//! The command line: one verb a file, and the only place that prints.
//!
//! [`main`] parses, reads the configuration, calls the verb and maps what came of it to an exit code. Verbs return a
//! [`CliError`] instead of printing errors, so that every error is said in one way, as text or as JSON.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the command line is where the program speaks")]

#[allow(missing_docs, reason = "flags describe themselves in their help texts")]
pub mod args;
mod bounded;
mod breakpoints;
mod calibrate;
mod calibration_setup;
pub mod config;
mod default_action;
mod demo;
mod diff;
mod doctor;
pub mod error;
mod export;
mod headless;
#[cfg(feature = "tui")]
mod host_services;
mod lesson_kinds;
mod lessons;
mod locate;
mod man_pages;
mod models;
mod open;
pub mod output;
mod plain;
mod play;
pub mod pool;
mod printer;
mod reflexion;
mod report;
mod rerun;
mod rerun_plan;
mod resume;
mod run;
#[cfg(feature = "tui")]
mod screen;
#[cfg(not(feature = "tui"))]
#[path = "cli/no_screen.rs"]
mod screen;
mod sessions;
mod settings;
mod setup;
#[cfg(feature = "tui")]
mod start;
#[cfg(not(feature = "tui"))]
#[path = "cli/no_start.rs"]
mod start;
mod tasks;
mod verify;
mod worlds;

#[cfg(test)]
mod tests;

use args::{Cli, Verb};
use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser as _};
use config::Config;
use error::{CliError, CliErrorKind};
use output::Output;
use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::process::ExitCode;

/// Runs the program with these arguments (the first is its name).
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let json = has_json_flag(&arguments);
    let error = match Cli::try_parse_from(&arguments) {
        Ok(cli) => match run_verb(cli) {
            Ok(()) => return ExitCode::SUCCESS,
            Err(error) => error,
        },
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            // Help that nobody reads is no failure.
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
        Err(error) => usage_error(&error, &arguments),
    };
    print_error(&error, json);
    ExitCode::from(error.exit_code())
}

fn run_verb(mut cli: Cli) -> Result<(), CliError> {
    let variable = |name: &str| std::env::var(name).ok();
    let file = cli.common.config.as_deref();
    let (mut config, bad) = match (Config::load(file, variable), &cli.verb) {
        (Ok(config), _) => (config, None),
        // It is there to say what is wrong: all of it.
        (Err(error), Some(Verb::Doctor(_))) => (Config::without_file(file, variable), Some(error)),
        (Err(error), _) => return Err(error),
    };
    let path = |p: &Option<std::path::PathBuf>| p.as_ref().map(|p| p.display().to_string());
    config.set_flag("sessions", path(&cli.common.sessions).as_deref())?;
    config.set_flag("data", path(&cli.common.data).as_deref())?;
    let mut out = Output::new();
    merge_screen_flags(&mut cli)?;
    // Whoever begins a run refuses them, and `doctor` has a line for each; nobody else needs them.
    if !matches!(cli.verb, None | Some(Verb::Run(_) | Verb::Calibrate(_) | Verb::Doctor(_))) {
        for bad in &config.invalid_breakpoints {
            out.print_note(&format!(
                "warning: {}; this condition is left out, and no run begins until it is mended",
                bad.message
            ));
        }
    }
    if let Some((look, alone)) = screen_flags(&mut cli) {
        screen::check_theme(&config, look)?;
        let term = std::env::var("TERM").unwrap_or_default();
        if !alone && !look.plain && can_show_screen() && is_dumb_terminal(&term) {
            out.print_note(
                "TERM says that this terminal cannot move its cursor: going on line by line, as with --plain",
            );
            look.plain = true;
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
        Some(Verb::Lessons(args)) => lessons::run_lessons_verb(&mut config, &args, &mut out),
        Some(Verb::Verify(args)) => verify::verify(&config, &args, &mut out),
        Some(Verb::Diff(args)) => diff::diff(&config, &args, &mut out),
        Some(Verb::Export(args)) => export::export(&config, &args, &mut out),
        Some(Verb::Doctor(args)) => doctor::doctor(&mut config, bad.as_ref(), &args, &mut out),
        Some(Verb::Report(args)) => report::report(&config, &args, &mut out),
        Some(Verb::Rerun(args)) => rerun::rerun(config, &args, out),
        Some(Verb::Completions(args)) => man_pages::completions(&args, &mut out),
        Some(Verb::Man(args)) => man_pages::man(&args, &mut out),
        Some(Verb::Config(args)) => config::run_config_verb(&config, &args, &mut out),
    }
}

/// `--theme` and `--plain` count before the verb as behind it, where the later one wins.
fn merge_screen_flags(cli: &mut Cli) -> Result<(), CliError> {
    let before = cli.screen.clone();
    if cli.verb.is_none() || (before.theme.is_none() && !before.plain) {
        return Ok(());
    }
    let Some((look, _)) = screen_flags(cli) else {
        let flag = if before.plain { "--plain" } else { "--theme" };
        return Err(CliError::usage(
            format!("{flag}: this verb shows no screen"),
            "leave it out; run, resume, open and demo take it",
        ));
    };
    look.plain |= before.plain;
    look.theme = look.theme.take().or(before.theme);
    Ok(())
}

/// How a verb would show its screen, and whether its flags say that there is none.
fn screen_flags(cli: &mut Cli) -> Option<(&mut args::ScreenArgs, bool)> {
    let alone = |d: &args::DriveArgs| d.headless || d.json || d.quiet || d.jobs.is_some_and(|n| n > 1);
    match &mut cli.verb {
        None => Some((&mut cli.screen, false)),
        Some(Verb::Run(args)) => Some((&mut args.screen, alone(&args.drive))),
        Some(Verb::Calibrate(args)) => {
            let alone = alone(&args.drive) || args.out.is_some();
            Some((&mut args.screen, alone))
        }
        Some(Verb::Resume(args)) => Some((&mut args.screen, alone(&args.drive))),
        Some(Verb::Rerun(args)) => Some((&mut args.screen, alone(&args.drive))),
        Some(Verb::Open(args)) => Some((&mut args.screen, args.json)),
        Some(Verb::Demo(args)) => Some((&mut args.screen, false)),
        _ => None,
    }
}

/// A terminal of this name has no cursor to move. Windows' own terminals have no name at all.
fn is_dumb_terminal(term: &str) -> bool {
    term == "dumb" || (term.is_empty() && cfg!(unix))
}

/// There is a person at a terminal, and a screen to show.
pub(crate) fn can_show_screen() -> bool {
    cfg!(feature = "tui") && std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Errors of parsing must be JSON too, and there is no parsed flag to ask. `--json` behind `--` is a value.
fn has_json_flag(arguments: &[OsString]) -> bool {
    arguments.iter().skip(1).take_while(|a| *a != "--").any(|a| a == "--json")
}

/// What the parser says, as one of our own errors.
fn usage_error(error: &clap::Error, arguments: &[OsString]) -> CliError {
    let program = Cli::command();
    let verb = arguments.iter().skip(1).find_map(|a| program.find_subcommand(a));
    if let Some(verb) = verb.filter(|_| error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand) {
        let choices: Vec<&str> = verb.get_subcommands().map(clap::Command::get_name).collect();
        let name = verb.get_name();
        return CliError::usage(
            format!("`retrospect {name}` needs a word that says what to do: {}", choices.join(", ")),
            format!("see `retrospect {name} --help`"),
        );
    }
    let text = error.render().to_string();
    let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty());
    let message = lines.next().unwrap_or("the command line was not understood");
    let message = message.strip_prefix("error: ").unwrap_or(message).to_owned();
    let mut details: Vec<&str> =
        lines.take_while(|l| !l.starts_with("Usage:") && !l.starts_with("For more information")).collect();
    details.retain(|l| !l.starts_with("tip:") || l.contains("similar"));
    let message = if details.is_empty() { message } else { format!("{message} {}", details.join(" ")) };
    let verb = verb.map(clap::Command::get_name);
    let help = verb.map_or_else(|| "retrospect --help".to_owned(), |v| format!("retrospect {v} --help"));
    CliError::usage(message, format!("see `{help}`"))
}

fn print_error(error: &CliError, json: bool) {
    let mut out = Output::new();
    if error.kind == CliErrorKind::OutputClosed || error.message.is_empty() {
        return;
    }
    if json {
        // Where nobody reads, nothing is left to be said.
        let _ = out.print_json(&error.json());
        return;
    }
    out.print_note(&format!("retrospect: {}", error.message));
    if !error.hint.is_empty() {
        out.print_note(&format!("  {}", error.hint));
    }
}
