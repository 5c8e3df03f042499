//! The binding of a checkpoint to its branch file.

use crate::domain::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fs::{File, Metadata};
use std::io::{Read as _, Seek as _, SeekFrom};

/// The number of bytes hashed before the checkpoint's offset, and at the start of the file.
const TAIL_BYTES: u64 = 4096;
const HEAD_BYTES: u64 = 512;
/// The number of samples in between, and the size of each in bytes.
const SAMPLE_COUNT: u64 = 32;
const SAMPLE_BYTES: u64 = 256;

/// The identity and content of a branch file when its checkpoint was written.
///
/// Truncations and edits that move bytes change the hash. Edits that keep the length change the modification time, and
/// a replaced file has another inode; the time is known only for a file that was closed properly. An edit in place that
/// keeps the length of a file that wasn't closed goes unnoticed here; `verify` finds it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileBinding {
    /// The offset after the checkpoint's last event.
    pub(super) offset: u64,
    /// A hash of the start of the file, samples, and the end before `offset`.
    hash: String,
    /// The inode, on file systems that have one.
    inode: u64,
    /// Length and modification time (seconds, nanoseconds) of a closed file.
    #[serde(rename = "rest")]
    closed_file: Option<(u64, i64, i64)>,
}

impl FileBinding {
    /// Binds to the current content of the file up to an offset.
    pub(super) fn capture(file: &File, offset: u64, is_closed: bool) -> Option<Self> {
        let metadata = file.metadata().ok()?;
        let (inode, seconds, nanos) = identity(&metadata);
        Some(Self {
            offset,
            hash: hash_samples(file, offset)?,
            inode,
            closed_file: is_closed.then_some((metadata.len(), seconds, nanos)),
        })
    }

    /// Returns `Some` if the file is unchanged up to the offset.
    pub(super) fn check(&self, file: &File) -> Option<()> {
        let metadata = file.metadata().ok()?;
        let (inode, seconds, nanos) = identity(&metadata);
        let len = metadata.len();
        let is_time_unchanged = match self.closed_file {
            // The file was opened again, and events were appended.
            Some((closed_len, ..)) if closed_len != len => true,
            Some((_, s, n)) => (s, n) == (seconds, nanos),
            None => true,
        };
        (inode == self.inode && len >= self.offset && is_time_unchanged).then_some(())?;
        (hash_samples(file, self.offset)? == self.hash).then_some(())
    }
}

/// Returns the inode and the modification time.
#[cfg(unix)]
fn identity(metadata: &Metadata) -> (u64, i64, i64) {
    use std::os::unix::fs::MetadataExt as _;
    (metadata.ino(), metadata.mtime(), metadata.mtime_nsec())
}

/// Returns the modification time only.
#[cfg(not(unix))]
fn identity(metadata: &Metadata) -> (u64, i64, i64) {
    let since = metadata.modified().ok().and_then(|m| m.duration_since(std::time::UNIX_EPOCH).ok());
    since.map_or((0, 0, 0), |d| (0, d.as_secs() as i64, i64::from(d.subsec_nanos())))
}

fn hash_samples(mut file: &File, offset: u64) -> Option<String> {
    let mut hash = Sha256::new();
    let mut bytes = Vec::with_capacity(TAIL_BYTES as usize);
    let mut hash_part = |start: u64, max_len: u64| {
        bytes.clear();
        file.seek(SeekFrom::Start(start)).ok()?;
        file.take(max_len.min(offset - start)).read_to_end(&mut bytes).ok()?;
        hash.update(&bytes);
        Some(bytes.last().copied())
    };
    hash_part(0, HEAD_BYTES)?;
    for n in 1..SAMPLE_COUNT {
        hash_part(offset / SAMPLE_COUNT * n, SAMPLE_BYTES)?;
    }
    let last = hash_part(offset.saturating_sub(TAIL_BYTES), TAIL_BYTES)?;
    // A checkpoint ends at a line end.
    (last == Some(b'\n')).then(|| hex(&hash.finalize()[..16]))
}
