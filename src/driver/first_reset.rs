//! Tries a task before its session is created.

use super::{OpenWorld, RunConfig};
use crate::domain::Task;
use crate::env::{EnvError, StopHandle};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

impl RunConfig {
    /// Opens the environment of a task, resets it and closes it again. Takes no longer than the deadline after which the
    /// driver would abandon the environment.
    ///
    /// # Errors
    /// Returns the environment's error, or [`EnvError::TimedOut`] after the deadline.
    pub fn try_reset(&self, task: &Task) -> Result<(), EnvError> {
        reset_within((self.answer_deadlines)(task).open, self.open_world.clone(), task.clone())
    }
}

/// Opens and resets an environment on a thread of its own. After the deadline the thread is abandoned, and what the
/// environment has started is ended.
fn reset_within(deadline: Duration, open_world: OpenWorld, task: Task) -> Result<(), EnvError> {
    let (sender, receiver) = mpsc::channel();
    let stop = StopHandle::default();
    let own_stop = stop.clone();
    let reset = move || {
        own_stop.install();
        // The environment is closed before the answer, so that the run doesn't start a second process meanwhile.
        let answer = open_world(&task).and_then(|mut world| world.reset()).map(drop);
        // Nobody waits for it after the deadline.
        let _ = sender.send(answer);
    };
    thread::Builder::new().name("first-reset".to_owned()).spawn(reset).map_err(|error| {
        EnvError::Refused { what: format!("no thread for the environment could be started: {error}") }
    })?;
    receiver.recv_timeout(deadline).unwrap_or_else(|error| match error {
        RecvTimeoutError::Timeout => {
            stop.stop();
            Err(EnvError::TimedOut { millis: deadline.as_millis() as u64 })
        }
        RecvTimeoutError::Disconnected => Err(EnvError::Died { what: "its program panicked".to_owned() }),
    })
}
