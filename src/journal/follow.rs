//! Reads what another program appends to a branch file.

use super::JournalError;
use super::stream::{EventLines, open_regular};
use crate::domain::Seq;
use crate::engine::Envelope;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Reads the new events of a branch file.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    /// The offset after the last complete batch that was read.
    valid_len: u64,
    /// The last event of that batch.
    last_seq: Seq,
    /// The length of the file at the last check.
    seen_len: u64,
}

impl Follower {
    /// Continues after an opened branch; `valid_len` is its length in bytes, `last` its last event.
    pub fn new(path: &Path, valid_len: u64, last: Seq) -> Self {
        Self { path: path.to_owned(), valid_len, last_seq: last, seen_len: valid_len }
    }

    /// Returns the complete batches written since the last call.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or was changed.
    pub fn read_new_events(&mut self) -> Result<Vec<Arc<Envelope>>, JournalError> {
        let (file, metadata) = open_regular(&self.path)?;
        if metadata.len() == self.seen_len {
            return Ok(Vec::new());
        }
        let (header, mut lines) = EventLines::from_file(&self.path, file)?;
        if metadata.len() < self.valid_len {
            let error = std::io::Error::other("it is shorter than before; open it again");
            return Err(JournalError::io(&self.path, "has changed")(error));
        }
        lines.seek_to(self.valid_len, self.last_seq.0.max(header.at_seq.0), header.at_seq.0)?;
        let (mut events, mut complete_count) = (Vec::new(), 0);
        while let Some((envelope, _)) = lines.next_event()? {
            let ends_batch = !envelope.batch_continues;
            events.push(Arc::new(envelope));
            if ends_batch {
                complete_count = events.len();
                self.valid_len = lines.offset;
            }
        }
        events.truncate(complete_count);
        self.last_seq = events.last().map_or(self.last_seq, |e| e.seq);
        self.seen_len = metadata.len();
        Ok(events)
    }
}
