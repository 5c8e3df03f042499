//! A session that can't be written: nothing is applied until the same bytes are on the disk. Where another program removed,
//! replaced or cut the journal, all events go to a new session first.

use super::{Driver, Health, Signal};
use crate::domain::Seq;
use crate::engine::CommandError;
use crate::journal::{JournalError, Rescue};
use std::path::{Path, PathBuf};

/// Why nothing can be written, and what to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Halt {
    /// What failed, and where.
    pub reason: String,
    /// Where the events are saved, when another program changed the journal.
    pub rescue: Option<RescueOutcome>,
    /// The last event that was written.
    pub head: Seq,
    /// Events that wait to be written.
    pub waiting: usize,
}

/// What became of the events of a journal that another program changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RescueOutcome {
    /// The new session; none where nothing could be saved.
    pub dir: Option<PathBuf>,
    /// What is in it, or why there is none.
    pub message: String,
    /// Every event is in it.
    pub is_complete: bool,
}

impl Halt {
    /// What happened, and where the events are.
    pub fn what(&self) -> String {
        let why = &self.reason;
        match &self.rescue {
            None => {
                let head = self.head;
                format!("{why}; all events up to {head} are saved, {} more wait in memory", self.waiting)
            }
            Some(RescueOutcome { dir: Some(dir), message: what, .. }) => {
                let name =
                    dir.file_name().map_or_else(|| dir.display().to_string(), |n| n.to_string_lossy().into());
                format!("{why}; {what} {name}")
            }
            Some(RescueOutcome { dir: None, message: what, .. }) => format!("{why}; {what}"),
        }
    }

    /// What to do.
    pub fn next(&self) -> &'static str {
        match &self.rescue {
            None => "free some space, then retry; quitting loses what waits",
            Some(RescueOutcome { dir: Some(_), .. }) => {
                "quit and resume that session, or put the file back and retry"
            }
            Some(RescueOutcome { dir: None, .. }) => "put the file back, then retry",
        }
    }

    /// Both, for a person at the screen.
    pub fn screen_message(&self) -> String {
        format!("{}: {}", self.what(), self.next())
    }
}

impl Driver {
    /// Nothing is applied now: a write failed, or the journal is not where it was.
    pub(super) fn is_halted(&self) -> bool {
        !self.unwritten_events.is_empty() || self.journal_changed
    }

    /// Halts the session, and saves its events where another program changed the journal.
    pub(super) fn halt(&mut self, error: &JournalError) {
        let changed = matches!(error, JournalError::Changed { .. });
        self.journal_changed = changed;
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut why = error.to_string();
        if let JournalError::Io { path, action, source } = error {
            why = format!("the journal ({}) {action}: {source}", name(path));
        }
        if let JournalError::Changed { path, change } = error {
            why = format!("the journal ({}) {change} by another program", name(path));
            if self.rescue.as_ref().is_none_or(|saved| saved.dir.is_none()) {
                self.rescue = Some(self.rescue_events());
            }
        }
        let saved = self.rescue.clone().filter(|_| changed);
        let (head, waiting) = (self.engine.state.head, self.unwritten_events.len());
        self.store.edit_live(|live| {
            live.health = Health::Halted(Halt { reason: why, rescue: saved, head, waiting });
        });
    }

    /// Nothing is to be read from a journal, or grow from it, that is not what was written.
    pub(super) fn check_journal(&mut self) -> Result<(), CommandError> {
        let Err(error) = self.writer.check_unchanged() else { return Ok(()) };
        self.halt(&error);
        Err(CommandError::new(error.to_string(), "put the file back, then retry"))
    }

    /// The file is where it was again, or the disk has room: the session goes on.
    pub(super) fn end_halt(&mut self) {
        self.journal_changed = false;
        self.rescue = None;
        self.store.edit_live(|live| live.health = Health::Running);
    }

    fn rescue_events(&self) -> RescueOutcome {
        let failed = |error: JournalError| RescueOutcome {
            dir: None,
            message: format!("its events could not be saved ({error})"),
            is_complete: false,
        };
        let copy = match Rescue::create(&self.session) {
            Ok(copy) => copy,
            Err(error) => return failed(error),
        };
        let dir = copy.dir().to_owned();
        match self.write_rescue(copy) {
            Ok((what, complete)) => RescueOutcome { dir: Some(dir), message: what, is_complete: complete },
            Err(error) => {
                // Half a copy would only be taken for the session.
                let _ = std::fs::remove_dir_all(&dir);
                failed(error)
            }
        }
    }

    /// Saves all events that this process holds or can still read; what was saved, and whether it is all.
    fn write_rescue(&self, mut copy: Rescue) -> Result<(String, bool), JournalError> {
        const EVENTS_AT_ONCE: u64 = 1024;
        let head = self.engine.state.head;
        let mut piece = EVENTS_AT_ONCE;
        while copy.head() < head && piece > 0 {
            let after = copy.head();
            let timeline = self.store.timeline();
            let events = timeline.events_between(after, Seq(after.0 + piece).min(head));
            let unread = timeline.take_fetch_error().is_some();
            drop(timeline);
            if unread || events.first().is_none_or(|first| first.seq.0 != after.0 + 1) {
                // Up to the last event that can be read.
                piece /= 2;
            } else {
                copy.append(&events)?;
            }
        }
        let last = Seq(head.0 + self.unwritten_events.len() as u64);
        if copy.head() < head {
            let timeline = self.store.timeline();
            let mut rest = timeline.events_after(copy.head());
            let _ = timeline.take_fetch_error();
            drop(timeline);
            rest.extend(self.unwritten_events.iter().cloned());
            let missing = copy.head().0 + 1..rest.first().map_or(last.0 + 1, |first| first.seq.0);
            if !rest.is_empty() {
                copy.save_rest(&rest)?;
            }
            copy.finish()?;
            let what = format!(
                "events {} to {} are lost, all others are saved (those after them in rest.jsonl) in",
                missing.start,
                missing.end - 1
            );
            return Ok((what, false));
        }
        let same = copy.leads_to(&self.engine.state);
        copy.append(&self.unwritten_events)?;
        copy.finish()?;
        Ok(if same {
            (format!("all {last} events are saved in"), true)
        } else {
            ("its content was changed too: what is left of the events is saved in".to_owned(), false)
        })
    }

    /// Writes `meta.toml` again where another program removed it: without it nobody finds the session.
    pub(super) fn keep_meta(&self, read: bool) {
        let said = match self.session.restore_meta(read) {
            Ok(false) => return,
            Ok(true) => {
                "meta.toml was removed or damaged by another program; it was written again".to_owned()
            }
            Err(error) => format!("{error}; without meta.toml the session is not listed"),
        };
        self.store.signal(Signal::Notice(said));
    }

    /// Notes in the session's index how far its journal went, so that `verify` knows what is missing.
    pub(super) fn note_missing_events(&self) {
        let (branch, dir): (_, &Path) = (&self.engine.branch, &self.session.dir);
        if dir.join("index").is_dir() {
            let summary = crate::journal::summarize(&self.engine.state, branch, self.writer.valid_len());
            // The halt has been reported; without the note only less is known later.
            let _ = summary.save(dir);
        }
    }
}
