//! Syncs the journal on a separate thread, so that a disk that takes a second to sync delays neither the pieces of a reply
//! nor the keys of a person.

use super::Message;
use crate::journal::{JournalError, SyncHandle};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread;
use tokio::sync::mpsc::UnboundedSender;

/// The thread, once something has been synced. It ends when this is dropped and a sync in progress has returned.
#[derive(Default)]
pub(super) struct SyncThread {
    handles: Option<SyncSender<SyncHandle>>,
    is_busy: bool,
}

impl SyncThread {
    /// Returns whether a sync is in progress.
    pub(super) fn is_busy(&self) -> bool {
        self.is_busy
    }

    /// Starts a sync, whose result arrives in the inbox. Returns the result at once if the system refuses a thread.
    pub(super) fn start(
        &mut self,
        handle: SyncHandle,
        inbox: impl FnOnce() -> UnboundedSender<Message>,
    ) -> Option<Result<(), JournalError>> {
        if self.handles.is_none() {
            self.handles = start_thread(inbox());
        }
        let Some(handles) = &self.handles else { return Some(handle.sync()) };
        match handles.try_send(handle) {
            Ok(()) => {
                self.is_busy = true;
                None
            }
            Err(TrySendError::Full(handle) | TrySendError::Disconnected(handle)) => Some(handle.sync()),
        }
    }

    /// Notes that the result of the sync in progress has arrived.
    pub(super) fn finish(&mut self) {
        self.is_busy = false;
    }
}

fn start_thread(inbox: UnboundedSender<Message>) -> Option<SyncSender<SyncHandle>> {
    let (sender, handles) = sync_channel::<SyncHandle>(1);
    let sync_all = move || {
        while let Ok(handle) = handles.recv() {
            // The driver may have ended.
            let _ = inbox.send(Message::Synced(handle.sync()));
        }
    };
    thread::Builder::new().name("sync".to_owned()).spawn(sync_all).ok()?;
    Some(sender)
}
