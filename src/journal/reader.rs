//! Reads branch files. A torn end is cut and reported; anything else that is wrong stops with file, line and reason.

use super::{EventFile, JournalError, VERSION};
use crate::domain::{BranchId, Seq};
use crate::engine::{Envelope, State};
use crate::timeline::Timeline;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// The first line of a branch file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchHeader {
    /// Version of the format.
    pub v: u32,
    /// Always `branch`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Name of the branch.
    pub id: BranchId,
    /// The branch it grew from.
    pub parent: Option<BranchId>,
    /// The last event it shares with its parent.
    pub at_seq: Seq,
    /// Why it was made.
    pub reason: String,
    /// When.
    pub created: Timestamp,
}

/// An end of a file that was never acknowledged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torn {
    /// Bytes that do not count.
    pub bytes: u64,
    /// In words.
    pub what: String,
}

/// A branch file, read.
#[derive(Clone, Debug)]
pub struct ReadBranch {
    /// Its header.
    pub header: BranchHeader,
    /// Its events.
    pub events: Vec<Arc<Envelope>>,
    /// Bytes of header and whole batches.
    pub whole: u64,
    /// What stood behind them.
    pub torn: Option<Torn>,
    /// Where the events stand in the file.
    pub places: Arc<EventFile>,
}

/// Longest line that is read; a longer one is an error, not a reason to use up the memory.
const LONGEST_LINE: usize = 64 << 20;

/// No branch begins later: the largest whole number that every reader of JSON keeps exactly.
const LAST_SEQ: u64 = 1 << 53;

/// Reads a branch file.
///
/// # Errors
/// [`JournalError`] with file, line and reason.
pub fn read_branch(path: &Path) -> Result<ReadBranch, JournalError> {
    let bytes = fs::read(path).map_err(JournalError::io(path, "could not be read"))?;
    read_bytes(path, &bytes)
}

/// Reads the bytes of a branch file; `path` is only the name for errors.
///
/// # Errors
/// [`JournalError::Malformed`] with line and reason.
pub fn read_bytes(path: &Path, bytes: &[u8]) -> Result<ReadBranch, JournalError> {
    let malformed =
        |line: u64, reason: String| JournalError::Malformed { path: path.to_owned(), line, reason };
    let mut lines = Lines { bytes, at: 0 };
    let Some(first) = lines.next() else {
        return Err(malformed(1, "the branch's header is missing or cut off".to_owned()));
    };
    let header: BranchHeader =
        serde_json::from_slice(first).map_err(|e| malformed(1, format!("not a branch header: {e}")))?;
    if header.kind != "branch" {
        return Err(malformed(1, format!("the first line is of type {:?}, not \"branch\"", header.kind)));
    }
    if header.v > VERSION {
        return Err(malformed(
            1,
            format!(
                "format version {} is newer than this program's {VERSION}; take a newer retrospect",
                header.v
            ),
        ));
    }
    if header.at_seq.0 > LAST_SEQ {
        return Err(malformed(1, format!("a branch cannot begin after event {}", header.at_seq)));
    }
    let mut events: Vec<Arc<Envelope>> = Vec::new();
    let mut whole = lines.at as u64;
    let mut kept = 0;
    let mut number = 1;
    let mut expected = header.at_seq.0 + 1;
    let places = Arc::new(EventFile::new(path, header.at_seq));
    while let Some(line) = lines.next() {
        number += 1;
        if line.len() > LONGEST_LINE {
            return Err(malformed(number, format!("a line of {} bytes is not an event", line.len())));
        }
        let envelope: Envelope = match serde_json::from_slice(line) {
            Ok(envelope) => envelope,
            // A power cut can leave a last line of zeros or half a line that ends in a line break of its own.
            Err(_)
                if lines.at == bytes.len()
                    && serde_json::from_slice::<serde::de::IgnoredAny>(line).is_err() =>
            {
                break;
            }
            Err(e) => return Err(malformed(number, explain(line, &e))),
        };
        if envelope.seq.0 != expected {
            return Err(malformed(number, format!("event {} stands where {expected} is due", envelope.seq)));
        }
        expected += 1;
        places.note(envelope.seq, (lines.at - line.len() - 1) as u64);
        let ends_batch = !envelope.more;
        events.push(Arc::new(envelope));
        if ends_batch {
            whole = lines.at as u64;
            kept = events.len();
        }
    }
    let cut = events.len() - kept;
    events.truncate(kept);
    places.forget_after(events.last().map_or(header.at_seq, |e| e.seq));
    let bytes_torn = bytes.len() as u64 - whole;
    let torn = (bytes_torn > 0).then(|| Torn {
        bytes: bytes_torn,
        what: if cut > 0 {
            format!("{cut} events of an unfinished batch at the end were never acknowledged and do not count")
        } else {
            format!("{bytes_torn} bytes of a torn last line were never acknowledged and do not count")
        },
    });
    Ok(ReadBranch { header, events, whole, torn, places })
}

/// Folds events into a timeline that holds them all.
pub fn fold(events: Vec<Arc<Envelope>>) -> Timeline {
    fold_into(Timeline::default(), events)
}

impl ReadBranch {
    /// Folds the events into a timeline that reads old ones from the file again when they are wanted.
    pub fn into_timeline(self) -> Timeline {
        fold_into(Timeline::fetching(self.places.fetch()), self.events)
    }
}

fn fold_into(mut timeline: Timeline, events: Vec<Arc<Envelope>>) -> Timeline {
    const BATCH: usize = 64;
    let mut state = State::default();
    let mut rest = events.into_iter().peekable();
    while rest.peek().is_some() {
        let batch: Vec<_> = rest.by_ref().take(BATCH).collect();
        for envelope in &batch {
            state.apply(envelope);
        }
        timeline.push(batch, Arc::new(state.clone()));
    }
    timeline
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

/// Whole lines without their line break; what follows the last line break is left over.
struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.bytes.get(self.at..)?;
        let end = rest.iter().position(|b| *b == b'\n')?;
        self.at += end + 1;
        rest.get(..end)
    }
}
