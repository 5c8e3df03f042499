//! `doctor`: checks what works here and what doesn't, and says what to do about it.

mod environment;
mod servers;

use super::config::{Config, keys};
use super::error::{CliError, CliErrorKind};
use super::output::Output;
use super::worlds::world_options;
use super::{args, locate};
use crate::catalog::ENVIRONMENT_NAMES;
use crate::driver::worlds;
use crate::env::TaskCheck;
use crate::journal::{SessionStatus, list_sessions};
use crate::text::with_program_name;
use serde::Serialize;
use std::borrow::Cow;
use std::io::IsTerminal as _;

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum CheckStatus {
    Ok,
    Missing,
    Warning,
    Broken,
}

#[derive(Serialize)]
struct CheckResult {
    name: &'static str,
    state: CheckStatus,
    #[serde(rename = "what")]
    detail: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    #[serde(rename = "next")]
    hint: Cow<'static, str>,
}

/// Runs `doctor`.
///
/// `config_error` says why the configuration file is unusable; the other checks still run.
pub(super) fn doctor(
    config: &mut Config,
    config_error: Option<&CliError>,
    args: &args::Doctor,
    out: &mut Output,
) -> Result<(), CliError> {
    args.models.apply(config)?;
    args.keys.apply(config)?;
    let changes = super::settings::parse_set_flags(&args.set, &[])?;
    args.program.apply(args.env.as_deref(), config)?;
    config.set_flag(&keys::ENV, args.env.as_deref())?;
    let config = &*config;
    if args.env.is_some() || !args.program.command.is_empty() {
        if let Some(error) = config_error {
            return Err(error.clone());
        }
        let (results, report) = environment::check_environment(config, args)?;
        return print_results(&results, Some(&report), args.json, out);
    }
    if args.task.is_some() || args.seed.is_some() {
        return Err(CliError::usage("--task and --seed belong to an environment", "name it with --env"));
    }
    let mut results = vec![
        check_result(
            "program",
            CheckStatus::Ok,
            format!(
                "retrospect {} with{} the screen",
                env!("CARGO_PKG_VERSION"),
                if cfg!(feature = "tui") { "" } else { "out" }
            ),
            "",
        ),
        check_terminal(),
        match config_error {
            Some(error) => check_result(
                "config",
                CheckStatus::Broken,
                error.message.clone(),
                "fix this line of the file",
            ),
            None => check_config(config),
        },
    ];
    results.extend(config.invalid_breakpoints.iter().map(|bad| {
        let hint = "fix this condition: no run starts until then; the others are in effect";
        check_result("breaks", CheckStatus::Broken, bad.message.clone(), hint)
    }));
    for (name, problems) in super::screen::config_problems(config) {
        if problems.is_empty() {
            let path = config.folder.join(if name == "keys" { "keys.toml" } else { "themes" });
            let location = if path.exists() { "your own, from" } else { "built in; put your own in" };
            results.push(check_result(name, CheckStatus::Ok, format!("{location} {}", path.display()), ""));
        }
        results.extend(problems.into_iter().map(|problem| {
            check_result(
                name,
                CheckStatus::Broken,
                problem,
                "fix this line; the rest of the file is in effect",
            )
        }));
    }
    results.extend(check_sessions(config));
    results.extend(check_environments(config));
    results.extend(servers::check_servers(config, &changes)?);
    print_results(&results, None, args.json, out)
}

/// Prints the results of checks, and fails if something is broken.
fn print_results(
    results: &[CheckResult],
    environment: Option<&environment::EnvironmentReport>,
    json: bool,
    out: &mut Output,
) -> Result<(), CliError> {
    if json {
        #[derive(Serialize)]
        struct Report<'a> {
            checks: &'a [CheckResult],
            #[serde(skip_serializing_if = "Option::is_none")]
            environment: Option<&'a environment::EnvironmentReport>,
        }
        let report = Report { checks: results, environment };
        out.print_json(&serde_json::to_string(&report).unwrap_or_default())?;
    } else {
        for result in results {
            let mark = match result.state {
                CheckStatus::Ok => "ok     ",
                CheckStatus::Missing => "missing",
                CheckStatus::Warning => "warning",
                CheckStatus::Broken => "BROKEN ",
            };
            out.print_line(&format!("{mark}  {:<11} {}", result.name, result.detail))?;
            if !result.hint.is_empty() {
                out.print_line(&format!("{:21}{}", "", result.hint))?;
            }
        }
    }
    match results.iter().find(|r| r.state == CheckStatus::Broken) {
        None => Ok(()),
        Some(_) if json => Err(CliError::new(CliErrorKind::Check, "", "")),
        Some(result) => Err(CliError::new(
            CliErrorKind::Check,
            format!("check failed: {}", result.name),
            result.hint.clone(),
        )),
    }
}

