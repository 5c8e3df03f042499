//! The log of a measurement on the disk. A record counts once its line is written.

use crate::files;
use crate::timeline::effect::EffectRecord;
use std::fs::{File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The maximum size of a log. A million episodes take about 300 MB.
const MAX_LOG_BYTES: u64 = 1 << 30;

/// Why a log can't be used.
#[derive(Debug, thiserror::Error)]
pub enum LogFileError {
    #[error("{path}: {action}: {source}")]
    Io {
        path: PathBuf,
        /// What failed.
        action: &'static str,
        source: io::Error,
    },
    #[error("{path}:{line}: not a record of a measurement: {reason}")]
    Malformed { path: PathBuf, line: usize, reason: String },
    #[error("{path}: another program is measuring here")]
    Locked { path: PathBuf },
}

/// The only writer of a log. It holds the file's lock. After a failed write, the file ends with its last complete line, and
/// the record may be written again.
#[derive(Debug)]
pub struct LogFile {
    file: File,
    path: PathBuf,
    /// The length in bytes of the written lines.
    valid_len: u64,
    has_partial_line: bool,
}

impl LogFile {
    /// Opens a log, or creates it with the folders above it. Returns the records that it has; a line that a killed program
    /// left incomplete is cut off.
    ///
    /// # Errors
    /// Returns [`LogFileError`] if the file can't be opened, has other content, or is being written by another program.
    pub fn open(path: &Path) -> Result<(Self, Vec<EffectRecord>), LogFileError> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            files::create_folder(folder).map_err(io_error(folder, "the folder could not be created"))?;
        }
        let file = files::open_or_create_to_append(path).map_err(io_error(path, "could not be opened"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(LogFileError::Locked { path: path.to_owned() }),
            Err(TryLockError::Error(source)) => {
                return Err(io_error(path, "could not be locked")(source));
            }
        }
        let (records, valid_len) = read_records(path)?;
        let mut log = Self { file, path: path.to_owned(), valid_len, has_partial_line: true };
        log.cut_partial_line().map_err(io_error(path, "could not be cut back to its last complete line"))?;
        Ok((log, records))
    }

    /// Appends a record. When it returns `Ok`, the record counts.
    ///
    /// # Errors
    /// Returns [`LogFileError::Io`]; the file is then as it was before.
    pub fn append(&mut self, record: &EffectRecord) -> Result<(), LogFileError> {
        let mut line = serde_json::to_vec(record)
            .map_err(|error| io_error(&self.path, "a record could not be serialized")(error.into()))?;
        line.push(b'\n');
        let written = self.cut_partial_line().and_then(|()| self.file.write_all(&line));
        if let Err(error) = written {
            self.has_partial_line = true;
            // If even this fails, it is tried again before the next write.
            let _ = self.cut_partial_line();
            return Err(io_error(&self.path, "could not be written")(error));
        }
        self.valid_len += line.len() as u64;
        Ok(())
    }

    /// Syncs what was written to the disk.
    ///
    /// # Errors
    /// Returns [`LogFileError::Io`].
    pub fn sync(&self) -> Result<(), LogFileError> {
        self.file.sync_data().map_err(io_error(&self.path, "could not be synced"))
    }

    /// Returns the folder of the log, in which the journals of kept pairs are.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    fn cut_partial_line(&mut self) -> io::Result<()> {
        if self.has_partial_line {
            if self.file.metadata()?.len() != self.valid_len {
                self.file.set_len(self.valid_len)?;
            }
            self.has_partial_line = false;
        }
        Ok(())
    }
}

/// The name of a measurement's log in its folder.
pub const LOG_NAME: &str = "log.jsonl";

/// Reads the records of a log without changing it. A line that a killed program left incomplete is skipped.
///
/// # Errors
/// Returns [`LogFileError`] if the file can't be read or has other content.
pub fn read_log(path: &Path) -> Result<Vec<EffectRecord>, LogFileError> {
    read_records(path).map(|(records, _)| records)
}

/// Returns the records, and the length in bytes of their lines.
fn read_records(path: &Path) -> Result<(Vec<EffectRecord>, u64), LogFileError> {
    let bytes = files::read(path, MAX_LOG_BYTES).map_err(io_error(path, "could not be read"))?;
    let complete = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let mut records = Vec::new();
    for (index, line) in bytes[..complete].split(|byte| *byte == b'\n').enumerate() {
        if line.is_empty() {
            continue;
        }
        records.push(serde_json::from_slice(line).map_err(|error| LogFileError::Malformed {
            path: path.to_owned(),
            line: index + 1,
            reason: error.to_string(),
        })?);
    }
    Ok((records, complete as u64))
}

fn io_error(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> LogFileError {
    let path = path.to_owned();
    move |source| LogFileError::Io { path, action, source }
}
