//! Plain data that messages, the model and the views share.

use crate::domain::Seq;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// The focused pane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Focus {
    #[default]
    Story,
    /// Observations; without such a pane, Story has the focus.
    Observations,
    World,
    Lanes,
    /// The Time pane.
    Timeline,
}

/// The point in time that all panes show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cursor {
    /// The present; follows new events.
    #[default]
    Live,
    /// The state after this event.
    At(Seq),
}

/// The progress of work on another thread, which can be cancelled.
#[derive(Debug, Default)]
pub struct WorkProgress {
    percent: AtomicU8,
    is_cancelled: AtomicBool,
}

impl WorkProgress {
    /// Reports that `done` of `all` parts are done.
    ///
    /// # Errors
    /// Returns a message if the work was cancelled.
    pub fn report(&self, done: u64, all: u64) -> Result<(), String> {
        let percent = done.saturating_mul(100).checked_div(all).unwrap_or(100).min(100);
        self.percent.store(percent as u8, Ordering::Relaxed);
        if self.is_cancelled.load(Ordering::Relaxed) { Err("cancelled".to_owned()) } else { Ok(()) }
    }

    /// Returns how much is done, in percent.
    pub fn percent(&self) -> u8 {
        self.percent.load(Ordering::Relaxed)
    }

    /// Makes the next report fail.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }
}

/// An event and the epoch it belongs to: in another epoch, the same number means another event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventRef {
    /// The store's epoch.
    pub epoch: u64,
    pub seq: Seq,
}

/// An episode that can be compared: of the session on the screen, of another branch of it, or of another session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EpisodeRef {
    /// Another session, by the name that the host services use for it, or `None` for the session on screen.
    pub session: Option<String>,
    /// A branch by its id. `None` means the branch on the screen, or the most recently written branch of another
    /// session.
    pub branch: Option<String>,
    /// An episode by its number. `None` means the episode with the other side's task and trial.
    pub episode: Option<u32>,
    /// Title for lists; one line.
    pub title: String,
    /// Outcome, always shown in lists; one line.
    pub outcome: String,
    /// Goal of its task (the newest of several), or empty if unknown.
    pub goal: String,
    /// Hashes of its episodes' tasks ([`crate::domain::Task::key_hash`]).
    pub tasks: Arc<[u64]>,
}

/// The models that a server offers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelList {
    /// Host and port.
    pub server: String,
    /// Model names, as the server lists them.
    pub names: Vec<String>,
}

/// A shared large value. Two are equal only if they are the same allocation.
pub struct PtrEqArc<T>(pub Arc<T>);

impl<T> Clone for PtrEqArc<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> PartialEq for PtrEqArc<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T> Eq for PtrEqArc<T> {}

impl<T> fmt::Debug for PtrEqArc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Shared")
    }
}
