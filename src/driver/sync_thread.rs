//! Syncs the journal on a separate thread, so that a disk that takes a second to sync delays neither the pieces of a reply
//! nor the keys of a person.

use super::Message;
use crate::journal::{JournalError, SyncHandle};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use tokio::sync::mpsc::UnboundedSender;

/// The result of a sync.
type SyncResult = Result<(), JournalError>;

/// The thread, once something has been synced. It ends when this is dropped and a sync in progress has returned.
#[derive(Default)]
pub(super) struct SyncThread {
    channels: Option<(SyncSender<SyncHandle>, Receiver<SyncResult>)>,
    is_busy: bool,
}

impl SyncThread {
    /// Returns whether a sync is in progress.
    pub(super) fn is_busy(&self) -> bool {
        self.is_busy
    }

    /// Starts a sync; the inbox gets a message when it has ended. Returns the result at once if the system refuses a
    /// thread. No other sync may be in progress.
    pub(super) fn start(
        &mut self,
        handle: SyncHandle,
        inbox: impl FnOnce() -> UnboundedSender<Message>,
    ) -> Option<SyncResult> {
        if self.channels.is_none() {
            self.channels = start_thread(inbox());
        }
        let Some((handles, _)) = &self.channels else { return Some(handle.sync()) };
        match handles.send(handle) {
            Ok(()) => {
                self.is_busy = true;
                None
            }
            // The thread has died.
            Err(refused) => {
                self.channels = None;
                Some(refused.0.sync())
            }
        }
    }

    /// Waits for the sync in progress and returns its result, or `None` if there is none. An operating system reports a
    /// failure only once, so nobody else may sync the file meanwhile.
    pub(super) fn finish(&mut self) -> Option<SyncResult> {
        if !std::mem::take(&mut self.is_busy) {
            return None;
        }
        let (_, results) = self.channels.as_ref()?;
        results.recv().ok()
    }
}

fn start_thread(inbox: UnboundedSender<Message>) -> Option<(SyncSender<SyncHandle>, Receiver<SyncResult>)> {
    let (sender, handles) = sync_channel::<SyncHandle>(1);
    let (result_sender, results) = sync_channel(1);
    let sync_all = move || {
        while let Ok(handle) = handles.recv() {
            // The driver may have ended.
            let _ = result_sender.send(handle.sync());
            let _ = inbox.send(Message::Synced);
        }
    };
    thread::Builder::new().name("sync".to_owned()).spawn(sync_all).ok()?;
    Some((sender, results))
}
