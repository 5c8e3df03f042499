//! Where events stand in a branch file, so that old ones can be read again instead of being held.

use crate::domain::Seq;
use crate::engine::Envelope;
use crate::timeline::Fetch;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A place is noted for every so many events.
const SPACING: u64 = 64;

/// The events of one branch file, by their numbers.
#[derive(Debug)]
pub struct EventFile {
    path: PathBuf,
    /// The number before the first event of the file.
    before: u64,
    /// Byte offsets of the first event and of every [`SPACING`]th after it.
    places: Mutex<Vec<u64>>,
}

impl EventFile {
    /// The events of a file whose first has the number after `at_seq`.
    pub(super) fn new(path: &Path, at_seq: Seq) -> Self {
        Self { path: path.to_owned(), before: at_seq.0, places: Mutex::default() }
    }

    /// Notes where an event begins; events come in order, and an event that is already noted is not noted again.
    pub(super) fn note(&self, seq: Seq, offset: u64) {
        let place = seq.0.saturating_sub(self.before + 1);
        let mut places = self.places();
        if place.is_multiple_of(SPACING) && places.len() as u64 == place / SPACING {
            places.push(offset);
        }
    }

    /// Forgets the places of all events above this one (they were cut off).
    pub(super) fn forget_after(&self, seq: Seq) {
        let kept = seq.0.saturating_sub(self.before).div_ceil(SPACING);
        self.places().truncate(usize::try_from(kept).unwrap_or(usize::MAX));
    }

    /// Reads the events above `after` up to and with `to`.
    ///
    /// # Errors
    /// When the file cannot be read or a line is no event any more.
    pub fn read(&self, after: Seq, to: Seq) -> io::Result<Vec<Arc<Envelope>>> {
        let place = after.0.saturating_sub(self.before) / SPACING;
        let Some(offset) = self.places().get(usize::try_from(place).unwrap_or(usize::MAX)).copied() else {
            return Ok(Vec::new());
        };
        let mut file = BufReader::new(File::open(&self.path)?);
        file.seek(SeekFrom::Start(offset))?;
        let mut events = Vec::new();
        let mut line = Vec::new();
        loop {
            line.clear();
            if file.read_until(b'\n', &mut line)? == 0 {
                return Ok(events);
            }
            let envelope: Envelope = serde_json::from_slice(&line)?;
            if envelope.seq > to {
                return Ok(events);
            }
            if envelope.seq > after {
                let last = envelope.seq == to;
                events.push(Arc::new(envelope));
                if last {
                    return Ok(events);
                }
            }
        }
    }

    /// The same as a function for a timeline; what cannot be read is missing from its answer.
    pub fn fetch(self: &Arc<Self>) -> Fetch {
        let file = self.clone();
        Arc::new(move |after, to| file.read(after, to).unwrap_or_default())
    }

    fn places(&self) -> MutexGuard<'_, Vec<u64>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
