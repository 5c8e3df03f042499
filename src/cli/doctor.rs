//! `doctor`: what works here, what does not, and what to do about it.

mod servers;

use super::config::Config;
use super::error::{CliError, CliErrorKind};
use super::out::Out;
use super::worlds::world_options;
use super::{args, locate};
use crate::driver::worlds::{self, Selection};
use crate::env::household::PRESELECTED;
use crate::journal::{Standing, list};
use serde::Serialize;
use std::borrow::Cow;
use std::io::IsTerminal as _;

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Ok,
    Missing,
    Warning,
    Broken,
}

#[derive(Serialize)]
struct Line {
    name: &'static str,
    state: State,
    what: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    next: Cow<'static, str>,
}

/// `doctor`.
///
/// `bad` is why the configuration file could not be used; everything else is looked at all the same.
pub(super) fn doctor(
    config: &mut Config,
    bad: Option<&CliError>,
    args: &args::Doctor,
    out: &mut Out,
) -> Result<(), CliError> {
    super::models::flags(config, &args.models)?;
    config.flag("run.actor", args.actor.as_deref())?;
    config.flag("run.mentor", args.mentor.as_deref())?;
    let changes = super::settings::changes(&args.set, &[])?;
    let config = &*config;
    let mut lines = vec![
        line(
            "program",
            State::Ok,
            format!(
                "retrospect {} with{} the screen",
                env!("CARGO_PKG_VERSION"),
                if cfg!(feature = "tui") { "" } else { "out" }
            ),
            "",
        ),
        terminal(),
        match bad {
            Some(error) => line("config", State::Broken, error.message.clone(), "mend this line of the file"),
            None => settings(config),
        },
    ];
    lines.extend(config.skipped.iter().map(|bad| {
        let next = "mend this condition: no run begins without it; the rest is in force";
        line("breaks", State::Broken, bad.message.clone(), next)
    }));
    for (name, complaints) in super::screen::complaints(config) {
        if complaints.is_empty() {
            let own = config.folder.join(if name == "keys" { "keys.toml" } else { "themes" });
            let whose = if own.exists() { "yours are in" } else { "the shipped ones; yours would be in" };
            lines.push(line(name, State::Ok, format!("{whose} {}", own.display()), ""));
        }
        lines.extend(
            complaints.into_iter().map(|what| {
                line(name, State::Broken, what, "mend this line; the rest of the file is in force")
            }),
        );
    }
    lines.extend(sessions(config));
    lines.extend([household(), alfworld(config)]);
    lines.extend(servers::servers(config, &changes)?);
    if args.json {
        #[derive(Serialize)]
        struct Report<'a> {
            checks: &'a [Line],
        }
        out.json(&serde_json::to_string(&Report { checks: &lines }).unwrap_or_default())?;
    } else {
        for line in &lines {
            let mark = match line.state {
                State::Ok => "ok     ",
                State::Missing => "missing",
                State::Warning => "warning",
                State::Broken => "BROKEN ",
            };
            out.line(&format!("{mark}  {:<10} {}", line.name, line.what))?;
            if !line.next.is_empty() {
                out.line(&format!("{:20}{}", "", line.next))?;
            }
        }
    }
    match lines.iter().find(|l| l.state == State::Broken) {
        None => Ok(()),
        Some(_) if args.json => Err(CliError::new(CliErrorKind::Check, "", "")),
        Some(line) => Err(CliError::new(
            CliErrorKind::Check,
            format!("{} does not work here", line.name),
            line.next.clone(),
        )),
    }
}

fn line(name: &'static str, state: State, what: String, next: impl Into<Cow<'static, str>>) -> Line {
    Line { name, state, what, next: next.into() }
}

fn terminal() -> Line {
    let (input, output) = (std::io::stdin().is_terminal(), std::io::stdout().is_terminal());
    let set = |name: &str| std::env::var(name).ok().filter(|v| !v.is_empty());
    let term = set("TERM").unwrap_or_else(|| "not set".to_owned());
    let colours = match (set("NO_COLOR"), set("COLORTERM").as_deref(), term.contains("256")) {
        (Some(_), ..) => "no colours (NO_COLOR)",
        (_, Some("truecolor" | "24bit"), _) => "true colour",
        (_, _, true) => "256 colours",
        _ => "16 colours",
    };
    let multiplexer = if set("TMUX").is_some() { ", inside tmux" } else { "" };
    if input && output {
        line("terminal", State::Ok, format!("TERM is {term}, {colours}{multiplexer}"), "")
    } else {
        line(
            "terminal",
            State::Missing,
            "standard input or output is no terminal".to_owned(),
            "everything works as text: run --headless, --plain, --json",
        )
    }
}

