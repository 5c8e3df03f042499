//! States kept beside a branch file, so that opening it folds its end only and an old state is near. They are a shortcut
//! and no evidence: whatever is odd about them makes them as if they were not there, and they are made anew.
//!
//! `index/BRANCH/head.jsonl` holds the newest state whole, the places of the events and the list of the older states;
//! `index/BRANCH/SEQ.jsonl` is an older state, without what only grows by appending: that is a beginning of the newest
//! state's. `docs/JOURNAL.md` has the format and what binds a checkpoint to its branch file.

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

/// How far checkpoints lie apart, each as events and as bytes: whichever comes first.
#[derive(Clone, Copy, Debug)]
struct Spacing {
    /// After so much a state is kept when an episode has just begun: it is small then.
    at_episode_start: (u64, u64),
    /// After so much it is kept wherever the episode stands.
    anywhere: (u64, u64),
    /// A shorter end of a branch is folded as fast as a checkpoint is read.
    min_tail: (u64, u64),
}

impl Default for Spacing {
    fn default() -> Self {
        const K: u64 = 1 << 10;
        Self { at_episode_start: (12 * K, 12 * K * K), anywhere: (16 * K, 16 * K * K), min_tail: (K, K * K) }
    }
}

/// Steps of an episode that has just begun.
const MAX_STARTING_STEPS: usize = 4;

/// The checkpoints of one branch file.
#[derive(Clone, Debug, Default)]
pub struct Checkpoints {
    branch: PathBuf,
    /// Their folder; none where none may be made.
    dir: Option<PathBuf>,
    /// The older ones.
    older: Vec<OlderCheckpoint>,
    /// What the branch grew from: its first state goes back to these files as they were.
    parents: ParentFiles,
    /// The event and the byte up to which the newest one goes, and the last one of any sort.
    newest: (Seq, u64),
    last_written: (Seq, u64),
    spacing: Spacing,
}

/// What a branch grew from: the event it begins after, and the files of its line of parents with the byte up to which each
/// is part of it. Nothing for a trunk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ParentFiles {
    pub(super) fork_seq: Seq,
    pub(super) files: Vec<(PathBuf, u64)>,
}

impl ParentFiles {
    /// What binds to these files as they are now.
    fn bind(&self) -> Option<Vec<FileBinding>> {
        let bound =
            |(path, offset): &(PathBuf, u64)| FileBinding::capture(&files::open(path).ok()?, *offset, false);
        self.files.iter().map(bound).collect()
    }

    /// Something when these files still are what they were bound to.
    fn check(&self, bounds: &[FileBinding]) -> Option<()> {
        (bounds.len() == self.files.len()).then_some(())?;
        self.files.iter().zip(bounds).try_for_each(|((path, offset), bound)| {
            (bound.offset == *offset).then_some(())?;
            bound.check(&files::open(path).ok()?)
        })
    }
}

/// A checkpoint that was found sound.
pub(super) struct LoadedCheckpoint {
    pub(super) state: State,
    /// The byte behind its last event.
    pub(super) offset: u64,
    pub(super) positions: Vec<u64>,
}

impl Checkpoints {
    /// The checkpoints beside a branch file of a session; a file that is in no session has none.
    pub fn for_branch(branch: &Path) -> Self {
        let branches = branch.parent().filter(|p| p.file_name().is_some_and(|n| n == "branches"));
        let index =
            branches.and_then(|b| Some(b.parent()?.join("index"))).filter(|index| !index.is_symlink());
        let dir = index
            .and_then(|index| Some(index.join(branch.file_stem()?)))
            .filter(|dir| branch.extension().is_some_and(|x| x == "jsonl") && !dir.is_symlink());
        Self { branch: branch.to_owned(), dir, ..Self::default() }
    }

    /// Says what the branch grew from.
    pub(super) fn set_parents(&mut self, under: ParentFiles) {
        (self.newest, self.last_written) = ((under.fork_seq, 0), (under.fork_seq, 0));
        self.parents = under;
    }

    /// The checkpoints of a fork that goes on from an event of this branch, whose places these are. Where the event stands
    /// below this branch there are none: whoever opens the fork next makes them.
    pub fn for_fork(&self, fork: &Path, places: &EventFile, at: Seq) -> Self {
        let offset = if at > self.parents.fork_seq { places.end_offset(at) } else { None };
        let Some(offset) = offset.filter(|_| self.dir.is_some()) else { return Self::default() };
        let mut files = self.parents.files.clone();
        files.push((self.branch.clone(), offset));
        let mut kept = Self::for_branch(fork);
        kept.set_parents(ParentFiles { fork_seq: at, files });
        kept
    }

    /// The files of the line of parents.
    pub(super) fn parent_files(&self) -> &[(PathBuf, u64)] {
        &self.parents.files
    }

