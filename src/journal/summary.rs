//! Summaries of branches. They are a cache beside the journal, rebuilt from it when needed; only the journal is
//! authoritative.

use super::session::{branch_path, read_small, write_private};
use super::{JournalError, Session};
use crate::domain::{BranchId, EndReason, EpisodeSummary, Seq, hex};
use crate::engine::State;
use crate::files;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::HashSet;
use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// Whether a session is closed, being written or crashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionStatus {
    /// Closed properly.
    Closed,
    /// Being written by a program.
    Live,
    /// Without a closing event, and not locked.
    Crashed,
}

/// The summary of a branch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The version of what a summary held when it was made.
    #[serde(default)]
    pub version: u32,
    pub branch: BranchId,
    /// The number of branches of the session, including the trunk.
    #[serde(skip)]
    pub branches: u32,
    /// The length in bytes of the file it summarizes. If the file has grown, the summary is rebuilt.
    pub bytes: u64,
    /// A hash of the end of the file, which detects an edited journal; empty until the summary is stored.
    #[serde(default)]
    pub tail: String,
    /// The last event.
    pub head: Seq,
    /// The last event that is known to have been saved; after `head` if the journal was truncated or replaced.
    #[serde(default)]
    pub acknowledged: Seq,
    /// The goal of the open or last episode.
    pub goal: String,
    /// Hashes of the newest 1,000 distinct tasks of its episodes ([`crate::domain::Task::key_hash`]).
    pub tasks: Vec<u64>,
    /// The number of ended episodes.
    pub episodes: u32,
    /// The number of episodes won, with or without a person's help.
    pub won: u32,
    /// The number of ended episodes in which a person intervened, and of those the won ones.
    #[serde(default)]
    pub assisted: u32,
    #[serde(default)]
    pub assisted_won: u32,
    /// The number of ended episodes that count as neither won nor lost, because the environment failed.
    #[serde(default)]
    pub not_counted: u32,
    /// Mean progress rate at the end of its episodes that count, or that of the open or last episode if none does.
    #[serde(rename = "mean_progress")]
    pub progress: f64,
    /// Steps of the open or last episode.
    pub steps: u32,
    /// Tokens of the same episode.
    #[serde(default)]
    pub episode_tokens: u64,
    /// Whether the last episode has ended, so that `steps` are those of `last`.
    pub ended: bool,
    /// Tokens of all model calls so far.
    pub tokens: u64,
    /// Lessons in the pool.
    pub lessons: u32,
    /// Whether the run is over.
    pub over: bool,
    /// Whether the session was closed properly.
    pub closed: bool,
    /// The last ended episode.
    pub last: Option<EpisodeSummary>,
    /// How its newest episodes (at most 100) ended, oldest first. Absent from older summaries.
    #[serde(default)]
    pub endings: Vec<Ending>,
}

/// How an episode ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    pub episode: u32,
    /// Its last event.
    pub end: Seq,
    pub won: bool,
    pub reason: EndReason,
    /// Why the environment ended it as lost, in the environment's words; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub lost_because: String,
    pub steps: u32,
    #[serde(default)]
    pub tokens: u64,
}

/// The version of what a summary holds. One of another version is rebuilt. It can still be read, because it says which events were
/// saved, so every field that was added has a default.
const SUMMARY_VERSION: u32 = 1;

/// The maximum number of endings in a summary, which keeps it small.
const MAX_ENDINGS: usize = 100;

/// Summarizes the last state of a branch.
pub fn summarize(state: &State, branch: &BranchId, bytes: u64) -> Summary {
    let episode = state.episode.as_deref();
    let count = |holds: &dyn Fn(&EpisodeSummary) -> bool| {
        state.ended_episodes.iter().filter(|e| holds(e)).count() as u32
    };
    Summary {
        version: SUMMARY_VERSION,
        branch: branch.clone(),
        branches: 1,
        bytes,
        tail: String::new(),
        head: state.head,
        acknowledged: state.head,
        goal: episode.map(|e| e.task.goal.clone()).unwrap_or_default(),
        tasks: task_hashes(state),
        episodes: state.ended_episodes.len() as u32,
        won: count(&|e| e.won),
        not_counted: count(&|e| e.reason.is_env_failure()),
        assisted: count(&|e| e.assisted),
        assisted_won: count(&|e| e.assisted && e.won),
        progress: mean_progress(state),
        steps: episode.map_or(0, crate::engine::Episode::answered_steps),
        episode_tokens: episode.map_or(0, |e| e.tokens),
        ended: episode.is_some_and(|e| e.outcome.is_some()),
        tokens: state.usage.tokens(),
        lessons: state.pool.all().filter(|l| l.is_active()).count() as u32,
        over: state.run_over,
        closed: state.closed,
        last: state.ended_episodes.last().map(|e| (**e).clone()),
        endings: newest_endings(state),
    }
}

fn newest_endings(state: &State) -> Vec<Ending> {
    let ending = |episode: &EpisodeSummary| Ending {
        episode: episode.number,
        end: Seq(episode.seq_range.1),
        won: episode.won,
        reason: episode.reason,
        lost_because: episode.stats.lost_because.clone(),
        steps: episode.steps,
        tokens: episode.tokens,
    };
    let skipped = state.ended_episodes.len().saturating_sub(MAX_ENDINGS);
    state.ended_episodes.iter().skip(skipped).map(|episode| ending(episode)).collect()
}

fn mean_progress(state: &State) -> f64 {
    let counted = || state.ended_episodes.iter().filter(|episode| !episode.reason.is_env_failure());
    match counted().count() {
        0 => state.episode.as_deref().map_or(0.0, |episode| episode.progress),
        count => counted().map(|episode| episode.progress).sum::<f64>() / count as f64,
    }
}

