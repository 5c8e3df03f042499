//! Why a session is halted.

use crate::domain::Seq;
use std::path::PathBuf;

/// Why nothing can be written, and what to do about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Halt {
    /// What failed, and where.
    pub reason: String,
    /// The saved copy of the events, if another program changed the journal.
    pub rescue: Option<RescueOutcome>,
    /// The last event written.
    pub head: Seq,
    /// The number of events waiting to be written.
    pub waiting: usize,
}

/// The outcome of saving the events of a journal that another program changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RescueOutcome {
    /// The new session; `None` if nothing could be saved.
    pub dir: Option<PathBuf>,
    /// What it contains, or why there is none.
    pub message: String,
    /// Whether it contains every event.
    pub is_complete: bool,
}

impl Halt {
    /// Describes what happened and where the events are.
    pub fn summary(&self) -> String {
        let why = &self.reason;
        match &self.rescue {
            None => {
                let head = self.head;
                format!("{why}; all events up to {head} are saved, {} more wait in memory", self.waiting)
            }
            Some(RescueOutcome { dir: Some(dir), message, .. }) => {
                let name =
                    dir.file_name().map_or_else(|| dir.display().to_string(), |n| n.to_string_lossy().into());
                format!("{why}; {message} {name}")
            }
            Some(RescueOutcome { dir: None, message, .. }) => format!("{why}; {message}"),
        }
    }

    /// Describes what to do.
    pub fn hint(&self) -> &'static str {
        match &self.rescue {
            None => "free some space, then retry; quitting loses what waits",
            Some(RescueOutcome { dir: Some(_), .. }) => {
                "quit and resume that session, or put the file back and retry"
            }
            Some(RescueOutcome { dir: None, .. }) => "put the file back, then retry",
        }
    }

    /// Returns the summary and the hint, for the screen.
    pub fn screen_message(&self) -> String {
        format!("{}: {}", self.summary(), self.hint())
    }
}
