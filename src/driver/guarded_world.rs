//! An environment on a thread of its own, for callers that wait for each answer.

use super::world_thread::WorldThread;
use crate::domain::{EnvInfo, StepResult, TrialInfo};
use crate::env::{EnvError, Environment, TimeLimits};
use serde_json::Value;
use std::cell::OnceCell;
use std::convert::Infallible;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// How long closing an environment may take. One that is another program needs at most 8 s, unless `timeouts`
/// gives it longer for its last reply.
const CLOSE_LIMIT: Duration = Duration::from_secs(10);

type Request = Box<dyn FnOnce(&mut dyn Environment) + Send>;

/// An environment that runs on another thread, each answer with its time limit. After one that is late, or a panic, the
/// thread is abandoned, what the environment has started is ended, and every later request fails with the same error.
///
/// Dropping it waits until the environment is closed. It has no snapshots.
pub(super) struct GuardedWorld {
    info: EnvInfo,
    limits: TimeLimits,
    /// `None` once no request follows, so that the thread ends.
    requests: Option<mpsc::Sender<Request>>,
    /// Disconnected when the thread has closed the environment.
    closed: mpsc::Receiver<Infallible>,
    thread: WorldThread,
    lost: OnceCell<EnvError>,
}

impl GuardedWorld {
    /// Opens an environment within [`TimeLimits::open`], which also limits its reset.
    ///
    /// # Errors
    /// Returns the error of `open`, [`EnvError::TimedOut`] or, after a panic, [`EnvError::Died`].
    pub(super) fn open(
        limits: TimeLimits,
        open: impl FnOnce() -> Result<Box<dyn Environment>, EnvError> + Send + 'static,
    ) -> Result<Self, EnvError> {
        let (info_sender, opened) = mpsc::channel();
        let (requests, received) = mpsc::channel::<Request>();
        let (closed_sender, closed) = mpsc::channel();
        let serve = move || {
            // Declared before the environment, so that it is dropped after it.
            let _closed_sender = closed_sender;
            let mut world = match open() {
                Ok(world) => world,
                Err(error) => return drop(info_sender.send(Err(error))),
            };
            // After the limit nobody waits for it.
            let _ = info_sender.send(Ok(world.info()));
            while let Ok(request) = received.recv() {
                request(world.as_mut());
            }
        };
        let thread = WorldThread::start("world", serve).map_err(|error| EnvError::Refused {
            what: format!("no thread for the environment could be started: {error}"),
        })?;
        // If it fails, dropping the thread ends what was started.
        let info = receive(&opened, limits.open)??;
        Ok(Self { info, limits, requests: Some(requests), closed, thread, lost: OnceCell::new() })
    }

    /// Has the thread ask the environment, and waits for the answer.
    fn ask<T: Send + 'static>(
        &self,
        limit: Duration,
        question: impl FnOnce(&mut dyn Environment) -> T + Send + 'static,
    ) -> Result<T, EnvError> {
        if let Some(error) = self.lost.get() {
            return Err(error.clone());
        }
        let (sender, answer) = mpsc::channel();
        let request: Request = Box::new(move |world| drop(sender.send(question(world))));
        // If the thread has ended, the request is dropped, and with it the sender of the answer.
        let _ = self.requests.as_ref().map(|requests| requests.send(request));
        receive(&answer, limit).map_err(|error| {
            self.thread.stop();
            self.lost.get_or_init(|| error).clone()
        })
    }
}

fn receive<T>(answer: &mpsc::Receiver<T>, limit: Duration) -> Result<T, EnvError> {
    answer.recv_timeout(limit).map_err(|error| match error {
        RecvTimeoutError::Timeout => EnvError::timed_out(limit),
        RecvTimeoutError::Disconnected => EnvError::Died { what: "its program panicked".to_owned() },
    })
}

impl Environment for GuardedWorld {
    fn info(&self) -> EnvInfo {
        EnvInfo { snapshots: false, ..self.info }
    }

    fn set_trial(&mut self, trial: TrialInfo) {
        // If the environment is lost, its reset says so.
        let _ = self.ask(self.limits.open, |world| world.set_trial(trial));
    }

    fn reset(&mut self) -> Result<StepResult, EnvError> {
        self.ask(self.limits.open, |world| world.reset())?
    }

    fn step(&mut self, action: &str) -> Result<StepResult, EnvError> {
        let action = action.to_owned();
        self.ask(self.limits.step, move |world| world.step(&action))?
    }

    fn admissible(&mut self) -> Result<Vec<String>, EnvError> {
        let (actions, info) = self.ask(self.limits.list, |world| (world.admissible(), world.info()))?;
        // Listing may show what listing costs.
        self.info = info;
        actions
    }

    fn hint(&mut self) -> Result<Option<String>, EnvError> {
        self.ask(self.limits.list, |world| world.hint())?
    }

    fn world_summary(&self) -> Value {
        let summary = self.ask(self.limits.list, |world| world.world_summary());
        summary.unwrap_or_else(|_| Value::Object(serde_json::Map::new()))
    }
}

impl Drop for GuardedWorld {
    fn drop(&mut self) {
        self.requests = None;
        // A lost environment has been stopped already.
        if self.lost.get().is_none()
            && self.closed.recv_timeout(CLOSE_LIMIT) == Err(RecvTimeoutError::Disconnected)
        {
            self.thread.release();
        }
    }
}
