//! Starts the screen for a verb: options, theme and keymap, and what follows when it closes.

mod chapters;
pub(super) mod picture;
mod private;
mod stored_measurement;
mod themes;

use chapters::{captions, last_event_of_step, place_chapters};
use private::private_texts;
use themes::{background_themes, list_themes, load_theme};

use super::config::keys::GlyphSet;
use super::config::{Config, keys};
use super::error::{CliError, CliErrorKind, resume_command};
use super::headless::ScreenSession;
use super::host_services::host_services;
use super::locate;
use super::models::server_flags;
use super::output::Output;
use super::setup::{
    Plan, are_templates_current, build_run_config, check_first_task_playable, load_templates, session_meta,
};
use super::shipped_demos::ShippedDemo;
use super::{args, bounded, headless, seen_hints};
use crate::catalog::run_notes;
use crate::domain::{RoleSource, Seq};
use crate::driver::{Driver, Handle, Health, Signal, TYPING_DELAY, worlds};
use crate::engine::Command;
use crate::prompt::Templates;
use crate::report::recorded_private_texts;
use crate::ui::Cursor;
use crate::ui::keymap::Keymap;
use crate::ui::source::Problem;
use crate::ui::theme::TerminalCapabilities;
use crate::ui::{Exit, FirstRunHint, Options, glyphs, reported_background};
use std::path::Path;
use std::sync::Arc;

/// Starts a planned run, paused at its first proposal, on the screen.
pub(super) fn start_run(
    config: &Config,
    plan: Plan,
    screen_args: &args::ScreenArgs,
    breaks: Vec<String>,
    out: &mut Output,
) -> Result<(), CliError> {
    // Check the screen and the first task before a session is created. A program that takes seconds to start does so behind the
    // screen, which shows what is awaited.
    load_theme(config, screen_args.theme.as_deref())?;
    load_keymap(config)?;
    if !plan.spec.tasks.first().is_some_and(worlds::starts_slowly) {
        check_first_task_playable(&plan)?;
    }
    let root = locate::sessions_folder(config);
    // A person is watching, so the rule-based actor types its replies.
    let mut run_config = build_run_config(&plan.spec, config, &plan.world_options, TYPING_DELAY)?;
    run_config.replay_start.clone_from(&plan.run_config.replay_start);
    run_config.breakpoints = breaks;
    let guard = headless::guard_session_signals()?;
    let notes: Vec<String> =
        run_notes(&plan.spec).into_iter().map(|(name, text)| format!("{name}: {text}")).collect();
    let (handle, thread, session) =
        Driver::start(&root, session_meta(&plan.spec, 0), plan.spec, plan.lessons, run_config)?;
    headless::close_on_signal(&guard, &handle);
    handle.send(Command::Step);
    let rerun =
        plan.run_config.replay_start.as_ref().map(|c| format!("rerun of {} from its start", c.source));
    let notices: Vec<String> = rerun.into_iter().chain(plan.warnings).chain(notes).collect();
    if !notices.is_empty() {
        handle.store.signal(Signal::Notice(notices.join("; ")));
    }
    let shown = ScreenSession {
        handle: &handle,
        thread: Some(thread),
        dir: &session.dir,
        demo: None,
        is_demo: false,
        position: None,
    };
    show_session(config, shown, screen_args, out)
}

