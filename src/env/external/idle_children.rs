//! Processes that are slow to start are kept between episodes.

use super::running_child::{ChildCommand, RunningChild};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a process waits for its next episode before it is ended.
const MAX_IDLE: Duration = Duration::from_secs(60);

/// Processes that wait for their next episode. A task source has them in a `static`. They end after a minute, or with the
/// program.
pub struct IdleChildren {
    idle: Mutex<Idle>,
    changed: Condvar,
    max: usize,
    max_idle: Duration,
}

struct Idle {
    /// Each with the time at which it is ended.
    children: Vec<(RunningChild, Instant)>,
    /// Whether a thread waits for these times.
    is_watched: bool,
}

impl IdleChildren {
    /// Keeps at most this many processes.
    pub const fn new(max: usize) -> Self {
        Self::with_max_idle(max, MAX_IDLE)
    }

    /// Keeps at most this many processes, each for this time.
    pub(super) const fn with_max_idle(max: usize, max_idle: Duration) -> Self {
        let idle = Idle { children: Vec::new(), is_watched: false };
        Self { idle: Mutex::new(idle), changed: Condvar::new(), max, max_idle }
    }

    /// Takes a process of this command. Ends those that have died while they waited.
    pub(super) fn take(&self, command: &ChildCommand) -> Option<RunningChild> {
        loop {
            // The lock isn't held while a process is ended.
            let child = {
                let mut idle = self.lock();
                let index = idle.children.iter().rposition(|(child, _)| child.command == *command)?;
                idle.children.swap_remove(index).0
            };
            if child.is_healthy() {
                return Some(child);
            }
            child.end();
        }
    }

    /// Keeps a process for another episode. If there are enough, returns one: of another command, or else this one.
    pub(super) fn put_back(&'static self, child: RunningChild) -> Option<RunningChild> {
        let mut idle = self.lock();
        let end = Instant::now() + self.max_idle;
        let superfluous = if idle.children.len() < self.max {
            idle.children.push((child, end));
            None
        } else {
            match idle.children.iter_mut().find(|(other, _)| other.command != child.command) {
                Some(other) => Some(std::mem::replace(other, (child, end)).0),
                None => Some(child),
            }
        };
        if !idle.is_watched {
            let watch = thread::Builder::new().name("idle-children".to_owned());
            // Without a thread they wait until the program ends.
            idle.is_watched = watch.spawn(|| self.end_expired()).is_ok();
        }
        superfluous
    }

    /// Ends all of them, in order: each gets its last request and may end by itself.
    pub fn end_all(&self) {
        let children = std::mem::take(&mut self.lock().children);
        for (child, _) in children {
            child.end();
        }
        self.changed.notify_all();
    }

    /// Ends the processes that have waited too long, until there are none.
    fn end_expired(&self) {
        let mut idle = self.lock();
        while let Some(next) = idle.children.iter().map(|(_, end)| *end).min() {
            let left = next.saturating_duration_since(Instant::now());
            if !left.is_zero() {
                let waited = self.changed.wait_timeout(idle, left);
                idle = waited.unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            let index = idle.children.iter().position(|(_, end)| *end == next);
            let expired = index.map(|index| idle.children.swap_remove(index).0);
            drop(idle);
            expired.into_iter().for_each(RunningChild::end);
            idle = self.lock();
        }
        idle.is_watched = false;
    }

    fn lock(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
