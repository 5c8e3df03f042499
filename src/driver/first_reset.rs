//! Tries a task before its session is created.

use super::RunConfig;
use super::guarded_world::GuardedWorld;
use crate::domain::Task;
use crate::env::{EnvError, Environment as _};

impl RunConfig {
    /// Opens the environment of a task, resets it and closes it again, so that the run doesn't start a second process
    /// meanwhile. Each takes no longer than the deadline after which the driver would abandon the environment.
    ///
    /// # Errors
    /// Returns the environment's error, or [`EnvError::TimedOut`] after the deadline.
    pub fn try_reset(&self, task: &Task) -> Result<(), EnvError> {
        let (open_world, opened_task) = (self.open_world.clone(), task.clone());
        GuardedWorld::open((self.answer_deadlines)(task), move || open_world(&opened_task))?.reset().map(drop)
    }
}
