//! The start screen: what there is to choose from, and what becomes of the choice.

use super::breaks::Break;
use super::config::{Config, ENTRIES, From, Sort};
use super::fault::{Fault, FaultKind};
use super::out::Out;
use super::setup::{self, Plan};
use super::watch::Shown;
use super::{args, place, resume, screen, watch};
use crate::domain::{RunSpec, SettingOrigin, Task};
use crate::driver::worlds::{self, WorldOptions};
use crate::journal::{Session, Standing, Summary};
use crate::method::{self, Fixed, PaperOrCode, SETTINGS};
use crate::ui::start::{Answers, Knob, News, SessionRow, StartChoice, StartModel, TaskRow, WorldRow, start};
use serde_json::Value;
use std::cell::RefCell;
use std::path::Path;
use tokio::sync::mpsc::UnboundedSender;

/// Sessions that are offered, at most.
const RECENT: usize = 30;

/// Shows the start screen, and then what was chosen on it.
pub(super) fn choose(mut config: Config, look: &args::Screen, out: &mut Out) -> Result<(), Fault> {
    let (options, problems) = screen::options(&config, look, Path::new(""), None)?;
    let said = problems.first().map(ToString::to_string);
    let plan = setup::plan(&mut config, &args::World::default(), &args::How::default())?;
    let model = model(&config, &plan);
    let (tell, told) = tokio::sync::mpsc::unbounded_channel();
    let (root, worlds) = (place::root(&config), plan.worlds.clone());
    // Data folders and old sessions can be large: the screen is there at once and learns of them as they are read.
    std::thread::spawn(move || find(&root, &worlds, &tell));
    // A choice that cannot be is told where it was made; one that can be is planned by having been tried.
    let planned = RefCell::new(None);
    let check = |choice: &StartChoice| {
        let StartChoice::Run { env, task, changed } = choice else { return Ok(()) };
        let mut tried = config.clone();
        let made = again(&mut tried, env.clone(), task.clone(), changed);
        let made = made.map_err(|fault| format!("{}; {}", fault.message, fault.hint))?;
        *planned.borrow_mut() = Some((tried, made));
        Ok(())
    };
    let chosen = watch::runtime()?.block_on(start(model, &options, told, said, check)).map_err(|e| {
        Fault::new(
            FaultKind::File,
            format!("the terminal could not be used: {e}"),
            "use --plain, or another terminal",
        )
    })?;
    let no_breaks: &[Break] = &[];
    match chosen {
        None => {
            // The session's screen tells them where there is one; they are told once.
            for problem in &problems {
                out.note(&problem.to_string());
            }
            Ok(())
        }
        Some(StartChoice::Resume(dir)) => {
            let branch = crate::journal::Session::open(&dir)?.last_written();
            let resumed = resume::take_up(&config, (&dir, &branch), crate::driver::TYPING, false)?;
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
            let (config, plan) = match (planned.into_inner(), config) {
                (Some(ready), _) => ready,
                (None, mut config) => {
                    let made = again(&mut config, env, task, &changed)?;
                    (config, made)
                }
            };
            screen::start(&config, plan, look, no_breaks, out)
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
        knobs: knobs(config, &plan.spec, None),
        of_method: of_method(config, &plan.spec),
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

/// These words, and what is set where it is none of them (`openai:MODEL`, a recording).
fn choices(config: &Config, name: &str, words: &[&str]) -> Vec<String> {
    let set = Some(config.text(name)).filter(|set| !words.contains(set));
    words.iter().copied().chain(set).map(str::to_owned).collect()
}

/// The settings for each method in each reading, so that a choice on the screen shows its own at once.
fn of_method(config: &Config, spec: &RunSpec) -> Vec<((String, String), Vec<Knob>)> {
    let readings = [("paper", PaperOrCode::Paper), ("code", PaperOrCode::Code)];
    let each = method::NAMES.iter().flat_map(|name| readings.map(|reading| (*name, reading)));
    each.map(|(name, (word, reading))| {
        let settings = method::defaults(name, reading).1;
        let of = RunSpec { method: name.to_owned(), settings, ..spec.clone() };
        ((name.to_owned(), word.to_owned()), knobs(config, &of, Some((name, word))))
    })
    .collect()
}

/// All that can be chosen for a run; with another method and reading than the configuration's where they are given.
fn knobs(config: &Config, spec: &RunSpec, other: Option<(&str, &str)>) -> Vec<Knob> {
    let list = |words: &[&str]| Answers::Words(words.iter().map(|w| (*w).to_owned()).collect());
    let answers = |name: &str| match (name, ENTRIES.iter().find(|e| e.name == name).map(|e| e.sort)) {
        ("run.actor", _) => Answers::Words(choices(config, name, &["rules", "human"])),
        ("run.mentor", _) => Answers::Words(choices(config, name, &["symbolic", "none"])),
        (_, Some(Sort::Word(words))) => list(words),
        (_, Some(Sort::Number(from))) => Answers::Number(from, u64::MAX),
        _ => Answers::Text("built in"),
    };
    let of_config = [
        "run.method",
        "run.actor",
        "run.mentor",
        "run.interface",
        "run.as",
        "run.seed",
        "run.trials",
        "run.prompts",
    ];
    let mut all: Vec<Knob> = of_config
        .into_iter()
        .map(|name| Knob {
            name: name.to_owned(),
            label: name.trim_start_matches("run.").to_owned(),
            value: match (name, other) {
                ("run.method", Some((method, _))) => method.to_owned(),
                ("run.as", Some((_, reading))) => reading.to_owned(),
                ("run.trials", _) => trials(config, &spec.method).to_string(),
                _ => value(config, name),
            },
            origin: match name {
                // How many trials a method has is from its paper.
                "run.trials" if trials_by_method(config) && method::trials(&spec.method) > 1 => {
                    SettingOrigin::Paper
                }
                _ => setup::origin(config.from(name)),
            },
            answers: answers(name),
        })
        .collect();
    for known in SETTINGS.iter() {
        let Some(setting) = spec.settings.0.get(known.name) else { continue };
        let answers = match known.default {
            Fixed::Number(_) => Answers::Number(known.range.0, known.range.1),
            Fixed::Switch(_) => list(&["true", "false"]),
            Fixed::Word(_, words) => list(words),
        };
        let value = match &setting.value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let origin: SettingOrigin = setting.origin;
        let label = known.name.replace('_', " ");
        all.push(Knob { name: known.name.to_owned(), label, value, origin, answers });
    }
    all
}

/// Nobody has said how many trials a task gets.
fn trials_by_method(config: &Config) -> bool {
    matches!(config.from("run.trials"), From::Default)
}

fn trials(config: &Config, method: &str) -> u64 {
    if trials_by_method(config) { u64::from(method::trials(method)) } else { config.number("run.trials") }
}

/// Reads what takes a while, and tells it piece by piece.
fn find(root: &Path, options: &WorldOptions, tell: &UnboundedSender<News>) {
    // The sessions come between the world that is built in and those that read data.
    let first = worlds::NAMES.iter().take(1).map(|name| News::World(world(name, options)));
    let rest = worlds::NAMES.iter().skip(1).map(|name| News::World(world(name, options)));
    let between = std::iter::once_with(|| News::Sessions(sessions(root)));
    for news in first.chain(between).chain(rest) {
        // Where the screen has gone nobody needs the rest.
        if tell.send(news).is_err() {
            return;
        }
    }
}

fn world(name: &str, options: &WorldOptions) -> WorldRow {
    let (about, tasks) = match worlds::offered(name, options) {
        Ok(tasks) if name == "household" => ("built in; --tasks takes thousands more".to_owned(), tasks),
        Ok(tasks) if name == "babyai" => ("built in; every level with any seed".to_owned(), tasks),
        Ok(tasks) => (options.data.as_ref().map(|d| d.display().to_string()).unwrap_or_default(), tasks),
        Err(error) => (format!("{error}; {}", error.next()), Vec::new()),
    };
    WorldRow { name: name.to_owned(), about, tasks: tasks.iter().map(row).collect() }
}

fn sessions(root: &Path) -> Vec<SessionRow> {
    let row = |(session, summary): (Session, Summary)| {
        let standing = match summary.standing(&session) {
            Standing::Live => return None,
            Standing::Crashed => "crashed",
            Standing::Closed if summary.over => "over",
            Standing::Closed => "stopped",
        };
        let when = session.meta.created.strftime("%m-%d %H:%M");
        Some(SessionRow {
            path: session.dir,
            goal: if summary.goal.is_empty() { session.meta.title } else { summary.goal },
            standing: standing.to_owned(),
            about: format!(
                "{when}  turn {}, {}/{} won, {}",
                summary.steps, summary.won, summary.episodes, session.meta.method
            ),
        })
    };
    let mut rows: Vec<SessionRow> = place::recent(root, RECENT).into_iter().filter_map(row).collect();
    unfinished_first(&mut rows);
    rows
}

/// What can be gone on with comes before what is only to look back at; the newest first within both.
fn unfinished_first(rows: &mut [SessionRow]) {
    rows.sort_by_key(|row| match row.standing.as_str() {
        "crashed" => 0,
        "stopped" => 1,
        _ => 2,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crashed_and_stopped_sessions_come_before_finished_ones() {
        let row = |standing: &str, goal: &str| SessionRow {
            path: goal.into(),
            goal: goal.to_owned(),
            standing: standing.to_owned(),
            about: String::new(),
        };
        let mut rows = vec![
            row("over", "a"),
            row("stopped", "b"),
            row("over", "c"),
            row("crashed", "d"),
            row("stopped", "e"),
        ];
        unfinished_first(&mut rows);
        assert_eq!(rows.iter().map(|r| r.goal.as_str()).collect::<Vec<_>>(), ["d", "b", "e", "a", "c"]);
    }
}
