//! Checkpoint files: a line with the hash of everything that follows, then one line of JSON per part.

use super::file_binding::FileBinding;
use super::fingerprint::fold_fingerprint;
use crate::domain::{EpisodeSummary, Reflection, Seq, hex};
use crate::engine::State;
use crate::files;
use crate::journal::EventFile;
use rpds::VectorSync;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The file of the newest state.
const NEWEST_FILE: &str = "head.jsonl";
/// The maximum size of a checkpoint: a multiple of its branch file's, plus a constant.
const MAX_SIZE_FACTOR: u64 = 4;
const MAX_SIZE_EXTRA: u64 = 1 << 20;

/// An older state on disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OlderCheckpoint {
    /// Its last event.
    pub(super) seq: Seq,
    /// The hash of its file.
    hash: String,
    /// The length of its file.
    bytes: u64,
}

/// The newest state on disk.
pub(super) struct NewestCheckpoint {
    pub(super) state: State,
    pub(super) binding: FileBinding,
    pub(super) older: Vec<OlderCheckpoint>,
    pub(super) positions: Vec<u64>,
    pub(super) parent_bindings: Vec<FileBinding>,
}

/// The binding of the newest state.
#[derive(Serialize, Deserialize)]
struct NewestHeader {
    /// The version of the program and the hash of its fold; a checkpoint of another version is not used.
    #[serde(rename = "print")]
    fingerprint: String,
    seq: Seq,
    #[serde(rename = "bound")]
    binding: FileBinding,
    older: Vec<OlderCheckpoint>,
    /// The bindings to the ancestors' files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "under")]
    parent_bindings: Vec<FileBinding>,
}

/// The binding of an older state, and how many entries of the newest state's lists belong to it.
#[derive(Serialize, Deserialize)]
struct OlderHeader {
    #[serde(rename = "print")]
    fingerprint: String,
    seq: Seq,
    #[serde(rename = "past")]
    ended_episodes: usize,
    reflections: usize,
}

impl NewestCheckpoint {
    /// Reads the newest state. Returns `None` if it is missing, incomplete or written by another version of the
    /// program. `len` is the length of the branch file and of the ancestors' parts; the branch begins after `base_seq`.
    pub(super) fn read(dir: &Path, len: u64, base_seq: Seq) -> Option<Self> {
        let (_, bytes) = read_verified(
            &dir.join(NEWEST_FILE),
            len.saturating_mul(MAX_SIZE_FACTOR).saturating_add(MAX_SIZE_EXTRA),
        )?;
        let mut parts = bytes.split(|b| *b == b'\n').skip(1);
        let mut part = || parts.next();
        let head: NewestHeader = serde_json::from_slice(part()?).ok()?;
        (head.fingerprint == fold_fingerprint()).then_some(())?;
        let mut state: State = serde_json::from_slice(part()?).ok()?;
        state.ended_episodes =
            serde_json::from_slice::<Vec<Arc<EpisodeSummary>>>(part()?).ok()?.into_iter().collect();
        state.reflections =
            serde_json::from_slice::<Vec<Arc<Reflection>>>(part()?).ok()?.into_iter().collect();
        let deltas: Vec<u64> = serde_json::from_slice(part()?).ok()?;
        let mut position = 0_u64;
        let positions = deltas
            .into_iter()
            .map(|delta| {
                position = position.checked_add(delta)?;
                Some(position)
            })
            .collect::<Option<Vec<_>>>()?;
        let is_complete =
            positions.len() == EventFile::position_count_for(head.seq.0.checked_sub(base_seq.0)?);
        (state.head == head.seq && position < head.binding.offset && is_complete).then_some(())?;
        Some(Self {
            state,
            binding: head.binding,
            older: head.older,
            positions,
            parent_bindings: head.parent_bindings,
        })
    }
}

/// Returns the last event of the newest state and the offset after it, if it is complete and written by this version of
/// the program.
pub(super) fn newest_seq(dir: &Path) -> Option<(Seq, u64)> {
    let (_, bytes) = read_verified(&dir.join(NEWEST_FILE), u64::MAX)?;
    let head: NewestHeader = serde_json::from_slice(bytes.split(|b| *b == b'\n').nth(1)?).ok()?;
    (head.fingerprint == fold_fingerprint()).then_some((head.seq, head.binding.offset))
}

/// Writes the newest state.
pub(super) fn write_newest(
    dir: &Path,
    state: &State,
    (binding, parent_bindings): (&FileBinding, &[FileBinding]),
    older: &[OlderCheckpoint],
    positions: &[u64],
) -> io::Result<()> {
    let (binding, parent_bindings) = (binding.clone(), parent_bindings.to_vec());
    let head = NewestHeader {
        fingerprint: fold_fingerprint(),
        seq: state.head,
        binding,
        older: older.to_vec(),
        parent_bindings,
    };
    let mut previous = 0;
    let deltas: Vec<u64> =
        positions.iter().map(|position| position - std::mem::replace(&mut previous, *position)).collect();
    let mut bytes = hash_placeholder();
    push_json_line(&mut bytes, &head)?;
    push_json_line(&mut bytes, &without_lists(state))?;
    push_json_line(&mut bytes, &state.ended_episodes)?;
    push_json_line(&mut bytes, &state.reflections)?;
    push_json_line(&mut bytes, &deltas)?;
    write_file(dir, NEWEST_FILE, bytes).map(|_| ())
}

