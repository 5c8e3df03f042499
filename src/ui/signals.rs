//! What the system tells the program while it has the terminal: to end, to stop, to continue.

use super::wake::Wake;
use crate::signals;
use std::io;

/// The signals that the screen listens to.
#[cfg(unix)]
pub(super) struct Signals {
    stop: tokio::signal::unix::Signal,
    on: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    pub(super) fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let kind = |s: rustix::process::Signal| SignalKind::from_raw(s.as_raw());
        Ok(Self {
            // A key does not send it in raw mode; `kill -TSTP` does, and would stop the program with the terminal still taken.
            stop: signal(kind(rustix::process::Signal::TSTP))?,
            on: signal(kind(rustix::process::Signal::CONT))?,
        })
    }

    pub(super) async fn next(&mut self) -> Wake {
        tokio::select! {
            _ = signals::wait_for_signal() => Wake::Gone,
            _ = self.stop.recv() => Wake::Stopped,
            _ = self.on.recv() => Wake::Continued,
        }
    }
}

/// Where there are no such signals only Ctrl-C is told.
#[cfg(not(unix))]
pub(super) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self)
    }

    pub(super) async fn next(&mut self) -> Wake {
        signals::wait_for_signal().await;
        Wake::Gone
    }
}
