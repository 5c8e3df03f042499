//! Process signals that the screen handles: terminate, suspend and resume.

use super::loop_event::LoopEvent;
use crate::signals;
use std::io;

/// Receives the signals.
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
            // Ctrl-Z doesn't send SIGTSTP in raw mode, but `kill -TSTP` does. Unhandled, it would suspend the program
            // without leaving the alternate screen.
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

/// Receives Ctrl-C only: other systems have no suspend signal.
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
