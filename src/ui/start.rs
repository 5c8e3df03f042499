//! The start screen: choose an environment, a task and settings for a new run, or a session to resume.
//!
//! It is pure over a [`StartModel`] that the command line fills; the result is a [`StartChoice`]. Enter starts what is
//! preselected.

mod chooser;
mod types;
mod view;

pub use chooser::{Chooser, ChooserOutcome};
pub use types::{
    AllowedValues, EnvironmentRow, SessionRow, SettingRow, SettingsVariant, StartChoice, StartModel,
    StartUpdate, TaskRow,
};
pub use view::draw;

use super::loop_event::LoopEvent;
use super::signals::Signals;
use super::terminal::Screen;
use crate::ui::options::Options;
use crate::ui::terminal::is_terminal_gone;
use crossterm::event::{Event, EventStream, KeyEventKind};
use futures_util::StreamExt;
use std::io;
use tokio::sync::mpsc::UnboundedReceiver;

/// Shows the start screen until the person has chosen. Returns `None` if they quit.
///
/// The terminal is restored before the function returns. `check` returns why a choice is invalid; the reason is shown
/// and the screen stays open. `notice` is shown at once. `updates` fills in what is loaded in the background.
///
/// # Errors
/// Fails if the terminal can't be set up, read or drawn to.
pub async fn run_start_screen(
    model: StartModel,
    options: &Options,
    mut updates: UnboundedReceiver<StartUpdate>,
    notice: Option<String>,
    check: impl Fn(&StartChoice) -> Result<(), String>,
) -> io::Result<Option<StartChoice>> {
    let mut screen = Screen::enter()?;
    let mut chooser = Chooser::new(model);
    chooser.note = notice;
    let mut events = EventStream::new();
    let mut signals = Signals::new()?;
    loop {
        screen.ensure_active()?;
        screen.terminal.draw(|frame| draw(&chooser, options, frame.buffer_mut()))?;
        let event = tokio::select! {
            event = events.next() => event,
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
                        events = EventStream::new();
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
            Some(Ok(Event::Key(key))) if key.kind == KeyEventKind::Press => chooser.key(key, &options.keymap),
            Some(Ok(Event::Paste(text))) => chooser.paste(&text),
            Some(Ok(_)) => ChooserOutcome::Continue,
        };
        match outcome {
            ChooserOutcome::Continue => {}
            ChooserOutcome::Quit => return Ok(None),
            ChooserOutcome::Chosen(choice) => match check(&choice) {
                Ok(()) => return Ok(Some(choice)),
                Err(reason) => chooser.note = Some(reason),
            },
            ChooserOutcome::Redraw => screen.terminal.clear()?,
            ChooserOutcome::Suspend => {
                drop(events);
                screen.suspend()?;
                events = EventStream::new();
            }
        }
    }
}

#[cfg(test)]
mod tests;
