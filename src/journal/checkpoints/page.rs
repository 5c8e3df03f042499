//! The files of checkpoints: a line with the hash of all that follows, and then a line of JSON for each part.

use super::file_binding::Bound;
use super::fingerprint::print;
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
const NEWEST: &str = "head.jsonl";
/// A checkpoint is no longer than so many times its branch file, and this.
const TIMES: u64 = 4;
const SPARE: u64 = 1 << 20;

/// An older state on the disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Older {
    /// Its last event.
    pub(super) seq: Seq,
    /// The hash of its file.
    hash: String,
    /// The length of its file.
    bytes: u64,
}

/// The newest state on the disk.
pub(super) struct Page {
    pub(super) state: State,
    pub(super) bound: Bound,
    pub(super) older: Vec<Older>,
    pub(super) places: Vec<u64>,
    pub(super) under: Vec<Bound>,
}

/// What the newest state is about.
#[derive(Serialize, Deserialize)]
struct Head {
    print: String,
    seq: Seq,
    bound: Bound,
    older: Vec<Older>,
    /// What binds it to the files that the branch grew from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    under: Vec<Bound>,
}

/// What an older state is about, and how much of the newest state's lists it has.
#[derive(Serialize, Deserialize)]
struct OlderHead {
    print: String,
    seq: Seq,
    past: usize,
    reflections: usize,
}

impl Page {
    /// Reads the newest state; none where it is not there, not whole, or another program's. `len` is the branch file's and
    /// what of others is part of the branch; the branch begins after `begins`.
    pub(super) fn read(dir: &Path, len: u64, begins: Seq) -> Option<Self> {
        let (_, bytes) = read(&dir.join(NEWEST), len.saturating_mul(TIMES).saturating_add(SPARE))?;
        let mut parts = bytes.split(|b| *b == b'\n').skip(1);
        let mut part = || parts.next();
        let head: Head = serde_json::from_slice(part()?).ok()?;
        (head.print == print()).then_some(())?;
        let mut state: State = serde_json::from_slice(part()?).ok()?;
        state.ended_episodes =
            serde_json::from_slice::<Vec<Arc<EpisodeSummary>>>(part()?).ok()?.into_iter().collect();
        state.reflections =
            serde_json::from_slice::<Vec<Arc<Reflection>>>(part()?).ok()?.into_iter().collect();
        let steps: Vec<u64> = serde_json::from_slice(part()?).ok()?;
        let mut at = 0_u64;
        let places = steps
            .into_iter()
            .map(|step| {
                at = at.checked_add(step)?;
                Some(at)
            })
            .collect::<Option<Vec<_>>>()?;
        let all = places.len() == EventFile::spaces_of(head.seq.0.checked_sub(begins.0)?);
        (state.head == head.seq && at < head.bound.offset && all).then_some(())?;
        Some(Self { state, bound: head.bound, older: head.older, places, under: head.under })
    }
}

/// The last event of the newest state and the byte behind it, where it is whole and this program's.
pub(super) fn newest_head(dir: &Path) -> Option<(Seq, u64)> {
    let (_, bytes) = read(&dir.join(NEWEST), u64::MAX)?;
    let head: Head = serde_json::from_slice(bytes.split(|b| *b == b'\n').nth(1)?).ok()?;
    (head.print == print()).then_some((head.seq, head.bound.offset))
}

/// Writes the newest state.
pub(super) fn write_newest(
    dir: &Path,
    state: &State,
    (bound, under): (&Bound, &[Bound]),
    older: &[Older],
    places: &[u64],
) -> io::Result<()> {
    let (bound, under) = (bound.clone(), under.to_vec());
    let head = Head { print: print(), seq: state.head, bound, older: older.to_vec(), under };
    let mut before = 0;
    let steps: Vec<u64> = places.iter().map(|at| at - std::mem::replace(&mut before, *at)).collect();
    let mut bytes = room();
    line(&mut bytes, &head)?;
    line(&mut bytes, &without_lists(state))?;
    line(&mut bytes, &state.ended_episodes)?;
    line(&mut bytes, &state.reflections)?;
    line(&mut bytes, &steps)?;
    write(dir, NEWEST, bytes).map(|_| ())
}

/// Writes an older state; none when that failed.
pub(super) fn write_older(dir: &Path, state: &State) -> Option<Older> {
    let head = OlderHead {
        print: print(),
        seq: state.head,
        past: state.ended_episodes.len(),
        reflections: state.reflections.len(),
    };
    let mut bytes = room();
    line(&mut bytes, &head).ok()?;
    line(&mut bytes, &without_lists(state)).ok()?;
    let len = bytes.len() as u64;
    let hash = write(dir, &name(state.head), bytes).ok()?;
    Some(Older { seq: state.head, hash, bytes: len })
}

