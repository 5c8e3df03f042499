//! The way from a verb to the screen and back.

use super::config::Config;
use super::error::{CliError, CliErrorKind, resume_command};
use super::locate::{self, Opened};
use super::out::Out;
use super::outside::around;
use super::setup::{Plan, launch, meta, playable, templates};
use super::watch::Shown;
use super::{args, bounded, watch};
use crate::domain::Seq;
use crate::driver::{Driver, Handle, Health, Signal, Store, TYPING};
use crate::engine::{Command, State};
use crate::prompt::Templates;
use crate::report::{StepRef, SvgColors, render_svg};
use crate::timeline::Timeline;
use crate::ui::keymap::Keymap;
use crate::ui::model::Cursor;
use crate::ui::source::Problem;
use crate::ui::theme::{Ability, Role, Theme};
use crate::ui::{Exit, FrameInput, Model, Options, Scratch, glyphs};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Color;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Starts a planned run, paused at its first proposal, and shows it.
pub(super) fn start(
    config: &Config,
    plan: Plan,
    look: &args::Screen,
    breaks: Vec<String>,
    out: &mut Out,
) -> Result<(), CliError> {
    // What cannot be shown, or played, makes no session.
    options(config, look, Path::new(""), None)?;
    playable(&plan)?;
    let root = locate::root(config);
    // A person watches: the built-in actor types.
    let mut launch = launch(&plan.spec, config, &plan.worlds, TYPING)?;
    launch.carried.clone_from(&plan.launch.carried);
    launch.breaks = breaks;
    let guard = watch::guard()?;
    let (handle, thread, session) = Driver::start(&root, meta(&plan.spec, 0), plan.spec, plan.pool, launch)?;
    watch::guarded(&guard, &handle);
    handle.send(Command::Step);
    let again = plan.launch.carried.as_ref().map(|c| format!("{} once more, as it began", c.source));
    let said: Vec<String> = again.into_iter().chain(plan.warnings).collect();
    if !said.is_empty() {
        handle.store.signal(Signal::Said(said.join("; ")));
    }
    let shown = Shown { handle: &handle, thread: Some(thread), dir: &session.dir, at: None };
    show(config, shown, look, out)
}

/// Shows a session until the person leaves it, then puts it down.
pub(super) fn show(
    config: &Config,
    shown: Shown<'_>,
    look: &args::Screen,
    out: &mut Out,
) -> Result<(), CliError> {
    let Shown { handle, thread, dir, at } = shown;
    let moment = at.and_then(|at| moment_of(&handle.store.timeline(), at));
    let (mut options, problems) = options(config, look, dir, moment)?;
    options.templates = templates_of(config, handle, thread.is_some());
    // All of them on standard error, which is there before and after the screen. The screen has one line, and there the
    // first counts: later ones often follow from it.
    for problem in &problems {
        out.note(&problem.to_string());
    }
    if let Some(first) = problems.first() {
        let more = match problems.len() {
            1 => String::new(),
            n => format!(" (and {} more: `retrospect doctor` lists them)", n - 1),
        };
        handle.store.signal(Signal::Said(format!("{first}{more}")));
    }
    let _guard = watch::guard_screen()?;
    let left = watch::closing(handle, thread, || {
        Ok(watch::runtime()?.block_on(crate::ui::run(handle.clone(), options)))
    });
    if let Health::Halted(halt) = handle.store.live().health {
        return Err(watch::halted(&halt, &dir.display().to_string()));
    }
    if !dir.as_os_str().is_empty() {
        out.note(&format!("go on with: {}", resume_command(&dir.display().to_string())));
    }
    match left? {
        Ok(Exit::Quit) => Ok(()),
        // The session is put down: the episode is played again in one of its own.
        Ok(Exit::Rerun(number)) => {
            let again = super::rerun_plan::plan(config, Some(&dir.display().to_string()), number, false)?;
            start(config, again, look, Vec::new(), out)
        }
        Ok(Exit::Gone) => Err(CliError::interrupted("")),
        Err(error) => Err(CliError::new(
            CliErrorKind::File,
            format!("the terminal could not be used: {error}"),
            "use --plain, or another terminal",
        )),
    }
}

