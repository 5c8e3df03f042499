//! The way from a verb to the screen and back.

use super::config::Config;
use super::error::{CliError, CliErrorKind, resume_command};
use super::headless::ScreenSession;
use super::host_services::host_services;
use super::locate::{self, OpenedSession};
use super::output::Output;
use super::setup::{Plan, build_run_config, check_playable, load_templates, session_meta};
use super::{args, bounded, headless};
use crate::domain::Seq;
use crate::driver::{Driver, Handle, Health, Signal, Store, TYPING_DELAY};
use crate::engine::{Command, State};
use crate::prompt::Templates;
use crate::report::{StepRef, SvgColors, render_svg};
use crate::timeline::Timeline;
use crate::ui::keymap::Keymap;
use crate::ui::model::Cursor;
use crate::ui::source::Problem;
use crate::ui::theme::{Role, TerminalCapabilities, Theme};
use crate::ui::{Exit, FrameInput, Model, Options, ViewCache, glyphs};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Color;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Starts a planned run, paused at its first proposal, and shows it.
pub(super) fn start_run(
    config: &Config,
    plan: Plan,
    look: &args::ScreenArgs,
    breaks: Vec<String>,
    out: &mut Output,
) -> Result<(), CliError> {
    // What cannot be shown, or played, makes no session.
    screen_options(config, look, Path::new(""), None)?;
    check_playable(&plan)?;
    let root = locate::sessions_folder(config);
    // A person watches: the built-in actor types.
    let mut launch = build_run_config(&plan.spec, config, &plan.world_options, TYPING_DELAY)?;
    launch.replay_seed.clone_from(&plan.run_config.replay_seed);
    launch.breakpoints = breaks;
    let guard = headless::guard_session_signals()?;
    let (handle, thread, session) =
        Driver::start(&root, session_meta(&plan.spec, 0), plan.spec, plan.lessons, launch)?;
    headless::close_on_signal(&guard, &handle);
    handle.send(Command::Step);
    let again = plan.run_config.replay_seed.as_ref().map(|c| format!("{} once more, as it began", c.source));
    let said: Vec<String> = again.into_iter().chain(plan.warnings).collect();
    if !said.is_empty() {
        handle.store.signal(Signal::Notice(said.join("; ")));
    }
    let shown = ScreenSession { handle: &handle, thread: Some(thread), dir: &session.dir, position: None };
    show_session(config, shown, look, out)
}

/// Shows a session until the person leaves it, then puts it down.
pub(super) fn show_session(
    config: &Config,
    shown: ScreenSession<'_>,
    look: &args::ScreenArgs,
    out: &mut Output,
) -> Result<(), CliError> {
    let ScreenSession { handle, thread, dir, position: at } = shown;
    let moment = at.and_then(|at| last_event_of_step(&handle.store.timeline(), at));
    let (mut options, problems) = screen_options(config, look, dir, moment)?;
    options.templates = prompt_templates(config, handle, thread.is_some());
    // All of them on standard error, which is there before and after the screen. The screen has one line, and there the
    // first counts: later ones often follow from it.
    for problem in &problems {
        out.print_note(&problem.to_string());
    }
    if let Some(first) = problems.first() {
        let more = match problems.len() {
            1 => String::new(),
            n => format!(" (and {} more: `retrospect doctor` lists them)", n - 1),
        };
        handle.store.signal(Signal::Notice(format!("{first}{more}")));
    }
    let _guard = headless::guard_screen_signals()?;
    let left = headless::with_session(handle, thread, || {
        Ok(headless::new_runtime()?.block_on(crate::ui::run(handle.clone(), options)))
    });
    if let Health::Halted(halt) = handle.store.live().health {
        return Err(headless::halt_error(&halt, &dir.display().to_string()));
    }
    if !dir.as_os_str().is_empty() {
        out.print_note(&format!("go on with: {}", resume_command(&dir.display().to_string())));
    }
    match left? {
        Ok(Exit::Quit) => Ok(()),
        // The session is put down: the episode is played again in one of its own.
        Ok(Exit::Rerun(number)) => {
            let again =
                super::rerun_plan::plan_rerun(config, Some(&dir.display().to_string()), number, false)?;
            start_run(config, again, look, Vec::new(), out)
        }
        Ok(Exit::Terminated) => Err(CliError::interrupted("")),
        Err(error) => Err(CliError::new(
            CliErrorKind::File,
            format!("the terminal could not be used: {error}"),
            "use --plain, or another terminal",
        )),
    }
}

/// The templates that the session's next prompt is made of: those in force here, where a driver takes them or the session
/// was begun with them.
fn prompt_templates(config: &Config, handle: &Handle, driven: bool) -> Option<Arc<Templates>> {
    let here = load_templates(config).ok()?;
    let head = handle.store.head();
    let same = driven || head.run.as_ref().is_some_and(|r| r.settings.text("templates", "") == here.hash());
    same.then(|| Arc::new(here))
}

