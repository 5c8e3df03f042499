//! Measures how long a call takes, excluding the time it waits in our own queue for the server.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The timer of one call.
#[derive(Debug)]
pub(super) struct CallTimer {
    began: Instant,
    queued: Mutex<Queued>,
}

#[derive(Debug, Default)]
struct Queued {
    /// Total duration of the finished waits.
    total: Duration,
    /// Start of the current wait.
    since: Option<Instant>,
}

impl CallTimer {
    /// Starts the timer.
    pub(super) fn start() -> Self {
        Self { began: Instant::now(), queued: Mutex::default() }
    }

    /// Awaits `wait` without counting its duration.
    pub(super) async fn await_uncounted<T>(&self, wait: impl Future<Output = T>) -> T {
        self.lock().since = Some(Instant::now());
        let value = wait.await;
        let mut queued = self.lock();
        if let Some(since) = queued.since.take() {
            queued.total = queued.total.saturating_add(since.elapsed());
        }
        value
    }

    /// Returns when the call will have run for `total`, not counting waits. Each wait postpones the deadline, so call
    /// this again after one. Returns `None` if the time is too far in the future to represent.
    pub(super) fn deadline(&self, total: Duration) -> Option<Instant> {
        let queued = self.lock();
        let current_wait = queued.since.map_or(Duration::ZERO, |since| since.elapsed());
        self.began.checked_add(total)?.checked_add(queued.total.saturating_add(current_wait))
    }

    fn lock(&self) -> MutexGuard<'_, Queued> {
        self.queued.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