/// The templates that the session's next prompt is made of: those in force here, where a driver takes them or the session
/// was begun with them.
fn templates_of(config: &Config, handle: &Handle, driven: bool) -> Option<Arc<Templates>> {
    let here = templates(config).ok()?;
    let head = handle.store.head();
    let same = driven || head.run.as_ref().is_some_and(|r| r.settings.text("templates", "") == here.hash());
    same.then(|| Arc::new(here))
}

pub(super) fn options(
    config: &Config,
    look: &args::Screen,
    dir: &Path,
    at: Option<Seq>,
) -> Result<(Options, Vec<Problem>), CliError> {
    let ability = Ability::detect(|name| std::env::var(name).ok());
    let (theme, mut problems) = theme(config, look.theme.as_deref())?;
    let (keymap, more) = keymap(config)?;
    problems.extend(more);
    let ascii = config.text("screen.glyphs") == "ascii" || !ability.unicode;
    let options = Options {
        theme: theme.at(ability.depth),
        themes: all_themes(config).into_iter().map(|(name, theme)| (name, theme.at(ability.depth))).collect(),
        keymap,
        glyphs: if ascii { glyphs::ASCII } else { glyphs::UNICODE },
        mouse: config.switch("screen.mouse"),
        motion: may_move(config, ability),
        hints: config.switch("screen.hints"),
        at: at.map_or(Cursor::Live, Cursor::At),
        outside: Some(around(config, dir)),
        resume: (!dir.as_os_str().is_empty()).then(|| resume_command(&dir.display().to_string())),
        templates: None,
        models: config.models().map(|(profile, model)| format!("openai:{model} profile {profile}")).collect(),
    };
    Ok((options, problems))
}

/// Marks may move unless the configuration or the environment says no.
fn may_move(config: &Config, ability: Ability) -> bool {
    config.switch("screen.motion") && !ability.reduced_motion
}

/// A theme that is not there is an error where nothing will be drawn as well.
pub(super) fn check_theme(config: &Config, look: &args::Screen) -> Result<(), CliError> {
    if look.theme.is_some() {
        theme(config, look.theme.as_deref())?;
    }
    Ok(())
}

/// What is wrong with the keys and with the themes of this person: every problem in words.
pub(super) fn complaints(config: &Config) -> [(&'static str, Vec<String>); 2] {
    let told = |found: Result<Vec<Problem>, CliError>| match found {
        Ok(problems) => problems.iter().map(ToString::to_string).collect(),
        Err(error) => vec![error.message],
    };
    let keys = told(keymap(config).map(|k| k.1));
    let mut themes = told(theme(config, None).map(|t| t.1));
    let own = std::fs::read_dir(config.folder.join("themes")).into_iter().flatten().flatten();
    let mut names: Vec<String> = own
        .filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".toml").map(str::to_owned))
        .filter(|name| name != config.text("screen.theme"))
        .collect();
    names.sort();
    for name in names {
        themes.extend(told(theme(config, Some(&name)).map(|t| t.1)));
    }
    [("keys", keys), ("themes", themes)]
}

