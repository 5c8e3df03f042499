//! Opens a branch file by folding the events after its newest valid checkpoint. The events of a fork are its parent's
//! up to the fork event, followed by its own.

mod ancestry;

use super::checkpoints::LoadedCheckpoint;
use super::parent_file::AncestorFile;
use super::stream::{EventLines, open_regular};
use super::summary::acknowledged;
use super::{BranchHeader, Checkpoints, EventFile, JournalError, MissingEvents, TornTail};
use crate::domain::Seq;
use crate::engine::{Envelope, State};
use crate::timeline::{
    CheckpointIndex, ReportProgress, Timeline, chain_fetchers, no_progress, stage_progress,
};
use ancestry::{ForkBase, open_base, read_header};
use std::fs::{File, TryLockError};
use std::path::Path;
use std::sync::Arc;

/// The number of folded events from which they are passed to the timeline.
const FLUSH_EVENTS: usize = 64;

/// The number of events that are read between two reports.
const EVENTS_PER_REPORT: u64 = 256;

/// The purpose of opening a branch file, which decides how its checkpoints are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// For reading: checkpoints are used, and written if they are missing and no other program is writing the session.
    Read,
    /// For continuing the session; the caller holds its lock.
    Resume,
    /// For checking every event: no checkpoint is used or written.
    Verify,
}

/// An opened branch: its last state, and access to all earlier ones.
pub struct OpenBranch {
    pub header: BranchHeader,
    /// Its states; events are read from the files when needed.
    pub timeline: Timeline,
    /// The length in bytes of the header and the complete batches.
    pub valid_len: u64,
    /// The incomplete end after them, if any.
    pub torn_tail: Option<TornTail>,
    /// The offsets of the events in the file.
    pub event_file: Arc<EventFile>,
    /// Its checkpoints.
    pub checkpoints: Checkpoints,
    /// The files of its ancestors, held open.
    pub parents: Vec<Arc<AncestorFile>>,
    /// Saved events that are missing from the file.
    pub missing: Option<MissingEvents>,
    /// The last event that was not read because a checkpoint contains it; 0 if all were read.
    pub checkpoint_seq: Seq,
}

/// Opens a branch file. This takes time linear in its size only if there is no valid checkpoint; the memory used is
/// constant.
///
/// # Errors
/// Returns an error with file, line and reason, which may concern an ancestor. Invalid checkpoints are never an error.
pub fn open_branch(path: &Path, mode: OpenMode) -> Result<OpenBranch, JournalError> {
    open_branch_reporting(path, mode, &no_progress)
}

/// Opens a branch file like [`open_branch`], and reports how much has been read.
///
/// # Errors
/// Also returns [`JournalError::Stopped`] with the error of `report`, which stops the opening. Then no checkpoint has been
/// written or removed.
pub fn open_branch_reporting(
    path: &Path,
    mode: OpenMode,
    report: &ReportProgress<'_>,
) -> Result<OpenBranch, JournalError> {
    let checkpoints =
        if mode == OpenMode::Verify { Checkpoints::default() } else { Checkpoints::for_branch(path) };
    open_with_checkpoints(path, mode, checkpoints, report)
}

