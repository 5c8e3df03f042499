//! The start screen: what there is to choose from, and what becomes of the choice.

use super::config::{Config, ENTRIES, Sort};
use super::fault::{Fault, FaultKind};
use super::out::Out;
use super::setup::{self, Plan};
use super::{args, place, resume, screen, watch};
use crate::domain::{SettingOrigin, Task};
use crate::driver::worlds::{self, Selection, WorldOptions};
use crate::journal::{Standing, list};
use crate::method::{Fixed, SETTINGS};
use crate::ui::start::{Knob, News, SessionRow, StartChoice, StartModel, TaskRow, WorldRow, start};
use serde_json::Value;
use std::path::Path;
use tokio::sync::mpsc::UnboundedSender;

/// Sessions that are listed; `retrospect sessions` lists all.
const LISTED: usize = 20;

/// Shows the start screen over the preselected run, and does what was chosen.
pub(super) fn choose(mut config: Config, plan: Plan, look: &args::Screen, mut out: Out) -> Result<(), Fault> {
    let model = model(&config, &plan);
    let options = screen::bare_options(&config, look, &mut out)?;
    let (tell, told) = tokio::sync::mpsc::unbounded_channel();
    let (root, worlds) = (place::root(&config), plan.worlds.clone());
    let first = plan.spec.tasks.first().cloned();
    // Data folders and old sessions can be large: the screen is there at once and learns of them as they are read.
    std::thread::spawn(move || find(&root, &worlds, first.as_ref(), &tell));
    let chosen = watch::runtime()?.block_on(start(model, &options, told)).map_err(|error| {
        Fault::new(
            FaultKind::File,
            format!("the terminal could not be used: {error}"),
            "use --plain, or another terminal",
        )
    })?;
    match chosen {
        None => Ok(()),
        Some(StartChoice::Resume(path)) => {
            let path = Some(path.display().to_string());
            let drive = args::Drive::default();
            resume::resume(config, &args::Resume { path, last: false, drive, screen: look.clone() }, out)
        }
        Some(StartChoice::Run { env, task, changed }) => {
            let same = plan.spec.tasks.first().is_some_and(|t| t.env == env && t.id == task);
            let plan =
                if same && changed.is_empty() { plan } else { again(&mut config, env, task, &changed)? };
            screen::start(&config, plan, look, &[], &mut out)
        }
    }
}

/// The run as the person changed it.
fn again(
    config: &mut Config,
    env: String,
    task: String,
    changed: &[(String, String)],
) -> Result<Plan, Fault> {
    let mut how = args::How::default();
    for (name, value) in changed {
        match ENTRIES.iter().find(|e| e.name == name) {
            Some(entry) => config.flag(entry.name, Some(value))?,
            None => how.set.push(format!("{name}={value}")),
        }
    }
    // What was changed for a method that was left again no longer counts.
    let method = config.text("run.method").to_owned();
    how.set.retain(|pair| {
        let spec =
            SETTINGS.iter().find(|s| pair.strip_prefix(s.name).is_some_and(|rest| rest.starts_with('=')));
        spec.is_none_or(|s| s.methods.is_empty() || s.methods.contains(&method.as_str()))
    });
    setup::plan(config, &args::World { env: Some(env), task: vec![task], ..args::World::default() }, &how)
}

/// What is known at once: the preselected task and the settings.
fn model(config: &Config, plan: &Plan) -> StartModel {
    let world = |name: &&str| WorldRow {
        name: (*name).to_owned(),
        about: "being read".to_owned(),
        tasks: plan.spec.tasks.iter().filter(|t| t.env == *name).take(1).map(row).collect(),
    };
    let env = plan.spec.tasks.first().map_or("", |t| t.env.as_str());
    StartModel {
        worlds: worlds::NAMES.iter().map(world).collect(),
        world: worlds::NAMES.iter().position(|n| *n == env).unwrap_or(0),
        task: 0,
        knobs: knobs(config, plan),
        sessions: Vec::new(),
    }
}

fn row(task: &Task) -> TaskRow {
    TaskRow { id: task.id.clone(), goal: task.goal.clone(), kind: task.task_type.clone().unwrap_or_default() }
}