/// A theme by the name of a file in the user's `themes/`, of a shipped one, or by the path of a file.
fn theme(config: &Config, flag: Option<&str>) -> Result<(Theme, Vec<Problem>), CliError> {
    let name = flag.unwrap_or_else(|| config.text("screen.theme"));
    let folder = config.folder.join("themes");
    let own = |name: &str| bounded::text(&folder.join(format!("{name}.toml"))).ok();
    if let Some(text) = own(name) {
        let file = folder.join(format!("{name}.toml")).display().to_string();
        return Ok(Theme::parse(&file, &text, &own));
    }
    if let Some(text) = Theme::shipped(name) {
        return Ok(Theme::parse(&format!("themes/{name}.toml"), text, &own));
    }
    let path = Path::new(name);
    if path.is_file() {
        let text =
            bounded::text(path).map_err(|e| CliError::file(path, "the theme could not be read", &e))?;
        return Ok(Theme::parse(name, &text, &own));
    }
    Err(CliError::usage(
        format!(
            "there is no theme {name:?}: neither shipped ({}), nor in {}, nor a file",
            THEMES.join(", "),
            folder.display()
        ),
        "choose one with --theme, or in the configuration (screen.theme)",
    ))
}

/// The person's own themes and the shipped ones, for the key that goes through them. A broken file is left out here; naming
/// it with `--theme` says what is wrong with it.
fn all_themes(config: &Config) -> Vec<(String, Theme)> {
    let own = std::fs::read_dir(config.folder.join("themes")).into_iter().flatten().flatten();
    let mut names: Vec<String> = own
        .filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".toml").map(str::to_owned))
        .collect();
    names.sort();
    for shipped in THEMES {
        if !names.iter().any(|name| name == shipped) {
            names.push((*shipped).to_owned());
        }
    }
    names
        .into_iter()
        .filter_map(|name| {
            let (parsed, problems) = theme(config, Some(&name)).ok()?;
            problems.is_empty().then_some((name, parsed))
        })
        .collect()
}

/// The shipped themes, for messages.
const THEMES: &[&str] = &["default", "light", "dark", "contrast", "mono", "ember", "fjord"];

/// The shipped keys, with the person's own over them.
fn keymap(config: &Config) -> Result<(Keymap, Vec<Problem>), CliError> {
    let path = config.folder.join("keys.toml");
    match bounded::text(&path) {
        Ok(text) => Ok(Keymap::default().with(&path.display().to_string(), &text)),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok((Keymap::default(), Vec::new())),
        Err(e) => Err(CliError::file(&path, "the keys could not be read", &e)),
    }
}

/// The last event of a step, before the next prompt: the moment in which all of it is seen.
fn moment_of(timeline: &Timeline, at: StepRef) -> Option<Seq> {
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
pub(super) fn picture(
    config: &Config,
    opened: Opened,
    at: StepRef,
    size: (u16, u16),
    theme_name: Option<&str>,
) -> Result<String, CliError> {
    let (theme, problems) = theme(config, theme_name)?;
    if let Some(problem) = problems.first() {
        return Err(CliError::new(
            CliErrorKind::Config,
            problem.to_string(),
            "mend the theme, or choose another with --theme",
        ));
    }
    let cursor = moment_of(&opened.timeline, at);
    let last = opened.timeline.head().head;
    let store = Arc::new(Store::default());
    *store.timeline() = opened.timeline;
    let cursor = cursor.filter(|seq| *seq < last).map_or(Cursor::Live, Cursor::At);
    let model = Model { cursor, size, ..Model::default() };
    let mut moment = FrameInput::default();
    moment.refresh(&store, cursor);
    let keymap = Keymap::default();
    let mut buffer = Buffer::empty(Rect::new(0, 0, size.0, size.1));
    let look = crate::ui::Context {
        store: &store,
        moment: &moment,
        now: Instant::now(),
        theme: &theme,
        glyphs: &glyphs::UNICODE,
        keymap: &keymap,
    };
    crate::ui::draw(&model, &look, &mut Scratch::default(), &mut buffer);
    let colors = colors(&theme);
    Ok(render_svg(&buffer, &colors, &format!("retrospect, episode {} step {}", at.episode, at.step)))
}

/// What a terminal would bring along: the theme's own ground where it sets one, else a dark page.
fn colors(theme: &Theme) -> SvgColors {
    let ground = theme.style(Role::Ground);
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
            assert_eq!(may_move(&config, Ability::detect(variable)), moves, "{set:?}");
        }
    }
}