/// Shows a session on the screen until the person quits, then closes it.
pub(super) fn show_session(
    config: &Config,
    shown: ScreenSession<'_>,
    screen_args: &args::ScreenArgs,
    out: &mut Output,
) -> Result<(), CliError> {
    let ScreenSession { handle, thread, dir, demo, is_demo, position: at } = shown;
    let start = at.and_then(|at| last_event_of_step(&handle.store.timeline(), at));
    let (mut options, problems) = screen_options(config, screen_args, (dir, demo), start)?;
    options.templates = prompt_templates(config, handle, thread.is_some());
    let recorded = recorded_private_texts(&dir.display().to_string(), &handle.store.head());
    options.private_texts = options.private_texts.iter().cloned().chain(recorded).collect();
    let mut chapters = if is_demo { captions(dir, demo, &handle.store.head())? } else { Vec::new() };
    place_chapters(&mut chapters, &handle.store.timeline());
    options.chapters = chapters.into();
    // Standard error, visible before and after the screen, gets every problem. The screen has one line for the first
    // one: later problems often follow from it.
    for problem in &problems {
        out.print_note(&problem.to_string());
    }
    if let Some(first) = problems.first() {
        let more = match problems.len() {
            1 => String::new(),
            n => format!(" ({} more: `retrospect doctor` lists them)", n - 1),
        };
        handle.store.signal(Signal::Notice(format!("{first}{more}")));
    }
    let _guard = headless::guard_screen_signals()?;
    let exit = headless::with_session(handle, thread, || {
        Ok(headless::new_runtime()?.block_on(crate::ui::run(handle.clone(), options)))
    });
    if let Health::Halted(halt) = handle.store.live().health {
        return Err(headless::halt_error(&halt, &dir.display().to_string()));
    }
    if !dir.as_os_str().is_empty() {
        // In front of an audience, the session's name will do.
        let on_stage = screen_args.stage || matches!(exit, Ok(Ok(Exit::Quit { on_stage: true })));
        let command = if let (true, Some(name)) = (on_stage, dir.file_name()) {
            let folder = config.is_set_by_flag(&keys::SESSIONS.entry()).then(|| dir.parent()).flatten();
            let sessions =
                folder.map_or_else(String::new, |folder| format!(" --sessions {}", folder.display()));
            format!("retrospect resume {}{sessions} --stage", name.to_string_lossy())
        } else {
            let head = handle.store.head();
            let flags = head.run.as_deref().map_or_else(String::new, |run| server_flags(config, run));
            format!("{}{flags}", resume_command(&dir.display().to_string()))
        };
        out.print_command(&format!("resume with: {command}"));
    }
    match exit? {
        Ok(Exit::Quit { .. }) => Ok(()),
        // This session is closed; the episode is played again in a new one.
        Ok(Exit::Rerun(number)) => {
            let rerun = |accept_prompts| {
                if dir.as_os_str().is_empty() {
                    let name = demo.map_or("the session of this report", |demo| demo.name);
                    let timeline = handle.store.timeline();
                    super::rerun_plan::plan_rerun_of(config, &timeline, name, number, accept_prompts)
                } else {
                    let path = dir.display().to_string();
                    super::rerun_plan::plan_rerun(config, Some(&path), number, accept_prompts)
                }
            };
            // Somebody who plays the task again wants it with the prompts there are; a session may be of another version.
            let plan = rerun(false).or_else(|_| {
                let mut plan = rerun(true)?;
                plan.warnings.push("its prompts are those of this version of the program".to_owned());
                Ok::<Plan, CliError>(plan)
            })?;
            start_run(config, plan, screen_args, Vec::new(), out)
        }
        Ok(Exit::Terminated) => Err(CliError::interrupted("")),
        Err(error) => Err(CliError::new(
            CliErrorKind::File,
            format!("can't use the terminal: {error}"),
            "use --plain, or another terminal",
        )),
    }
}

/// Returns the templates of the session's next prompt: the current ones, if a driver uses them or the session was
/// started with the same ones.
fn prompt_templates(config: &Config, handle: &Handle, driven: bool) -> Option<Arc<Templates>> {
    let current = load_templates(config).ok()?;
    let head = handle.store.head();
    let is_current = driven || head.run.as_ref().is_some_and(|run| are_templates_current(run, &current));
    is_current.then(|| Arc::new(current))
}