/// Opens a branch file with these checkpoints.
pub(super) fn open_with_checkpoints(
    path: &Path,
    mode: OpenMode,
    checkpoints: Checkpoints,
    report: &ReportProgress<'_>,
) -> Result<OpenBranch, JournalError> {
    report(0, 1).map_err(JournalError::Stopped)?;
    // Read this first: the journal may grow meanwhile, so it then contains at least these events.
    let acknowledged_seq = acknowledged(path);
    let mut opener = BranchOpener::new(path, mode, checkpoints, &stage_progress(report, 0, 2))?;
    // A trunk has no ancestors, so reading its own events is all of the work.
    let stages = if opener.base.is_some() { 2 } else { 1 };
    let report = stage_progress(report, stages - 1, stages);
    let checkpoint = opener.checkpoints.load_newest(&opener.file);
    let stale_checkpoint =
        if checkpoint.is_some() { None } else { Checkpoints::for_branch(path).newest_seq() };
    let len = opener.file.metadata().map_err(JournalError::io(path, "size could not be read"))?.len();
    // This checkpoint is the last trace of the truncated events, so it is not removed.
    opener.is_truncated = stale_checkpoint.is_some_and(|(_, bytes)| bytes > len);
    let mut opened = opener.open(checkpoint, None, &report)?;
    let (head, acknowledged_seq) =
        (opened.timeline.head().head, acknowledged_seq.max(stale_checkpoint.map_or(Seq(0), |(seq, _)| seq)));
    if acknowledged_seq > head {
        opened.missing = Some(MissingEvents {
            branch: opened.header.id.clone(),
            first: Seq(head.0 + 1),
            last: acknowledged_seq,
        });
        if let Some(torn) = &mut opened.torn_tail {
            torn.description =
                format!("{} bytes at the truncated end of the file are not a complete batch", torn.bytes);
        }
    }
    Ok(opened)
}

/// Returns the checkpoints of a branch file and the newest state among them.
fn open_checkpoints(path: &Path) -> Option<(Checkpoints, Option<LoadedCheckpoint>)> {
    let checkpoints = Checkpoints::for_branch(path);
    let mut opener = BranchOpener::new(path, OpenMode::Read, checkpoints, &no_progress).ok()?;
    let newest = opener.checkpoints.load_newest(&opener.file);
    Some((opener.checkpoints, newest))
}

/// Returns every valid checkpointed state of a branch file, including the newest, for a caller that folds all events
/// and compares the states.
pub fn stored_checkpoints(branch: &Path) -> CheckpointIndex {
    let opened = open_checkpoints(branch);
    let (checkpoints, newest) = opened.unwrap_or_default();
    let Some(newest) = newest.map(|checkpoint| Arc::new(checkpoint.state)) else {
        return CheckpointIndex { seqs: Vec::new(), load: Arc::new(|_| None) };
    };
    let CheckpointIndex { mut seqs, load } = checkpoints.index(&newest);
    seqs.push(newest.head);
    let load = move |seq| if seq >= newest.head { Some(State::clone(&newest)) } else { load(seq) };
    CheckpointIndex { seqs, load: Arc::new(load) }
}

/// A branch file that is being opened.
struct BranchOpener<'p> {
    path: &'p Path,
    mode: OpenMode,
    file: File,
    header: BranchHeader,
    checkpoints: Checkpoints,
    /// Its ancestors.
    base: Option<ForkBase>,
    /// Whether a checkpoint reaches beyond the end of the file.
    is_truncated: bool,
}

impl<'p> BranchOpener<'p> {
    /// Opens the file and the branch's ancestors.
    fn new(
        path: &'p Path,
        mode: OpenMode,
        checkpoints: Checkpoints,
        report: &ReportProgress<'_>,
    ) -> Result<Self, JournalError> {
        let header = read_header(path)?;
        let base = open_base(path, &header, mode, report)?;
        Self::with_base(path, mode, checkpoints, base)
    }

    /// Opens the file of a branch with these ancestors.
    fn with_base(
        path: &'p Path,
        mode: OpenMode,
        mut checkpoints: Checkpoints,
        base: Option<ForkBase>,
    ) -> Result<Self, JournalError> {
        let (file, _) = open_regular(path)?;
        let (header, _) = EventLines::from_file(path, clone_handle(path, &file)?)?;
        if let Some(base) = &base {
            checkpoints.set_parents(base.parents.clone());
        }
        Ok(Self { path, mode, file, header, checkpoints, base, is_truncated: false })
    }

