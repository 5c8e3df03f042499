//! The files of a fork's ancestors, held open while the fork is written, so that changes are detected and events can
//! still be read if a path changes.

use super::{EventFile, FileChange, JournalError};
use crate::domain::Seq;
use crate::files;
use std::fs::{File, Metadata};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

/// The maximum number of files held open, because a process can open only about a thousand. Changes to further files
/// are still detected, but their events are read from the path.
const MAX_HELD_FILES: usize = 64;

/// The file of an ancestor of a fork.
#[derive(Debug)]
pub struct AncestorFile {
    events: Arc<EventFile>,
    /// Its identity when it was opened.
    opened: Metadata,
    held: Option<Arc<File>>,
    /// The length in bytes of the part that belongs to the fork.
    bytes: u64,
}

impl AncestorFile {
    /// Holds a file open whose first `bytes` bytes belong to a fork; `held_count` ancestors are held already.
    pub(super) fn hold(
        events: Arc<EventFile>,
        file: File,
        bytes: u64,
        held_count: usize,
    ) -> Result<Arc<Self>, JournalError> {
        let opened = file.metadata().map_err(JournalError::io(events.path(), "size could not be read"))?;
        let held = (held_count < MAX_HELD_FILES).then(|| Arc::new(file));
        if let Some(file) = held.as_ref().filter(|_| cfg!(unix)) {
            events.set_open_file(Some(file.clone()));
        }
        Ok(Arc::new(Self { events, opened, held, bytes }))
    }

    /// Checks that the path still refers to the file, and that the file still has the part that belongs to the fork.
    pub(super) fn check(&self) -> Result<(), JournalError> {
        let path = self.events.path();
        let metadata = self.held.as_ref().and_then(|file| file.metadata().ok());
        let mut change = path_change(path, metadata.as_ref().unwrap_or(&self.opened));
        if change.is_none() {
            let len = metadata.or_else(|| std::fs::metadata(path).ok()).map_or(self.bytes, |m| m.len());
            change =
                (len < self.bytes).then_some(FileChange::Shortened { current: len, expected: self.bytes });
        }
        change.map_or(Ok(()), |change| Err(JournalError::Changed { path: path.to_owned(), change }))
    }
}

/// Returns what happened to the path of an open file, or `None` if it still refers to the file.
pub(super) fn path_change(path: &Path, open: &Metadata) -> Option<FileChange> {
    let removed = files::is_removed(open);
    match std::fs::metadata(path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Some(if removed { FileChange::Removed } else { FileChange::Moved })
        }
        Ok(metadata) if !files::is_same_file(&metadata, open) => Some(FileChange::Replaced),
        Ok(_) if removed => Some(FileChange::Removed),
        // A path that cannot be inspected doesn't mean that the file is gone.
        Ok(_) | Err(_) => None,
    }
}

/// Returns the files of a new fork's ancestors. The fork begins after the event `at` of a branch whose file is
/// `own_file` and whose ancestors are `parents`.
///
/// # Errors
/// Returns [`JournalError::Io`] if a file cannot be opened.
pub fn parents_of_fork(
    parents: &[Arc<AncestorFile>],
    own_file: &Arc<EventFile>,
    at: Seq,
) -> Result<Vec<Arc<AncestorFile>>, JournalError> {
    let mut ancestry: Vec<&Arc<EventFile>> = parents.iter().map(|parent| &parent.events).collect();
    ancestry.push(own_file);
    // The event may belong to an ancestor.
    let owner = ancestry.iter().rposition(|events| events.starts_at_or_before(at)).unwrap_or(0);
    let events = ancestry[owner].clone();
    let io = |action| JournalError::io(events.path(), action);
    let file = files::open(events.path()).map_err(io("could not be opened"))?;
    let bytes = match events.end_offset(at) {
        Some(bytes) => bytes,
        None => file.metadata().map_err(io("size could not be read"))?.len(),
    };
    let mut fork_parents = parents[..owner.min(parents.len())].to_vec();
    fork_parents.push(AncestorFile::hold(events.clone(), file, bytes, owner)?);
    Ok(fork_parents)
}
