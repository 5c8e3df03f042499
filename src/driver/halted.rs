//! Handles a session whose journal cannot be written: nothing is applied until the same bytes are on the disk. If
//! another program removed, replaced or truncated the journal, first saves all events to a new session.

use super::{Driver, Halt, Health, RescueOutcome, Signal};
use crate::domain::Seq;
use crate::engine::CommandError;
use crate::journal::{JournalError, Rescue};
use std::path::Path;

impl Driver {
    /// Returns whether nothing can be applied now: a write failed, or another program changed the journal.
    pub(super) fn is_halted(&self) -> bool {
        !self.unwritten_events.is_empty() || self.journal_changed
    }

    /// Halts the session. Saves its events if another program changed the journal.
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

    /// Fails if the journal is no longer what was written: nothing may then be read from it or forked from it.
    pub(super) fn check_journal(&mut self) -> Result<(), CommandError> {
        let Err(error) = self.writer.check_unchanged() else { return Ok(()) };
        self.halt(&error);
        Err(CommandError::new(error.to_string(), "put the file back, then retry"))
    }

    /// Resumes the session: the file is back, or the disk has room.
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
        let rescue = match Rescue::create(&self.session) {
            Ok(rescue) => rescue,
            Err(error) => return failed(error),
        };
        let dir = rescue.dir().to_owned();
        match self.write_rescue(rescue) {
            Ok((message, is_complete)) => RescueOutcome { dir: Some(dir), message, is_complete },
            Err(error) => {
                // An incomplete copy could be mistaken for the session.
                let _ = std::fs::remove_dir_all(&dir);
                failed(error)
            }
        }
    }

    /// Saves all events that are in memory or can still be read. Returns what was saved, and whether that is all.
    fn write_rescue(&self, mut rescue: Rescue) -> Result<(String, bool), JournalError> {
        const EVENTS_AT_ONCE: u64 = 1024;
        let head = self.engine.state.head;
        let mut count = EVENTS_AT_ONCE;
        while rescue.head() < head && count > 0 {
            let after = rescue.head();
            let timeline = self.store.timeline();
            let events = timeline.events_between(after, Seq(after.0 + count).min(head));
            let unread = timeline.take_fetch_error().is_some();
            drop(timeline);
            if unread || events.first().is_none_or(|first| first.seq.0 != after.0 + 1) {
                // Retry with fewer events, to get up to the last one that can be read.
                count /= 2;
            } else {
                rescue.append(&events)?;
            }
        }
        let last = Seq(head.0 + self.unwritten_events.len() as u64);
        if rescue.head() < head {
            let timeline = self.store.timeline();
            let mut rest = timeline.events_after(rescue.head());
            let _ = timeline.take_fetch_error();
            drop(timeline);
            rest.extend(self.unwritten_events.iter().cloned());
            let missing = rescue.head().0 + 1..rest.first().map_or(last.0 + 1, |first| first.seq.0);
            if !rest.is_empty() {
                rescue.save_remaining(&rest)?;
            }
            rescue.finish()?;
            let message = format!(
                "events {} to {} are lost, all others are saved (those after them in rest.jsonl) in",
                missing.start,
                missing.end - 1
            );
            return Ok((message, false));
        }
        let same = rescue.folds_to(&self.engine.state);
        rescue.append(&self.unwritten_events)?;
        rescue.finish()?;
        Ok(if same {
            (format!("all {last} events are saved in"), true)
        } else {
            ("its content was changed too; the remaining events are saved in".to_owned(), false)
        })
    }

    /// Restores `meta.toml` if another program removed it, because without it the session is not found.
    pub(super) fn restore_meta_file(&self, check_content: bool) {
        let notice = match self.session.restore_meta(check_content) {
            Ok(false) => return,
            Ok(true) => "meta.toml was removed or damaged by another program; it was restored".to_owned(),
            Err(error) => format!("{error}; without meta.toml the session is not listed"),
        };
        self.store.signal(Signal::Notice(notice));
    }

    /// Records in the session's index how far its journal went, so that `verify` knows what is missing.
    pub(super) fn note_missing_events(&self) {
        let (branch, dir): (_, &Path) = (&self.engine.branch, &self.session.dir);
        if dir.join("index").is_dir() {
            let summary = crate::journal::summarize(&self.engine.state, branch, self.writer.valid_len());
            // The halt has been reported already; without this note `verify` only knows less.
            let _ = summary.save(dir);
        }
    }
}
