//! A branch file read line by line, in memory that does not grow with the file.

use super::{BranchHeader, JournalError, Torn, VERSION};
use crate::engine::Envelope;
use crate::files;
use serde::Deserialize;
use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// Longest line that is read; a longer one is an error, not a reason to use up the memory.
const LONGEST_LINE: usize = 64 << 20;

/// No branch begins later: the largest whole number that every reader of JSON keeps exactly.
const LAST_SEQ: u64 = 1 << 53;

/// Bytes asked of the system at once.
const BUFFER: usize = 128 << 10;

/// Opens a file to read, when it is one: a pipe or a device could be waited for, or read, without end.
///
/// # Errors
/// [`JournalError::Io`].
pub(super) fn open_regular(path: &Path) -> Result<(File, Metadata), JournalError> {
    let file = files::open(path).map_err(not_opened(path))?;
    let metadata = file.metadata().map_err(JournalError::io(path, "could not be measured"))?;
    Ok((file, metadata))
}

/// Why a branch file could not be opened, with what to do about one that is no file.
pub(super) fn not_opened(path: &Path) -> impl FnOnce(io::Error) -> JournalError {
    let path = path.to_owned();
    move |mut error| {
        if error.kind() == io::ErrorKind::InvalidInput {
            error = io::Error::new(error.kind(), format!("{error}; put the session's own file in its place"));
        }
        JournalError::io(&path, "could not be read")(error)
    }
}

/// The lines of a branch file, one event after the other.
pub(super) struct Lines<R> {
    from: R,
    path: PathBuf,
    line: Vec<u8>,
    /// Bytes of whole lines read so far, counted from the file's beginning.
    pub(super) at: u64,
    /// Lines read so far; the header is the first.
    number: u64,
    /// The number that the next event must have.
    pub(super) expected: u64,
    /// The end was reached, and what stood there was no whole line or no event; its bytes.
    left_over: Option<u64>,
}

/// One line's length and whether it ended with a line break.
enum Line {
    Whole,
    Broken(u64),
    TooLong(u64),
    None,
}

impl<R: BufRead> Lines<R> {
    /// Reads the header, which must stand first.
    ///
    /// # Errors
    /// [`JournalError::Malformed`], [`JournalError::Io`].
    pub(super) fn begin(path: &Path, from: R) -> Result<(BranchHeader, Self), JournalError> {
        let mut lines = Self {
            from,
            path: path.to_owned(),
            line: Vec::new(),
            at: 0,
            number: 0,
            expected: 1,
            left_over: None,
        };
        let header = match lines.read()? {
            Line::Whole => lines.header()?,
            Line::TooLong(bytes) => {
                return Err(lines.malformed(format!("not a branch header: a line of {bytes} bytes")));
            }
            Line::Broken(_) | Line::None => {
                lines.number = 1;
                return Err(lines.malformed("the branch's header is missing or cut off".to_owned()));
            }
        };
        lines.expected = header.at_seq.0 + 1;
        Ok((header, lines))
    }

    fn header(&self) -> Result<BranchHeader, JournalError> {
        let header: BranchHeader = serde_json::from_slice(&self.line)
            .map_err(|e| self.malformed(format!("not a branch header: {e}")))?;
        if header.kind != "branch" {
            return Err(
                self.malformed(format!("the first line is of type {:?}, not \"branch\"", header.kind))
            );
        }
        if header.v > VERSION {
            return Err(self.malformed(format!(
                "format version {} is newer than this program's {VERSION}; take a newer retrospect",
                header.v
            )));
        }
        if header.at_seq.0 > LAST_SEQ {
            return Err(self.malformed(format!("a branch cannot begin after event {}", header.at_seq)));
        }
        Ok(header)
    }

    /// The next event and the byte at which its line begins; none at the end, whole or torn.
    ///
    /// # Errors
    /// [`JournalError::Malformed`], [`JournalError::Io`].
    pub(super) fn event(&mut self) -> Result<Option<(Envelope, u64)>, JournalError> {
        let begins = self.at;
        match self.read()? {
            Line::None => return Ok(None),
            Line::Broken(bytes) => {
                self.left_over = Some(bytes);
                return Ok(None);
            }
            Line::TooLong(bytes) => {
                return Err(self.malformed(format!("a line of {bytes} bytes is not an event")));
            }
            Line::Whole => {}
        }
        let envelope: Envelope = match serde_json::from_slice(&self.line) {
            Ok(envelope) => envelope,
            // A power cut can leave a last line of zeros or half a line that ends in a line break of its own.
            Err(_)
                if serde_json::from_slice::<serde::de::IgnoredAny>(&self.line).is_err()
                    && self.ended()? =>
            {
                self.left_over = Some(self.at - begins);
                return Ok(None);
            }
            Err(e) => return Err(self.malformed(explain(&self.line, &e))),
        };
        if envelope.seq.0 != self.expected {
            return Err(
                self.malformed(format!("event {} stands where {} is due", envelope.seq, self.expected))
            );
        }
        self.expected += 1;
        Ok(Some((envelope, begins)))
    }

