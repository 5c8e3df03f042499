//! Offsets of events in a branch file, so that old events can be read again instead of being kept in memory.

use crate::domain::Seq;
use crate::engine::Envelope;
use crate::files;
use crate::timeline::EventFetcher;
use regex::bytes::Regex;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of events per recorded offset.
const POSITION_INTERVAL: u64 = 64;

/// Access to the events of one branch file by sequence number.
#[derive(Debug)]
pub struct EventFile {
    path: PathBuf,
    /// The number of the event before the file's first one.
    base_seq: u64,
    /// Byte offsets of the first event and of every [`POSITION_INTERVAL`]th after it.
    positions: Mutex<Vec<u64>>,
    /// The writer's open file: events are read from it even if the path changes.
    open_file: Mutex<Option<Arc<File>>>,
}

/// Reads an open file from an offset, without moving the position that its handles share.
struct PositionedReader {
    file: Arc<File>,
    offset: u64,
}

impl Read for PositionedReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let read = std::os::unix::fs::FileExt::read_at(&*self.file, buffer, self.offset)?;
        #[cfg(not(unix))]
        let read = {
            use std::io::{Seek as _, SeekFrom};
            (&*self.file).seek(SeekFrom::Start(self.offset))?;
            (&*self.file).read(buffer)?
        };
        self.offset += read as u64;
        Ok(read)
    }
}

impl EventFile {
    /// Creates the index of a file whose first event follows `at_seq`.
    pub(super) fn new(path: &Path, at_seq: Seq) -> Self {
        Self {
            path: path.to_owned(),
            base_seq: at_seq.0,
            positions: Mutex::default(),
            open_file: Mutex::default(),
        }
    }

    /// Returns the path of the file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether the file's first event is this one or an earlier one.
    pub(super) fn starts_at_or_before(&self, seq: Seq) -> bool {
        self.base_seq < seq.0
    }

    /// Goes back to reading from the path if events are currently read from this open file.
    pub(super) fn stop_reading_through(&self, file: &Arc<File>) {
        let mut open = self.open_file.lock().unwrap_or_else(PoisonError::into_inner);
        open.take_if(|open| Arc::ptr_eq(open, file));
    }

    /// Sets the open file from which events are read; `None` reads from the path.
    pub(super) fn set_open_file(&self, open: Option<Arc<File>>) {
        *self.open_file.lock().unwrap_or_else(PoisonError::into_inner) = open;
    }

    fn reader_at(&self, offset: u64) -> io::Result<PositionedReader> {
        let open = self.open_file.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let file = match open {
            Some(file) => file,
            None => Arc::new(files::open(&self.path)?),
        };
        Ok(PositionedReader { file, offset })
    }

    /// Records the offset of an event. Events must come in order; one that is already known is ignored.
    pub(super) fn record_position(&self, seq: Seq, offset: u64) {
        let index = seq.0.saturating_sub(self.base_seq + 1);
        let mut positions = self.lock_positions();
        if index.is_multiple_of(POSITION_INTERVAL) && positions.len() as u64 == index / POSITION_INTERVAL {
            positions.push(offset);
        }
    }

    /// Discards the offsets of all events after this one, which were truncated.
    pub(super) fn truncate_positions_after(&self, seq: Seq) {
        let count = self.position_count(seq);
        self.lock_positions().truncate(count);
    }

    /// Reads the events after `after` up to `to`, inclusive; fewer if the file ends earlier.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or an event is not at its offset.
    pub fn read_events(&self, after: Seq, to: Seq) -> io::Result<Vec<Arc<Envelope>>> {
        let block = after.0.saturating_sub(self.base_seq) / POSITION_INTERVAL;
        let Some(offset) = self.lock_positions().get(usize::try_from(block).unwrap_or(usize::MAX)).copied()
        else {
            return Ok(Vec::new());
        };
        let mut file = BufReader::new(self.reader_at(offset)?);
        let mut events = Vec::new();
        let mut line = Vec::new();
        let mut next_seq = self.base_seq + block * POSITION_INTERVAL + 1;
        while next_seq <= to.0 {
            line.clear();
            if file.read_until(b'\n', &mut line)? == 0 {
                break;
            }
            let envelope: Envelope = serde_json::from_slice(&line)?;
            if envelope.seq.0 != next_seq {
                let mismatch = format!("found event {} where event {next_seq} was", envelope.seq);
                return Err(io::Error::new(io::ErrorKind::InvalidData, mismatch));
            }
            next_seq += 1;
            if envelope.seq > after {
                events.push(Arc::new(envelope));
            }
        }
        Ok(events)
    }

