//! The threads that run environments.

use crate::env::StopHandle;
use std::io;
use std::thread;

/// A thread on which an environment runs, and the means to end what it has started there (child processes). A thread that
/// blocks in an environment can't be ended; dropping this stops what it has started, unless it was released before.
pub(super) struct WorldThread {
    stop: StopHandle,
    is_released: bool,
}

impl WorldThread {
    /// Starts a thread. Its name should be one of [`GUARDED_THREADS`](super::GUARDED_THREADS).
    pub(super) fn start(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        let stop = StopHandle::default();
        let own_stop = stop.clone();
        thread::Builder::new().name(name.to_owned()).spawn(move || {
            own_stop.install();
            work();
        })?;
        Ok(Self { stop, is_released: false })
    }

    /// Leaves the end of what it has started to the thread itself, because it answers.
    pub(super) fn release(&mut self) {
        self.is_released = true;
    }

    /// Returns what the programs have printed that were started on the thread. Doesn't wait.
    pub(super) fn printed_text(&self) -> Option<String> {
        self.stop.printed_text()
    }

    /// Sets what is returned until a program is started on the thread.
    pub(super) fn set_last_text(&self, text: Option<String>) {
        self.stop.set_last_text(text);
    }

    /// Ends what it has started, now and later. Doesn't wait.
    pub(super) fn stop(&self) {
        if !self.stop.is_stopped() {
            self.stop.stop();
        }
    }
}

impl Drop for WorldThread {
    fn drop(&mut self) {
        if !self.is_released {
            self.stop();
        }
    }
}
