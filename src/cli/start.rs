//! The start screen: collects the choices and runs the one that is made.

mod setting_rows;

use super::calibration_setup::CalibrationOptions;
use super::config::{Config, find_entry, keys};
use super::error::{CliError, CliErrorKind};
use super::headless::ScreenSession;
use super::output::Output;
use super::setup::{self, Plan};
use super::{args, headless, locate, resume, screen};
use crate::catalog::{
    DEFAULT_ENVIRONMENT, ENVIRONMENT_NAMES, SETTINGS, find_environment, methods_with_setting, short_goal,
};
use crate::domain::{Task, pluralize};
use crate::driver::{Signal, worlds};
use crate::env::TaskOptions;
use crate::journal::{Session, SessionStatus, Summary};
use crate::prompt::interface::goal_from_reset;
use crate::text::with_program_name;
use crate::ui::start::{
    EnvironmentRow, NO_PRESET, PreviewKey, SessionRow, StartChoice, StartModel, StartUpdate, TaskPreview,
    TaskRow, run_start_screen,
};
use setting_rows::{CALIBRATE, CONSTITUTION, POOL, PRESET};
use std::path::{Path, PathBuf};
use tokio::sync::mpsc::UnboundedSender;

/// Maximum number of sessions listed.
const MAX_SESSIONS: usize = 30;

/// What was chosen on the start screen, with all it needs.
enum Chosen {
    Run(Box<(Config, Plan)>),
    /// A session's folder.
    Session(PathBuf),
}

/// Shows the start screen, then the session that was chosen on it.
pub(super) fn choose_and_run(
    mut config: Config,
    screen_args: &args::ScreenArgs,
    out: &mut Output,
) -> Result<(), CliError> {
    let breaks = super::breakpoints::initial_breakpoints(&config, &[])?;
    let (options, problems) = screen::screen_options(&config, screen_args, (Path::new(""), None), None)?;
    let notice = problems.first().map(ToString::to_string);
    let env = config.get(keys::ENV).to_owned();
    let plan = plan_first_run(&mut config)?;
    let model = start_model(&config, &plan, &env);
    let settings_for = setting_rows::settings_source(&config, &plan.spec);
    // Unbounded: one message per environment, and the sessions.
    let (sender, updates) = tokio::sync::mpsc::unbounded_channel();
    let (root, worlds) = (locate::sessions_folder(&config), plan.world_options.clone());
    // Data folders and sessions can be large: the screen opens at once and its lists fill as they are read.
    std::thread::spawn(move || load_lists(&root, &worlds, &sender));
    let world_options = plan.world_options.clone();
    let preview = move |key: &PreviewKey| preview_task(key, &world_options);
    // An invalid choice is reported on the start screen; a valid one brings its plan.
    let base_config = config.clone();
    let prepare = move |choice: &StartChoice| {
        let (env, task, changed) = match choice {
            StartChoice::Run { env, task, changed } => (env, task, changed),
            StartChoice::Resume(dir) => return Ok(Chosen::Session(dir.clone())),
        };
        let mut config = base_config.clone();
        let plan = plan_from_choices(&mut config, env, task.clone(), changed);
        let plan = plan.map_err(|error| format!("{}; {}", error.message, error.hint))?;
        Ok(Chosen::Run(Box::new((config, plan))))
    };
    let guard = headless::guard_screen_signals()?;
    let chosen = headless::new_runtime()?
        .block_on(run_start_screen((model, settings_for), options, updates, notice, prepare, preview))
        .map_err(|e| {
            CliError::new(
                CliErrorKind::File,
                format!("can't use the terminal: {e}"),
                "use --plain, or another terminal",
            )
        })?;
    drop(guard);
    match chosen {
        None if crate::signals::pending_signal().is_some() => Err(CliError::interrupted("")),
        None => {
            // If a session is opened, its screen reports these problems.
            for problem in &problems {
                out.print_note(&problem.to_string());
            }
            Ok(())
        }
        Some(Chosen::Session(dir)) => {
            let branch = crate::journal::Session::open(&dir)?.last_written();
            let guard = headless::guard_session_signals()?;
            let resumed = resume::resume_session(
                &config,
                (&dir, &branch),
                crate::driver::TYPING_DELAY,
                resume::ResumeOptions { attended: true, ..resume::ResumeOptions::default() },
            )?;
            headless::close_on_signal(&guard, &resumed.handle);
            for warning in resume::setting_warnings(&resumed, &[]) {
                resumed.handle.store.signal(Signal::Notice(warning));
            }
            let shown = ScreenSession {
                handle: &resumed.handle,
                thread: Some(resumed.thread),
                dir: &dir,
                demo: None,
                is_demo: false,
                position: None,
            };
            screen::show_session(&config, shown, screen_args, out)
        }
        Some(Chosen::Run(planned)) => {
            let (config, plan) = *planned;
            screen::start_run(&config, plan, screen_args, breaks, out)
        }
    }
}

