//! A session's folder.

use super::{BranchHeader, JournalError, Writer};
use crate::domain::BranchId;
use crate::files::{self, sync_folder};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::io::Error;
use std::path::{Path, PathBuf};

/// The content of `meta.toml`: enough to list a session without reading its journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    /// Version of the format.
    pub v: u32,
    /// The name of the session and of its folder.
    pub session: String,
    /// When it was created.
    pub created: Timestamp,
    /// The version of the program that created it.
    pub program: String,
    /// The environment.
    pub env: String,
    /// The method.
    pub method: String,
    /// The actor.
    pub actor: String,
    /// A short title.
    pub title: String,
    /// The position at which `demo` opens it: episode and step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bookmark: Option<String>,
}

/// A session's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The folder.
    pub dir: PathBuf,
    /// The content of its `meta.toml`.
    pub meta: Meta,
}

/// Returns the path of a branch file in a session's folder.
pub fn branch_path(dir: &Path, branch: &BranchId) -> PathBuf {
    dir.join("branches").join(format!("{branch}.jsonl"))
}

impl Session {
    /// Creates the folder below `root` with its meta file and the trunk's header, and locks the trunk.
    ///
    /// # Errors
    /// Returns [`JournalError::Io`] if a file cannot be created.
    pub fn create(root: &Path, meta: Meta) -> Result<(Self, Writer), JournalError> {
        let dir = root.join(&meta.session);
        let branches = dir.join("branches");
        files::create_folder(&branches)
            .map_err(JournalError::io(&branches, "the session's folder could not be created"))?;
        let index = dir.join("index");
        files::create_folder(&index)
            .map_err(JournalError::io(&index, "the session's index could not be created"))?;
        write_private(&dir.join("meta.toml"), to_toml(&meta).as_bytes())?;
        let header = BranchHeader::trunk(meta.created);
        let writer = Writer::create(&branch_path(&dir, &BranchId::trunk()), &header)?;
        // A file is durable only if the folder entries leading to it are.
        for folder in [branches.as_path(), dir.as_path(), root] {
            sync_folder(folder);
        }
        Ok((Self { dir, meta }, writer))
    }

    /// Reads a session's meta file.
    ///
    /// # Errors
    /// Returns [`JournalError::NoSession`] if there is none, and [`JournalError::Malformed`] if it is invalid.
    pub fn open(dir: &Path) -> Result<Self, JournalError> {
        let path = dir.join("meta.toml");
        let text = match read_small(&path).and_then(|b| String::from_utf8(b).map_err(Error::other)) {
            Ok(text) => text,
            Err(e)
                if matches!(e.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) =>
            {
                return Err(JournalError::NoSession { path: dir.to_owned() });
            }
            Err(source) => return Err(JournalError::Io { path, action: "could not be read", source }),
        };
        let meta: Meta = toml::from_str(&text).map_err(|e| {
            let line =
                e.span().map_or(1, |s| text[..s.start.min(text.len())].matches('\n').count() as u64 + 1);
            JournalError::Malformed { path, line, reason: e.message().to_owned() }
        })?;
        Ok(Self { dir: dir.to_owned(), meta })
    }

    /// Rewrites the meta file, for example after setting a bookmark.
    ///
    /// # Errors
    /// Returns [`JournalError::Io`] if the file cannot be written.
    pub fn save_meta(&self) -> Result<(), JournalError> {
        write_private(&self.dir.join("meta.toml"), to_toml(&self.meta).as_bytes())
    }

    /// Rewrites the meta file if another program removed it or, with `check_content`, if it is no longer valid. Returns
    /// whether it was written.
    ///
    /// # Errors
    /// Returns [`JournalError::Io`] if the file cannot be written.
    pub fn restore_meta(&self, check_content: bool) -> Result<bool, JournalError> {
        let needs_rewrite = match self.dir.join("meta.toml").metadata() {
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
            Ok(_) => {
                check_content
                    && matches!(
                        Self::open(&self.dir),
                        Err(JournalError::NoSession { .. } | JournalError::Malformed { .. })
                    )
            }
        };
        if needs_rewrite {
            self.save_meta()?;
        }
        Ok(needs_rewrite)
    }

    /// Returns the path of the trunk.
    pub fn trunk(&self) -> PathBuf {
        branch_path(&self.dir, &BranchId::trunk())
    }
}

fn to_toml(meta: &Meta) -> String {
    toml::to_string(meta).unwrap_or_default()
}

/// The maximum size in bytes of a file that describes a session. Meta files and summaries have a few hundred bytes.
const MAX_SMALL_FILE: u64 = 1 << 20;

/// Reads a file that describes a session. Anything but a regular file, and one that is too long, is rejected before it
/// is read.
pub(super) fn read_small(path: &Path) -> std::io::Result<Vec<u8>> {
    files::read(path, MAX_SMALL_FILE)
}

/// Replaces a file with one that only its owner may read.
pub(super) fn write_private(path: &Path, bytes: &[u8]) -> Result<(), JournalError> {
    files::replace(path, bytes).map_err(JournalError::io(path, "could not be written"))
}
