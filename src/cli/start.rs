//! The start screen: what there is to choose from, and what becomes of the choice.

mod setting_rows;

use super::calibration_setup::CalibrationOptions;
use super::config::{Config, ENTRIES};
use super::error::{CliError, CliErrorKind};
use super::headless::ScreenSession;
use super::output::Output;
use super::setup::{self, Plan};
use super::{args, headless, locate, resume, screen};
use crate::domain::Task;
use crate::driver::worlds::{self, WorldOptions};
use crate::journal::{Session, SessionStatus, Summary};
use crate::method::SETTINGS;
use crate::ui::start::{
    EnvironmentRow, SessionRow, StartChoice, StartModel, StartUpdate, TaskRow, run_start_screen,
};
use setting_rows::{CALIBRATE, CONSTITUTION, NO_PRESET, POOL, PRESET, STEPS};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use tokio::sync::mpsc::UnboundedSender;

/// Sessions that are offered, at most.
const MAX_SESSIONS: usize = 30;

/// Shows the start screen, and then what was chosen on it.
pub(super) fn choose_and_run(
    mut config: Config,
    look: &args::ScreenArgs,
    out: &mut Output,
) -> Result<(), CliError> {
    let breaks = super::breakpoints::initial_breakpoints(&config, &[])?;
    let (options, problems) = screen::screen_options(&config, look, Path::new(""), None)?;
    let said = problems.first().map(ToString::to_string);
    let plan = setup::plan_run(&mut config, &args::TaskArgs::default(), &args::MethodArgs::default())?;
    let model = start_model(&config, &plan);
    let (tell, told) = tokio::sync::mpsc::unbounded_channel();
    let (root, worlds) = (locate::sessions_folder(&config), plan.world_options.clone());
    // Data folders and old sessions can be large: the screen is there at once and learns of them as they are read.
    std::thread::spawn(move || load_lists(&root, &worlds, &tell));
    // A choice that cannot be is told where it was made; one that can be is planned by having been tried.
    let planned = RefCell::new(None);
    let check = |choice: &StartChoice| {
        let StartChoice::Run { env, task, changed } = choice else { return Ok(()) };
        let mut tried = config.clone();
        let made = plan_from_choices(&mut tried, env.clone(), task.clone(), changed);
        let made = made.map_err(|error| format!("{}; {}", error.message, error.hint))?;
        *planned.borrow_mut() = Some((tried, made));
        Ok(())
    };
    let guard = headless::guard_screen_signals()?;
    let chosen = headless::new_runtime()?
        .block_on(run_start_screen(model, &options, told, said, check))
        .map_err(|e| {
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
                out.print_note(&problem.to_string());
            }
            Ok(())
        }
        Some(StartChoice::Resume(dir)) => {
            let branch = crate::journal::Session::open(&dir)?.last_written();
            let guard = headless::guard_session_signals()?;
            let resumed = resume::resume_session(
                &config,
                (&dir, &branch),
                crate::driver::TYPING_DELAY,
                resume::HowResumed { attended: true, ..resume::HowResumed::default() },
            )?;
            headless::close_on_signal(&guard, &resumed.handle);
            let shown = ScreenSession {
                handle: &resumed.handle,
                thread: Some(resumed.thread),
                dir: &dir,
                position: None,
            };
            screen::show_session(&config, shown, look, out)
        }
        Some(StartChoice::Run { env, task, changed }) => {
            let (config, plan) = match (planned.into_inner(), config) {
                (Some(ready), _) => ready,
                (None, mut config) => {
                    let made = plan_from_choices(&mut config, env, task, &changed)?;
                    (config, made)
                }
            };
            screen::start_run(&config, plan, look, breaks, out)
        }
    }
}