    /// The newest checkpoint, when it is sound and speaks of this file.
    pub(super) fn load_newest(&mut self, file: &File) -> Option<LoadedCheckpoint> {
        let shared: u64 = self.parents.files.iter().map(|(_, bytes)| bytes).sum();
        let len = file.metadata().ok()?.len().saturating_add(shared);
        let page = NewestCheckpoint::read(self.dir.as_deref()?, len, self.parents.fork_seq)?;
        page.binding.check(file)?;
        self.parents.check(&page.parent_bindings)?;
        self.newest = (page.state.head, page.binding.offset);
        self.last_written = self.newest;
        self.older = page.older;
        Some(LoadedCheckpoint { state: page.state, offset: page.binding.offset, positions: page.positions })
    }

    /// The last event of the newest checkpoint and the byte behind it, whether or not the branch file still has them.
    pub(super) fn newest_seq(&self) -> Option<(Seq, u64)> {
        checkpoint_file::newest_seq(self.dir.as_deref()?)
    }

    /// A state should be kept now, because the last one that is lies far behind.
    pub fn is_due(&self, state: &State, offset: u64) -> bool {
        let since = distance(self.last_written, state, offset);
        let steps = state.episode.as_ref().map_or(0, |e| e.steps.len());
        // Within a very long episode every state is long: it is kept less and less often, so that all states together
        // stay within a few times the journal.
        (steps <= MAX_STARTING_STEPS && exceeds(since, self.spacing.at_episode_start))
            || (exceeds(since, self.spacing.anywhere) && since.0 >= 4 * steps as u64)
    }

    /// A branch that ends with this state goes on far enough behind the newest checkpoint for another one.
    pub fn is_tail_long_enough(&self, state: &State, offset: u64) -> bool {
        exceeds(distance(self.newest, state, offset), self.spacing.min_tail)
    }

    /// A branch that is put down with this state is long enough for a checkpoint at its very end.
    pub fn is_branch_long_enough(&self, state: &State, offset: u64) -> bool {
        exceeds(distance((self.parents.fork_seq, 0), state, offset), self.spacing.min_tail)
    }

    /// Keeps an older state. Whether it could be written is found out by who wants it back.
    pub fn write_older(&mut self, state: &State, offset: u64) {
        self.last_written = (state.head, offset);
        let Some(dir) = &self.dir else { return };
        if let Some(older) = checkpoint_file::write_older(dir, state) {
            self.older.retain(|o| o.seq < state.head);
            self.older.push(older);
        }
    }

    /// Keeps the newest state, with the list of all older ones. `rest` says that the file rests: whoever finds it
    /// otherwise later knows that it was changed. A failure is harmless: the next opening reads more.
    pub fn write_newest(&mut self, state: &State, offset: u64, places: &EventFile, rest: bool) {
        (self.newest, self.last_written) = ((state.head, offset), (state.head, offset));
        let Some(dir) = &self.dir else { return };
        let bound = files::open(&self.branch).ok().and_then(|file| FileBinding::capture(&file, offset, rest));
        if let Some((bound, under)) = bound.zip(self.parents.bind()) {
            let bound = (&bound, under.as_slice());
            let _ = checkpoint_file::write_newest(
                dir,
                state,
                bound,
                &self.older,
                &places.positions_up_to(state.head),
            );
        }
    }

    /// Forgets all that is kept; `anew` says that it will be made anew, and so is removed from the disk.
    pub(super) fn clear(&mut self, anew: bool) {
        self.older.clear();
        (self.newest, self.last_written) = ((self.parents.fork_seq, 0), (self.parents.fork_seq, 0));
        if let Some(dir) = self.dir.as_deref().filter(|_| anew) {
            checkpoint_file::clear(dir);
        }
    }

    /// Takes it that this state is kept, by somebody else who was told to.
    pub fn mark_written(&mut self, state: &State, offset: u64) {
        self.last_written = (state.head, offset);
    }

    /// The older states for a timeline whose head is, or comes after, this one.
    pub fn index(&self, head: &Arc<State>) -> CheckpointIndex {
        let (dir, older, head) = (self.dir.clone(), self.older.clone(), head.clone());
        let at = older.iter().map(|o| o.seq).collect();
        let recall = move |seq| {
            let dir = dir.as_deref()?;
            older
                .iter()
                .rev()
                .filter(|o| o.seq <= seq)
                .find_map(|o| checkpoint_file::read_older(dir, o, &head))
        };
        CheckpointIndex { seqs: at, load: Arc::new(recall) }
    }
}

/// Events and bytes behind a checkpoint.
fn distance(kept: (Seq, u64), state: &State, offset: u64) -> (u64, u64) {
    (state.head.0.saturating_sub(kept.0.0), offset.saturating_sub(kept.1))
}

/// As many events, or as many bytes.
fn exceeds(since: (u64, u64), than: (u64, u64)) -> bool {
    since.0 >= than.0 || since.1 >= than.1
}

#[cfg(test)]
mod tests;
