//! Keeps states beside the journal while a session runs, on a thread of its own: no step waits for it.

use crate::engine::State;
use crate::journal::{Checkpoints, EventFile};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

/// A state, and the byte behind its last event.
type Kept = (Arc<State>, u64);

/// Offers states to the thread that keeps them.
pub(super) struct Keeper {
    /// What was handed on so far; the thread has one of its own that also knows what was written.
    known: Checkpoints,
    places: Arc<EventFile>,
    thread: Option<(SyncSender<Kept>, JoinHandle<Checkpoints>)>,
}

impl Keeper {
    pub(super) fn new(known: Checkpoints, places: Arc<EventFile>) -> Self {
        Self { known, places, thread: None }
    }

    /// Hands a state on when one is due. Where the thread is still busy with another, a later one is taken.
    pub(super) fn offer(&mut self, state: &Arc<State>, offset: u64) {
        if !self.known.due(state, offset) {
            return;
        }
        if self.thread.is_none() {
            self.thread = self.start();
        }
        let taken =
            self.thread.as_ref().is_some_and(|(send, _)| send.try_send((state.clone(), offset)).is_ok());
        if taken {
            self.known.passed(state, offset);
        }
    }

    /// Keeps the last state, when the branch is long enough for that to be worth it.
    pub(super) fn finish(&mut self, state: &State, offset: u64) {
        if let Some((send, thread)) = self.thread.take() {
            drop(send);
            let Ok(known) = thread.join() else { return };
            self.known = known;
        }
        if self.known.worth_at_end(state, offset) {
            self.known.keep_newest(state, offset, &self.places, true);
        }
    }

    fn start(&self) -> Option<(SyncSender<Kept>, JoinHandle<Checkpoints>)> {
        let (send, receive) = sync_channel::<Kept>(1);
        let (mut known, places) = (self.known.clone(), self.places.clone());
        let keep = move || {
            for (state, offset) in receive {
                known.keep_older(&state, offset);
                known.keep_newest(&state, offset, &places, false);
            }
            known
        };
        let thread = std::thread::Builder::new().name("keeper".to_owned()).spawn(keep).ok()?;
        Some((send, thread))
    }
}
