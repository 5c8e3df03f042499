//! Reads what another program appends to a branch file, and nothing twice.

use super::JournalError;
use super::stream::{Lines, open_regular};
use crate::domain::Seq;
use crate::engine::Envelope;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Follows a branch file.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    /// The byte behind the last whole batch that was read, and its last event.
    whole: u64,
    last: Seq,
    /// The length at the last look.
    seen: u64,
}

impl Follower {
    /// Goes on behind an opened branch: `whole` are its bytes, `last` its last event.
    pub fn behind(path: &Path, whole: u64, last: Seq) -> Self {
        Self { path: path.to_owned(), whole, last, seen: whole }
    }

    /// The whole batches written since the last look.
    ///
    /// # Errors
    /// [`JournalError`] when the file cannot be read, or is no longer what it was.
    pub fn news(&mut self) -> Result<Vec<Arc<Envelope>>, JournalError> {
        let (file, metadata) = open_regular(&self.path)?;
        if metadata.len() == self.seen {
            return Ok(Vec::new());
        }
        let (header, mut lines) = Lines::of_file(&self.path, file)?;
        if metadata.len() < self.whole {
            let cut = std::io::Error::other("it is shorter than what was read of it; open it anew");
            return Err(JournalError::io(&self.path, "is no longer what it was")(cut));
        }
        lines.jump(self.whole, self.last.0.max(header.at_seq.0), header.at_seq.0)?;
        let (mut events, mut whole) = (Vec::new(), 0);
        while let Some((envelope, _)) = lines.event()? {
            let ends_batch = !envelope.batch_continues;
            events.push(Arc::new(envelope));
            if ends_batch {
                whole = events.len();
                self.whole = lines.at;
            }
        }
        events.truncate(whole);
        self.last = events.last().map_or(self.last, |e| e.seq);
        self.seen = metadata.len();
        Ok(events)
    }
}
