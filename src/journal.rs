//! Sessions on disk: a folder with `meta.toml`, one append-only file per branch, and an index that can be rebuilt.
//! `docs/JOURNAL.md` specifies the format.

mod branch;
mod branch_header;
mod checkpoints;
mod events;
mod follow;
pub mod import;
mod index;
mod label;
mod name;
mod open;
mod parent_file;
mod reader;
mod rescue;
mod session;
mod stream;
mod summary;
mod writer;

pub use branch::Branch;
pub use branch_header::{BranchHeader, LABELS_STEM};
pub use checkpoints::Checkpoints;
pub use events::EventFile;
pub use follow::Follower;
pub use import::exported_report::{ReadLines, SessionFiles, WritePart, embed_session, extract_session};
pub use index::{ListedSession, list_sessions, sort_newest_first};
pub use label::{Label, LabelChange, parse_labels};
pub use name::{session_name, slug};
pub use open::{OpenBranch, OpenMode, open_branch, open_branch_reporting, stored_checkpoints};
pub use parent_file::{AncestorFile, parents_of_fork};
pub use reader::{
    ReadBranch, fold_events, last_written_from_files, read_branch, read_branch_bytes, read_with_parents,
};
pub use rescue::Rescue;
pub use session::{Meta, Session, branch_path};
pub use stream::TornTail;
pub use summary::{MissingEvents, SessionStatus, Summary, summarize};
pub use writer::{SyncHandle, Writer};

use std::path::{Path, PathBuf};

/// The version of the format that is written; every older one is read.
pub const VERSION: u32 = 1;

/// What can go wrong with a session on disk.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// A file could not be read, created or written.
    #[error("{path}: {action}: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was attempted.
        action: &'static str,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// Another program changed a file that this one is writing.
    #[error("{path}: the journal {change} by another program while this session was writing it")]
    Changed {
        /// The branch file.
        path: PathBuf,
        /// What happened to it.
        change: FileChange,
    },
    /// A line does not follow the format.
    #[error("{path}:{line}: {reason}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// Another program is writing this branch.
    #[error(
        "{path}: another retrospect process is writing this session; follow it with `retrospect open --follow`, or quit the \
         other program"
    )]
    Locked {
        /// The branch file.
        path: PathBuf,
    },
    /// The session has no such branch.
    #[error("{path}: this session has no branch {branch}; its branches are the files in `branches/`")]
    NoBranch {
        /// The session's folder.
        path: PathBuf,
        /// The branch.
        branch: crate::domain::BranchId,
    },
    /// A fork would have too many ancestors to be read back.
    #[error("branch {branch} already has {max} ancestors, the maximum")]
    TooDeep {
        /// The branch that was to be forked.
        branch: crate::domain::BranchId,
        /// The maximum number of ancestors of a branch.
        max: usize,
    },
    /// A name or note of a branch is too long.
    #[error("the {field} has {length} characters; the maximum is {max}")]
    TooLong {
        /// `name` or `note`.
        field: &'static str,
        /// Its length in characters.
        length: usize,
        /// Its maximum length in characters.
        max: usize,
    },
    /// A branch can't have this name: it belongs to another branch, or couldn't be used to refer to it.
    #[error("{name:?} can't be the name of this branch: {reason}; choose another name")]
    BadName {
        /// The rejected name.
        name: String,
        /// Why it is rejected, without a capital letter or full stop.
        reason: String,
    },
    /// The caller stopped opening a branch. Nothing on disk was changed.
    #[error("{0}")]
    Stopped(String),
    /// There is no session in the folder.
    #[error(
        "{path}: no session here (a session is a folder with `meta.toml` and `branches/`); `retrospect sessions` lists them"
    )]
    NoSession {
        /// The folder.
        path: PathBuf,
    },
}

/// What another program did to a file that is being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileChange {
    /// The file was deleted.
    Removed,
    /// The file or a folder above it was renamed.
    Moved,
    /// Another file has taken its path.
    Replaced,
    /// The file is shorter than what was written.
    Shortened {
        /// Its length now, in bytes.
        current: u64,
        /// Its expected length, in bytes.
        expected: u64,
    },
    /// Another program wrote to the file.
    Lengthened {
        /// Its length now, in bytes.
        current: u64,
        /// Its expected length, in bytes.
        expected: u64,
    },
}

impl std::fmt::Display for FileChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Removed => f.write_str("was removed"),
            Self::Moved => f.write_str("was moved or renamed"),
            Self::Replaced => f.write_str("was replaced"),
            Self::Shortened { current, expected } => {
                write!(f, "was truncated from {expected} to {current} bytes")
            }
            Self::Lengthened { current, expected } => {
                write!(f, "was changed from {expected} to {current} bytes")
            }
        }
    }
}

impl JournalError {
    pub(crate) fn io(path: &Path, action: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, action, source }
    }
}

#[cfg(test)]
mod tests;