fn value(config: &Config, name: &str) -> String {
    match ENTRIES.iter().find(|e| e.name == name).map(|e| e.sort) {
        Some(Sort::Number(_)) => config.number(name).to_string(),
        _ => config.text(name).to_owned(),
    }
}

fn knobs(config: &Config, plan: &Plan) -> Vec<Knob> {
    let words = |name: &str| match ENTRIES.iter().find(|e| e.name == name).map(|e| e.sort) {
        Some(Sort::Word(words)) => words.iter().map(|w| (*w).to_owned()).collect(),
        _ => match name {
            "run.actor" => vec!["rules".to_owned(), "human".to_owned()],
            "run.mentor" => vec!["symbolic".to_owned(), "none".to_owned()],
            _ => Vec::new(),
        },
    };
    let of_config = ["run.method", "run.actor", "run.mentor", "run.interface", "run.seed", "run.trials"];
    let mut all: Vec<Knob> = of_config
        .into_iter()
        .map(|name| Knob {
            name: name.to_owned(),
            label: name.trim_start_matches("run.").to_owned(),
            value: value(config, name),
            origin: setup::origin(config.from(name)),
            choices: words(name),
        })
        .collect();
    for spec in SETTINGS {
        let Some(setting) = plan.spec.settings.0.get(spec.name) else { continue };
        let choices = match spec.default {
            Fixed::Number(_) => Vec::new(),
            Fixed::Switch(_) => vec!["true".to_owned(), "false".to_owned()],
            Fixed::Word(_, words) => words.iter().map(|w| (*w).to_owned()).collect(),
        };
        let value = match &setting.value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let origin: SettingOrigin = setting.origin;
        let label = spec.name.replace('_', " ");
        all.push(Knob { name: spec.name.to_owned(), label, value, origin, choices });
    }
    all
}

/// Reads what takes a while, and tells it piece by piece.
fn find(root: &Path, options: &WorldOptions, first: Option<&Task>, tell: &UnboundedSender<News>) {
    // Where the screen has gone nobody needs the rest.
    if tell.send(News::World(world("household", options, first))).is_err() {
        return;
    }
    if tell.send(News::Sessions(sessions(root))).is_err() {
        return;
    }
    for name in worlds::NAMES.iter().filter(|n| **n != "household") {
        if tell.send(News::World(world(name, options, first))).is_err() {
            return;
        }
    }
}

fn world(name: &str, options: &WorldOptions, first: Option<&Task>) -> WorldRow {
    let mut found = worlds::tasks(name, &Selection::default(), options);
    // The preselected task need not be one of those that are listed.
    if let (Ok(tasks), Some(first)) = (&mut found, first.filter(|t| t.env == name))
        && !tasks.iter().any(|t| t.id == first.id)
    {
        let only = Selection { tasks: vec![first.id.clone()], ..Selection::default() };
        let row = worlds::tasks(name, &only, options).ok().and_then(|t| t.into_iter().next());
        tasks.insert(0, row.unwrap_or_else(|| first.clone()));
    }
    let (about, tasks) = match found {
        Ok(tasks) if name == "household" => ("built in".to_owned(), tasks),
        Ok(tasks) => (format!("{} games", tasks.len()), tasks),
        Err(error) => (format!("{error}; {}", error.next()), Vec::new()),
    };
    WorldRow { name: name.to_owned(), about, tasks: tasks.iter().map(row).collect() }
}

fn sessions(root: &Path) -> Vec<SessionRow> {
    let mut rows = Vec::new();
    for (path, read) in list(root) {
        let Ok((session, summary)) = read else { continue };
        let standing = summary.standing(&session);
        if standing == Standing::Live || summary.over {
            continue;
        }
        let about = format!(
            "step {}, {} {} {}",
            summary.steps,
            session.meta.method,
            session.meta.actor,
            session.meta.created.strftime("%Y-%m-%d %H:%M")
        );
        let goal = if summary.goal.is_empty() { name_of(&path) } else { summary.goal };
        let standing = if standing == Standing::Crashed { "crashed" } else { "stopped" }.to_owned();
        rows.push(SessionRow { path, goal, standing, about });
        if rows.len() >= LISTED {
            break;
        }
    }
    rows
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
}
