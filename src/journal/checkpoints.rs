//! Checkpoints: folded states stored beside a branch file, so that opening it folds only the events after the newest
//! one. They are a cache: a checkpoint with any inconsistency is ignored and rebuilt.
//!
//! `index/BRANCH/head.jsonl` contains the newest state, the offsets of the events and the list of older states.
//! `index/BRANCH/SEQ.jsonl` is an older state without its append-only lists, which are prefixes of the newest state's.
//! `docs/JOURNAL.md` describes the format and how a checkpoint is bound to its branch file.

mod checkpoint_file;
mod file_binding;
mod fingerprint;

use super::EventFile;
use crate::domain::Seq;
use crate::engine::State;
use crate::files;
use crate::timeline::CheckpointIndex;
use checkpoint_file::{NewestCheckpoint, OlderCheckpoint};
use file_binding::FileBinding;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The distance between checkpoints, as (events, bytes); reaching either is enough.
#[derive(Clone, Copy, Debug)]
struct Spacing {
    /// From this distance, a state is stored if an episode has just begun, because it is small then.
    at_episode_start: (u64, u64),
    /// From this distance, a state is stored at any point of an episode.
    anywhere: (u64, u64),
    /// The shortest distance for which a checkpoint pays off; fewer events are folded as fast as a checkpoint is read.
    min_tail: (u64, u64),
}

impl Default for Spacing {
    fn default() -> Self {
        const KIB: u64 = 1 << 10;
        Self {
            at_episode_start: (12 * KIB, 12 * KIB * KIB),
            anywhere: (16 * KIB, 16 * KIB * KIB),
            min_tail: (KIB, KIB * KIB),
        }
    }
}

/// The number of steps up to which an episode counts as just begun.
const MAX_STARTING_STEPS: usize = 4;

/// The checkpoints of one branch file.
#[derive(Clone, Debug, Default)]
pub struct Checkpoints {
    branch: PathBuf,
    /// The folder of the checkpoint files; `None` if none may be written.
    dir: Option<PathBuf>,
    /// The older checkpoints.
    older: Vec<OlderCheckpoint>,
    /// The branch's ancestors, to which its states are bound.
    parents: ParentFiles,
    /// The event and offset of the newest checkpoint.
    newest: (Seq, u64),
    /// The event and offset of the checkpoint written last, newest or older.
    last_written: (Seq, u64),
    spacing: Spacing,
}

/// The ancestors of a branch: the event after which it begins, and the ancestors' files with the length of the part
/// that belongs to the branch. Empty for a trunk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ParentFiles {
    pub(super) fork_seq: Seq,
    pub(super) files: Vec<(PathBuf, u64)>,
}

impl ParentFiles {
    /// Returns the length, content hash and identity of each file as they are now, or `None` if one can't be read.
    fn bind(&self) -> Option<Vec<FileBinding>> {
        let capture =
            |(path, offset): &(PathBuf, u64)| FileBinding::capture(&files::open(path).ok()?, *offset, false);
        self.files.iter().map(capture).collect()
    }

    /// Returns `Some` if these files still match their bindings.
    fn check(&self, bindings: &[FileBinding]) -> Option<()> {
        (bindings.len() == self.files.len()).then_some(())?;
        self.files.iter().zip(bindings).try_for_each(|((path, offset), binding)| {
            (binding.offset == *offset).then_some(())?;
            binding.check(&files::open(path).ok()?)
        })
    }
}

/// A valid checkpoint.
pub(super) struct LoadedCheckpoint {
    pub(super) state: State,
    /// The offset after its last event.
    pub(super) offset: u64,
    /// The positions that [`EventFile`] recorded up to the checkpoint.
    pub(super) event_offsets: Vec<u64>,
}

impl Checkpoints {
    /// Returns the checkpoints of a branch file. A file outside a session has none.
    pub fn for_branch(branch: &Path) -> Self {
        let branches = branch.parent().filter(|p| p.file_name().is_some_and(|n| n == "branches"));
        let index =
            branches.and_then(|b| Some(b.parent()?.join("index"))).filter(|index| !index.is_symlink());
        let dir = index
            .and_then(|index| Some(index.join(branch.file_stem()?)))
            .filter(|dir| branch.extension().is_some_and(|x| x == "jsonl") && !dir.is_symlink());
        Self { branch: branch.to_owned(), dir, ..Self::default() }
    }

    /// Sets the branch's ancestors.
    pub(super) fn set_parents(&mut self, parents: ParentFiles) {
        (self.newest, self.last_written) = ((parents.fork_seq, 0), (parents.fork_seq, 0));
        self.parents = parents;
    }

    /// Returns the checkpoints of a fork that continues from an event of this branch, given the branch's offsets. There
    /// are none if the event belongs to an ancestor; opening the fork writes them.
    pub fn for_fork(&self, fork: &Path, events: &EventFile, at: Seq) -> Self {
        let offset = if at > self.parents.fork_seq { events.end_offset(at) } else { None };
        let Some(offset) = offset.filter(|_| self.dir.is_some()) else { return Self::default() };
        let mut files = self.parents.files.clone();
        files.push((self.branch.clone(), offset));
        let mut checkpoints = Self::for_branch(fork);
        checkpoints.set_parents(ParentFiles { fork_seq: at, files });
        checkpoints
    }