/// Builds the options of the screen for a session's folder or a demo, and returns the problems found in theme and
/// keymap.
pub(super) fn screen_options(
    config: &Config,
    screen_args: &args::ScreenArgs,
    (dir, demo): (&Path, Option<&'static ShippedDemo>),
    at: Option<Seq>,
) -> Result<(Options, Vec<Problem>), CliError> {
    let capabilities = TerminalCapabilities::detect(|name| std::env::var(name).ok());
    let (theme, mut problems) = load_theme(config, screen_args.theme.as_deref())?;
    let background_themes = background_themes(config, screen_args.theme.as_deref(), capabilities);
    let (keymap, more) = load_keymap(config)?;
    problems.extend(more);
    let ascii = config.get(keys::GLYPHS) == GlyphSet::Ascii || !capabilities.unicode;
    let mut options = Options {
        theme: theme.with_depth(capabilities.depth),
        background_themes,
        themes: list_themes(config)
            .into_iter()
            .map(|(name, theme)| (name, theme.with_depth(capabilities.depth)))
            .collect(),
        keymap,
        glyphs: if ascii { glyphs::ASCII } else { glyphs::UNICODE },
        capture_mouse: config.get(keys::MOUSE),
        motion: is_motion_allowed(config, capabilities),
        first_hint: if config.get(keys::HINTS) {
            seen_hints::next_hint(seen_hints::hints_file().as_deref())
        } else {
            FirstRunHint::None
        },
        start_cursor: at.map_or(Cursor::Live, Cursor::At),
        host: Some(host_services(config, dir, demo)),
        resume_command: (!dir.as_os_str().is_empty()).then(|| resume_command(&dir.display().to_string())),
        templates: None,
        chapters: Arc::default(),
        stage_mode: screen_args.stage,
        private_texts: private_texts(config, dir),
        configured_models: config
            .profiles_with_model()
            .map(|(profile, model)| format!("{} profile {profile}", RoleSource::name_of_model(model)))
            .collect(),
    };
    match (reported_background(), capabilities.background, &options.background_themes) {
        (Some(reported), ..) => options.follow_background(reported),
        // The variable may be that of another terminal, so the terminal is asked nevertheless.
        (None, Some(background), Some(themes)) => options.theme = themes.matching(background).clone(),
        _ => {}
    }
    Ok((options, problems))
}

/// Returns whether animation is allowed by the configuration and the environment.
fn is_motion_allowed(config: &Config, capabilities: TerminalCapabilities) -> bool {
    config.get(keys::MOTION) && !capabilities.reduced_motion
}

/// Checks that `--theme` names a theme, even if nothing will be drawn.
pub(super) fn check_theme(config: &Config, screen_args: &args::ScreenArgs) -> Result<(), CliError> {
    if screen_args.theme.is_some() {
        load_theme(config, screen_args.theme.as_deref())?;
    }
    Ok(())
}

/// Lists every problem in the user's keymap and themes.
pub(super) fn config_problems(config: &Config) -> [(&'static str, Vec<String>); 2] {
    let describe = |found: Result<Vec<Problem>, CliError>| match found {
        Ok(problems) => problems.iter().map(ToString::to_string).collect(),
        Err(error) => vec![error.message],
    };
    let keys = describe(load_keymap(config).map(|k| k.1));
    let mut themes = describe(load_theme(config, None).map(|t| t.1));
    let theme_files = std::fs::read_dir(config.folder.join("themes")).into_iter().flatten().flatten();
    let mut names: Vec<String> = theme_files
        .filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".toml").map(str::to_owned))
        .filter(|name| name != config.get(keys::THEME))
        .collect();
    names.sort();
    for name in names {
        themes.extend(describe(load_theme(config, Some(&name)).map(|t| t.1)));
    }
    [("keys", keys), ("themes", themes)]
}

/// Loads the shipped keymap with the user's overrides.
fn load_keymap(config: &Config) -> Result<(Keymap, Vec<Problem>), CliError> {
    let path = config.folder.join("keys.toml");
    match bounded::read_text(&path) {
        Ok(text) => Ok(Keymap::default().with_overrides(&path.display().to_string(), &text)),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok((Keymap::default(), Vec::new())),
        Err(e) => Err(CliError::file(&path, "the keymap could not be read", &e)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: the setting and the environment variable were read but had no effect.
    #[test]
    fn motion_can_be_turned_off_by_setting_or_environment() {
        let cases = [
            (&[][..], true),
            (&[("RETROSPECT_MOTION", "false")], false),
            (&[("RETROSPECT_REDUCED_MOTION", "1")], false),
            (&[("RETROSPECT_REDUCED_MOTION", "0")], true),
            (&[("TERM", "dumb")], false),
        ];
        for (set, expected) in cases {
            let variable =
                |name: &str| set.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
            let config = Config::without_file(None, variable);
            assert_eq!(
                is_motion_allowed(&config, TerminalCapabilities::detect(variable)),
                expected,
                "{set:?}"
            );
        }
    }
}