    /// What stands behind the last whole batch, when `cut` events of an unfinished one were read behind it.
    pub(super) fn torn(&self, whole: u64, cut: usize) -> Option<Torn> {
        let broken = match self.left_over {
            // The bytes of a broken line that had its line break are counted in `at` already.
            Some(bytes) if self.line.last() != Some(&b'\n') => bytes,
            _ => 0,
        };
        let bytes = self.at + broken - whole;
        (bytes > 0).then(|| Torn {
            bytes,
            what: if cut > 0 {
                format!(
                    "{cut} events of an unfinished batch at the end were never acknowledged and do not count"
                )
            } else {
                format!("{bytes} bytes of a torn last line were never acknowledged and do not count")
            },
        })
    }

    /// Reads a line; only a whole one moves `at`.
    fn read(&mut self) -> Result<Line, JournalError> {
        self.line.clear();
        let most = LONGEST_LINE as u64 + 1;
        let read = (&mut self.from).take(most).read_until(b'\n', &mut self.line);
        let mut bytes = read.map_err(JournalError::io(&self.path, "could not be read"))? as u64;
        if bytes == 0 {
            return Ok(Line::None);
        }
        self.number += 1;
        if self.line.last() == Some(&b'\n') {
            self.at += bytes;
            return Ok(Line::Whole);
        }
        if bytes < most {
            return Ok(Line::Broken(bytes));
        }
        // Nobody writes such a line, but a power cut can leave as many zeros.
        self.line.clear();
        loop {
            let piece = self.from.fill_buf().map_err(JournalError::io(&self.path, "could not be read"))?;
            if piece.is_empty() {
                return Ok(Line::Broken(bytes));
            }
            let end = piece.iter().position(|b| *b == b'\n');
            let used = end.map_or(piece.len(), |at| at + 1);
            bytes += used as u64;
            self.from.consume(used);
            if end.is_some() {
                return Ok(Line::TooLong(bytes - 1));
            }
        }
    }

    fn ended(&mut self) -> Result<bool, JournalError> {
        let rest = self.from.fill_buf().map_err(JournalError::io(&self.path, "could not be read"))?;
        Ok(rest.is_empty())
    }

    fn malformed(&self, reason: String) -> JournalError {
        JournalError::Malformed { path: self.path.clone(), line: self.number, reason }
    }
}

impl Lines<BufReader<File>> {
    /// The lines of an open file from its beginning.
    ///
    /// # Errors
    /// As [`Lines::begin`].
    pub(super) fn of_file(path: &Path, file: File) -> Result<(BranchHeader, Self), JournalError> {
        Self::begin(path, BufReader::with_capacity(BUFFER, file))
    }

    /// Goes on at a byte at which the event with the number after `seq` begins.
    ///
    /// # Errors
    /// [`JournalError::Io`].
    pub(super) fn jump(&mut self, at: u64, seq: u64, before: u64) -> Result<(), JournalError> {
        self.from.seek(SeekFrom::Start(at)).map_err(JournalError::io(&self.path, "could not be read"))?;
        self.at = at;
        self.expected = seq + 1;
        self.number = seq - before + 1;
        self.left_over = None;
        Ok(())
    }
}

fn explain(line: &[u8], error: &serde_json::Error) -> String {
    #[derive(Deserialize)]
    struct Probe {
        #[serde(rename = "type")]
        kind: Option<String>,
    }
    match serde_json::from_slice::<Probe>(line) {
        Ok(Probe { kind: Some(kind) }) if error.to_string().contains("unknown variant") => {
            format!(
                "unknown event {kind:?}: this session was written by a newer retrospect; take a newer one"
            )
        }
        Ok(Probe { kind: Some(kind) }) => format!("event {kind:?}: {error}"),
        _ => format!("not an event: {error}"),
    }
}