    /// Folds from a checkpoint, if there is one, to the end or up to an event, inclusive.
    fn open(
        &mut self,
        checkpoint: Option<LoadedCheckpoint>,
        up_to: Option<Seq>,
        report: &ReportProgress<'_>,
    ) -> Result<OpenBranch, JournalError> {
        let has_checkpoint = checkpoint.is_some();
        match self.fold_file(checkpoint, up_to, report) {
            // This says nothing about the checkpoint.
            Err(stopped @ JournalError::Stopped(_)) => Err(stopped),
            // If the journal contradicts its checkpoint, the journal is authoritative and is read from the start.
            Err(_) if has_checkpoint => self.fold_file(None, up_to, report),
            opened => opened,
        }
    }

    fn fold_file(
        &mut self,
        checkpoint: Option<LoadedCheckpoint>,
        up_to: Option<Seq>,
        report: &ReportProgress<'_>,
    ) -> Result<OpenBranch, JournalError> {
        use std::io::Seek as _;
        let mut reader = clone_handle(self.path, &self.file)?;
        reader.rewind().map_err(JournalError::io(self.path, "could not be read"))?;
        let len = reader.metadata().map_or(0, |metadata| metadata.len());
        let (header, mut lines) = EventLines::from_file(self.path, reader)?;
        let base_seq = header.at_seq;
        let event_file = Arc::new(EventFile::new(self.path, base_seq));
        let writes_checkpoints = self.mode != OpenMode::Verify
            && up_to.is_none()
            && !self.is_truncated
            && (self.mode == OpenMode::Resume || is_unlocked(&self.file));
        let fetch = match &self.base {
            Some(base) => chain_fetchers(base.fetcher.clone(), base_seq, event_file.fetcher()),
            None => event_file.fetcher(),
        };
        let mut checkpoint_seq = Seq(0);
        let start = checkpoint.and_then(|checkpoint| self.start_state(checkpoint, up_to, &event_file));
        let (state, timeline) = if let Some((state, offset, before)) = start {
            checkpoint_seq = state.head;
            lines.seek_to(offset, before.0, base_seq.0)?;
            (State::clone(&state), Timeline::from_head(state.clone(), fetch, self.checkpoint_index(&state)))
        } else {
            // They are removed from the disk when the others are written.
            if up_to.is_none() {
                self.checkpoints.clear(false);
            }
            match &self.base {
                Some(base) => {
                    let stored = base.checkpoint_index.clone().chain(base_seq, CheckpointIndex::empty());
                    (State::clone(&base.state), Timeline::from_head(base.state.clone(), fetch, stored))
                }
                None => (State::default(), Timeline::with_fetcher(fetch)),
            }
        };
        let mut folder = BatchFolder { state, timeline, pending: Vec::new(), folded_count: 0 };
        let (mut valid_len, first_offset, mut read_count) = (lines.offset, lines.offset, 0_u64);
        // Written at the end, so that a stopped opening changes nothing on disk.
        let mut due_checkpoints = Vec::new();
        while up_to.is_none_or(|up_to| lines.next_seq <= up_to.0)
            && let Some((envelope, at)) = lines.next_event()?
        {
            if read_count.is_multiple_of(EVENTS_PER_REPORT) {
                let (done, all) = (at.saturating_sub(first_offset), len.saturating_sub(first_offset));
                report(done, all).map_err(JournalError::Stopped)?;
            }
            read_count += 1;
            event_file.record_position(envelope.seq, at);
            if envelope.seq > checkpoint_seq && folder.push_event(envelope) {
                valid_len = lines.offset;
                if writes_checkpoints && self.checkpoints.is_due(&folder.state, valid_len) {
                    self.checkpoints.mark_written(&folder.state, valid_len);
                    due_checkpoints.push((folder.state.clone(), valid_len));
                }
            } else {
                valid_len = if folder.pending.is_empty() { lines.offset } else { valid_len };
            }
        }
        let unfinished_events = folder.pending.len() - folder.folded_count;
        let torn_tail = if up_to.is_none() { lines.torn_tail(valid_len, unfinished_events) } else { None };
        let mut timeline = folder.finish();
        let head = timeline.head().clone();
        if up_to.is_none() {
            event_file.truncate_positions_after(head.head.max(base_seq));
        }
        report(1, 1).map_err(JournalError::Stopped)?;
        // Another program may have begun to write the file meanwhile.
        if writes_checkpoints && (self.mode == OpenMode::Resume || is_unlocked(&self.file)) {
            if checkpoint_seq == Seq(0) {
                self.checkpoints.clear(true);
            }
            for (state, offset) in &due_checkpoints {
                self.checkpoints.write_older(state, *offset);
            }
            if self.checkpoints.is_tail_long_enough(&head, valid_len) {
                let is_closed = self.mode == OpenMode::Read && torn_tail.is_none();
                self.checkpoints.write_newest(&head, valid_len, &event_file, is_closed);
            }
        }
        timeline.set_checkpoint_index(self.checkpoint_index(&head));
        let checkpoints = self.checkpoints.clone();
        let parents = self.base.as_ref().map_or_else(Vec::new, |base| base.files.clone());
        let missing = None;
        Ok(OpenBranch {
            header,
            timeline,
            valid_len,
            torn_tail,
            event_file,
            checkpoints,
            parents,
            missing,
            checkpoint_seq,
        })
    }

