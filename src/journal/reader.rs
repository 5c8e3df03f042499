//! Reads branch files. A torn end is cut and reported; anything else that is wrong stops with file, line and reason.

use super::stream::{Lines, open_regular};
use super::{EventFile, JournalError};
use crate::domain::{BranchId, Seq};
use crate::engine::{Envelope, State};
use crate::timeline::Timeline;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::io::BufRead;
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

/// Reads a branch file and holds all its events. What only looks takes [`super::open_branch`], which does not.
///
/// # Errors
/// [`JournalError`] with file, line and reason.
pub fn read_branch(path: &Path) -> Result<ReadBranch, JournalError> {
    let (file, _) = open_regular(path)?;
    let (header, lines) = Lines::of_file(path, file)?;
    collect(path, header, lines)
}

/// Reads the bytes of a branch file; `path` is only the name for errors.
///
/// # Errors
/// [`JournalError::Malformed`] with line and reason.
pub fn read_bytes(path: &Path, bytes: &[u8]) -> Result<ReadBranch, JournalError> {
    let (header, lines) = Lines::begin(path, bytes)?;
    collect(path, header, lines)
}

fn collect<R: BufRead>(
    path: &Path,
    header: BranchHeader,
    mut lines: Lines<R>,
) -> Result<ReadBranch, JournalError> {
    let mut events: Vec<Arc<Envelope>> = Vec::new();
    let mut whole = lines.at;
    let mut kept = 0;
    let places = Arc::new(EventFile::new(path, header.at_seq));
    while let Some((envelope, begins)) = lines.event()? {
        places.note(envelope.seq, begins);
        let ends_batch = !envelope.more;
        events.push(Arc::new(envelope));
        if ends_batch {
            whole = lines.at;
            kept = events.len();
        }
    }
    let torn = lines.torn(whole, events.len() - kept);
    events.truncate(kept);
    places.forget_after(events.last().map_or(header.at_seq, |e| e.seq));
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
