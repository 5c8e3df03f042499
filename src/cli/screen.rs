//! Starts the screen for a verb: options, theme and keymap, and what follows when it closes.

mod picture;
mod stored_measurement;

pub(super) use picture::{playing_time, screen_cast, screen_svg};

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
use super::shipped_demos::{self, Guide, ShippedDemo};
use super::{args, bounded, headless, seen_hints};
use crate::catalog::run_notes;
use crate::domain::{RoleSource, Seq};
use crate::driver::{Driver, Handle, Health, Signal, TYPING_DELAY, worlds};
use crate::engine::{Command, State};
use crate::prompt::Templates;
use crate::report::{StepRef, recorded_private_texts};
use crate::text::hosts_of;
use crate::timeline::Timeline;
use crate::timeline::effect::EffectLog;
use crate::ui::Cursor;
use crate::ui::chapters::{Chapter, remark_chapters};
use crate::ui::effect::EffectProgress;
use crate::ui::keymap::Keymap;
use crate::ui::source::Problem;
use crate::ui::theme::{AUTO, BackgroundThemes, ColourDepth, TerminalCapabilities, Theme};
use crate::ui::types::PtrEqArc;
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

/// Returns the captions of a demo, or of a session that is played as one: those of a file like a demo's in its folder, else its
/// remarks. `dir` is empty if it has no folder.
fn captions(dir: &Path, demo: Option<&ShippedDemo>, head: &State) -> Result<Vec<Chapter>, CliError> {
    if let Some(demo) = demo {
        return chapters_of(demo);
    }
    let file = dir.join("chapters.toml");
    let text = if dir.as_os_str().is_empty() { None } else { Some(bounded::read_text(&file)) };
    match text {
        Some(Ok(text)) => {
            let guide = Guide::parse(&text).map_err(|message| {
                CliError::new(
                    CliErrorKind::Session,
                    format!("{}: {message}", file.display()),
                    "correct it, or remove it to have the remarks as captions",
                )
            })?;
            guide_chapters(guide, &|effect| stored_measurement::log_in_folder(dir, effect))
        }
        Some(Err(e)) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(CliError::file(&file, "the captions could not be read", &e))
        }
        _ => Ok(remark_chapters(head)),
    }
}

fn chapters_of(demo: &ShippedDemo) -> Result<Vec<Chapter>, CliError> {
    let find_log = |effect: &str| {
        demo.log(effect).ok_or_else(|| "not shipped".to_owned()).and_then(stored_measurement::log_from_text)
    };
    guide_chapters(demo.guide()?, &find_log)
}

/// Returns the chapters of a guide, with the measurements that they show.
fn guide_chapters(
    guide: Guide,
    find_log: &dyn Fn(&str) -> Result<EffectLog, String>,
) -> Result<Vec<Chapter>, CliError> {
    let measurement = |effects: &[String]| -> Result<Option<PtrEqArc<EffectProgress>>, CliError> {
        if effects.is_empty() {
            return Ok(None);
        }
        let logs: Result<Vec<EffectLog>, String> = effects.iter().map(|effect| find_log(effect)).collect();
        let stored = logs.and_then(stored_measurement::stored_measurement).map_err(|reason| {
            CliError::new(
                CliErrorKind::Session,
                format!("chapters.toml: measurement {}: {reason}", effects.join(", ")),
                "name measurements whose logs are in the folder effects",
            )
        })?;
        Ok(Some(PtrEqArc(Arc::new(stored))))
    };
    let chapter = |chapter: shipped_demos::Chapter| {
        Ok(Chapter {
            at: chapter.at,
            measurement: measurement(&chapter.measurement)?,
            text: chapter.text,
            pace: chapter.pace,
            position: None,
        })
    };
    guide.chapters.into_iter().map(chapter).collect()
}

/// Sets the positions of the chapters that show a measurement of their own step.
fn place_chapters(chapters: &mut [Chapter], timeline: &Timeline) {
    for chapter in chapters {
        let stored = chapter.measurement.as_ref().and_then(|stored| stored.0.columns.first());
        let Some(asked) = stored.and_then(|column| column.plan().asked.as_ref()) else { continue };
        let state = timeline.state_at(asked.seq);
        let is_of_step = state.episode.as_deref().is_some_and(|episode| {
            (episode.number, episode.steps.len() as u32) == (chapter.at.episode, chapter.at.step)
        });
        let last = last_event_of_step(timeline, chapter.at).filter(|_| is_of_step);
        chapter.position = last.map(|last| (asked.seq, last));
    }
}

