//! Signals that the screen handles: end, stop and continue.

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
            // In raw mode Ctrl-Z does not send it, but `kill -TSTP` does; unhandled, it would stop the program in the
            // alternate screen.
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

/// On other systems only Ctrl-C is reported.
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
