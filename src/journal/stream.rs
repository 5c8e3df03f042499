//! Reads a branch file line by line, in constant memory.

use super::{BranchHeader, JournalError, VERSION};
use crate::engine::Envelope;
use crate::files;
use serde::Deserialize;
use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// The maximum length of a line in bytes; a longer one is an error.
const MAX_LINE_BYTES: usize = 64 << 20;

/// The largest event number after which a branch may begin: the largest integer that every JSON parser keeps exactly.
const MAX_SEQ: u64 = 1 << 53;

/// The size of the read buffer in bytes.
const BUFFER_BYTES: usize = 128 << 10;

/// Opens a regular file for reading. Pipes and devices are rejected, because reading one may never end.
///
/// # Errors
/// Returns [`JournalError::Io`] if the file cannot be read.
pub(super) fn open_regular(path: &Path) -> Result<(File, Metadata), JournalError> {
    let file = files::open(path).map_err(open_error(path))?;
    let metadata = file.metadata().map_err(JournalError::io(path, "size could not be read"))?;
    Ok((file, metadata))
}

/// Converts the error of opening a branch file, with advice if it is not a regular file.
pub(super) fn open_error(path: &Path) -> impl FnOnce(io::Error) -> JournalError {
    let path = path.to_owned();
    move |mut error| {
        if error.kind() == io::ErrorKind::InvalidInput {
            error = io::Error::new(error.kind(), format!("{error}; replace it with the session's own file"));
        }
        JournalError::io(&path, "could not be read")(error)
    }
}

/// The incomplete end of a file, left by a write that did not finish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TornTail {
    /// Its length in bytes.
    pub bytes: u64,
    /// Describes what is ignored, for a message.
    pub description: String,
}

/// The lines of a branch file: the header, then one event per line.
pub(super) struct EventLines<R> {
    reader: R,
    path: PathBuf,
    line: Vec<u8>,
    /// The length in bytes of the complete lines read so far, from the start of the file.
    pub(super) offset: u64,
    /// The number of lines read so far, including the header.
    line_number: u64,
    /// The sequence number of the next event.
    pub(super) next_seq: u64,
    /// The length in bytes of an incomplete or invalid last line, once it has been reached.
    broken_tail: Option<u64>,
}

/// The result of reading a line; the numbers are lengths in bytes.
enum LineRead {
    Complete,
    Broken(u64),
    TooLong(u64),
    EndOfFile,
}

impl<R: BufRead> EventLines<R> {
    /// Reads the header, which must be the first line.
    ///
    /// # Errors
    /// Returns [`JournalError::Malformed`] or [`JournalError::Io`].
    pub(super) fn new(path: &Path, reader: R) -> Result<(BranchHeader, Self), JournalError> {
        let mut lines = Self {
            reader,
            path: path.to_owned(),
            line: Vec::new(),
            offset: 0,
            line_number: 0,
            next_seq: 1,
            broken_tail: None,
        };
        let header = match lines.read_line()? {
            LineRead::Complete => lines.parse_header()?,
            LineRead::TooLong(bytes) => {
                return Err(lines.malformed(format!("not a branch header: a line of {bytes} bytes")));
            }
            LineRead::Broken(_) | LineRead::EndOfFile => {
                lines.line_number = 1;
                return Err(lines.malformed("the branch's header is missing or cut off".to_owned()));
            }
        };
        lines.next_seq = header.at_seq.0 + 1;
        Ok((header, lines))
    }

    fn parse_header(&self) -> Result<BranchHeader, JournalError> {
        let header: BranchHeader = serde_json::from_slice(&self.line)
            .map_err(|e| self.malformed(format!("not a branch header: {e}")))?;
        if header.kind != "branch" {
            return Err(
                self.malformed(format!("the first line is of type {:?}, not \"branch\"", header.kind))
            );
        }
        if header.v > VERSION {
            return Err(self.malformed(format!(
                "format version {} is newer than this program's {VERSION}; update retrospect",
                header.v
            )));
        }
        if header.at_seq.0 > MAX_SEQ {
            return Err(self.malformed(format!("a branch cannot begin after event {}", header.at_seq)));
        }
        Ok(header)
    }