fn check_result(
    name: &'static str,
    state: CheckStatus,
    detail: String,
    hint: impl Into<Cow<'static, str>>,
) -> CheckResult {
    CheckResult { name, state, detail, hint: with_program_name(&hint.into()).into_owned().into() }
}

fn check_terminal() -> CheckResult {
    let (input, output) = (std::io::stdin().is_terminal(), std::io::stdout().is_terminal());
    let non_empty_var = |name: &str| std::env::var(name).ok().filter(|v| !v.is_empty());
    let term = non_empty_var("TERM").unwrap_or_else(|| "not set".to_owned());
    let colours =
        match (non_empty_var("NO_COLOR"), non_empty_var("COLORTERM").as_deref(), term.contains("256")) {
            (Some(_), ..) => "no colours (NO_COLOR)",
            (_, Some("truecolor" | "24bit"), _) => "true colour",
            (_, _, true) => "256 colours",
            _ => "16 colours",
        };
    let multiplexer = if non_empty_var("TMUX").is_some() { ", inside tmux" } else { "" };
    if input && output {
        check_result("terminal", CheckStatus::Ok, format!("TERM is {term}, {colours}{multiplexer}"), "")
    } else {
        check_result(
            "terminal",
            CheckStatus::Missing,
            "standard input or output is not a terminal".to_owned(),
            "text output still works: run --headless, --plain, --json",
        )
    }
}

fn check_config(config: &Config) -> CheckResult {
    let file = config.file.display();
    if config.file.is_file() {
        check_result("config", CheckStatus::Ok, format!("{file}"), "")
    } else {
        check_result(
            "config",
            CheckStatus::Missing,
            format!("{file} doesn't exist; defaults are in effect"),
            "`retrospect config init` creates it",
        )
    }
}

/// Maximum number of broken sessions reported individually.
const MAX_LISTED: usize = 5;

fn check_sessions(config: &Config) -> Vec<CheckResult> {
    let root = locate::sessions_folder(config);
    let found = list_sessions(&root);
    let broken: Vec<_> = found.iter().filter_map(|(dir, read)| Some((dir, read.as_ref().err()?))).collect();
    let crashed = found
        .iter()
        .filter_map(|f| f.1.as_ref().ok())
        .filter(|(session, summary)| summary.status(session) == SessionStatus::Crashed)
        .count();
    let summary = format!(
        "{} in {}, {crashed} crashed (can be resumed), {} broken",
        found.len(),
        root.display(),
        broken.len()
    );
    let probe = root.join(format!(".retrospect-{}", std::process::id()));
    let writable = std::fs::create_dir_all(&root)
        .and_then(|()| crate::files::create_new(&probe).map(drop))
        .and_then(|()| std::fs::remove_file(&probe));
    let mut results = vec![match writable {
        Err(e) => check_result(
            "sessions",
            CheckStatus::Broken,
            format!("{}: cannot write to it: {e}", root.display()),
            "choose another folder with --sessions or RETROSPECT_SESSIONS",
        ),
        Ok(()) => check_result("sessions", CheckStatus::Ok, summary, ""),
    }];
    let hint = "use a newer version, restore it from a copy, or move its folder away; other sessions are not affected";
    results.extend(broken.iter().take(MAX_LISTED).map(|(dir, error)| {
        let folder = dir.display().to_string();
        let error = error.to_string();
        let message = if error.contains(&folder) { error } else { format!("{folder}: {error}") };
        check_result("session", CheckStatus::Broken, message, hint)
    }));
    if broken.len() > MAX_LISTED {
        let remaining = format!("and {} more: `retrospect sessions` lists them", broken.len() - MAX_LISTED);
        results.push(check_result("session", CheckStatus::Broken, remaining, hint));
    }
    results
}

/// Checks the environments that have something to check.
fn check_environments(config: &Config) -> Vec<CheckResult> {
    let options = world_options(config);
    let check = |name: &&'static str| {
        Some(match worlds::check(name, &options)? {
            TaskCheck::Ok(detail) => check_result(name, CheckStatus::Ok, detail, ""),
            TaskCheck::Missing { detail, hint } => check_result(name, CheckStatus::Missing, detail, hint),
            TaskCheck::Broken { detail, hint } => check_result(name, CheckStatus::Broken, detail, hint),
        })
    };
    ENVIRONMENT_NAMES.iter().filter_map(check).collect()
}
