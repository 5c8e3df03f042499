//! Writes checkpoints beside the journal on a separate thread while a session runs, so that no step waits for them.

use crate::domain::Seq;
use crate::engine::State;
use crate::journal::{Checkpoints, EventFile};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

/// A state, and the offset after its last event.
type PendingCheckpoint = (Arc<State>, u64);

/// Sends states to the thread that writes the checkpoints.
pub(super) struct CheckpointWriter {
    /// The checkpoints sent so far. The thread has its own copy, which also knows which ones were written.
    checkpoints: Checkpoints,
    event_file: Arc<EventFile>,
    thread: Option<(SyncSender<PendingCheckpoint>, JoinHandle<Checkpoints>)>,
}

impl CheckpointWriter {
    pub(super) fn new(checkpoints: Checkpoints, event_file: Arc<EventFile>) -> Self {
        Self { checkpoints, event_file, thread: None }
    }

    /// Returns the offsets of the branch's events.
    pub(super) fn event_file(&self) -> &Arc<EventFile> {
        &self.event_file
    }

    /// Sends a state if a checkpoint is due. If the thread is still busy, skips this one; a later state is written
    /// instead.
    pub(super) fn offer(&mut self, state: &Arc<State>, offset: u64) {
        if !self.checkpoints.is_due(state, offset) {
            return;
        }
        if self.thread.is_none() {
            self.thread = self.start_thread();
        }
        let accepted =
            self.thread.as_ref().is_some_and(|(send, _)| send.try_send((state.clone(), offset)).is_ok());
        if accepted {
            self.checkpoints.mark_written(state, offset);
        }
    }

    /// Returns the writer for a fork of this branch.
    pub(super) fn for_fork(&self, file: &std::path::Path, at: Seq, events: Arc<EventFile>) -> Self {
        Self::new(self.checkpoints.for_fork(file, &self.event_file, at), events)
    }

    /// Writes the last state before another branch becomes active, if there are enough events since the last
    /// checkpoint.
    pub(super) fn save_before_switch(&mut self, state: &State, offset: u64) {
        self.stop_thread();
        if self.checkpoints.is_tail_long_enough(state, offset) {
            self.checkpoints.write_newest(state, offset, &self.event_file, true);
        }
    }

    /// Writes the last state, if the branch is long enough to be worth it.
    pub(super) fn save_at_end(&mut self, state: &State, offset: u64) {
        self.stop_thread();
        if self.checkpoints.is_branch_long_enough(state, offset) {
            self.checkpoints.write_newest(state, offset, &self.event_file, true);
        }
    }

    fn stop_thread(&mut self) {
        if let Some((send, thread)) = self.thread.take() {
            drop(send);
            if let Ok(checkpoints) = thread.join() {
                self.checkpoints = checkpoints;
            }
        }
    }

    fn start_thread(&self) -> Option<(SyncSender<PendingCheckpoint>, JoinHandle<Checkpoints>)> {
        let (send, receive) = sync_channel::<PendingCheckpoint>(1);
        let (mut checkpoints, event_file) = (self.checkpoints.clone(), self.event_file.clone());
        let write = move || {
            for (state, offset) in receive {
                checkpoints.write_older(&state, offset);
                checkpoints.write_newest(&state, offset, &event_file, false);
            }
            checkpoints
        };
        let thread = std::thread::Builder::new().name("checkpoints".to_owned()).spawn(write).ok()?;
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

    /// A closed session opens with its last checkpoint, without reading its events.
    #[test]
    fn a_closed_session_opens_from_its_last_checkpoint() {
        let dir = tempfile::tempdir().unwrap();
        let at = jiff::Timestamp::UNIX_EPOCH;
        let text = |w: &str| w.to_owned();
        let (program, env, method, actor, title) = (text("0"), text("e"), text("m"), text("a"), text("t"));
        let meta = Meta {
            v: 1,
            session: text("s"),
            created: at,
            program,
            env,
            method,
            actor,
            title,
            bookmark: None,
        };
        let (session, mut writer) = Session::create(dir.path(), meta).unwrap();
        let mut checkpoint_writer =
            CheckpointWriter::new(Checkpoints::for_branch(&session.trunk()), writer.event_file().clone());
        let mut state = State::default();
        let mut run = |until: u64, checkpoint_writer: &mut CheckpointWriter, state: &mut State| {
            while state.head.0 < until {
                let seq = Seq(state.head.0 + 1);
                let event = Event::MemorySet { value: seq.0.into() };
                let envelope =
                    Envelope { seq, timestamp: at, cause: Cause::Policy, batch_continues: false, event };
                writer.append(std::slice::from_ref(&envelope)).unwrap();
                state.apply(&envelope);
                checkpoint_writer.offer(&Arc::new(state.clone()), writer.valid_len());
            }
            writer.valid_len()
        };
        let len = run(13_000, &mut checkpoint_writer, &mut state);
        checkpoint_writer.save_at_end(&state, len);
        let opened = open_branch(&session.trunk(), OpenMode::Read).unwrap();
        assert_eq!(opened.checkpoint_seq, Seq(13_000));
        assert!(**opened.timeline.head() == state);
        assert!(session.dir.join("index/trunk/12288.jsonl").is_file(), "an older checkpoint is missing");
        assert_eq!(opened.timeline.state_at(Seq(12_500)).memory, 12_500);
        // After a crash only the events after the last checkpoint are read.
        run(14_000, &mut checkpoint_writer, &mut state);
        let opened = open_branch(&session.trunk(), OpenMode::Resume).unwrap();
        assert_eq!(opened.checkpoint_seq, Seq(13_000));
        assert!(**opened.timeline.head() == state);
    }
}