    /// Returns the next event and the offset of its line, or `None` at the end of the file, even if the last line is
    /// torn.
    ///
    /// # Errors
    /// Returns [`JournalError::Malformed`] or [`JournalError::Io`].
    pub(super) fn next_event(&mut self) -> Result<Option<(Envelope, u64)>, JournalError> {
        let start = self.offset;
        match self.read_line()? {
            LineRead::EndOfFile => return Ok(None),
            LineRead::Broken(bytes) => {
                self.broken_tail = Some(bytes);
                return Ok(None);
            }
            LineRead::TooLong(bytes) => {
                return Err(self.malformed(format!("a line of {bytes} bytes is not an event")));
            }
            LineRead::Complete => {}
        }
        let envelope: Envelope = match serde_json::from_slice(&self.line) {
            Ok(envelope) => envelope,
            // A power failure can leave a last line of zeros, or half a line that happens to end with a line break.
            Err(_)
                if serde_json::from_slice::<serde::de::IgnoredAny>(&self.line).is_err()
                    && self.is_at_end()? =>
            {
                self.broken_tail = Some(self.offset - start);
                return Ok(None);
            }
            Err(e) => return Err(self.malformed(explain_error(&self.line, &e))),
        };
        if envelope.seq.0 != self.next_seq {
            return Err(self.malformed(format!(
                "found event {} where event {} was expected",
                envelope.seq, self.next_seq
            )));
        }
        self.next_seq += 1;
        Ok(Some((envelope, start)))
    }

    /// Describes the bytes after the last complete batch; `unfinished_events` is the number of events read from an
    /// unfinished one.
    pub(super) fn torn_tail(&self, valid_len: u64, unfinished_events: usize) -> Option<TornTail> {
        let broken_bytes = match self.broken_tail {
            // `offset` already includes an invalid line that has a line break.
            Some(bytes) if self.line.last() != Some(&b'\n') => bytes,
            _ => 0,
        };
        let bytes = self.offset + broken_bytes - valid_len;
        (bytes > 0).then(|| TornTail {
            bytes,
            description: if unfinished_events > 0 {
                format!("{unfinished_events} events at the end belong to an unfinished batch and are ignored")
            } else {
                format!("{bytes} bytes at the end are an incomplete line and are ignored")
            },
        })
    }

    /// Reads a line. Only a complete one advances `offset`.
    fn read_line(&mut self) -> Result<LineRead, JournalError> {
        self.line.clear();
        let max_bytes = MAX_LINE_BYTES as u64 + 1;
        let read = (&mut self.reader).take(max_bytes).read_until(b'\n', &mut self.line);
        let mut bytes = read.map_err(JournalError::io(&self.path, "could not be read"))? as u64;
        if bytes == 0 {
            return Ok(LineRead::EndOfFile);
        }
        self.line_number += 1;
        if self.line.last() == Some(&b'\n') {
            self.offset += bytes;
            return Ok(LineRead::Complete);
        }
        if bytes < max_bytes {
            return Ok(LineRead::Broken(bytes));
        }
        // This program never writes such a line, but a power failure can leave that many zeros.
        self.line.clear();
        loop {
            let buffer = self.reader.fill_buf().map_err(JournalError::io(&self.path, "could not be read"))?;
            if buffer.is_empty() {
                return Ok(LineRead::Broken(bytes));
            }
            let end = buffer.iter().position(|b| *b == b'\n');
            let consumed = end.map_or(buffer.len(), |index| index + 1);
            bytes += consumed as u64;
            self.reader.consume(consumed);
            if end.is_some() {
                return Ok(LineRead::TooLong(bytes - 1));
            }
        }
    }

    fn is_at_end(&mut self) -> Result<bool, JournalError> {
        let buffer = self.reader.fill_buf().map_err(JournalError::io(&self.path, "could not be read"))?;
        Ok(buffer.is_empty())
    }

    fn malformed(&self, reason: String) -> JournalError {
        JournalError::Malformed { path: self.path.clone(), line: self.line_number, reason }
    }
}

impl EventLines<BufReader<File>> {
    /// Returns the lines of an open file from its start.
    ///
    /// # Errors
    /// The same as [`EventLines::new`].
    pub(super) fn from_file(path: &Path, file: File) -> Result<(BranchHeader, Self), JournalError> {
        Self::new(path, BufReader::with_capacity(BUFFER_BYTES, file))
    }

    /// Continues with the event after `seq`, whose line begins at `offset`. `before_first` is the number of the last
    /// event before the file's first.
    ///
    /// # Errors
    /// Returns [`JournalError::Io`] if the file cannot be read.
    pub(super) fn seek_to(&mut self, offset: u64, seq: u64, before_first: u64) -> Result<(), JournalError> {
        self.reader
            .seek(SeekFrom::Start(offset))
            .map_err(JournalError::io(&self.path, "could not be read"))?;
        self.offset = offset;
        self.next_seq = seq + 1;
        self.line_number = seq - before_first + 1;
        self.broken_tail = None;
        Ok(())
    }
}

fn explain_error(line: &[u8], error: &serde_json::Error) -> String {
    #[derive(Deserialize)]
    struct Probe {
        #[serde(rename = "type")]
        kind: Option<String>,
    }
    match serde_json::from_slice::<Probe>(line) {
        Ok(Probe { kind: Some(kind) }) if error.to_string().contains("unknown variant") => {
            format!("unknown event {kind:?}: this session was written by a newer retrospect; update it")
        }
        Ok(Probe { kind: Some(kind) }) => format!("event {kind:?}: {error}"),
        _ => format!("not an event: {error}"),
    }
}
