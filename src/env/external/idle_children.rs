//! Processes that are slow to start are kept between episodes.

use super::running_child::RunningChild;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Processes that wait for their next episode. A task source has them in a `static`; they end with the program.
pub struct IdleChildren {
    children: Mutex<Vec<RunningChild>>,
    max: usize,
}

impl IdleChildren {
    /// Keeps at most this many processes.
    pub const fn new(max: usize) -> Self {
        Self { children: Mutex::new(Vec::new()), max }
    }

    /// Takes a process. Ends those that have died while they waited.
    pub(super) fn take(&self) -> Option<RunningChild> {
        loop {
            // The lock isn't held while a process is ended.
            let child = self.lock().pop()?;
            if child.is_healthy() {
                return Some(child);
            }
            child.end();
        }
    }

    /// Keeps a process for another episode. Returns it if there are enough.
    pub(super) fn put_back(&self, child: RunningChild) -> Option<RunningChild> {
        let mut children = self.lock();
        if children.len() >= self.max {
            return Some(child);
        }
        children.push(child);
        None
    }

    fn lock(&self) -> MutexGuard<'_, Vec<RunningChild>> {
        self.children.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