/// The maximum number of tasks in a summary, which keeps it small.
const MAX_TASKS: usize = 1000;

fn task_hashes(state: &State) -> Vec<u64> {
    let tasks = state.ended_episodes.iter().map(|e| &e.task).chain(state.open_episode().map(|e| &e.task));
    let mut hashes: Vec<u64> = Vec::new();
    let mut seen = HashSet::new();
    for task in tasks.collect::<Vec<_>>().into_iter().rev() {
        if hashes.len() == MAX_TASKS {
            break;
        }
        let hash = task.key_hash();
        if seen.insert(hash) {
            hashes.push(hash);
        }
    }
    hashes
}

/// Events that are known to have been saved (acknowledged), but are missing from their branch file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingEvents {
    pub branch: BranchId,
    pub first: Seq,
    pub last: Seq,
}

impl Summary {
    /// Returns the path of a summary in a session's folder.
    fn path(dir: &Path, branch: &BranchId) -> PathBuf {
        let name = if *branch == BranchId::trunk() {
            "summary.json".to_owned()
        } else {
            format!("summary-{branch}.json")
        };
        dir.join("index").join(name)
    }

    /// Stores the summary, with the hash of the end of the branch file.
    ///
    /// # Errors
    /// Returns [`JournalError::Io`] if a file cannot be read or written.
    pub fn save(&self, dir: &Path) -> Result<(), JournalError> {
        let index = dir.join("index");
        if index.is_symlink() {
            let error = std::io::Error::other("it is a symbolic link, which is not followed here");
            return Err(JournalError::io(&index, "could not be written")(error));
        }
        fs::create_dir_all(&index).map_err(JournalError::io(&index, "could not be created"))?;
        let file = branch_path(dir, &self.branch);
        let tail = tail_hash(&file, self.bytes).map_err(JournalError::io(&file, "could not be read"))?;
        let bytes = serde_json::to_vec(&Self { tail, ..self.clone() }).unwrap_or_default();
        write_private(&Self::path(dir, &self.branch), &bytes)
    }

    /// Returns the stored summary, even if it is outdated.
    pub(super) fn read_saved(dir: &Path, branch: &BranchId) -> Option<Self> {
        let bytes = read_small(&Self::path(dir, branch)).ok()?;
        serde_json::from_slice::<Self>(&bytes).ok().filter(|saved| saved.branch == *branch)
    }

    /// Describes how its ended episodes went: `3 of 5 won, 1 won with help, 1 assisted, 1 not counted`. A person's help makes no win of
    /// the agent's, and an episode at which the environment failed is neither won nor lost.
    pub fn describe_wins(&self) -> String {
        let others = |count: u32, what: &str| match count {
            0 => String::new(),
            count => format!(", {count} {what}"),
        };
        let counted = self.episodes.saturating_sub(self.not_counted);
        let rest = format!(
            "{}{}",
            others(self.assisted.saturating_sub(self.assisted_won), "assisted"),
            others(self.not_counted, "not counted")
        );
        if self.assisted_won > 0 && self.assisted_won == counted {
            return format!("{counted} won with help{rest}");
        }
        let own = self.won.saturating_sub(self.assisted_won);
        format!("{own} of {counted} won{}{rest}", others(self.assisted_won, "won with help"))
    }

    /// Returns whether it has everything that this version of the program puts into it.
    pub(super) fn is_current(&self) -> bool {
        self.version == SUMMARY_VERSION
    }

    /// Returns the saved events that are missing from the branch, if any.
    pub fn missing(&self) -> Option<MissingEvents> {
        let (first, last) = (Seq(self.head.0 + 1), self.acknowledged);
        (last >= first).then(|| MissingEvents { branch: self.branch.clone(), first, last })
    }

    /// Returns whether the branch is closed, being written or crashed.
    pub fn status(&self, session: &Session) -> SessionStatus {
        match files::open(&session.branch_file(&self.branch)).map(|f| f.try_lock_shared()) {
            Ok(Err(fs::TryLockError::WouldBlock)) => SessionStatus::Live,
            _ if self.closed => SessionStatus::Closed,
            _ => SessionStatus::Crashed,
        }
    }
}

impl std::fmt::Display for MissingEvents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "branch {}: events {} to {} were saved but are missing: the journal was truncated or replaced, or lost its end \
             in a power failure; restore it from a copy, or from the session NAME-saved beside it if there is one",
            self.branch, self.first, self.last
        )
    }
}

/// Returns the last event that a branch file is known to have contained, according to its summary; 0 without one.
pub(super) fn acknowledged(branch: &Path) -> Seq {
    let branch_folder = branch.parent().filter(|p| p.file_name().is_some_and(|n| n == "branches"));
    let saved = branch_folder
        .and_then(Path::parent)
        .zip(branch.file_stem())
        .and_then(|(dir, stem)| Summary::read_saved(dir, &BranchId(stem.to_string_lossy().into_owned())));
    saved.map_or(Seq(0), |saved| saved.acknowledged.max(saved.head))
}

/// Returns a hash of the last 16 KiB before the offset `len`, or of all bytes before it if they are fewer. They contain
/// the last line of nearly every journal.
pub(super) fn tail_hash(path: &Path, len: u64) -> std::io::Result<String> {
    const MAX_BYTES: u64 = 16 * 1024;
    let mut file = files::open(path)?;
    file.seek(SeekFrom::Start(len.saturating_sub(MAX_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(len.min(MAX_BYTES)).read_to_end(&mut bytes)?;
    Ok(hex(&Sha256::digest(&bytes)[..8]))
}