/// The run as the person changed it.
fn plan_from_choices(
    config: &mut Config,
    env: String,
    task: String,
    changed: &[(String, String)],
) -> Result<Plan, CliError> {
    let mut how = args::MethodArgs::default();
    let mut learn = None;
    for (name, value) in changed {
        let file = || Some(value).filter(|v| !v.is_empty()).map(PathBuf::from);
        match name.as_str() {
            PRESET => how.preset = Some(value.clone()).filter(|v| v != NO_PRESET),
            STEPS => how.max_steps = value.parse().ok(),
            POOL => how.pool = file(),
            CONSTITUTION => how.constitution = file(),
            CALIBRATE => learn = (value == "true").then(CalibrationOptions::default),
            _ => match ENTRIES.iter().find(|e| e.name == name) {
                Some(entry) => config.set_flag(entry.name, Some(value))?,
                None => how.set.push(format!("{name}={value}")),
            },
        }
    }
    // What was changed for a method that was left again no longer counts.
    let row = config.built_in_preset(how.preset.as_deref());
    let method = row.map_or_else(|| config.text("run.method").to_owned(), |r| r.method.clone());
    how.set.retain(|pair| {
        let spec =
            SETTINGS.iter().find(|s| pair.strip_prefix(s.name).is_some_and(|rest| rest.starts_with('=')));
        spec.is_none_or(|s| s.methods.is_empty() || s.methods.contains(&method.as_str()))
    });
    let world = args::TaskArgs { env: Some(env), task: vec![task], ..args::TaskArgs::default() };
    setup::plan_run_with_calibration(config, &world, &how, learn.as_ref())
}

/// What is known at once: the preselected task and the settings.
fn start_model(config: &Config, plan: &Plan) -> StartModel {
    let world = |name: &&str| EnvironmentRow {
        name: (*name).to_owned(),
        description: "being read".to_owned(),
        tasks: plan.spec.tasks.iter().filter(|t| t.env == *name).take(1).map(task_row).collect(),
    };
    let env = plan.spec.tasks.first().map_or("", |t| t.env.as_str());
    StartModel {
        environments: worlds::NAMES.iter().map(world).collect(),
        environment: worlds::NAMES.iter().position(|n| *n == env).unwrap_or(0),
        task: 0,
        knobs: setting_rows::initial_rows(config, &plan.spec),
        variants: setting_rows::row_variants(config, &plan.spec),
        model_profiles: setting_rows::profile_by_model(config),
        sessions: Vec::new(),
    }
}

fn task_row(task: &Task) -> TaskRow {
    TaskRow {
        id: task.id.clone(),
        goal: task.goal.clone(),
        task_type: task.task_type.clone().unwrap_or_default(),
    }
}

/// Reads what takes a while, and tells it piece by piece.
fn load_lists(root: &Path, options: &WorldOptions, tell: &UnboundedSender<StartUpdate>) {
    // The sessions come between the world that is built in and those that read data.
    let first = worlds::NAMES.iter().take(1).map(|name| StartUpdate::Environment(world_row(name, options)));
    let rest = worlds::NAMES.iter().skip(1).map(|name| StartUpdate::Environment(world_row(name, options)));
    let between = std::iter::once_with(|| StartUpdate::Sessions(session_rows(root)));
    for news in first.chain(between).chain(rest) {
        // Where the screen has gone nobody needs the rest.
        if tell.send(news).is_err() {
            return;
        }
    }
}

fn world_row(name: &str, options: &WorldOptions) -> EnvironmentRow {
    let (about, tasks) = match worlds::list_offered_tasks(name, options) {
        Ok(tasks) if name == "household" => ("built in; --tasks takes thousands more".to_owned(), tasks),
        Ok(tasks) if name == "babyai" => ("built in; every level with any seed".to_owned(), tasks),
        Ok(tasks) => (options.data.as_ref().map(|d| d.display().to_string()).unwrap_or_default(), tasks),
        Err(error) => (format!("{error}; {}", error.hint()), Vec::new()),
    };
    EnvironmentRow { name: name.to_owned(), description: about, tasks: tasks.iter().map(task_row).collect() }
}

fn session_rows(root: &Path) -> Vec<SessionRow> {
    let row = |(session, summary): (Session, Summary)| {
        let standing = match summary.status(&session) {
            SessionStatus::Live => return None,
            SessionStatus::Crashed => "crashed",
            SessionStatus::Closed if summary.over => "over",
            SessionStatus::Closed => "stopped",
        };
        let when = session.meta.created.strftime("%m-%d %H:%M");
        Some(SessionRow {
            path: session.dir,
            goal: if summary.goal.is_empty() { session.meta.title } else { summary.goal },
            status: standing.to_owned(),
            about: format!(
                "{when}  turn {}, {}/{} won, {}",
                summary.steps, summary.won, summary.episodes, session.meta.method
            ),
        })
    };
    let mut rows: Vec<SessionRow> =
        locate::recent_sessions(root, MAX_SESSIONS).into_iter().filter_map(row).collect();
    unfinished_first(&mut rows);
    rows
}

/// What can be gone on with comes before what is only to look back at; the newest first within both.
fn unfinished_first(rows: &mut [SessionRow]) {
    rows.sort_by_key(|row| match row.status.as_str() {
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
            status: standing.to_owned(),
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
