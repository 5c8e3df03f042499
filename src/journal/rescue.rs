//! Saves a branch whose file another program removed, replaced or truncated: writes all events that the process still
//! holds to a new session in the same folder.

use super::session::branch_path;
use super::{JournalError, Session, Writer};
use crate::domain::{BranchId, Seq};
use crate::engine::{Envelope, State};
use crate::files;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A new session to which a branch is saved, as a single branch with all its events.
pub struct Rescue {
    session: Session,
    writer: Writer,
    state: State,
}

impl Rescue {
    /// Creates the session `NAME-saved` in the folder of `session`; a number is appended if that name exists.
    ///
    /// # Errors
    /// Returns [`JournalError::Io`] if a file cannot be created or written.
    pub fn create(session: &Session) -> Result<Self, JournalError> {
        let root = session.dir.parent().unwrap_or(Path::new("."));
        let name = session.dir.file_name().map(|n| n.to_string_lossy().into_owned());
        let name = name.unwrap_or_else(|| session.meta.session.clone());
        let is_free = |name: &String| std::fs::symlink_metadata(root.join(name)).is_err();
        let names =
            (1..u32::MAX).map(|n| if n == 1 { format!("{name}-saved") } else { format!("{name}-saved-{n}") });
        let name = names.into_iter().find(is_free).unwrap_or_else(|| format!("{name}-saved"));
        let (session, writer) = Session::create(root, super::Meta { session: name, ..session.meta.clone() })?;
        Ok(Self { session, writer, state: State::default() })
    }

    /// Returns its folder.
    pub fn dir(&self) -> &Path {
        &self.session.dir
    }

    /// Returns the last event that was saved.
    pub fn head(&self) -> Seq {
        self.state.head
    }

    /// Appends the next events.
    ///
    /// # Errors
    /// Returns [`JournalError::Io`] if a file cannot be created or written.
    pub fn append(&mut self, events: &[Arc<Envelope>]) -> Result<(), JournalError> {
        let batch: Vec<Envelope> = events.iter().map(|event| Envelope::clone(event)).collect();
        self.writer.append(&batch)?;
        for event in events {
            self.state.apply(event);
        }
        Ok(())
    }

    /// Returns whether the saved events fold to this state.
    pub fn folds_to(&self, state: &State) -> bool {
        self.state == *state
    }

    /// Saves events after a gap (some events before them are lost) to a separate file.
    ///
    /// # Errors
    /// Returns [`JournalError::Io`] if a file cannot be created or written.
    pub fn save_remaining(&self, events: &[Arc<Envelope>]) -> Result<PathBuf, JournalError> {
        let path = self.session.dir.join("rest.jsonl");
        let mut bytes = Vec::new();
        for event in events {
            serde_json::to_writer(&mut bytes, event)
                .map_err(|e| JournalError::io(&path, "event could not be serialized")(e.into()))?;
            bytes.push(b'\n');
        }
        files::replace(&path, &bytes).map_err(JournalError::io(&path, "could not be written"))?;
        Ok(path)
    }

    /// Syncs the session to the disk.
    ///
    /// # Errors
    /// Returns [`JournalError::Io`] if a file cannot be created or written.
    pub fn finish(mut self) -> Result<PathBuf, JournalError> {
        self.writer.sync()?;
        debug_assert!(branch_path(&self.session.dir, &BranchId::trunk()).is_file());
        Ok(self.session.dir.clone())
    }
}