/// Writes an older state. Returns `None` on failure.
pub(super) fn write_older(dir: &Path, state: &State) -> Option<OlderCheckpoint> {
    let head = OlderHeader {
        fingerprint: fold_fingerprint(),
        seq: state.head,
        ended_episodes: state.ended_episodes.len(),
        reflections: state.reflections.len(),
    };
    let mut bytes = hash_placeholder();
    push_json_line(&mut bytes, &head).ok()?;
    push_json_line(&mut bytes, &without_lists(state)).ok()?;
    let len = bytes.len() as u64;
    let hash = write_file(dir, &file_name(state.head), bytes).ok()?;
    Some(OlderCheckpoint { seq: state.head, hash, bytes: len })
}

/// Reads an older state, whose lists are prefixes of those of `newest`.
pub(super) fn read_older(dir: &Path, older: &OlderCheckpoint, newest: &State) -> Option<State> {
    let (hash, bytes) = read_verified(&dir.join(file_name(older.seq)), older.bytes)?;
    (hash == older.hash).then_some(())?;
    let mut parts = bytes.split(|b| *b == b'\n').skip(1);
    let head: OlderHeader = serde_json::from_slice(parts.next()?).ok()?;
    let mut state: State = serde_json::from_slice(parts.next()?).ok()?;
    let has_all_entries =
        head.ended_episodes <= newest.ended_episodes.len() && head.reflections <= newest.reflections.len();
    (has_all_entries
        && head.fingerprint == fold_fingerprint()
        && head.seq == older.seq
        && state.head == older.seq)
        .then_some(())?;
    state.ended_episodes = newest.ended_episodes.iter().take(head.ended_episodes).cloned().collect();
    // Calls after the end of an episode still count for it, so its summary may change until the next one begins.
    if let Some(outcome) = state.episode.as_ref().and_then(|e| e.outcome.as_deref())
        && let Some(last) = state.ended_episodes.get_mut(head.ended_episodes.wrapping_sub(1))
        && last.number == outcome.number
    {
        *last = Arc::new(outcome.clone());
    }
    state.reflections = newest.reflections.iter().take(head.reflections).cloned().collect();
    Some(state)
}

/// Returns whether a file is a leftover temporary file of a killed program, not one that is being written now.
fn is_stale_temporary_file(name: &str, entry: &fs::DirEntry) -> bool {
    const MIN_AGE: std::time::Duration = std::time::Duration::from_secs(60);
    let changed = || entry.metadata().and_then(|m| m.modified()).ok()?.elapsed().ok();
    name.strip_suffix(".new").is_some() && changed().is_some_and(|age| age > MIN_AGE)
}

/// Removes the files that this module writes.
pub(super) fn clear(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_checkpoint = name.to_str().is_some_and(|n| {
            n == NEWEST_FILE
                || is_stale_temporary_file(n, &entry)
                || n.strip_suffix(".jsonl").is_some_and(|n| n.parse::<u64>().is_ok())
        });
        if is_checkpoint {
            // A file that can't be removed is never used: it is invalid or in no list.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Returns the state without its append-only lists.
fn without_lists(state: &State) -> State {
    State { ended_episodes: VectorSync::new_sync(), reflections: VectorSync::new_sync(), ..state.clone() }
}

fn file_name(seq: Seq) -> String {
    format!("{seq}.jsonl")
}

/// A placeholder for the hash in the first line.
fn hash_placeholder() -> Vec<u8> {
    let mut bytes = vec![b'0'; HASH_DIGITS];
    bytes.push(b'\n');
    bytes
}

/// The number of hexadecimal digits of a hash.
const HASH_DIGITS: usize = 32;

fn push_json_line(bytes: &mut Vec<u8>, part: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *bytes, part)?;
    bytes.push(b'\n');
    Ok(())
}

/// Writes a temporary file and renames it. It isn't synced, because the hash detects an incomplete file.
fn write_file(dir: &Path, name: &str, mut bytes: Vec<u8>) -> io::Result<String> {
    let hash = hex(&Sha256::digest(&bytes[HASH_DIGITS + 1..])[..HASH_DIGITS / 2]);
    bytes[..HASH_DIGITS].copy_from_slice(hash.as_bytes());
    files::create_folder(dir)?;
    files::replace_unsynced(&dir.join(name), &bytes)?;
    Ok(hash)
}

/// Reads a file of at most `max_bytes` bytes and checks its hash.
fn read_verified(path: &Path, max_bytes: u64) -> Option<(String, Vec<u8>)> {
    let bytes = files::read(path, max_bytes).ok()?;
    let (stored, rest) = bytes.split_at_checked(HASH_DIGITS + 1)?;
    let hash = hex(&Sha256::digest(rest)[..HASH_DIGITS / 2]);
    let is_valid = stored.strip_suffix(b"\n")? == hash.as_bytes();
    is_valid.then_some((hash, bytes))
}

#[cfg(test)]
mod tests {
    use super::{NewestHeader, OlderHeader};

    #[test]
    fn documented_lines_round_trip() {
        let page = include_str!("../../../docs/JOURNAL.md");
        let lines = page.split("```json\n").nth(4).unwrap();
        let mut lines = lines.lines();
        let (newest, older) = (lines.next().unwrap(), lines.next().unwrap());
        assert_eq!(
            serde_json::to_string(&serde_json::from_str::<NewestHeader>(newest).unwrap()).unwrap(),
            newest
        );
        assert_eq!(
            serde_json::to_string(&serde_json::from_str::<OlderHeader>(older).unwrap()).unwrap(),
            older
        );
    }
}
