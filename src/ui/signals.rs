//! What the system tells the program while it has the terminal: to end, to stop, that it goes on.

use super::wake::Wake;
use std::io;

/// The signals that the screen listens to.
#[cfg(unix)]
pub(super) struct Signals {
    end: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    gone: tokio::signal::unix::Signal,
    stop: tokio::signal::unix::Signal,
    on: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    pub(super) fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let kind = |s: rustix::process::Signal| SignalKind::from_raw(s.as_raw());
        Ok(Self {
            end: signal(SignalKind::terminate())?,
            // A key does not send it in raw mode; `kill -INT` does, and must not leave the terminal as the screen has it.
            interrupt: signal(SignalKind::interrupt())?,
            gone: signal(SignalKind::hangup())?,
            // So does `kill -TSTP`, which would stop the program with the terminal still taken.
            stop: signal(kind(rustix::process::Signal::TSTP))?,
            on: signal(kind(rustix::process::Signal::CONT))?,
        })
    }

    pub(super) async fn next(&mut self) -> Wake {
        tokio::select! {
            _ = self.end.recv() => Wake::Gone(15),
            _ = self.interrupt.recv() => Wake::Gone(2),
            _ = self.gone.recv() => Wake::Gone(1),
            _ = self.stop.recv() => Wake::Stopped,
            _ = self.on.recv() => Wake::Continued,
        }
    }
}

/// Where there are no signals nothing is ever told.
#[cfg(not(unix))]
pub(super) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self)
    }

    pub(super) async fn next(&mut self) -> Wake {
        std::future::pending().await
    }
}
