//! The files that a fork grew from, held open while it is driven: a change of one is noticed, and its events can still be read
//! when the path leads elsewhere.

use super::{EventFile, FileChange, JournalError};
use crate::domain::Seq;
use crate::files;
use std::fs::{File, Metadata};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

/// Files that are held open at most: a process may open about a thousand. Of the others beyond, a change is noticed, and
/// their events are read from the path.
const MOST_HELD: usize = 64;

/// One file of a fork's line of parents.
#[derive(Debug)]
pub struct ParentFile {
    events: Arc<EventFile>,
    /// As it was opened.
    opened: Metadata,
    held: Option<Arc<File>>,
    /// Its first bytes that belong to the fork.
    bytes: u64,
}

impl ParentFile {
    /// Holds a file of which so many bytes belong to a fork that stands on `below` others.
    pub(super) fn hold(
        events: Arc<EventFile>,
        file: File,
        bytes: u64,
        below: usize,
    ) -> Result<Arc<Self>, JournalError> {
        let opened = file.metadata().map_err(JournalError::io(events.path(), "could not be measured"))?;
        let held = (below < MOST_HELD).then(|| Arc::new(file));
        if let Some(file) = held.as_ref().filter(|_| cfg!(unix)) {
            events.set_open_file(Some(file.clone()));
        }
        Ok(Arc::new(Self { events, opened, held, bytes }))
    }

    /// Whether the path still leads to the file, and the file has all that the fork needs of it.
    pub(super) fn check(&self) -> Result<(), JournalError> {
        let path = self.events.path();
        let now = self.held.as_ref().and_then(|file| file.metadata().ok());
        let mut change = path_change(path, now.as_ref().unwrap_or(&self.opened));
        if change.is_none() {
            let is = now.or_else(|| std::fs::metadata(path).ok()).map_or(self.bytes, |m| m.len());
            change = (is < self.bytes).then_some(FileChange::Shortened { current: is, expected: self.bytes });
        }
        change.map_or(Ok(()), |change| Err(JournalError::Changed { path: path.to_owned(), change }))
    }
}

/// What has become of the path of an open file; none where it still leads to it.
pub(super) fn path_change(path: &Path, open: &Metadata) -> Option<FileChange> {
    let removed = files::is_removed(open);
    match std::fs::metadata(path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Some(if removed { FileChange::Removed } else { FileChange::Moved })
        }
        Ok(there) if !files::is_same_file(&there, open) => Some(FileChange::Replaced),
        Ok(_) if removed => Some(FileChange::Removed),
        // A path that cannot be looked at is no sign that the file is gone.
        Ok(_) | Err(_) => None,
    }
}

/// The files under a fork at an event of a branch that stands on `parents` and has its own events in `own`.
///
/// # Errors
/// [`JournalError::Io`].
pub fn parents_of_fork(
    parents: &[Arc<ParentFile>],
    own: &Arc<EventFile>,
    at: Seq,
) -> Result<Vec<Arc<ParentFile>>, JournalError> {
    let mut line: Vec<&Arc<EventFile>> = parents.iter().map(|parent| &parent.events).collect();
    line.push(own);
    // The event may stand on a branch below.
    let last = line.iter().rposition(|events| events.begins_before(at)).unwrap_or(0);
    let events = line[last].clone();
    let io = |action| JournalError::io(events.path(), action);
    let file = files::open(events.path()).map_err(io("could not be opened"))?;
    let bytes = match events.end_offset(at) {
        Some(bytes) => bytes,
        None => file.metadata().map_err(io("could not be measured"))?.len(),
    };
    let mut under = parents[..last.min(parents.len())].to_vec();
    under.push(ParentFile::hold(events.clone(), file, bytes, last)?);
    Ok(under)
}
