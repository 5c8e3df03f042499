//! Processes that are slow to start are kept between episodes.

use super::running_child::{ChildCommand, RunningChild};
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

    /// Takes a process of this command. Ends those that have died while they waited.
    pub(super) fn take(&self, command: &ChildCommand) -> Option<RunningChild> {
        loop {
            // The lock isn't held while a process is ended.
            let child = {
                let mut children = self.lock();
                let index = children.iter().rposition(|child| child.command == *command)?;
                children.swap_remove(index)
            };
            if child.is_healthy() {
                return Some(child);
            }
            child.end();
        }
    }

    /// Keeps a process for another episode. If there are enough, returns one: of another command, or else this one.
    pub(super) fn put_back(&self, child: RunningChild) -> Option<RunningChild> {
        let mut children = self.lock();
        if children.len() < self.max {
            children.push(child);
            return None;
        }
        match children.iter_mut().find(|other| other.command != child.command) {
            Some(other) => Some(std::mem::replace(other, child)),
            None => Some(child),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<RunningChild>> {
        self.children.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
