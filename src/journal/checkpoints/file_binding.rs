//! What binds a checkpoint to the branch file that it was made of.

use crate::domain::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fs::{File, Metadata};
use std::io::{Read as _, Seek as _, SeekFrom};

/// Bytes before the checkpoint that are hashed, and bytes at the beginning of the file.
const TAIL_BYTES: u64 = 4096;
const HEAD_BYTES: u64 = 512;
/// Samples in between, and bytes of each.
const SAMPLE_COUNT: u64 = 32;
const SAMPLE_BYTES: u64 = 256;

/// How a branch file looked when a checkpoint of it was made.
///
/// A file that was cut, or edited so that anything moved, differs in the hash. One that was edited to the same length has
/// another time of change, and one that was replaced is another file; both are known where the file rested. What is
/// left is an edit in place, to the same length, of a file that was not put down in order: `verify` finds that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileBinding {
    /// The byte behind the last event that the checkpoint knows.
    pub(super) offset: u64,
    /// A hash over the file's beginning, samples, and the end before `offset`.
    hash: String,
    /// The number of the file in its file system, where it has one.
    inode: u64,
    /// Length and time of change (seconds, nanoseconds) of a file at rest.
    #[serde(rename = "rest")]
    at_rest: Option<(u64, i64, i64)>,
}

impl FileBinding {
    /// Binds to the file as it is up to a byte.
    pub(super) fn capture(file: &File, offset: u64, rest: bool) -> Option<Self> {
        let metadata = file.metadata().ok()?;
        let (inode, seconds, nanos) = identity(&metadata);
        Some(Self {
            offset,
            hash: hash_samples(file, offset)?,
            inode,
            at_rest: rest.then_some((metadata.len(), seconds, nanos)),
        })
    }

    /// Something when the file still is what it was up to that byte.
    pub(super) fn check(&self, file: &File) -> Option<()> {
        let metadata = file.metadata().ok()?;
        let (inode, seconds, nanos) = identity(&metadata);
        let len = metadata.len();
        let untouched = match self.at_rest {
            Some((was, ..)) if was != len => true,
            Some((_, s, n)) => (s, n) == (seconds, nanos),
            None => true,
        };
        (inode == self.inode && len >= self.offset && untouched).then_some(())?;
        (hash_samples(file, self.offset)? == self.hash).then_some(())
    }
}

/// Number and time of change.
#[cfg(unix)]
fn identity(metadata: &Metadata) -> (u64, i64, i64) {
    use std::os::unix::fs::MetadataExt as _;
    (metadata.ino(), metadata.mtime(), metadata.mtime_nsec())
}

/// Time of change only.
#[cfg(not(unix))]
fn identity(metadata: &Metadata) -> (u64, i64, i64) {
    let since = metadata.modified().ok().and_then(|m| m.duration_since(std::time::UNIX_EPOCH).ok());
    since.map_or((0, 0, 0), |d| (0, d.as_secs() as i64, i64::from(d.subsec_nanos())))
}

fn hash_samples(mut file: &File, offset: u64) -> Option<String> {
    let mut hash = Sha256::new();
    let mut bytes = Vec::with_capacity(TAIL_BYTES as usize);
    let mut take = |from: u64, most: u64| {
        bytes.clear();
        file.seek(SeekFrom::Start(from)).ok()?;
        file.take(most.min(offset - from)).read_to_end(&mut bytes).ok()?;
        hash.update(&bytes);
        Some(bytes.last().copied())
    };
    take(0, HEAD_BYTES)?;
    for n in 1..SAMPLE_COUNT {
        take(offset / SAMPLE_COUNT * n, SAMPLE_BYTES)?;
    }
    let last = take(offset.saturating_sub(TAIL_BYTES), TAIL_BYTES)?;
    // A checkpoint ends with a line.
    (last == Some(b'\n')).then(|| hex(&hash.finalize()[..16]))
}