    /// Returns the ancestors' files.
    pub(super) fn parent_files(&self) -> &[(PathBuf, u64)] {
        &self.parents.files
    }

    /// Returns the newest checkpoint if it is valid and matches this file.
    pub(super) fn load_newest(&mut self, file: &File) -> Option<LoadedCheckpoint> {
        let parent_bytes: u64 = self.parents.files.iter().map(|(_, bytes)| bytes).sum();
        let len = file.metadata().ok()?.len().saturating_add(parent_bytes);
        let newest = NewestCheckpoint::read(self.dir.as_deref()?, len, self.parents.fork_seq)?;
        newest.binding.check(file)?;
        self.parents.check(&newest.parent_bindings)?;
        self.newest = (newest.state.head, newest.binding.offset);
        self.last_written = self.newest;
        self.older = newest.older;
        Some(LoadedCheckpoint {
            state: newest.state,
            offset: newest.binding.offset,
            event_offsets: newest.positions,
        })
    }

    /// Returns the last event of the newest checkpoint and the offset after it, even if the branch file no longer has
    /// them.
    pub(super) fn newest_seq(&self) -> Option<(Seq, u64)> {
        checkpoint_file::newest_seq(self.dir.as_deref()?)
    }

    /// Returns whether a state should be stored now because the last checkpoint is far behind.
    pub fn is_due(&self, state: &State, offset: u64) -> bool {
        let since_last = distance(self.last_written, state, offset);
        let steps = state.episode.as_ref().map_or(0, |e| e.steps.len());
        // The states of a very long episode are large, so they are stored ever less often. Their total size then stays
        // within a few times that of the journal.
        (steps <= MAX_STARTING_STEPS && reaches(since_last, self.spacing.at_episode_start))
            || (reaches(since_last, self.spacing.anywhere) && since_last.0 >= 4 * steps as u64)
    }

    /// Returns whether a branch that ends with this state is far enough beyond the newest checkpoint for another one.
    pub fn is_tail_long_enough(&self, state: &State, offset: u64) -> bool {
        reaches(distance(self.newest, state, offset), self.spacing.min_tail)
    }

    /// Returns whether a branch closed with this state is long enough for a checkpoint at its end.
    pub fn is_branch_long_enough(&self, state: &State, offset: u64) -> bool {
        reaches(distance((self.parents.fork_seq, 0), state, offset), self.spacing.min_tail)
    }

    /// Stores an older state. A failure is ignored; the state is then folded again when needed.
    pub fn write_older(&mut self, state: &State, offset: u64) {
        self.last_written = (state.head, offset);
        let Some(dir) = &self.dir else { return };
        if let Some(older) = checkpoint_file::write_older(dir, state) {
            self.older.retain(|o| o.seq < state.head);
            self.older.push(older);
        }
    }

    /// Stores the newest state, with the list of all older ones. If `is_closed`, no more is appended to the branch
    /// file, so any later change of it invalidates the checkpoint. A failure is ignored; the next opening then reads
    /// more events.
    pub fn write_newest(&mut self, state: &State, offset: u64, events: &EventFile, is_closed: bool) {
        (self.newest, self.last_written) = ((state.head, offset), (state.head, offset));
        let Some(dir) = &self.dir else { return };
        let binding =
            files::open(&self.branch).ok().and_then(|file| FileBinding::capture(&file, offset, is_closed));
        if let Some((binding, parent_bindings)) = binding.zip(self.parents.bind()) {
            let binding = (&binding, parent_bindings.as_slice());
            let _ = checkpoint_file::write_newest(
                dir,
                state,
                binding,
                &self.older,
                &events.positions_up_to(state.head),
            );
        }
    }

    /// Discards all checkpoints; with `rebuild`, also removes them from disk, because they will be rebuilt.
    pub(super) fn clear(&mut self, rebuild: bool) {
        self.older.clear();
        (self.newest, self.last_written) = ((self.parents.fork_seq, 0), (self.parents.fork_seq, 0));
        if let Some(dir) = self.dir.as_deref().filter(|_| rebuild) {
            checkpoint_file::clear(dir);
        }
    }

    /// Records that another thread has stored this state.
    pub fn mark_written(&mut self, state: &State, offset: u64) {
        self.last_written = (state.head, offset);
    }

    /// Returns the older states for a timeline whose head is at or after this one.
    pub fn index(&self, head: &Arc<State>) -> CheckpointIndex {
        let (dir, older, head) = (self.dir.clone(), self.older.clone(), head.clone());
        let seqs = older.iter().map(|o| o.seq).collect();
        let load = move |seq| {
            let dir = dir.as_deref()?;
            older
                .iter()
                .rev()
                .filter(|o| o.seq <= seq)
                .find_map(|o| checkpoint_file::read_older(dir, o, &head))
        };
        CheckpointIndex { seqs, load: Arc::new(load) }
    }
}

/// Returns the distance from a checkpoint, in events and bytes.
fn distance(checkpoint: (Seq, u64), state: &State, offset: u64) -> (u64, u64) {
    (state.head.0.saturating_sub(checkpoint.0.0), offset.saturating_sub(checkpoint.1))
}

/// Returns whether either the events or the bytes reach this distance.
fn reaches(distance: (u64, u64), limit: (u64, u64)) -> bool {
    distance.0 >= limit.0 || distance.1 >= limit.1
}

#[cfg(test)]
mod tests;