/// Plans the run that is preselected. An environment without a default task, or without its data, has none until its tasks
/// are listed: then the settings are those for the built-in environment.
fn plan_first_run(config: &mut Config) -> Result<Plan, CliError> {
    let plan = |config: &mut Config| {
        setup::plan_run(config, &args::TaskArgs::default(), &args::MethodArgs::default())
    };
    plan(config).or_else(|_| {
        // Whatever else is wrong fails this plan as well.
        config.set_flag(&keys::ENV, Some(DEFAULT_ENVIRONMENT.name))?;
        plan(config)
    })
}

/// Plans the run with the settings changed on the start screen.
fn plan_from_choices(
    config: &mut Config,
    env: &str,
    task: String,
    changed: &[(String, String)],
) -> Result<Plan, CliError> {
    let mut method_args = args::MethodArgs::default();
    let mut calibration = None;
    for (name, value) in changed {
        let file = || Some(value).filter(|v| !v.is_empty()).map(PathBuf::from);
        match name.as_str() {
            PRESET => method_args.preset = Some(value.clone()).filter(|v| v != NO_PRESET),
            POOL => method_args.pool = file(),
            CONSTITUTION => method_args.constitution = file(),
            CALIBRATE => calibration = (value == "true").then(CalibrationOptions::default),
            _ => match find_entry(name) {
                Some(entry) => config.set_flag(entry, Some(value))?,
                None => method_args.set.push(format!("{name}={value}")),
            },
        }
    }
    // Ignore settings changed for a method that is no longer selected.
    let row = config.built_in_preset(method_args.preset.as_deref());
    let method = row.map_or_else(|| config.get(keys::METHOD).to_owned(), |preset| preset.method.to_owned());
    method_args.set.retain(|pair| {
        let spec =
            SETTINGS.iter().find(|s| pair.strip_prefix(s.name).is_some_and(|rest| rest.starts_with('=')));
        let methods = spec.and_then(|s| methods_with_setting(s.name));
        methods.is_none_or(|names| names.contains(&method.as_str()))
    });
    config.set_flag(&keys::ENV, Some(env))?;
    let world = args::TaskArgs { task: vec![task], ..args::TaskArgs::default() };
    setup::plan_run_with_calibration(config, &world, &method_args, calibration.as_ref())
}

/// Returns the model with what is known at once: the preselected environment, its task if there is one, and the settings.
fn start_model(config: &Config, plan: &Plan, env: &str) -> StartModel {
    let environment_row = |name: &&str| EnvironmentRow {
        name: (*name).to_owned(),
        description: "loading".to_owned(),
        tasks: plan.spec.tasks.iter().filter(|t| t.env == *name).take(1).map(task_row).collect(),
    };
    StartModel {
        session_count: 0,
        environments: ENVIRONMENT_NAMES.iter().map(environment_row).collect(),
        environment: ENVIRONMENT_NAMES.iter().position(|n| *n == env).unwrap_or(0),
        task: 0,
        settings: setting_rows::initial_rows(config, &plan.spec),
        model_profiles: setting_rows::profile_by_model(config),
        sessions: Vec::new(),
    }
}

fn task_row(task: &Task) -> TaskRow {
    let task_type = task.task_type.as_deref().unwrap_or_default();
    let short_type =
        find_environment(&task.env).map_or(task_type, |entry| (entry.task_facts.short_type)(task_type));
    let goal = short_goal(&task.env, &task.goal).into_owned();
    TaskRow { id: task.id.clone(), goal, task_type: short_type.to_owned() }
}

/// Returns what the environment says at the start of a task, or why that can't be shown.
fn preview_task((env, id): &PreviewKey, options: &TaskOptions) -> Result<TaskPreview, String> {
    let task = worlds::find(env, id, options)
        .map_err(|error| with_program_name(&format!("{error}; {}", error.hint())).into_owned())?;
    let first = worlds::first_result(&task, options).map_err(|error| error.to_string())?;
    Ok(TaskPreview { goal: goal_from_reset(&first), text: first.observation, shown: first.shown })
}