pub(super) fn screen_options(
    config: &Config,
    look: &args::ScreenArgs,
    dir: &Path,
    at: Option<Seq>,
) -> Result<(Options, Vec<Problem>), CliError> {
    let ability = TerminalCapabilities::detect(|name| std::env::var(name).ok());
    let (theme, mut problems) = load_theme(config, look.theme.as_deref())?;
    let (keymap, more) = load_keymap(config)?;
    problems.extend(more);
    let ascii = config.text("screen.glyphs") == "ascii" || !ability.unicode;
    let options = Options {
        theme: theme.with_depth(ability.depth),
        themes: list_themes(config)
            .into_iter()
            .map(|(name, theme)| (name, theme.with_depth(ability.depth)))
            .collect(),
        keymap,
        glyphs: if ascii { glyphs::ASCII } else { glyphs::UNICODE },
        capture_mouse: config.is_on("screen.mouse"),
        motion: is_motion_allowed(config, ability),
        first_run_hints: config.is_on("screen.hints"),
        start_cursor: at.map_or(Cursor::Live, Cursor::At),
        host: Some(host_services(config, dir)),
        resume_command: (!dir.as_os_str().is_empty()).then(|| resume_command(&dir.display().to_string())),
        templates: None,
        configured_models: config
            .profiles_with_model()
            .map(|(profile, model)| format!("openai:{model} profile {profile}"))
            .collect(),
    };
    Ok((options, problems))
}

/// Marks may move unless the configuration or the environment says no.
fn is_motion_allowed(config: &Config, ability: TerminalCapabilities) -> bool {
    config.is_on("screen.motion") && !ability.reduced_motion
}

/// A theme that is not there is an error where nothing will be drawn as well.
pub(super) fn check_theme(config: &Config, look: &args::ScreenArgs) -> Result<(), CliError> {
    if look.theme.is_some() {
        load_theme(config, look.theme.as_deref())?;
    }
    Ok(())
}

/// What is wrong with the keys and with the themes of this person: every problem in words.
pub(super) fn config_problems(config: &Config) -> [(&'static str, Vec<String>); 2] {
    let told = |found: Result<Vec<Problem>, CliError>| match found {
        Ok(problems) => problems.iter().map(ToString::to_string).collect(),
        Err(error) => vec![error.message],
    };
    let keys = told(load_keymap(config).map(|k| k.1));
    let mut themes = told(load_theme(config, None).map(|t| t.1));
    let own = std::fs::read_dir(config.folder.join("themes")).into_iter().flatten().flatten();
    let mut names: Vec<String> = own
        .filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".toml").map(str::to_owned))
        .filter(|name| name != config.text("screen.theme"))
        .collect();
    names.sort();
    for name in names {
        themes.extend(told(load_theme(config, Some(&name)).map(|t| t.1)));
    }
    [("keys", keys), ("themes", themes)]
}

/// A theme by the name of a file in the user's `themes/`, of a shipped one, or by the path of a file.
fn load_theme(config: &Config, flag: Option<&str>) -> Result<(Theme, Vec<Problem>), CliError> {
    let name = flag.unwrap_or_else(|| config.text("screen.theme"));
    let folder = config.folder.join("themes");
    let own = |name: &str| bounded::read_text(&folder.join(format!("{name}.toml"))).ok();
    if let Some(text) = own(name) {
        let file = folder.join(format!("{name}.toml")).display().to_string();
        return Ok(Theme::parse(&file, &text, &own));
    }
    if let Some(text) = Theme::shipped_source(name) {
        return Ok(Theme::parse(&format!("themes/{name}.toml"), text, &own));
    }
    let path = Path::new(name);
    if path.is_file() {
        let text =
            bounded::read_text(path).map_err(|e| CliError::file(path, "the theme could not be read", &e))?;
        return Ok(Theme::parse(name, &text, &own));
    }
    Err(CliError::usage(
        format!(
            "there is no theme {name:?}: neither shipped ({}), nor in {}, nor a file",
            SHIPPED_THEMES.join(", "),
            folder.display()
        ),
        "choose one with --theme, or in the configuration (screen.theme)",
    ))
}

