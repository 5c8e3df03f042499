//! Appends to a branch file. An event is acknowledged when [`Writer::append`] has returned.

use super::parent_file::{AncestorFile, path_change};
use super::{BranchHeader, EventFile, FileChange, JournalError};
use crate::domain::Seq;
use crate::engine::Envelope;
use crate::files;
use std::fs::{File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How often locking is retried while another program holds the lock, and for how long in total.
const LOCK_TRIES: u32 = 20;
const LOCK_TIMEOUT: Duration = Duration::from_millis(200);

/// The only writer of a branch file. It holds the file's lock.
#[derive(Debug)]
pub struct Writer {
    file: Arc<File>,
    path: PathBuf,
    /// The length in bytes of the acknowledged lines.
    valid_len: u64,
    /// Lines whose write failed, kept for a retry.
    pending: Vec<u8>,
    /// Whether a failed write may have left part of a line at the end.
    has_partial_line: bool,
    line: Vec<u8>,
    /// The offsets of the last batch's events within the batch.
    batch_offsets: Vec<(Seq, u64)>,
    event_file: Arc<EventFile>,
    /// The files of the branch's ancestors.
    parents: Vec<Arc<AncestorFile>>,
    unsynced: bool,
    /// The number of writes that a test makes fail after half of their bytes.
    #[cfg(test)]
    pub(crate) failing_writes: std::sync::Arc<std::sync::atomic::AtomicU32>,
    /// While a test holds it, syncs wait.
    #[cfg(test)]
    pub(crate) sync_gate: std::sync::Arc<std::sync::Mutex<()>>,
    /// How often the driver has begun to wait for a sync.
    #[cfg(test)]
    pub(crate) sync_waits: std::sync::Arc<std::sync::atomic::AtomicU32>,
}

/// Syncs what a writer had written when it was created. Can be sent to another thread.
pub struct SyncHandle {
    file: Arc<File>,
    path: PathBuf,
    #[cfg(test)]
    gate: std::sync::Arc<std::sync::Mutex<()>>,
}

impl SyncHandle {
    /// Syncs the file, and waits for it.
    ///
    /// # Errors
    /// Returns [`JournalError::Io`].
    pub fn sync(&self) -> Result<(), JournalError> {
        #[cfg(test)]
        let _gate = self.gate.lock();
        self.file.sync_data().map_err(JournalError::io(&self.path, "could not be synced"))
    }
}

impl Writer {
    /// Creates a branch file with its header, syncs it and locks it.
    ///
    /// # Errors
    /// Returns [`JournalError::Io`], also if the file exists.
    pub fn create(path: &Path, header: &BranchHeader) -> Result<Self, JournalError> {
        let file = files::create_new(path).map_err(JournalError::io(path, "could not be created"))?;
        let mut writer = Self::with_lock(file, path, 0, Arc::new(EventFile::new(path, header.at_seq)))?;
        let mut line = serde_json::to_vec(header)
            .map_err(|e| JournalError::io(path, "header could not be serialized")(e.into()))?;
        line.push(b'\n');
        writer.write(&line)?;
        writer.sync()?;
        Ok(writer)
    }

    /// Opens and locks a branch file without changing it, so that it can be read before [`Writer::truncate_to`].
    ///
    /// # Errors
    /// Returns [`JournalError::Locked`] if another program is writing it.
    pub fn lock(path: &Path) -> Result<Self, JournalError> {
        let file = files::open_to_append(path).map_err(super::stream::open_error(path))?;
        let len = file.metadata().map_err(JournalError::io(path, "size could not be read"))?.len();
        Self::with_lock(file, path, len, Arc::new(EventFile::new(path, Seq(0))))
    }

    /// Truncates the file to its complete batches and continues after them.
    ///
    /// # Errors
    /// Returns [`JournalError::Io`] if the file cannot be truncated.
    pub fn truncate_to(mut self, valid_len: u64, events: Arc<EventFile>) -> Result<Self, JournalError> {
        self.event_file.set_open_file(None);
        events.set_open_file(shared_reader(&self.file));
        self.event_file = events;
        if valid_len < self.valid_len {
            self.file
                .set_len(valid_len)
                .map_err(JournalError::io(&self.path, "could not be truncated to its last complete line"))?;
            self.valid_len = valid_len;
            self.unsynced = true;
        }
        Ok(self)
    }

    fn with_lock(
        file: File,
        path: &Path,
        valid_len: u64,
        events: Arc<EventFile>,
    ) -> Result<Self, JournalError> {
        // Listing sessions takes the lock for a moment to see whether a session is being written, so the writer tries
        // again.
        let mut tries = 0;
        let mut locked = file.try_lock();
        while tries < LOCK_TRIES && matches!(locked, Err(TryLockError::WouldBlock)) {
            std::thread::park_timeout(LOCK_TIMEOUT / LOCK_TRIES);
            tries += 1;
            locked = file.try_lock();
        }
        match locked {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(JournalError::Locked { path: path.to_owned() }),
            Err(TryLockError::Error(source)) => {
                return Err(JournalError::Io {
                    path: path.to_owned(),
                    action: "could not be locked",
                    source,
                });
            }
        }
        let file = Arc::new(file);
        events.set_open_file(shared_reader(&file));
        Ok(Self {
            file,
            path: path.to_owned(),
            valid_len,
            pending: Vec::new(),
            has_partial_line: false,
            line: Vec::new(),
            batch_offsets: Vec::new(),
            event_file: events,
            parents: Vec::new(),
            unsynced: false,
            #[cfg(test)]
            failing_writes: std::sync::Arc::default(),
            #[cfg(test)]
            sync_gate: std::sync::Arc::default(),
            #[cfg(test)]
            sync_waits: std::sync::Arc::default(),
        })
    }

    /// Appends a batch in one write. When it returns `Ok`, the events are acknowledged.
    ///
    /// # Errors
    /// Returns the system's error, or [`JournalError::Changed`]. The file then ends with its last complete line, and
    /// the same bytes stay pending for [`Writer::retry`].
    pub fn append(&mut self, batch: &[Envelope]) -> Result<(), JournalError> {
        debug_assert!(self.pending.is_empty(), "a failed write must be retried first");
        let mut bytes = std::mem::take(&mut self.line);
        bytes.clear();
        self.batch_offsets.clear();
        for envelope in batch {
            self.batch_offsets.push((envelope.seq, bytes.len() as u64));
            serde_json::to_writer(&mut bytes, envelope)
                .map_err(|e| JournalError::io(&self.path, "event could not be serialized")(e.into()))?;
            bytes.push(b'\n');
        }
        let written = self.write(&bytes);
        if written.is_err() {
            self.pending.clone_from(&bytes);
        }
        self.line = bytes;
        written
    }

    /// Retries the failed write with the same bytes.
    ///
    /// # Errors
    /// The same as [`Writer::append`]; the bytes stay pending.
    pub fn retry(&mut self) -> Result<(), JournalError> {
        let pending = std::mem::take(&mut self.pending);
        if pending.is_empty() {
            let error = io::Error::other("these events cannot be written as JSON");
            return Err(JournalError::io(&self.path, "could not be written")(error));
        }
        let written = self.write(&pending);
        if written.is_err() {
            self.pending = pending;
        }
        written
    }

    /// Sets the files of the branch's ancestors, which [`Writer::check_unchanged`] checks too.
    pub fn set_ancestors(&mut self, parents: Vec<Arc<AncestorFile>>) {
        self.parents = parents;
    }

    /// Returns the files of the branch's ancestors.
    pub fn parents(&self) -> &[Arc<AncestorFile>] {
        &self.parents
    }

    /// Checks that the path still refers to the open file, that its length is what was written, and that the files of
    /// the branch's ancestors are unchanged.
    ///
    /// # Errors
    /// Returns [`JournalError::Changed`] if not.
    pub fn check_unchanged(&self) -> Result<(), JournalError> {
        self.check_own_file()?;
        self.parents.iter().try_for_each(|parent| parent.check())
    }

    fn check_own_file(&self) -> Result<(), JournalError> {
        let changed = |change| Err(JournalError::Changed { path: self.path.clone(), change });
        let metadata =
            self.file.metadata().map_err(JournalError::io(&self.path, "size could not be read"))?;
        if let Some(change) = path_change(&self.path, &metadata) {
            return changed(change);
        }
        let (current, expected) = (metadata.len(), self.valid_len);
        match current.cmp(&expected) {
            std::cmp::Ordering::Less => changed(FileChange::Shortened { current, expected }),
            std::cmp::Ordering::Greater if !self.has_partial_line => {
                changed(FileChange::Lengthened { current, expected })
            }
            _ => Ok(()),
        }
    }

    /// Syncs what was written to the disk, and waits for it.
    ///
    /// # Errors
    /// Returns [`JournalError::Io`], or [`JournalError::Changed`] like [`Writer::check_unchanged`].
    pub fn sync(&mut self) -> Result<(), JournalError> {
        let Some(handle) = self.begin_sync()? else { return Ok(()) };
        handle.sync().inspect_err(|_| self.unsynced = true)
    }

    /// Returns a handle that syncs what was written so far, or `None` if there is nothing to sync. From now on this counts
    /// as synced; if the handle fails, call [`Writer::mark_unsynced`].
    ///
    /// # Errors
    /// Returns [`JournalError::Changed`] like [`Writer::check_unchanged`].
    pub fn begin_sync(&mut self) -> Result<Option<SyncHandle>, JournalError> {
        self.check_unchanged()?;
        Ok(std::mem::take(&mut self.unsynced).then(|| SyncHandle {
            file: self.file.clone(),
            path: self.path.clone(),
            #[cfg(test)]
            gate: self.sync_gate.clone(),
        }))
    }

    /// Notes that what was written has to be synced again.
    pub fn mark_unsynced(&mut self) {
        self.unsynced = true;
    }

    /// Returns the offsets of this branch's events.
    pub fn event_file(&self) -> &Arc<EventFile> {
        &self.event_file
    }

    /// Returns the length in bytes of the header and the acknowledged events.
    pub fn valid_len(&self) -> u64 {
        self.valid_len
    }

    /// Returns whether anything was written since the last sync.
    pub fn is_unsynced(&self) -> bool {
        self.unsynced
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), JournalError> {
        // Changes by another program must be detected before events are acknowledged that would be lost.
        self.check_own_file()?;
        self.write_after_valid(bytes).map_err(JournalError::io(&self.path, "could not be written"))
    }

    fn write_after_valid(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.has_partial_line {
            self.file.set_len(self.valid_len)?;
            self.has_partial_line = false;
        }
        match self.write_to_file(bytes) {
            Ok(()) => {
                for (seq, offset) in self.batch_offsets.drain(..) {
                    self.event_file.record_position(seq, self.valid_len + offset);
                }
                self.valid_len += bytes.len() as u64;
                self.unsynced = true;
                Ok(())
            }
            Err(error) => {
                // Removes the part that reached the file; if that fails too, it is removed before the next write.
                self.has_partial_line = self.file.set_len(self.valid_len).is_err();
                Err(error)
            }
        }
    }

    #[cfg(not(test))]
    fn write_to_file(&mut self, bytes: &[u8]) -> io::Result<()> {
        (&*self.file).write_all(bytes)
    }

    #[cfg(test)]
    fn write_to_file(&mut self, bytes: &[u8]) -> io::Result<()> {
        use std::sync::atomic::Ordering;
        if self
            .failing_writes
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1))
            .is_ok()
        {
            (&*self.file).write_all(&bytes[..bytes.len() / 2])?;
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        (&*self.file).write_all(bytes)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // The open file holds the lock.
        self.event_file.stop_reading_through(&self.file);
    }
}

/// Returns the open file for reading at any position. Returns `None` on systems where that would move the writer's
/// position.
fn shared_reader(file: &Arc<File>) -> Option<Arc<File>> {
    cfg!(unix).then(|| file.clone())
}