fn settings(config: &Config) -> Line {
    let file = config.file.display();
    if config.file.is_file() {
        line("config", State::Ok, format!("{file}"), "")
    } else {
        line(
            "config",
            State::Missing,
            format!("{file} is not there; the defaults are in force"),
            "`retrospect config init` writes it",
        )
    }
}

/// Broken sessions that are told one by one.
const TOLD: usize = 5;

fn sessions(config: &Config) -> Vec<Line> {
    let root = locate::root(config);
    let found = list(&root);
    let broken: Vec<_> = found.iter().filter_map(|(dir, read)| Some((dir, read.as_ref().err()?))).collect();
    let crashed = found
        .iter()
        .filter_map(|f| f.1.as_ref().ok())
        .filter(|(session, summary)| summary.standing(session) == Standing::Crashed)
        .count();
    let told = format!(
        "{} in {}, {crashed} crashed (they can be resumed), {} broken",
        found.len(),
        root.display(),
        broken.len()
    );
    let probe = root.join(format!(".retrospect-{}", std::process::id()));
    let writable = std::fs::create_dir_all(&root)
        .and_then(|()| crate::files::create_new(&probe).map(drop))
        .and_then(|()| std::fs::remove_file(&probe));
    let mut lines = vec![match writable {
        Err(e) => line(
            "sessions",
            State::Broken,
            format!("{}: nothing can be written there: {e}", root.display()),
            "choose another folder with --sessions or RETROSPECT_SESSIONS",
        ),
        Ok(()) => line("sessions", State::Ok, told, ""),
    }];
    let advice = "take a newer program, restore it from a copy, or move its folder away; the others are not touched by it";
    lines.extend(broken.iter().take(TOLD).map(|(dir, error)| {
        let folder = dir.display().to_string();
        let error = error.to_string();
        let what = if error.contains(&folder) { error } else { format!("{folder}: {error}") };
        line("session", State::Broken, what, advice)
    }));
    if broken.len() > TOLD {
        let more = format!("and {} more: `retrospect sessions` lists them", broken.len() - TOLD);
        lines.push(line("session", State::Broken, more, advice));
    }
    lines
}

/// Plays the preselected game to its win.
fn household() -> Line {
    let played = || -> Result<usize, String> {
        let game = crate::env::household::generate(&PRESELECTED).map_err(|e| e.to_string())?;
        let task = worlds::find("household", &PRESELECTED.to_string(), &worlds::WorldOptions::default())
            .map_err(|e| e.to_string())?;
        let mut world = worlds::open(&task, &worlds::WorldOptions::default()).map_err(|e| e.to_string())?;
        world.reset().map_err(|e| e.to_string())?;
        let mut won = false;
        for command in &game.walkthrough {
            won = world.step(command).map_err(|e| e.to_string())?.won;
        }
        if won { Ok(game.walkthrough.len()) } else { Err("its walkthrough does not win it".to_owned()) }
    };
    match played() {
        Ok(steps) => line(
            "household",
            State::Ok,
            format!("the built-in world: {PRESELECTED} won in {steps} steps"),
            "",
        ),
        Err(why) => line(
            "household",
            State::Broken,
            format!("{PRESELECTED}: {why}"),
            "report this: the built-in world must always work",
        ),
    }
}

fn alfworld(config: &Config) -> Line {
    let options = world_options(config);
    let Some(data) = &options.data else {
        return line(
            "alfworld",
            State::Missing,
            "ALFWORLD_DATA is not set".to_owned(),
            "only needed for real ALFWorld games: set it to the folder that holds json_2.1.1",
        );
    };
    match worlds::tasks("alfworld", &Selection { only: Some(1), ..Selection::default() }, &options) {
        Ok(found) => {
            let first = found.first().map_or("", |t| t.id.as_str());
            line("alfworld", State::Ok, format!("{}: games are there, such as {first}", data.display()), "")
        }
        Err(error) => line(
            "alfworld",
            State::Broken,
            error.to_string(),
            "set ALFWORLD_DATA or --data to the folder that holds json_2.1.1",
        ),
    }
}
