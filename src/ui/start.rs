//! The start screen: which world and task, by what method and actor, or which session to go on with.
//!
//! Pure over a [`StartModel`] that the command line fills; what the person chose comes back as a [`StartChoice`]. What is
//! preselected starts with Enter.

mod chooser;
mod view;

pub use chooser::{Chooser, ChooserOutcome};
pub use view::draw;

use super::app::{Options, is_terminal_gone};
use super::loop_event::LoopEvent;
use super::signals::Signals;
use super::terminal::Screen;
use crate::domain::SettingOrigin;
use crossterm::event::{Event, EventStream, KeyEventKind};
use futures_util::StreamExt;
use std::io;
use std::path::PathBuf;
use tokio::sync::mpsc::UnboundedReceiver;

/// A task that can be started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskRow {
    /// Its id.
    pub id: String,
    /// Its goal, in words; empty where it is not known before the start.
    pub goal: String,
    /// Its type.
    pub task_type: String,
}

/// An environment with its tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvironmentRow {
    /// Its name, as on the command line.
    pub name: String,
    /// What a person should know about it: built in, where its data are, or why it offers nothing here.
    pub description: String,
    /// Its tasks.
    pub tasks: Vec<TaskRow>,
}

/// A setting with where its value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingRow {
    /// Its name in the configuration, such as `run.method`.
    pub name: String,
    /// Its word on the screen.
    pub label: String,
    /// Its value.
    pub value: String,
    /// Where the value comes from.
    pub origin: SettingOrigin,
    /// What it may be.
    pub allowed: AllowedValues,
    /// What it does, in a sentence.
    pub summary: String,
}

/// What a setting may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowedValues {
    /// One of these words.
    OneOf(Vec<String>),
    /// A whole number that is typed, from the first to the last.
    Number(u64, u64),
    /// A text that is typed, such as a path or the name of a model.
    Text {
        /// What counts where there is none, in words.
        none_label: &'static str,
        /// Texts that are offered.
        suggestions: Vec<String>,
        /// What is typed, in words.
        expected: &'static str,
    },
}

/// The settings of one choice of preset, method and reading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettingsVariant {
    /// The preset; `none` where there is none.
    pub preset: String,
    /// The method.
    pub method: String,
    /// `paper` or `code`.
    pub paper_or_code: String,
    /// All settings with their values.
    pub settings: Vec<SettingRow>,
}

/// A session that can be taken up again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// Its folder.
    pub path: PathBuf,
    /// What it is about.
    pub goal: String,
    /// How it stands: `crashed`, `stopped`, `over`.
    pub status: String,
    /// Where it stands: episodes, steps, when.
    pub about: String,
}

/// All there is to choose from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StartModel {
    /// The environments.
    pub environments: Vec<EnvironmentRow>,
    /// The preselected environment.
    pub environment: usize,
    /// The preselected task in it.
    pub task: usize,
    /// Method, actor and the other settings.
    pub knobs: Vec<SettingRow>,
    /// The same for each choice of preset (`run.preset`), method (`run.method`) and reading (`run.as`): they have settings and
    /// defaults of their own.
    pub variants: Vec<SettingsVariant>,
    /// Models (`openai:MODEL`) and the profile that each is of.
    pub model_profiles: Vec<(String, String)>,
    /// Sessions, the newest first.
    pub sessions: Vec<SessionRow>,
}

/// What the person chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartChoice {
    /// Start a run.
    Run {
        /// The environment.
        env: String,
        /// The task.
        task: String,
        /// Settings that the person changed, by name.
        changed: Vec<(String, String)>,
    },
    /// Go on with a session.
    Resume(PathBuf),
}

/// What was found out while the screen is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartUpdate {
    /// An environment as it is; it takes the place of the one with its name.
    Environment(EnvironmentRow),
    /// The sessions.
    Sessions(Vec<SessionRow>),
}

/// Shows the start screen until the person has chosen; none: they left. The terminal is given back before it returns.
/// `check` says in words why a choice cannot be; the person is told and chooses on. `said` is told at once.
///
/// # Errors
/// When the terminal cannot be used.
pub async fn run_start_screen(
    model: StartModel,
    options: &Options,
    mut news: UnboundedReceiver<StartUpdate>,
    said: Option<String>,
    check: impl Fn(&StartChoice) -> Result<(), String>,
) -> io::Result<Option<StartChoice>> {
    let mut screen = Screen::enter()?;
    let mut chooser = Chooser::new(model);
    chooser.note = said;
    let mut events = EventStream::new();
    let mut signals = Signals::new()?;
    loop {
        screen.ensure_active()?;
        screen.terminal.draw(|frame| draw(&chooser, options, frame.buffer_mut()))?;
        let event = tokio::select! {
            event = events.next() => event,
            Some(news) = news.recv() => {
                chooser.apply_update(news);
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
                Err(why) => chooser.note = Some(why),
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
