//! Keeps states beside the journal while a session runs, on a thread of its own: no step waits for it.

use crate::domain::Seq;
use crate::engine::State;
use crate::journal::{Checkpoints, EventFile};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

/// A state, and the byte behind its last event.
type PendingCheckpoint = (Arc<State>, u64);

/// Offers states to the thread that keeps them.
pub(super) struct CheckpointWriter {
    /// What was handed on so far; the thread has one of its own that also knows what was written.
    checkpoints: Checkpoints,
    event_file: Arc<EventFile>,
    thread: Option<(SyncSender<PendingCheckpoint>, JoinHandle<Checkpoints>)>,
}

impl CheckpointWriter {
    pub(super) fn new(known: Checkpoints, places: Arc<EventFile>) -> Self {
        Self { checkpoints: known, event_file: places, thread: None }
    }

    /// Where the branch's events stand.
    pub(super) fn event_file(&self) -> &Arc<EventFile> {
        &self.event_file
    }

    /// Hands a state on when one is due. Where the thread is still busy with another, a later one is taken.
    pub(super) fn offer(&mut self, state: &Arc<State>, offset: u64) {
        if !self.checkpoints.is_due(state, offset) {
            return;
        }
        if self.thread.is_none() {
            self.thread = self.start_thread();
        }
        let taken =
            self.thread.as_ref().is_some_and(|(send, _)| send.try_send((state.clone(), offset)).is_ok());
        if taken {
            self.checkpoints.mark_written(state, offset);
        }
    }

    /// The same for a fork of this branch, whose file is this one.
    pub(super) fn for_fork(&self, file: &std::path::Path, at: Seq, events: Arc<EventFile>) -> Self {
        Self::new(self.checkpoints.for_fork(file, &self.event_file, at), events)
    }

    /// The branch is put down for another one: its last state is kept where a good deal has come since the last one.
    pub(super) fn save_before_switch(&mut self, state: &State, offset: u64) {
        self.stop_thread();
        if self.checkpoints.is_tail_long_enough(state, offset) {
            self.checkpoints.write_newest(state, offset, &self.event_file, true);
        }
    }

    /// Keeps the last state, when the branch is long enough for that to be worth it.
    pub(super) fn save_at_end(&mut self, state: &State, offset: u64) {
        self.stop_thread();
        if self.checkpoints.is_branch_long_enough(state, offset) {
            self.checkpoints.write_newest(state, offset, &self.event_file, true);
        }
    }

    fn stop_thread(&mut self) {
        if let Some((send, thread)) = self.thread.take() {
            drop(send);
            if let Ok(known) = thread.join() {
                self.checkpoints = known;
            }
        }
    }

    fn start_thread(&self) -> Option<(SyncSender<PendingCheckpoint>, JoinHandle<Checkpoints>)> {
        let (send, receive) = sync_channel::<PendingCheckpoint>(1);
        let (mut known, places) = (self.checkpoints.clone(), self.event_file.clone());
        let keep = move || {
            for (state, offset) in receive {
                known.write_older(&state, offset);
                known.write_newest(&state, offset, &places, false);
            }
            known
        };
        let thread = std::thread::Builder::new().name("keeper".to_owned()).spawn(keep).ok()?;
        Some((send, thread))
    }
}

#[cfg(test)]
mod tests {
    use super::CheckpointWriter;
    use crate::domain::Seq;
    use crate::engine::{Cause, Envelope, Event, State};
    use crate::journal::{Checkpoints, Meta, OpenMode, Session, open_branch};
    use std::sync::Arc;

    /// What a session was put down with is what it is opened with, without its events being read.
    #[test]
    fn a_session_that_was_put_down_opens_at_its_end() {
        let dir = tempfile::tempdir().unwrap();
        let at = jiff::Timestamp::UNIX_EPOCH;
        let word = |w: &str| w.to_owned();
        let (program, env, method, actor, title) = (word("0"), word("e"), word("m"), word("a"), word("t"));
        let meta = Meta {
            v: 1,
            session: word("s"),
            created: at,
            program,
            env,
            method,
            actor,
            title,
            bookmark: None,
        };
        let (session, mut writer) = Session::create(dir.path(), meta).unwrap();
        let mut keeper =
            CheckpointWriter::new(Checkpoints::for_branch(&session.trunk()), writer.event_file().clone());
        let mut state = State::default();
        let mut run = |until: u64, keeper: &mut CheckpointWriter, state: &mut State| {
            while state.head.0 < until {
                let seq = Seq(state.head.0 + 1);
                let event = Event::MemorySet { value: seq.0.into() };
                let envelope =
                    Envelope { seq, timestamp: at, cause: Cause::Policy, batch_continues: false, event };
                writer.append(std::slice::from_ref(&envelope)).unwrap();
                state.apply(&envelope);
                keeper.offer(&Arc::new(state.clone()), writer.valid_len());
            }
            writer.valid_len()
        };
        let whole = run(13_000, &mut keeper, &mut state);
        keeper.save_at_end(&state, whole);
        let opened = open_branch(&session.trunk(), OpenMode::Read).unwrap();
        assert_eq!(opened.skipped_through, Seq(13_000));
        assert!(**opened.timeline.head() == state);
        assert!(session.dir.join("index/trunk/12288.jsonl").is_file(), "an old state was kept on the way");
        assert_eq!(opened.timeline.state_at(Seq(12_500)).memory, 12_500);
        // It was killed later on: only what came after the last checkpoint is read.
        run(14_000, &mut keeper, &mut state);
        let opened = open_branch(&session.trunk(), OpenMode::Resume).unwrap();
        assert_eq!(opened.skipped_through, Seq(13_000));
        assert!(**opened.timeline.head() == state);
    }
}
