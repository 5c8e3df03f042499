//! The way from a verb to the screen and back.

use super::breaks::Break;
use super::config::Config;
use super::fault::{Fault, FaultKind};
use super::out::Out;
use super::place::{self, Opened};
use super::setup::{Plan, meta};
use super::watch::Shown;
use super::{args, watch};
use crate::domain::Seq;
use crate::driver::{Driver, Handle, Signal, Store};
use crate::engine::Command;
use crate::report::{At, SvgColors, svg};
use crate::timeline::Timeline;
use crate::ui::model::Cursor;
use crate::ui::theme::Theme;
use crate::ui::{Exit, Model, Moment, Options, Scratch, glyphs};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;
use std::time::Instant;

/// Starts a planned run, paused at its first proposal, and shows it.
pub(super) fn start(
    config: &Config,
    plan: Plan,
    look: &args::Screen,
    breaks: &[Break],
    out: &mut Out,
) -> Result<(), Fault> {
    let root = place::root(config);
    let (handle, thread, session) =
        Driver::start(&root, meta(&plan.spec, 0), plan.spec, plan.pool, plan.launch)?;
    handle.send(Command::Step);
    let shown = Shown { handle: &handle, thread: Some(thread), dir: &session.dir, at: None, breaks };
    show(config, shown, look, out)
}

/// Shows a session until the person leaves it, then puts it down.
pub(super) fn show(
    config: &Config,
    shown: Shown<'_>,
    look: &args::Screen,
    out: &mut Out,
) -> Result<(), Fault> {
    let Shown { handle, thread, dir, at, breaks } = shown;
    let options = options(config, look, at.and_then(|at| moment_of(&handle.store.timeline(), at)))?;
    let left = watch::runtime()?.block_on(async {
        tokio::select! {
            left = crate::ui::run(handle.clone(), options) => left,
            never = pause_at(handle, breaks) => match never {},
        }
    });
    if let Some(thread) = thread {
        handle.quit();
        // A driver that panicked has said so itself; what it wrote is whole.
        let _ = thread.join();
        out.note(&format!("go on with: retrospect resume {}", dir.display()));
    }
    match left {
        Ok(Exit::Quit) => Ok(()),
        Ok(Exit::Signal(_)) => Err(Fault::new(FaultKind::Interrupted, "interrupted", "")),
        Err(error) => Err(Fault::new(
            FaultKind::File,
            format!("the terminal could not be used: {error}"),
            "use --plain, or another terminal",
        )),
    }
}

/// Pauses the session where a condition holds. Ends only with the screen.
async fn pause_at(handle: &Handle, breaks: &[Break]) -> std::convert::Infallible {
    let mut news = handle.store.news();
    let mut told = handle.store.head().head;
    loop {
        let fresh = handle.store.timeline().since(told).to_vec();
        for envelope in &fresh {
            told = envelope.seq;
            if let Some(held) = breaks.iter().find(|b| b.holds(envelope)) {
                handle.send(Command::Pause);
                handle.store.signal(Signal::Said(format!("paused: the condition {held} held")));
            }
        }
        if breaks.is_empty() || news.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

fn options(config: &Config, look: &args::Screen, at: Option<Seq>) -> Result<Options, Fault> {
    Ok(Options {
        theme: theme(config, look.theme.as_deref())?,
        glyphs: if config.text("screen.glyphs") == "ascii" { glyphs::ASCII } else { glyphs::UNICODE },
        mouse: config.switch("screen.mouse"),
        hints: config.switch("screen.hints"),
        at: at.map_or(Cursor::Live, Cursor::At),
        ..Options::default()
    })
}

fn theme(_config: &Config, _name: Option<&str>) -> Result<Theme, Fault> {
    Ok(Theme::default())
}

/// The last event of a step, before the next prompt: the moment in which all of it is seen.
fn moment_of(timeline: &Timeline, at: At) -> Option<Seq> {
    let mut found = None;
    let mut state = crate::engine::State::default();
    for envelope in timeline.since(Seq(0)) {
        state.apply(&envelope);
        let Some(episode) = state.episode.as_deref() else { continue };
        let here = At { episode: episode.number, step: episode.steps.len() as u32 };
        if here == at {
            found = Some(envelope.seq);
        } else if here > at {
            break;
        }
    }
    found
}

/// The screen at one step, as a picture.
pub(super) fn picture(
    config: &Config,
    opened: Opened,
    at: At,
    size: (u16, u16),
    theme_name: Option<&str>,
) -> Result<String, Fault> {
    let theme = theme(config, theme_name)?;
    let cursor = moment_of(&opened.timeline, at);
    let last = opened.timeline.head().head;
    let store = Arc::new(Store::default());
    *store.timeline() = opened.timeline;
    let cursor = cursor.filter(|seq| *seq < last).map_or(Cursor::Live, Cursor::At);
    let model = Model { cursor, size, ..Model::default() };
    let mut moment = Moment::default();
    moment.refresh(&store, cursor);
    let keymap = crate::ui::keymap::Keymap::default();
    let mut buffer = Buffer::empty(Rect::new(0, 0, size.0, size.1));
    let look = crate::ui::Look {
        store: &store,
        moment: &moment,
        now: Instant::now(),
        theme: &theme,
        glyphs: &glyphs::UNICODE,
        keymap: &keymap,
    };
    crate::ui::draw(&model, &look, &mut Scratch::default(), &mut buffer);
    let name = theme_name.unwrap_or(config.text("screen.theme"));
    let colors = if name.contains("light") { SvgColors::light() } else { SvgColors::dark() };
    Ok(svg(&buffer, &colors, &format!("retrospect, episode {} step {}", at.episode, at.step)))
}
