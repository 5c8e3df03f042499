//! Lists sessions with their summaries, which are rebuilt from the journal when they are outdated.

use super::summary::tail_hash;
use super::{JournalError, OpenMode, Session, Summary, open_branch, summarize};
use crate::domain::BranchId;
use std::fs;
use std::path::{Path, PathBuf};

impl Summary {
    /// Returns the summary of the branch written last.
    ///
    /// # Errors
    /// The same as [`Summary::load_branch`].
    pub fn load(session: &Session) -> Result<Self, JournalError> {
        let summary = Self::load_branch(session, &session.last_written())?;
        Ok(Self { branches: session.branch_count(), ..summary })
    }

    /// Returns the stored summary if it is up to date, otherwise a new one from the journal. The new one is
    /// stored only if `index/` exists, because reading a session that was archived without it must not create folders.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be read.
    pub fn load_branch(session: &Session, branch: &BranchId) -> Result<Self, JournalError> {
        let file = session.branch_file(branch);
        let len = super::stream::open_regular(&file)?.1.len();
        let tail = tail_hash(&file, len).map_err(JournalError::io(&file, "could not be read"))?;
        if let Some(saved) = Self::read_saved(&session.dir, branch)
            && saved.bytes == len
            && saved.tail == tail
            && saved.is_current()
        {
            return Ok(saved);
        }
        let opened = open_branch(&file, OpenMode::Read)?;
        let mut summary = Self { tail, ..summarize(opened.timeline.head(), branch, len) };
        if let Some(missing) = opened.missing {
            summary.acknowledged = missing.last;
        }
        if session.dir.join("index").is_dir() {
            // If the session isn't writable, the summary is rebuilt each time.
            let _ = summary.save(&session.dir);
        }
        Ok(summary)
    }
}

/// A session's folder, with its summary or the error of reading it.
pub type ListedSession = (PathBuf, Result<(Session, Summary), JournalError>);

/// Sorts session folders by start time, newest first. Names begin with it, in whole seconds; for equal seconds the meta
/// files are read.
pub fn sort_newest_first(dirs: &mut [PathBuf]) {
    const TIMESTAMP_LEN: usize = "20261120T104000Z".len();
    let start_second = |dir: &PathBuf| {
        let name = dir.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        name.get(..TIMESTAMP_LEN).map_or(name.clone(), str::to_owned)
    };
    dirs.sort_by(|a, b| b.file_name().cmp(&a.file_name()));
    for same_second in dirs
        .chunk_by_mut(|a, b| start_second(a) == start_second(b))
        .filter(|same_second| same_second.len() > 1)
    {
        same_second
            .sort_by_cached_key(|dir| std::cmp::Reverse(Session::open(dir).ok().map(|s| s.meta.created)));
    }
}

/// Returns the sessions in a folder, newest first; an unreadable one has the error instead of a summary.
pub fn list_sessions(folder: &Path) -> Vec<ListedSession> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut dirs: Vec<PathBuf> = entries
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.join("meta.toml").symlink_metadata().is_ok())
        .collect();
    sort_newest_first(&mut dirs);
    dirs.into_iter()
        .map(|dir| {
            let result = Session::open(&dir).and_then(|s| Summary::load(&s).map(|summary| (s, summary)));
            (dir, result)
        })
        .collect()
}
