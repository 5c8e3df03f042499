//! What the start screen offers, and what becomes of the choice.

use super::args::{self, How, World};
use super::breaks::Break;
use super::config::{Config, ENTRIES, From, Sort};
use super::fault::{Fault, FaultKind};
use super::out::Out;
use super::watch::Shown;
use super::{place, resume, screen, setup, watch};
use crate::domain::SettingOrigin;
use crate::driver::worlds;
use crate::env::household::PRESELECTED;
use crate::journal::Standing;
use crate::ui::start::{Knob, SessionRow, StartChoice, StartModel, TaskRow, WorldRow, start};
use std::path::Path;

/// Sessions that are offered, at most.
const RECENT: usize = 30;

/// Shows the start screen, and then what was chosen on it.
pub(super) fn choose(mut config: Config, look: &args::Screen, out: &mut Out) -> Result<(), Fault> {
    let (options, problems) = screen::options(&config, look, Path::new(""), None)?;
    for problem in &problems {
        out.note(&problem.to_string());
    }
    let model = model(&config);
    let chosen = watch::runtime()?.block_on(start(model, &options)).map_err(|e| {
        Fault::new(
            FaultKind::File,
            format!("the terminal could not be used: {e}"),
            "use --plain, or another terminal",
        )
    })?;
    let no_breaks: &[Break] = &[];
    match chosen {
        None => Ok(()),
        Some(StartChoice::Resume(dir)) => {
            let resumed = resume::take_up(&config, &dir)?;
            let shown = Shown {
                handle: &resumed.handle,
                thread: Some(resumed.thread),
                dir: &dir,
                at: None,
                breaks: no_breaks,
            };
            screen::show(&config, shown, look, out)
        }
        Some(StartChoice::Run { env, task, changed }) => {
            for (name, value) in &changed {
                if let Some(entry) = ENTRIES.iter().find(|e| e.name == name) {
                    config.flag(entry.name, Some(value))?;
                }
            }
            let world = World { env: Some(env), task: vec![task], ..World::default() };
            let plan = setup::plan(&mut config, &world, &How::default())?;
            screen::start(&config, plan, look, no_breaks, out)
        }
    }
}

fn model(config: &Config) -> StartModel {
    let options = setup::world_options(config);
    let preselected = PRESELECTED.to_string();
    let rows: Vec<WorldRow> = worlds::NAMES
        .iter()
        .map(|name| match worlds::offered(name, &options) {
            Ok(tasks) => WorldRow {
                name: (*name).to_owned(),
                about: if *name == "household" {
                    "built in; --tasks takes thousands more".to_owned()
                } else {
                    options.data.as_ref().map(|d| d.display().to_string()).unwrap_or_default()
                },
                tasks: tasks
                    .into_iter()
                    .map(|t| TaskRow { id: t.id, goal: t.goal, kind: t.task_type.unwrap_or_default() })
                    .collect(),
            },
            Err(error) => WorldRow {
                name: (*name).to_owned(),
                about: format!("{error}; {}", error.next()),
                tasks: Vec::new(),
            },
        })
        .collect();
    let wanted = config.text("run.env");
    let world = rows.iter().position(|r| r.name == wanted && !r.tasks.is_empty()).unwrap_or(0);
    let task = rows.get(world).and_then(|r| r.tasks.iter().position(|t| t.id == preselected)).unwrap_or(0);
    StartModel { world, task, worlds: rows, knobs: knobs(config), sessions: sessions(config) }
}

fn knobs(config: &Config) -> Vec<Knob> {
    let shown =
        ["run.method", "run.actor", "run.mentor", "run.interface", "run.as", "run.seed", "run.trials"];
    shown
        .into_iter()
        .filter_map(|name| {
            let entry = ENTRIES.iter().find(|e| e.name == name)?;
            let choices: &[&str] = match (entry.sort, name) {
                (Sort::Word(words), _) => words,
                (_, "run.actor") => &["rules", "human"],
                (_, "run.mentor") => &["symbolic", "none"],
                _ => &[],
            };
            let value = match entry.sort {
                Sort::Number(_) => config.number(name).to_string(),
                _ => config.text(name).to_owned(),
            };
            Some(Knob {
                name: name.to_owned(),
                label: name.trim_start_matches("run.").to_owned(),
                value,
                origin: match config.from(name) {
                    From::Default => SettingOrigin::Ours,
                    From::File(..) | From::Variable(_) => SettingOrigin::Config,
                    From::Flag(_) => SettingOrigin::Flag,
                },
                choices: choices.iter().map(|c| (*c).to_owned()).collect(),
            })
        })
        .collect()
}

fn sessions(config: &Config) -> Vec<SessionRow> {
    let read = place::recent(&place::root(config), RECENT);
    read.into_iter()
        .filter_map(|(session, summary)| {
            let standing = match summary.standing(&session) {
                Standing::Live => return None,
                Standing::Crashed => "crashed",
                Standing::Closed if summary.over => "over",
                Standing::Closed => "stopped",
            };
            let when = session.meta.created.strftime("%Y-%m-%d %H:%M").to_string();
            Some(SessionRow {
                path: session.dir,
                goal: if summary.goal.is_empty() { session.meta.title } else { summary.goal },
                standing: standing.to_owned(),
                about: format!(
                    "{} of {} won, step {}, {}, {when}",
                    summary.won, summary.episodes, summary.steps, session.meta.method
                ),
            })
        })
        .collect()
}
