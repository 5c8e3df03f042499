//! Opens a branch file: the newest checkpoint that is sound, and what comes after it folded onto it.

use super::stream::{Lines, open_regular};
use super::{BranchHeader, Checkpoints, EventFile, JournalError, Torn};
use crate::domain::Seq;
use crate::engine::{Envelope, State};
use crate::timeline::Timeline;
use std::fs::{File, TryLockError};
use std::path::Path;
use std::sync::Arc;

/// Events whose state is kept at once in a timeline.
const BATCH: usize = 64;

/// What a branch file is opened for, and so what may be done to its checkpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// To look at it: checkpoints are used, and made where there are none and nobody else is writing the session.
    Look,
    /// To go on with it; the caller holds its lock.
    GoOn,
    /// To look at every event: no checkpoint is used or made.
    Check,
}

/// A branch that was opened: its last state, and the way to all before.
pub struct OpenBranch {
    /// The branch's header.
    pub header: BranchHeader,
    /// Its states; events are read from the file when they are wanted.
    pub timeline: Timeline,
    /// Bytes of header and whole batches.
    pub whole: u64,
    /// What stood behind them.
    pub torn: Option<Torn>,
    /// Where the events stand in the file.
    pub places: Arc<EventFile>,
    /// The checkpoints beside it.
    pub checkpoints: Checkpoints,
    /// The last event that was not read, because a checkpoint has it; 0 when all were.
    pub known: Seq,
}

/// Opens a branch file. Its size matters only where there is no sound checkpoint; memory does not grow with it.
///
/// # Errors
/// [`JournalError`] with file, line and reason. Checkpoints are never a reason.
pub fn open_branch(path: &Path, how: Use) -> Result<OpenBranch, JournalError> {
    let checkpoints = if how == Use::Check { Checkpoints::default() } else { Checkpoints::of(path) };
    open_with(path, how, checkpoints)
}

/// Opens a branch file with these checkpoints.
pub(super) fn open_with(
    path: &Path,
    how: Use,
    mut checkpoints: Checkpoints,
) -> Result<OpenBranch, JournalError> {
    let (file, _) = open_regular(path)?;
    let look = file.try_clone().map_err(JournalError::io(path, "could not be opened"))?;
    let found = checkpoints.newest(&look);
    let jumped = found.is_some();
    match unfold(path, &file, found, &mut checkpoints, how) {
        // A journal that goes on otherwise than its checkpoint says is read from its beginning, and then has the word.
        Err(_) if jumped => unfold(path, &file, None, &mut checkpoints, how),
        opened => opened,
    }
}

fn unfold(
    path: &Path,
    file: &File,
    found: Option<super::checkpoints::Found>,
    checkpoints: &mut Checkpoints,
    how: Use,
) -> Result<OpenBranch, JournalError> {
    use std::io::Seek as _;
    let mut from = file.try_clone().map_err(JournalError::io(path, "could not be opened"))?;
    from.rewind().map_err(JournalError::io(path, "could not be read"))?;
    let (header, mut lines) = Lines::of_file(path, from)?;
    let places = Arc::new(EventFile::new(path, header.at_seq));
    // A fork is not folded from nothing; its checkpoints come with its parents.
    let keeps = how != Use::Check && header.at_seq == Seq(0) && (how == Use::GoOn || unwritten(file));
    let known = found.as_ref().map_or(Seq(0), |f| f.state.head);
    let (state, timeline) = if let Some(found) = found {
        lines.jump(found.offset, known.0, header.at_seq.0)?;
        places.take_over(found.places);
        let head = Arc::new(found.state);
        (State::clone(&head), Timeline::going_on(head.clone(), places.fetch(), checkpoints.stored(&head)))
    } else {
        checkpoints.forget(keeps);
        (State::default(), Timeline::fetching(places.fetch()))
    };
    let mut unfolding = Unfolding { state, timeline, batch: Vec::new(), folded: 0 };
    let mut whole = lines.at;
    while let Some((envelope, begins)) = lines.event()? {
        places.note(envelope.seq, begins);
        if unfolding.take(envelope) {
            whole = lines.at;
            if keeps && checkpoints.due(&unfolding.state, whole) {
                checkpoints.keep_older(&unfolding.state, whole);
            }
        }
    }
    let torn = lines.torn(whole, unfolding.batch.len() - unfolding.folded);
    let mut timeline = unfolding.end();
    let head = timeline.head().clone();
    places.forget_after(head.head.max(header.at_seq));
    if keeps && checkpoints.worth(&head, whole) {
        checkpoints.keep_newest(&head, whole, &places, how == Use::Look && torn.is_none());
    }
    timeline.recall_with(checkpoints.stored(&head));
    Ok(OpenBranch { header, timeline, whole, torn, places, checkpoints: checkpoints.clone(), known })
}

/// Nobody writes the file now. Somebody who begins just after this makes the same checkpoints of the same events.
fn unwritten(file: &File) -> bool {
    let lock = file.try_lock_shared();
    let _ = file.unlock();
    !matches!(lock, Err(TryLockError::WouldBlock))
}

/// A state that goes on, batch by batch.
struct Unfolding {
    state: State,
    timeline: Timeline,
    /// Events that the timeline has not got yet; those of a batch that is not whole at their end.
    batch: Vec<Arc<Envelope>>,
    /// How many of them are folded.
    folded: usize,
}

impl Unfolding {
    /// Takes an event in; whether the batch is whole with it.
    fn take(&mut self, envelope: Envelope) -> bool {
        let whole = !envelope.more;
        self.batch.push(Arc::new(envelope));
        if whole {
            for envelope in &self.batch[self.folded..] {
                self.state.apply(envelope);
            }
            self.folded = self.batch.len();
            if self.folded >= BATCH {
                self.push();
            }
        }
        whole
    }

    fn push(&mut self) {
        self.folded = 0;
        self.timeline.push(std::mem::take(&mut self.batch), Arc::new(self.state.clone()));
    }

    fn end(mut self) -> Timeline {
        self.batch.truncate(self.folded);
        if self.folded > 0 {
            self.push();
        }
        self.timeline
    }
}