    /// Returns a fetcher of these events for a timeline. Its errors are messages; it also fails if fewer events exist
    /// than requested.
    pub fn fetcher(self: &Arc<Self>) -> EventFetcher {
        let (file, search_file) = (self.clone(), self.clone());
        let all = EventFetcher::new(move |after, to| {
            let describe_error = |reason: &dyn Display| {
                format!(
                    "{}: the events from {} to {} could not be read again: {reason}; was the file changed or moved \
                     while it was open? close the session and run `retrospect verify`",
                    file.path.display(),
                    after.0 + 1,
                    to.0
                )
            };
            let events = file.read_events(after, to).map_err(|e| describe_error(&e))?;
            if events.len() as u64 == to.0.saturating_sub(after.0) {
                Ok(events)
            } else {
                Err(describe_error(&format_args!("only {} of them exist", events.len())))
            }
        });
        all.with_matching(move |after, to, pattern| {
            search_file.read_matching(after, to, pattern).map_err(|e| {
                format!(
                    "{}: the events could not be searched: {e}; is the file still there?",
                    search_file.path.display()
                )
            })
        })
    }

    /// Returns the events after `after` up to `to`, inclusive, whose lines match the pattern. Only these lines are
    /// parsed, so that searching gigabytes takes only as long as scanning their bytes.
    fn read_matching(&self, after: Seq, to: Seq, pattern: &Regex) -> io::Result<Vec<Arc<Envelope>>> {
        let block = |seq: Seq| seq.0.saturating_sub(self.base_seq) / POSITION_INTERVAL;
        let (start, end) = {
            let positions = self.lock_positions();
            let position = |block: u64| positions.get(usize::try_from(block).unwrap_or(usize::MAX)).copied();
            let Some(start) = position(block(after)) else { return Ok(Vec::new()) };
            (start, position(block(to) + 1))
        };
        let mut file = self.reader_at(start)?;
        let mut bytes = Vec::new();
        match end {
            Some(end) => file.take(end - start).read_to_end(&mut bytes)?,
            None => file.read_to_end(&mut bytes)?,
        };
        let mut events = Vec::new();
        let mut search_start = 0;
        while let Some(found) = pattern.find_at(&bytes, search_start) {
            let line_start =
                bytes[..found.start()].iter().rposition(|b| *b == b'\n').map_or(0, |index| index + 1);
            // A line without a line break is still being written and isn't acknowledged.
            let Some(length) = bytes[line_start..].iter().position(|b| *b == b'\n') else { break };
            let envelope: Envelope = serde_json::from_slice(&bytes[line_start..line_start + length])?;
            if envelope.seq > after && envelope.seq <= to {
                events.push(Arc::new(envelope));
            }
            search_start = line_start + length + 1;
        }
        Ok(events)
    }

    /// Returns the offset after an event, or `None` if it cannot be found.
    pub(super) fn end_offset(&self, seq: Seq) -> Option<u64> {
        let (offset, before) = self.position_before(Seq(seq.0.checked_sub(1)?))?;
        let mut file = BufReader::new(self.reader_at(offset).ok()?);
        let mut line = Vec::new();
        let mut end = offset;
        for _ in before.0..seq.0 {
            line.clear();
            end += file.read_until(b'\n', &mut line).ok()? as u64;
        }
        (line.last() == Some(&b'\n')).then_some(end)
    }

    /// Returns the nearest recorded offset at or before the start of event `seq + 1`, and the number of the event that
    /// ends there.
    pub(super) fn position_before(&self, seq: Seq) -> Option<(u64, Seq)> {
        let block = seq.0.saturating_sub(self.base_seq) / POSITION_INTERVAL;
        let offset = *self.lock_positions().get(usize::try_from(block).ok()?)?;
        Some((offset, Seq(self.base_seq + block * POSITION_INTERVAL)))
    }

    /// Returns the recorded offsets up to an event: those of the first event and of every [`POSITION_INTERVAL`]th after
    /// it.
    pub(super) fn positions_up_to(&self, seq: Seq) -> Vec<u64> {
        let positions = self.lock_positions();
        positions.get(..self.position_count(seq).min(positions.len())).unwrap_or_default().to_vec()
    }

    /// Sets offsets that were recorded earlier.
    pub(super) fn set_positions(&self, positions: Vec<u64>) {
        *self.lock_positions() = positions;
    }

    fn position_count(&self, seq: Seq) -> usize {
        Self::position_count_for(seq.0.saturating_sub(self.base_seq))
    }

    /// Returns the number of recorded offsets for a number of events.
    pub(super) fn position_count_for(events: u64) -> usize {
        usize::try_from(events.div_ceil(POSITION_INTERVAL)).unwrap_or(usize::MAX)
    }

    fn lock_positions(&self) -> MutexGuard<'_, Vec<u64>> {
        self.positions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