/// Reads tasks and sessions, which can take a while, and sends them piece by piece.
fn load_lists(root: &Path, options: &TaskOptions, sender: &UnboundedSender<StartUpdate>) {
    // Order: the built-in environment, the sessions, then the environments that read data.
    let first =
        ENVIRONMENT_NAMES.iter().take(1).map(|name| StartUpdate::Environment(world_row(name, options)));
    let rest =
        ENVIRONMENT_NAMES.iter().skip(1).map(|name| StartUpdate::Environment(world_row(name, options)));
    let sessions = std::iter::once_with(|| StartUpdate::Sessions {
        rows: session_rows(root),
        all: locate::session_folders(root).len(),
    });
    for update in first.chain(sessions).chain(rest) {
        // The screen has closed: the rest is not needed.
        if sender.send(update).is_err() {
            return;
        }
    }
}

fn world_row(name: &str, options: &TaskOptions) -> EnvironmentRow {
    let (description, tasks) = match worlds::list_offered_tasks(name, options) {
        Ok(tasks) => {
            let text = find_environment(name).and_then(|entry| entry.task_facts.start_text);
            let data = || options.data.as_ref().map(|d| d.display().to_string()).unwrap_or_default();
            (text.map_or_else(data, str::to_owned), tasks)
        }
        Err(error) => (with_program_name(&format!("{error}; {}", error.hint())).into_owned(), Vec::new()),
    };
    EnvironmentRow { name: name.to_owned(), description, tasks: tasks.iter().map(task_row).collect() }
}

fn session_rows(root: &Path) -> Vec<SessionRow> {
    let row = |(session, summary): (Session, Summary)| {
        let status = match summary.status(&session) {
            SessionStatus::Live => return None,
            SessionStatus::Crashed => "crashed",
            SessionStatus::Closed if summary.over => "finished",
            SessionStatus::Closed => "stopped",
        };
        let when = session.meta.created.strftime("%m-%d %H:%M");
        Some(SessionRow {
            path: session.dir,
            // The number of tasks alone tells few runs apart.
            goal: match locate::several_tasks(&session.meta) {
                Some(tasks) => format!("{tasks}, {}", session.meta.method),
                None => locate::run_label(&session.meta, &summary.goal),
            },
            status: status.to_owned(),
            branches: summary.branches,
            about: match summary.episodes {
                0 => format!("step {}  {when}", summary.steps),
                _ => format!("{}  {when}", summary.describe_wins()),
            },
            details: format!(
                "{}; {}, actor {}",
                pluralize(summary.steps as u64, "step"),
                session.meta.method,
                session.meta.actor
            ),
        })
    };
    let mut rows: Vec<SessionRow> =
        locate::recent_sessions(root, MAX_SESSIONS).flatten().filter_map(row).collect();
    unfinished_first(&mut rows);
    rows
}

/// Sorts sessions that can be resumed before finished ones, keeping the order (newest first) within each group.
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

    /// Regression: with an environment that has no default task, the start screen ended with an error about tasks.
    #[test]
    fn the_start_screen_opens_with_an_environment_that_has_no_default_task() {
        let file = tempfile::tempdir().unwrap();
        let file = file.path().join("config.toml");
        let mut checked = 0;
        for env in ENVIRONMENT_NAMES.iter().copied() {
            let mut config = Config::without_file(Some(&file), |_| None);
            config.set_flag(&keys::ENV, Some(env)).unwrap();
            let plan = plan_first_run(&mut config).unwrap();
            let model = start_model(&config, &plan, env);
            let row = &model.environments[model.environment];
            assert_eq!(row.name, env);
            checked += usize::from(row.tasks.is_empty());
        }
        assert!(checked > 0, "some environment has no default task");
        let mut config = Config::without_file(Some(&file), |_| None);
        config.set_flag(&keys::ACTOR, Some("nobody")).unwrap();
        assert!(plan_first_run(&mut config).is_err(), "other mistakes are reported");
    }

    #[test]
    fn crashed_and_stopped_sessions_come_before_finished_ones() {
        let row = |status: &str, goal: &str| SessionRow {
            path: goal.into(),
            goal: goal.to_owned(),
            status: status.to_owned(),
            branches: 1,
            about: String::new(),
            details: String::new(),
        };
        let mut rows = vec![
            row("finished", "a"),
            row("stopped", "b"),
            row("finished", "c"),
            row("crashed", "d"),
            row("stopped", "e"),
        ];
        unfinished_first(&mut rows);
        assert_eq!(rows.iter().map(|r| r.goal.as_str()).collect::<Vec<_>>(), ["d", "b", "e", "a", "c"]);
    }
}
