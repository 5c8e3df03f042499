//! The start screen: what there is to choose from, and what becomes of the choice.

mod knobs;

use super::config::{Config, ENTRIES};
use super::error::{CliError, CliErrorKind};
use super::learn::Learn;
use super::out::Out;
use super::setup::{self, Plan};
use super::watch::Shown;
use super::{args, locate, resume, screen, watch};
use crate::domain::Task;
use crate::driver::worlds::{self, WorldOptions};
use crate::journal::{Session, Standing, Summary};
use crate::method::SETTINGS;
use crate::ui::start::{News, SessionRow, StartChoice, StartModel, TaskRow, WorldRow, start};
use knobs::{CALIBRATE, CONSTITUTION, NO_PRESET, POOL, PRESET, STEPS};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use tokio::sync::mpsc::UnboundedSender;

/// Sessions that are offered, at most.
const RECENT: usize = 30;

/// Shows the start screen, and then what was chosen on it.
pub(super) fn choose(mut config: Config, look: &args::Screen, out: &mut Out) -> Result<(), CliError> {
    let breaks = super::breaks::wanted(&config, &[])?;
    let (options, problems) = screen::options(&config, look, Path::new(""), None)?;
    let said = problems.first().map(ToString::to_string);
    let plan = setup::plan(&mut config, &args::World::default(), &args::How::default())?;
    let model = model(&config, &plan);
    let (tell, told) = tokio::sync::mpsc::unbounded_channel();
    let (root, worlds) = (locate::root(&config), plan.worlds.clone());
    // Data folders and old sessions can be large: the screen is there at once and learns of them as they are read.
    std::thread::spawn(move || find(&root, &worlds, &tell));
    // A choice that cannot be is told where it was made; one that can be is planned by having been tried.
    let planned = RefCell::new(None);
    let check = |choice: &StartChoice| {
        let StartChoice::Run { env, task, changed } = choice else { return Ok(()) };
        let mut tried = config.clone();
        let made = again(&mut tried, env.clone(), task.clone(), changed);
        let made = made.map_err(|error| format!("{}; {}", error.message, error.hint))?;
        *planned.borrow_mut() = Some((tried, made));
        Ok(())
    };
    let guard = watch::guard_screen()?;
    let chosen = watch::runtime()?.block_on(start(model, &options, told, said, check)).map_err(|e| {
        CliError::new(
            CliErrorKind::File,
            format!("the terminal could not be used: {e}"),
            "use --plain, or another terminal",
        )
    })?;
    drop(guard);
    match chosen {
        None if crate::signals::pending_signal().is_some() => Err(CliError::interrupted("")),
        None => {
            // The session's screen tells them where there is one; they are told once.
            for problem in &problems {
                out.note(&problem.to_string());
            }
            Ok(())
        }
        Some(StartChoice::Resume(dir)) => {
            let branch = crate::journal::Session::open(&dir)?.last_written();
            let guard = watch::guard()?;
            let resumed = resume::take_up(
                &config,
                (&dir, &branch),
                crate::driver::TYPING,
                resume::HowResumed { attended: true, ..resume::HowResumed::default() },
            )?;
            watch::guarded(&guard, &resumed.handle);
            let shown = Shown { handle: &resumed.handle, thread: Some(resumed.thread), dir: &dir, at: None };
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
            screen::start(&config, plan, look, breaks, out)
        }
    }
}

/// The run as the person changed it.
fn again(
    config: &mut Config,
    env: String,
    task: String,
    changed: &[(String, String)],
) -> Result<Plan, CliError> {
    let mut how = args::How::default();
    let mut learn = None;
    for (name, value) in changed {
        let file = || Some(value).filter(|v| !v.is_empty()).map(PathBuf::from);
        match name.as_str() {
            PRESET => how.preset = Some(value.clone()).filter(|v| v != NO_PRESET),
            STEPS => how.max_steps = value.parse().ok(),
            POOL => how.pool = file(),
            CONSTITUTION => how.constitution = file(),
            CALIBRATE => learn = (value == "true").then(Learn::default),
            _ => match ENTRIES.iter().find(|e| e.name == name) {
                Some(entry) => config.flag(entry.name, Some(value))?,
                None => how.set.push(format!("{name}={value}")),
            },
        }
    }
    // What was changed for a method that was left again no longer counts.
    let row = config.row(how.preset.as_deref());
    let method = row.map_or_else(|| config.text("run.method").to_owned(), |r| r.method.clone());
    how.set.retain(|pair| {
        let spec =
            SETTINGS.iter().find(|s| pair.strip_prefix(s.name).is_some_and(|rest| rest.starts_with('=')));
        spec.is_none_or(|s| s.methods.is_empty() || s.methods.contains(&method.as_str()))
    });
    let world = args::World { env: Some(env), task: vec![task], ..args::World::default() };
    setup::plan_after(config, &world, &how, learn.as_ref())
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
        knobs: knobs::of_plan(config, &plan.spec),
        variants: knobs::variants(config, &plan.spec),
        profile_of: knobs::profile_of(config),
        sessions: Vec::new(),
    }
}

fn row(task: &Task) -> TaskRow {
    TaskRow { id: task.id.clone(), goal: task.goal.clone(), kind: task.task_type.clone().unwrap_or_default() }
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
    let mut rows: Vec<SessionRow> = locate::recent(root, RECENT).into_iter().filter_map(row).collect();
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
