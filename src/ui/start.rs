//! The start screen: choose a task, an agent, a method and other settings for a new run, or a session to resume.
//!
//! It is pure over a [`StartModel`] that the command line fills; the result is a [`StartChoice`]. Enter starts what is
//! preselected.

mod chooser;
mod types;
mod view;

pub use chooser::{Chooser, ChooserOutcome};
pub use types::{
    AllowedValues, EnvironmentRow, NO_PRESET, PreviewKey, SessionRow, SettingGroup, SettingRole, SettingRow,
    SettingsSource, SettingsWanted, StartChoice, StartModel, StartUpdate, TaskPreview, TaskRow,
    ValueInEnvironment,
};
pub use view::draw;

use super::loop_event::LoopEvent;
use super::signals::Signals;
use super::terminal::Screen;
use super::terminal_events::{TerminalEvent, TerminalEvents};
use crate::ui::options::Options;
use crate::ui::terminal::is_terminal_gone;
use crate::ui::types::WORK_SHOWN_AFTER;
use crossterm::event::{Event, KeyEventKind};
use std::io;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};

/// Shows the start screen until the person has chosen. Returns what `prepare` made of the choice, or `None` if they quit.
///
/// The terminal is restored before the function returns. `prepare` returns what a choice needs, or why it is
/// invalid: then the reason is shown and the screen stays open. It reads files, so it runs on a thread of its own, and any
/// key cancels it. `preview` returns goal and first observation of a task, or why it can't be shown; it runs on a thread too.
/// `notice` is shown at once. `updates` fills in what is loaded in the background.
///
/// # Errors
/// Fails if the terminal can't be set up, read or drawn to.
pub async fn run_start_screen<T: Send + 'static>(
    (model, settings_for): (StartModel, SettingsSource),
    mut options: Options,
    mut updates: UnboundedReceiver<StartUpdate>,
    notice: Option<String>,
    prepare: impl Fn(&StartChoice) -> Result<T, String> + Send + Sync + 'static,
    preview: impl Fn(&PreviewKey) -> Result<TaskPreview, String> + Send + Sync + 'static,
) -> io::Result<Option<T>> {
    let mut screen = Screen::enter()?;
    if options.background_themes.is_some() {
        screen.ask_background()?;
    }
    let mut chooser = Chooser::new(model, settings_for);
    chooser.note = notice;
    let mut events = TerminalEvents::new();
    let mut signals = Signals::new()?;
    let (prepare, mut preparing) = (Arc::new(prepare), None::<Preparation<T>>);
    let (preview, mut previewing) = (Arc::new(preview), None::<(PreviewKey, oneshot::Receiver<_>)>);
    loop {
        screen.ensure_active()?;
        if previewing.is_none()
            && let Some(key) = chooser.wanted_preview()
        {
            let (preview, wanted) = (preview.clone(), key.clone());
            previewing = Some((key, on_thread("preview", move || preview(&wanted))?));
        }
        screen.terminal.draw(|frame| draw(&chooser, &options, frame.buffer_mut()))?;
        let shown_at = preparing.as_ref().filter(|c| !c.is_shown).map(|c| c.shown_at);
        let event = tokio::select! {
            event = events.next() => event,
            prepared = next_result(&mut preparing) => {
                match prepared {
                    Ok(prepared) => return Ok(Some(prepared)),
                    Err(reason) => chooser.note = Some(reason),
                }
                preparing = None;
                continue;
            }
            text = next_preview(&mut previewing) => {
                if let Some((key, _)) = previewing.take() {
                    chooser.set_preview(key, text);
                }
                continue;
            }
            () = sleep_until(shown_at.unwrap_or_else(Instant::now)), if shown_at.is_some() => {
                chooser.note = Some("reading what this run needs ... (any key cancels)".to_owned());
                if let Some(preparation) = &mut preparing {
                    preparation.is_shown = true;
                }
                continue;
            }
            Some(update) = updates.recv() => {
                chooser.apply_update(update);
                continue;
            }
            signal = signals.next() => {
                match signal {
                    LoopEvent::Resumed => {
                        screen.leave();
                        screen.reenter()?;
                    }
                    LoopEvent::Suspended => {
                        drop(events);
                        screen.suspend()?;
                        events = TerminalEvents::new();
                    }
                    _ => return Ok(None),
                }
                continue;
            }
        };
        let outcome = match event {
            None => return Ok(None),
            Some(Err(error)) if is_terminal_gone(&error) => return Ok(None),
            Some(Err(error)) => return Err(error),
            Some(Ok(TerminalEvent::Background(background))) => {
                options.follow_background(background);
                continue;
            }
            Some(Ok(TerminalEvent::Input(Event::Key(key)))) if key.kind == KeyEventKind::Press => {
                if preparing.take().is_some_and(|c| c.is_shown) {
                    chooser.note = None;
                    continue;
                }
                chooser.key(key, &options.keymap)
            }
            Some(Ok(TerminalEvent::Input(Event::Paste(text)))) => chooser.paste(&text),
            Some(Ok(_)) => ChooserOutcome::Continue,
        };
        match outcome {
            ChooserOutcome::Continue => {}
            ChooserOutcome::Quit => return Ok(None),
            ChooserOutcome::Chosen(choice) => preparing = Some(Preparation::start(&prepare, choice)?),
            ChooserOutcome::Redraw => screen.terminal.clear()?,
            ChooserOutcome::Suspend => {
                drop(events);
                screen.suspend()?;
                events = TerminalEvents::new();
            }
        }
    }
}

/// The preparation of a choice on its own thread. Dropping it drops its result.
struct Preparation<T> {
    /// When a person is told that it takes long, and whether they have been.
    shown_at: Instant,
    is_shown: bool,
    result: oneshot::Receiver<Result<T, String>>,
}

impl<T: Send + 'static> Preparation<T> {
    fn start<F>(prepare: &Arc<F>, choice: StartChoice) -> io::Result<Self>
    where
        F: Fn(&StartChoice) -> Result<T, String> + Send + Sync + 'static,
    {
        let prepare = prepare.clone();
        let result = on_thread("prepare", move || prepare(&choice))?;
        Ok(Self { shown_at: Instant::now() + WORK_SHOWN_AFTER, is_shown: false, result })
    }
}

/// Runs a function on a thread of its own.
fn on_thread<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<oneshot::Receiver<T>> {
    let (sender, result) = oneshot::channel();
    std::thread::Builder::new().name(name.to_owned()).spawn(move || {
        // Nobody waits for what was cancelled.
        let _ = sender.send(work());
    })?;
    Ok(result)
}

/// Waits for the text of a preview; for ever without one.
async fn next_preview(
    previewing: &mut Option<(PreviewKey, oneshot::Receiver<Result<TaskPreview, String>>)>,
) -> Result<TaskPreview, String> {
    match previewing {
        Some((_, text)) => {
            text.await.unwrap_or_else(|_| Err("reading the task crashed; it can't be shown".to_owned()))
        }
        None => std::future::pending().await,
    }
}

/// Waits for the result of a preparation; for ever without one.
async fn next_result<T>(preparing: &mut Option<Preparation<T>>) -> Result<T, String> {
    match preparing {
        Some(preparation) => {
            let crashed = |_| Err("preparing the run crashed; this is a fault of this program".to_owned());
            (&mut preparation.result).await.unwrap_or_else(crashed)
        }
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
