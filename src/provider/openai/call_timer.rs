//! How long a call takes, without the time that it waits in our own queue for its turn at the server.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The clock of one call.
#[derive(Debug)]
pub(super) struct CallTimer {
    began: Instant,
    queued: Mutex<Queued>,
}

#[derive(Debug, Default)]
struct Queued {
    /// All waits that are over.
    total: Duration,
    /// Since when it waits now.
    since: Option<Instant>,
}

impl CallTimer {
    /// A call that begins now.
    pub(super) fn start() -> Self {
        Self { began: Instant::now(), queued: Mutex::default() }
    }

    /// Waits for something in our own queue; that time is not counted.
    pub(super) async fn queue<T>(&self, wait: impl Future<Output = T>) -> T {
        self.lock().since = Some(Instant::now());
        let value = wait.await;
        let mut queued = self.lock();
        if let Some(since) = queued.since.take() {
            queued.total = queued.total.saturating_add(since.elapsed());
        }
        value
    }

    /// When the call has taken this long, as far as that is known now; none where no clock reaches that far.
    pub(super) fn deadline(&self, total: Duration) -> Option<Instant> {
        let queued = self.lock();
        let now = queued.since.map_or(Duration::ZERO, |since| since.elapsed());
        self.began.checked_add(total)?.checked_add(queued.total.saturating_add(now))
    }

    fn lock(&self) -> MutexGuard<'_, Queued> {
        self.queued.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
