//! Reads branch files. An incomplete end is dropped and reported; any other problem is an error with file, line and
//! reason.

use super::branch_header::{MAX_PARENTS, is_branch_name, last_written_branch};
use super::stream::{EventLines, open_regular};
use super::{BranchHeader, EventFile, JournalError, TornTail};
use crate::domain::BranchId;
use crate::engine::{Envelope, State};
use crate::timeline::Timeline;
use std::io::BufRead;
use std::path::Path;
use std::sync::Arc;

/// The content of a branch file.
#[derive(Clone, Debug)]
pub struct ReadBranch {
    pub header: BranchHeader,
    pub events: Vec<Arc<Envelope>>,
    /// The length in bytes of the header and the complete batches.
    pub valid_len: u64,
    /// The incomplete end after them, if any.
    pub torn_tail: Option<TornTail>,
    /// The offsets of the events in the file.
    pub event_file: Arc<EventFile>,
}

/// Reads a branch file with all its events into memory; [`super::open_branch`] doesn't load them all.
///
/// # Errors
/// Returns an error with file, line and reason.
pub fn read_branch(path: &Path) -> Result<ReadBranch, JournalError> {
    let (file, _) = open_regular(path)?;
    let (header, lines) = EventLines::from_file(path, file)?;
    read_all_events(path, header, lines)
}

/// Reads the bytes of a branch file; `path` is only the name for errors.
///
/// # Errors
/// Returns [`JournalError::Malformed`] with line and reason.
pub fn read_branch_bytes(path: &Path, bytes: &[u8]) -> Result<ReadBranch, JournalError> {
    let (header, lines) = EventLines::new(path, bytes)?;
    read_all_events(path, header, lines)
}

/// Reads a branch and its ancestors from bytes. `files` returns the bytes of a branch's file; `path` is the folder that
/// errors name.
///
/// # Errors
/// Returns an error with file, line and reason.
pub fn read_with_parents<'b>(
    path: &Path,
    branch: &BranchId,
    files: &dyn Fn(&BranchId) -> Option<&'b [u8]>,
) -> Result<ReadBranch, JournalError> {
    let missing = |id: &BranchId| JournalError::NoBranch { path: path.to_owned(), branch: id.clone() };
    let read = |id: &BranchId| {
        read_branch_bytes(&path.join(format!("branches/{id}.jsonl")), files(id).ok_or_else(|| missing(id))?)
    };
    let mut joined = read(branch)?;
    let mut next = joined.header.parent.clone().map(|parent| (parent, joined.header.at_seq));
    let mut depth = 0;
    while let Some((id, fork_seq)) = next {
        depth += 1;
        let mut parent = read(&id)?;
        parent.events.retain(|e| e.seq <= fork_seq);
        let last_seq = parent.events.last().map_or(parent.header.at_seq.min(fork_seq), |e| e.seq);
        if last_seq < fork_seq || depth > MAX_PARENTS {
            return Err(JournalError::Malformed {
                path: path.join(format!("branches/{id}.jsonl")),
                line: 1,
                reason: format!(
                    "branch {branch} continues from event {fork_seq}, but this one ends at event {last_seq}"
                ),
            });
        }
        next = parent.header.parent.map(|id| (id, parent.header.at_seq.min(fork_seq)));
        parent.events.append(&mut joined.events);
        joined.events = parent.events;
    }
    Ok(joined)
}

/// Returns the branch written last, as [`super::Session::last_written`] does, from the contents of the branch files.
pub fn last_written_from_files<'b>(files: impl Iterator<Item = (BranchId, &'b [u8])>) -> BranchId {
    let timestamped_headers = files.filter(|(id, _)| is_branch_name(id)).filter_map(|(id, bytes)| {
        let branch = read_branch_bytes(Path::new(&id.0), bytes).ok()?;
        let timestamp = branch.events.last().map_or(branch.header.created, |e| e.timestamp);
        (branch.header.id == id).then_some((timestamp, branch.header))
    });
    last_written_branch(timestamped_headers)
}

fn read_all_events<R: BufRead>(
    path: &Path,
    header: BranchHeader,
    mut lines: EventLines<R>,
) -> Result<ReadBranch, JournalError> {
    let mut events: Vec<Arc<Envelope>> = Vec::new();
    let mut valid_len = lines.offset;
    let mut complete_count = 0;
    let event_file = Arc::new(EventFile::new(path, header.at_seq));
    while let Some((envelope, offset)) = lines.next_event()? {
        event_file.record_position(envelope.seq, offset);
        let ends_batch = !envelope.batch_continues;
        events.push(Arc::new(envelope));
        if ends_batch {
            valid_len = lines.offset;
            complete_count = events.len();
        }
    }
    let torn_tail = lines.torn_tail(valid_len, events.len() - complete_count);
    events.truncate(complete_count);
    event_file.truncate_positions_after(events.last().map_or(header.at_seq, |e| e.seq));
    Ok(ReadBranch { header, events, valid_len, torn_tail, event_file })
}

/// Folds events into a timeline that keeps them all in memory.
pub fn fold_events(events: Vec<Arc<Envelope>>) -> Timeline {
    fold_into(Timeline::default(), events)
}

fn fold_into(mut timeline: Timeline, events: Vec<Arc<Envelope>>) -> Timeline {
    const EVENTS_PER_PUSH: usize = 64;
    let mut state = State::default();
    let mut remaining = events.into_iter().peekable();
    while remaining.peek().is_some() {
        let events_to_push: Vec<_> = remaining.by_ref().take(EVENTS_PER_PUSH).collect();
        for envelope in &events_to_push {
            state.apply(envelope);
        }
        timeline.push(events_to_push, Arc::new(state.clone()));
    }
    timeline
}
