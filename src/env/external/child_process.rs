//! A child process that answers lines with lines, as environments use it.

use super::child_output::MAX_LINE_BYTES;
use super::idle_children::IdleChildren;
use super::loopback_connection::LoopbackConnection;
use super::program_check::check_program;
use super::running_child::{ChildCommand, Failure, Farewell, RunningChild};
use crate::env::{EnvError, StopHandle, StopRegistration};
use std::any::Any;
use std::path::Path;
use std::time::Duration;

/// A child process.
///
/// Dropping it sends its last request (if one is set), closes its standard input, then sends SIGTERM to its process group, then SIGKILL, with 2 s before each. Its
/// working directory is a private temporary folder, which is removed then.
///
/// Its group is killed at once when the thread that has started it is abandoned ([`StopHandle`]).
pub struct ChildProcess {
    /// `None` once the process has been ended.
    running: Option<RunningChild>,
    /// Where the process is kept when this is dropped.
    idle: Option<&'static IdleChildren>,
    /// `None` on a thread that nobody abandons, and for a process that is about to be kept.
    stop: Option<StopRegistration>,
}

impl ChildProcess {
    /// Starts a process.
    ///
    /// # Errors
    /// Returns [`EnvError::NotStarted`] if the program can't be executed, and [`EnvError::Died`] with the system's error, or
    /// if this thread has been abandoned.
    pub fn start(command: &ChildCommand) -> Result<Self, EnvError> {
        check_not_stopped()?;
        check_program(command).map_err(|what| EnvError::NotStarted { what })?;
        let running = RunningChild::start(command).map_err(|error| EnvError::Died {
            what: format!("{} could not be started: {error}", command.program()),
        })?;
        Ok(Self::with_running(running))
    }

    /// Takes an idle process of the same command, or starts one if none is idle. Dropping it makes it idle again if it is running and every
    /// request has been answered. Its first request must bring it to the state in which an episode begins.
    ///
    /// # Errors
    /// The same as [`ChildProcess::start`].
    pub fn start_or_reuse(command: &ChildCommand, idle: &'static IdleChildren) -> Result<Self, EnvError> {
        check_not_stopped()?;
        let mut child = match idle.take(command) {
            Some(running) => Self::with_running(running),
            None => Self::start(command)?,
        };
        child.idle = Some(idle);
        Ok(child)
    }

    fn with_running(running: RunningChild) -> Self {
        let group = running.group.clone();
        let printed_text = running.printed_text();
        let stop =
            StopHandle::current().map(|handle| handle.register_program(move || group.kill(), printed_text));
        Self { running: Some(running), idle: None, stop }
    }

    /// Sends a line and returns the line that is its reply, both without their line breaks.
    ///
    /// # Errors
    /// Returns [`EnvError::Refused`] for a request that isn't one line of at most 16 MiB. Any other error ends the process
    /// and its group: [`EnvError::TimedOut`] if there is no reply within `limit`; [`EnvError::Died`] if the process has
    /// ended or closed its output; [`EnvError::Protocol`] for a reply that isn't UTF-8, is longer than 16 MiB or came
    /// without a request.
    pub fn exchange(&mut self, request: &str, limit: Duration) -> Result<String, EnvError> {
        if request.contains('\n') || request.len() > MAX_LINE_BYTES {
            let what = format!("a request must be one line of at most {} MiB", MAX_LINE_BYTES >> 20);
            return Err(EnvError::Refused { what });
        }
        let reply = self.running.as_mut().map(|running| running.exchange(request, limit));
        reply.unwrap_or(Err(Failure::Died)).map_err(|failure| self.end_after(failure))
    }

    /// Waits for the line, beginning like a reply, that the process prints by itself when it has started. What it has printed
    /// before is forgotten: it says nothing about later failures.
    ///
    /// # Errors
    /// The same as [`ChildProcess::exchange`], apart from those about the request.
    pub fn wait_for_start(&mut self, limit: Duration) -> Result<String, EnvError> {
        let line = self.running.as_mut().map(|running| running.wait_for_start(limit));
        line.unwrap_or(Err(Failure::Died)).map_err(|failure| self.end_after(failure))
    }

    /// Returns the private temporary folder of the process, which is removed when the process is ended.
    pub fn folder(&self) -> Option<&Path> {
        self.running.as_ref().map(RunningChild::folder)
    }