    /// Returns the state to start from (the newest, or the last one up to the event `up_to`), the offset from which to
    /// read, and the event before that offset.
    fn start_state(
        &self,
        checkpoint: LoadedCheckpoint,
        up_to: Option<Seq>,
        event_file: &EventFile,
    ) -> Option<(Arc<State>, u64, Seq)> {
        let newest = Arc::new(checkpoint.state);
        event_file.set_positions(checkpoint.event_offsets);
        let Some(up_to) = up_to.filter(|up_to| *up_to < newest.head) else {
            let head = newest.head;
            return Some((newest, checkpoint.offset, head));
        };
        let older = (self.checkpoints.index(&newest).load)(up_to)?;
        let (offset, before) = event_file.position_before(older.head)?;
        Some((Arc::new(older), offset, before))
    }

    /// Returns all checkpointed states for a timeline with this head: its own and those of its ancestors.
    fn checkpoint_index(&self, head: &Arc<State>) -> CheckpointIndex {
        let own = self.checkpoints.index(head);
        match &self.base {
            Some(base) => base.checkpoint_index.clone().chain(self.header.at_seq, own),
            None => own,
        }
    }
}

fn clone_handle(path: &Path, file: &File) -> Result<File, JournalError> {
    file.try_clone().map_err(JournalError::io(path, "could not be opened"))
}

/// Returns whether no program is writing the file now. One that starts writing right afterwards does no harm: it writes
/// the same checkpoints.
fn is_unlocked(file: &File) -> bool {
    let lock = file.try_lock_shared();
    let _ = file.unlock();
    !matches!(lock, Err(TryLockError::WouldBlock))
}

/// A state that is folded forward batch by batch.
struct BatchFolder {
    state: State,
    timeline: Timeline,
    /// Events not yet passed to the timeline, ending with those of an incomplete batch.
    pending: Vec<Arc<Envelope>>,
    /// The number of them that have been folded.
    folded_count: usize,
}

impl BatchFolder {
    /// Adds an event. Returns whether it completes its batch.
    fn push_event(&mut self, envelope: Envelope) -> bool {
        let ends_batch = !envelope.batch_continues;
        self.pending.push(Arc::new(envelope));
        if ends_batch {
            for envelope in &self.pending[self.folded_count..] {
                self.state.apply(envelope);
            }
            self.folded_count = self.pending.len();
            if self.folded_count >= FLUSH_EVENTS {
                self.flush();
            }
        }
        ends_batch
    }

    fn flush(&mut self) {
        self.folded_count = 0;
        self.timeline.push(std::mem::take(&mut self.pending), Arc::new(self.state.clone()));
    }

    fn finish(mut self) -> Timeline {
        self.pending.truncate(self.folded_count);
        if self.folded_count > 0 {
            self.flush();
        }
        self.timeline
    }
}
