//! What can be said of a session without opening it. Kept beside the journal, and rebuilt from it at will.

use super::session::write_private;
use super::{JournalError, Session, fold, read_branch};
use crate::domain::{EpisodeSummary, Seq};
use crate::engine::State;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// How a session stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Put down in order.
    Closed,
    /// A program is writing it now.
    Live,
    /// No closing event, and nobody holds the lock.
    Crashed,
}

/// What can be said of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Bytes of the trunk that this speaks of; when the file has grown, it is made anew.
    pub bytes: u64,
    /// The last event.
    pub head: Seq,
    /// The goal of the open or last episode.
    pub goal: String,
    /// Ended episodes.
    pub episodes: u32,
    /// How many were won.
    pub won: u32,
    /// Progress rate of the open or last episode.
    pub progress: f64,
    /// Steps of the open or last episode.
    pub steps: u32,
    /// Lessons in the pool.
    pub lessons: u32,
    /// The run is over.
    pub over: bool,
    /// The session was put down in order.
    pub closed: bool,
    /// The last ended episode.
    pub last: Option<EpisodeSummary>,
}

/// What can be said of a state.
pub fn summarise(state: &State, bytes: u64) -> Summary {
    let episode = state.episode.as_deref();
    Summary {
        bytes,
        head: state.head,
        goal: episode.map(|e| e.task.goal.clone()).unwrap_or_default(),
        episodes: state.past.len() as u32,
        won: state.past.iter().filter(|p| p.won).count() as u32,
        progress: episode.map_or(0.0, |e| e.progress),
        steps: episode.map_or(0, crate::engine::Episode::answered),
        lessons: state.pool.all().filter(|l| l.in_force()).count() as u32,
        over: state.over,
        closed: state.closed,
        last: state.past.last().map(|p| (**p).clone()),
    }
}

impl Summary {
    /// Keeps it beside the journal.
    ///
    /// # Errors
    /// [`JournalError::Io`].
    pub fn save(&self, dir: &Path) -> Result<(), JournalError> {
        let index = dir.join("index");
        fs::create_dir_all(&index).map_err(JournalError::io(&index, "could not be made"))?;
        let bytes = serde_json::to_vec(self).unwrap_or_default();
        write_private(&index.join("summary.json"), &bytes)
    }

    /// The kept summary when it still speaks of the whole trunk, else one made from the journal (and kept where possible).
    ///
    /// # Errors
    /// [`JournalError`] when the journal cannot be read.
    pub fn of(session: &Session) -> Result<Self, JournalError> {
        let trunk = session.trunk();
        let len = fs::metadata(&trunk).map_err(JournalError::io(&trunk, "could not be measured"))?.len();
        let kept = fs::read(session.dir.join("index").join("summary.json")).ok();
        if let Some(kept) = kept.and_then(|bytes| serde_json::from_slice::<Self>(&bytes).ok())
            && kept.bytes == len
        {
            return Ok(kept);
        }
        let branch = read_branch(&trunk)?;
        let summary = summarise(fold(branch.events).head(), len);
        // A shipped or read-only session simply has no index.
        let _ = summary.save(&session.dir);
        Ok(summary)
    }

    /// How the session stands now.
    pub fn standing(&self, session: &Session) -> Standing {
        if self.closed {
            return Standing::Closed;
        }
        match File::open(session.trunk()).map(|f| f.try_lock_shared()) {
            Ok(Err(fs::TryLockError::WouldBlock)) => Standing::Live,
            _ => Standing::Crashed,
        }
    }
}

/// A session's folder with what can be said of it, or why nothing can.
pub type Listed = (PathBuf, Result<(Session, Summary), JournalError>);

/// The sessions below a folder, the newest first; broken ones with the reason.
pub fn list(root: &Path) -> Vec<Listed> {
    let Ok(entries) = fs::read_dir(root) else { return Vec::new() };
    let mut dirs: Vec<PathBuf> =
        entries.flatten().map(|e| e.path()).filter(|p| p.join("meta.toml").is_file()).collect();
    dirs.sort_by(|a, b| b.file_name().cmp(&a.file_name()));
    dirs.into_iter()
        .map(|dir| {
            let read = Session::open(&dir).and_then(|s| Summary::of(&s).map(|summary| (s, summary)));
            (dir, read)
        })
        .collect()
}