/// The person's own themes and the shipped ones, for the key that goes through them. A broken file is left out here; naming
/// it with `--theme` says what is wrong with it.
fn list_themes(config: &Config) -> Vec<(String, Theme)> {
    let own = std::fs::read_dir(config.folder.join("themes")).into_iter().flatten().flatten();
    let mut names: Vec<String> = own
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

/// The shipped themes, for messages.
const SHIPPED_THEMES: &[&str] = &["default", "light", "dark", "contrast", "mono", "ember", "fjord"];

/// The shipped keys, with the person's own over them.
fn load_keymap(config: &Config) -> Result<(Keymap, Vec<Problem>), CliError> {
    let path = config.folder.join("keys.toml");
    match bounded::read_text(&path) {
        Ok(text) => Ok(Keymap::default().with_overrides(&path.display().to_string(), &text)),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok((Keymap::default(), Vec::new())),
        Err(e) => Err(CliError::file(&path, "the keys could not be read", &e)),
    }
}

/// The last event of a step, before the next prompt: the moment in which all of it is seen.
fn last_event_of_step(timeline: &Timeline, at: StepRef) -> Option<Seq> {
    let head = timeline.head();
    let ended = head.ended_episodes.iter().find(|p| p.number == at.episode).map(|p| p.seq_range.0);
    let open = head.episode.as_ref().filter(|e| e.number == at.episode).map(|e| e.first_seq.0);
    let number = |state: &State| state.episode.as_ref().map_or(0, |e| e.number);
    // What stands before the episode is not folded, where its summary says truly where it begins.
    let before = ended.or(open).and_then(|first| first.checked_sub(1)).map(|seq| timeline.state_at(Seq(seq)));
    let before = before.filter(|state| number(state) < at.episode).unwrap_or_default();
    let (mut state, mut found) = (State::clone(&before), None);
    loop {
        let piece = timeline.events_between(state.head, Seq(state.head.0 + 1024));
        if piece.is_empty() {
            return found;
        }
        for envelope in piece {
            state.apply(&envelope);
            let Some(episode) = state.episode.as_deref() else { continue };
            let here = StepRef { episode: episode.number, step: episode.steps.len() as u32 };
            if here == at {
                found = Some(envelope.seq);
            } else if here > at {
                return found;
            }
        }
    }
}

/// The screen at one step, as a picture.
pub(super) fn screen_svg(
    config: &Config,
    opened: OpenedSession,
    at: StepRef,
    size: (u16, u16),
    theme_name: Option<&str>,
) -> Result<String, CliError> {
    let (theme, problems) = load_theme(config, theme_name)?;
    if let Some(problem) = problems.first() {
        return Err(CliError::new(
            CliErrorKind::Config,
            problem.to_string(),
            "mend the theme, or choose another with --theme",
        ));
    }
    let cursor = last_event_of_step(&opened.timeline, at);
    let last = opened.timeline.head().head;
    let store = Arc::new(Store::default());
    store.set_timeline(opened.timeline, crate::domain::BranchId::trunk());
    let cursor = cursor.filter(|seq| *seq < last).map_or(Cursor::Live, Cursor::At);
    let model = Model { cursor, size, ..Model::default() };
    let mut moment = FrameInput::default();
    moment.refresh(&store, cursor);
    let keymap = Keymap::default();
    let mut buffer = Buffer::empty(Rect::new(0, 0, size.0, size.1));
    let look = crate::ui::Context {
        frame: &moment,
        now: Instant::now(),
        theme: &theme,
        glyphs: &glyphs::UNICODE,
        keymap: &keymap,
    };
    crate::ui::draw(&model, &look, &mut ViewCache::default(), &mut buffer);
    let colors = svg_colors(&theme);
    Ok(render_svg(&buffer, &colors, &format!("retrospect, episode {} step {}", at.episode, at.step)))
}

/// What a terminal would bring along: the theme's own ground where it sets one, else a dark page.
fn svg_colors(theme: &Theme) -> SvgColors {
    let ground = theme.style(Role::Background);
    match (ground.bg, ground.fg) {
        (Some(Color::Rgb(r, g, b)), ink) => {
            let light = u32::from(r) + u32::from(g) + u32::from(b) > 384;
            let mut colors = if light { SvgColors::light() } else { SvgColors::dark() };
            colors.background = (r, g, b);
            if let Some(Color::Rgb(r, g, b)) = ink {
                colors.foreground = (r, g, b);
            }
            colors
        }
        _ => SvgColors::dark(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both were read, and nothing obeyed them.
    #[test]
    fn either_way_of_wanting_no_motion_reaches_the_screen() {
        let cases = [
            (&[][..], true),
            (&[("RETROSPECT_MOTION", "false")], false),
            (&[("RETROSPECT_REDUCED_MOTION", "1")], false),
            (&[("RETROSPECT_REDUCED_MOTION", "0")], true),
            (&[("TERM", "dumb")], false),
        ];
        for (set, moves) in cases {
            let variable =
                |name: &str| set.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
            let config = Config::without_file(None, variable);
            assert_eq!(is_motion_allowed(&config, TerminalCapabilities::detect(variable)), moves, "{set:?}");
        }
    }
}