/// Returns what stage mode hides even where it doesn't look like a path or an address: the folders of this session and of
/// the others, and the configured server.
fn private_texts(config: &Config, dir: &Path) -> Arc<[String]> {
    let folders = [dir.display().to_string(), locate::sessions_folder(config).display().to_string()];
    let server = config.get(keys::BASE_URL);
    folders.into_iter().chain(hosts_of(server)).filter(|text| text.len() > 1).collect()
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

/// Returns the themes for dark and light terminals, if no other theme is chosen and the terminal can show them.
fn background_themes(
    config: &Config,
    flag: Option<&str>,
    capabilities: TerminalCapabilities,
) -> Option<BackgroundThemes> {
    let is_auto = flag.unwrap_or_else(|| config.get(keys::THEME)) == AUTO;
    if !is_auto || capabilities.depth != ColourDepth::Rgb {
        return None;
    }
    let valid = |name| load_theme(config, Some(name)).ok().filter(|(_, problems)| problems.is_empty());
    Some(BackgroundThemes { dark: valid("dark")?.0, light: valid("light")?.0 })
}

/// Loads a theme by name, from the user's `themes/` folder or the shipped ones, or by the path of a file.
fn load_theme(config: &Config, flag: Option<&str>) -> Result<(Theme, Vec<Problem>), CliError> {
    let name = flag.unwrap_or_else(|| config.get(keys::THEME));
    let name = if name == AUTO { "default" } else { name };
    let folder = config.folder.join("themes");
    let read_own_theme = |name: &str| bounded::read_text(&folder.join(format!("{name}.toml"))).ok();
    if let Some(text) = read_own_theme(name) {
        let file = folder.join(format!("{name}.toml")).display().to_string();
        return Ok(Theme::parse(&file, &text, &read_own_theme));
    }
    if let Some(text) = Theme::shipped_source(name) {
        return Ok(Theme::parse(&format!("themes/{name}.toml"), text, &read_own_theme));
    }
    let path = Path::new(name);
    if path.is_file() {
        let text =
            bounded::read_text(path).map_err(|e| CliError::file(path, "the theme could not be read", &e))?;
        return Ok(Theme::parse(name, &text, &read_own_theme));
    }
    Err(CliError::usage(
        format!(
            "no theme {name:?}: not {AUTO}, not a shipped theme ({}), not in {}, and not a file",
            SHIPPED_THEMES.join(", "),
            folder.display()
        ),
        "choose a theme with --theme, or in the configuration (screen.theme)",
    ))
}

/// Lists the user's themes and the shipped ones, for the key that cycles through them. Leaves out invalid files; naming
/// one with `--theme` reports what is wrong with it.
fn list_themes(config: &Config) -> Vec<(String, Theme)> {
    let theme_files = std::fs::read_dir(config.folder.join("themes")).into_iter().flatten().flatten();
    let mut names: Vec<String> = theme_files
        .filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".toml").map(str::to_owned))
        .collect();
    names.sort();
    for shipped in SHIPPED_THEMES {
        if !names.iter().any(|name| name == shipped) {
            names.push((*shipped).to_owned());
        }
    }
    names
        .into_iter()
        .filter_map(|name| {
            let (parsed, problems) = load_theme(config, Some(&name)).ok()?;
            problems.is_empty().then_some((name, parsed))
        })
        .collect()
}

/// The shipped themes, for the list and for messages.
const SHIPPED_THEMES: &[&str] = &["default", "light", "dark", "contrast", "mono", "ember", "fjord"];

/// Loads the shipped keymap with the user's overrides.
fn load_keymap(config: &Config) -> Result<(Keymap, Vec<Problem>), CliError> {
    let path = config.folder.join("keys.toml");
    match bounded::read_text(&path) {
        Ok(text) => Ok(Keymap::default().with_overrides(&path.display().to_string(), &text)),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok((Keymap::default(), Vec::new())),
        Err(e) => Err(CliError::file(&path, "the keymap could not be read", &e)),
    }
}

/// Returns the last event of a step, before the next prompt, where all of the step is visible.
fn last_event_of_step(timeline: &Timeline, at: StepRef) -> Option<Seq> {
    let head = timeline.head();
    let ended = head.ended_episodes.iter().find(|p| p.number == at.episode).map(|p| p.seq_range.0);
    let open = head.episode.as_ref().filter(|e| e.number == at.episode).map(|e| e.first_seq.0);
    let number = |state: &State| state.episode.as_ref().map_or(0, |e| e.number);
    // Skip the events before the episode, unless its summary has the wrong start.
    let before = ended.or(open).and_then(|first| first.checked_sub(1)).map(|seq| timeline.state_at(Seq(seq)));
    let before = before.filter(|state| number(state) < at.episode).unwrap_or_default();
    let (mut state, mut found) = (State::clone(&before), None);
    loop {
        let batch = timeline.events_between(state.head, Seq(state.head.0 + 1024));
        if batch.is_empty() {
            return found;
        }
        for envelope in batch {
            state.apply(&envelope);
            let Some(episode) = state.episode.as_deref() else { continue };
            let position = StepRef { episode: episode.number, step: episode.steps.len() as u32 };
            if position == at {
                found = Some(envelope.seq);
            } else if position > at {
                return found;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: the story of 90 seconds took more than two minutes.
    #[test]
    fn the_measured_story_plays_in_ninety_seconds() {
        let demo = ShippedDemo::named("measured-lesson").unwrap();
        let opened = locate::open_demo(demo, None).unwrap();
        let seconds = playing_time(&opened).unwrap().unwrap().as_secs();
        assert!((85..=95).contains(&seconds), "{seconds} s");
    }

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