    /// Waits for a line that the process prints without a request, such as the port on which it listens.
    ///
    /// # Errors
    /// The same as [`ChildProcess::exchange`].
    pub fn wait_for_line(&mut self, limit: Duration) -> Result<String, EnvError> {
        let line = self.running.as_mut().map(|running| running.wait_for_line(limit));
        line.unwrap_or(Err(Failure::Died)).map_err(|failure| self.end_after(failure))
    }

    /// Treats everything that the process prints from now on as no replies: it is spoken to in another way.
    pub fn ignore_output(&mut self) {
        if let Some(running) = &self.running {
            running.ignore_output();
        }
    }

    /// Connects to a port on which the process listens on this machine.
    ///
    /// # Errors
    /// Returns [`EnvError::TimedOut`] or [`EnvError::Died`]. The process is ended then.
    pub fn connect(&mut self, port: u16, limit: Duration) -> Result<LoopbackConnection, EnvError> {
        LoopbackConnection::open(port, limit).map_err(|failure| self.end_after(failure))
    }

    /// Sends a text over a connection to the process and returns the line that is its reply, without its line break.
    ///
    /// # Errors
    /// The same as [`ChildProcess::exchange`], but the text may have several lines. Any error ends the process.
    pub fn exchange_over(
        &mut self,
        connection: &mut LoopbackConnection,
        request: &str,
        limit: Duration,
    ) -> Result<String, EnvError> {
        connection.exchange(request, limit).map_err(|failure| self.end_after(failure))
    }

    /// Returns the number of the next request, from 1. A process that is used again continues to count.
    pub fn next_request_number(&mut self) -> u64 {
        self.running.as_mut().map_or(1, |running| {
            running.request_count += 1;
            running.request_count
        })
    }

    /// Sets the last request, which is sent before a healthy process is ended; its reply is ignored.
    pub fn set_farewell(&mut self, farewell: Farewell) {
        if let Some(running) = &mut self.running {
            running.farewell = Some(farewell);
        }
    }

    /// Keeps notes with the process, for whoever uses it next.
    pub fn keep_notes(&mut self, notes: impl Any + Send) {
        if let Some(running) = &mut self.running {
            running.notes = Some(Box::new(notes));
        }
    }

    /// Takes the notes kept with the process. `None` for a process that was just started.
    pub fn take_notes<T: Any>(&mut self) -> Option<T> {
        let notes = self.running.as_mut()?.notes.take()?;
        notes.downcast().ok().map(|notes| *notes)
    }

    /// Ends the process because it says that it can't continue, and returns the error to report.
    pub fn end_after_report(&mut self, what: String) -> EnvError {
        self.end_after(Failure::Reported(what))
    }

    /// Ends the process because the connection to it broke, most likely because it has ended, and returns the error to report, which
    /// says how.
    pub fn end_after_disconnection(&mut self) -> EnvError {
        self.end_after(Failure::Disconnected)
    }

    /// Ends the process because it hasn't answered, on another way than its standard output, within this time, and returns the
    /// error to report.
    pub fn end_after_timeout(&mut self, limit: Duration) -> EnvError {
        self.end_after(Failure::TimedOut(limit))
    }

    /// Ends the process because its reply can't be understood, and returns the error to report. `what` says why.
    pub fn reject_reply(&mut self, what: String) -> EnvError {
        self.end_after(Failure::Protocol(what))
    }

    /// Returns whether the process would be kept for another episode.
    #[cfg(test)]
    pub(super) fn is_healthy(&self) -> bool {
        self.running.as_ref().is_some_and(RunningChild::is_healthy)
    }

    fn end_after(&mut self, failure: Failure) -> EnvError {
        let ended = || EnvError::Died { what: "its process was ended after an error".to_owned() };
        self.running.take().map_or_else(ended, |running| running.end_after(failure))
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        let Some(running) = self.running.take() else { return };
        let superfluous = match self.idle {
            Some(idle) if running.is_healthy() => {
                // Whoever uses it next may not be affected by the end of this thread.
                self.stop = None;
                // It may have been killed just before.
                if running.is_healthy() { idle.put_back(running) } else { Some(running) }
            }
            _ => Some(running),
        };
        // One that is still registered here can be killed while it takes its time to end.
        if let Some(running) = superfluous {
            running.end();
        }
    }
}

/// An abandoned thread takes no process away from others and starts none.
fn check_not_stopped() -> Result<(), EnvError> {
    match StopHandle::current() {
        Some(handle) if handle.is_stopped() => {
            Err(EnvError::Died { what: "it had exceeded its time limit and was replaced".to_owned() })
        }
        _ => Ok(()),
    }
}