/// Reads an older state; `newest` has the lists of which it has a beginning.
pub(super) fn read_older(dir: &Path, older: &Older, newest: &State) -> Option<State> {
    let (hash, bytes) = read(&dir.join(name(older.seq)), older.bytes)?;
    (hash == older.hash).then_some(())?;
    let mut parts = bytes.split(|b| *b == b'\n').skip(1);
    let head: OlderHead = serde_json::from_slice(parts.next()?).ok()?;
    let mut state: State = serde_json::from_slice(parts.next()?).ok()?;
    let fits = head.past <= newest.ended_episodes.len() && head.reflections <= newest.reflections.len();
    (fits && head.print == print() && head.seq == older.seq && state.head == older.seq).then_some(())?;
    state.ended_episodes = newest.ended_episodes.iter().take(head.past).cloned().collect();
    // Calls after the end of an episode still count for it: until the next begins its summary may grow.
    if let Some(outcome) = state.episode.as_ref().and_then(|e| e.outcome.as_deref())
        && let Some(last) = state.ended_episodes.get_mut(head.past.wrapping_sub(1))
        && last.number == outcome.number
    {
        *last = Arc::new(outcome.clone());
    }
    state.reflections = newest.reflections.iter().take(head.reflections).cloned().collect();
    Some(state)
}

/// A file that was never put in place: its program was killed. One that is being written now belongs to somebody.
fn is_left_over(name: &str, entry: &fs::DirEntry) -> bool {
    const OLD: std::time::Duration = std::time::Duration::from_secs(60);
    let changed = || entry.metadata().and_then(|m| m.modified()).ok()?.elapsed().ok();
    name.strip_suffix(".new").is_some() && changed().is_some_and(|age| age > OLD)
}

/// Removes what this module writes.
pub(super) fn clear(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let ours = name.to_str().is_some_and(|n| {
            n == NEWEST
                || is_left_over(n, &entry)
                || n.strip_suffix(".jsonl").is_some_and(|n| n.parse::<u64>().is_ok())
        });
        if ours {
            // What cannot be removed is not believed either.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The state without the lists that only grow by appending.
fn without_lists(state: &State) -> State {
    State { ended_episodes: VectorSync::new_sync(), reflections: VectorSync::new_sync(), ..state.clone() }
}

fn name(seq: Seq) -> String {
    format!("{seq}.jsonl")
}

/// Room for the hash that comes first.
fn room() -> Vec<u8> {
    let mut bytes = vec![b'0'; HASH];
    bytes.push(b'\n');
    bytes
}

/// Digits of a hash.
const HASH: usize = 32;

fn line(bytes: &mut Vec<u8>, part: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *bytes, part)?;
    bytes.push(b'\n');
    Ok(())
}

/// Writes a file beside its place and renames it; not synced, for a file that is not whole is noticed by its hash.
fn write(dir: &Path, name: &str, mut bytes: Vec<u8>) -> io::Result<String> {
    let hash = hex(&Sha256::digest(&bytes[HASH + 1..])[..HASH / 2]);
    bytes[..HASH].copy_from_slice(hash.as_bytes());
    folder(dir)?;
    files::replace_unsynced(&dir.join(name), &bytes)?;
    Ok(hash)
}

/// Reads a file whose hash is right, and no longer one than `most`.
fn read(path: &Path, most: u64) -> Option<(String, Vec<u8>)> {
    let bytes = files::read(path, most).ok()?;
    let (said, rest) = bytes.split_at_checked(HASH + 1)?;
    let hash = hex(&Sha256::digest(rest)[..HASH / 2]);
    let right = said.strip_suffix(b"\n")? == hash.as_bytes();
    right.then_some((hash, bytes))
}

/// Makes the folder, for its owner alone.
fn folder(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(dir)
}

#[cfg(test)]
mod tests {
    use super::{Head, OlderHead};

    #[test]
    fn the_lines_of_the_document_are_read_and_written_as_they_stand() {
        let page = include_str!("../../../docs/JOURNAL.md");
        let lines = page.split("```json\n").nth(4).unwrap();
        let mut lines = lines.lines();
        let (newest, older) = (lines.next().unwrap(), lines.next().unwrap());
        assert_eq!(serde_json::to_string(&serde_json::from_str::<Head>(newest).unwrap()).unwrap(), newest);
        assert_eq!(serde_json::to_string(&serde_json::from_str::<OlderHead>(older).unwrap()).unwrap(), older);
    }
}
