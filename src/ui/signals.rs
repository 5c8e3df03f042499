//! What the system tells the program while it has the terminal: to end, to stop, to continue.

use super::loop_event::LoopEvent;
use crate::signals;
use std::io;

/// The signals that the screen listens to.
#[cfg(unix)]
pub(super) struct Signals {
    suspend: tokio::signal::unix::Signal,
    resume: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    pub(super) fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let kind = |s: rustix::process::Signal| SignalKind::from_raw(s.as_raw());
        Ok(Self {
            // A key does not send it in raw mode; `kill -TSTP` does, and would stop the program with the terminal still taken.
            suspend: signal(kind(rustix::process::Signal::TSTP))?,
            resume: signal(kind(rustix::process::Signal::CONT))?,
        })
    }

    pub(super) async fn next(&mut self) -> LoopEvent {
        tokio::select! {
            _ = signals::wait_for_signal() => LoopEvent::Terminated,
            _ = self.suspend.recv() => LoopEvent::Suspended,
            _ = self.resume.recv() => LoopEvent::Resumed,
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

    pub(super) async fn next(&mut self) -> LoopEvent {
        signals::wait_for_signal().await;
        LoopEvent::Terminated
    }
}
