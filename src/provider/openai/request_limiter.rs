//! Limits the requests that a server gets at once. There is no limit until the server interrupts a reply because
//! another request arrived, or is recognized as one that does so. Then it gets one request at a time, across all its
//! models.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use tokio::sync::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// After this many replies that were interrupted beside another request, each sent after the previous interruption was
/// noticed, the server is assumed to handle only one request at a time. A single one may be a lost connection.
const INTERRUPTIONS_TO_LIMIT: u32 = 2;

/// Admits requests to one server. Requests share the lock. If the server handles only one at a time, each request holds
/// the lock exclusively, and so also waits for requests that were sent before this was known.
#[derive(Debug, Default)]
pub(super) struct RequestLimiter {
    lock: RwLock<()>,
    /// Number of requests admitted so far.
    admitted: AtomicU64,
    /// Number of requests that have ended, with a reply or without.
    finished: AtomicU64,
    one_at_a_time: AtomicBool,
    has_announced: AtomicBool,
    /// Held by the only request to a server while it is unknown whether it handles concurrent requests.
    probe: Mutex<()>,
    /// Whether the server handles concurrent requests is known, or as good as known.
    decided: AtomicBool,
    /// The server may be one that does not handle them.
    suspect: AtomicBool,
    /// Number of replies interrupted beside another request.
    interruptions: AtomicU32,
    /// Number of requests admitted when the last interruption was noticed.
    admitted_when_noticed: AtomicU64,
}

/// Held by the only request to a server while it is unknown whether the server handles concurrent requests. Other
/// requests wait until it is dropped.
pub(super) struct Probe<'a> {
    /// The probe had to wait for another request.
    pub(super) waited: bool,
    _guard: MutexGuard<'a, ()>,
}

/// An admitted request.
pub(super) struct RequestPermit<'a> {
    limiter: &'a RequestLimiter,
    /// Another request was in flight when this one was admitted.
    has_joined_another: bool,
    /// Number of requests admitted up to and including this one.
    number: u64,
    _guard: LockGuard<'a>,
}

/// The lock guard of a request in flight.
enum LockGuard<'a> {
    Shared { _lock: RwLockReadGuard<'a, ()> },
    Exclusive { _lock: RwLockWriteGuard<'a, ()> },
}

impl RequestLimiter {
    /// Waits until the server may get another request. With `alone`, it is the only one in flight in any case.
    pub(super) async fn acquire(&self, alone: bool) -> RequestPermit<'_> {
        let guard = if alone || self.one_at_a_time.load(Ordering::Relaxed) {
            LockGuard::Exclusive { _lock: self.lock.write().await }
        } else {
            LockGuard::Shared { _lock: self.lock.read().await }
        };
        let before = self.admitted.fetch_add(1, Ordering::Relaxed);
        let has_joined_another = before > self.finished.load(Ordering::Relaxed);
        RequestPermit { limiter: self, has_joined_another, number: before + 1, _guard: guard }
    }

    /// Waits until it is known whether the server handles concurrent requests, or until this request may find out.
    /// Returns `None` if it is known.
    pub(super) async fn probe(&self) -> Option<Probe<'_>> {
        let known = || self.decided.load(Ordering::Relaxed) || self.one_at_a_time.load(Ordering::Relaxed);
        if known() {
            return None;
        }
        let (waited, guard) = match self.probe.try_lock() {
            Ok(guard) => (false, guard),
            Err(_) => (true, self.probe.lock().await),
        };
        (!known()).then_some(Probe { waited, _guard: guard })
    }

    /// Records that whether the server handles concurrent requests is known as well as it can be.
    pub(super) fn decide(&self) {
        self.decided.store(true, Ordering::Relaxed);
    }

    /// Records that the server may be one that handles only one request at a time.
    pub(super) fn suspect_single(&self) {
        self.suspect.store(true, Ordering::Relaxed);
    }

    /// Returns whether the server may handle only one request at a time.
    pub(super) fn is_suspect(&self) -> bool {
        self.suspect.load(Ordering::Relaxed)
    }

    /// Records that request `number` was interrupted beside another one and succeeded alone.
    pub(super) fn count_interruption(&self, number: u64) {
        // Requests in flight at the last interruption may have been interrupted for the same reason.
        if number <= self.admitted_when_noticed.load(Ordering::Relaxed) {
            return;
        }
        self.admitted_when_noticed.store(self.admitted.load(Ordering::Relaxed), Ordering::Relaxed);
        if self.interruptions.fetch_add(1, Ordering::Relaxed) + 1 >= INTERRUPTIONS_TO_LIMIT {
            self.set_one_at_a_time(true);
        }
    }

    /// Limits the server to one request at a time, or lifts that limit.
    pub(super) fn set_one_at_a_time(&self, one: bool) {
        self.one_at_a_time.store(one, Ordering::Relaxed);
    }

    /// Returns true once after the server was limited to one request at a time, so that the person is notified.
    pub(super) fn should_announce(&self) -> bool {
        self.one_at_a_time.load(Ordering::Relaxed) && !self.has_announced.swap(true, Ordering::Relaxed)
    }
}

impl RequestPermit<'_> {
    /// Returns the number of the request, counting all that this program sent to the server.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Returns whether the server had another request at any time since this one was admitted.
    pub(super) fn was_shared(&self) -> bool {
        self.has_joined_another || self.limiter.admitted.load(Ordering::Relaxed) > self.number
    }
}

impl Drop for RequestPermit<'_> {
    fn drop(&mut self) {
        self.limiter.finished.fetch_add(1, Ordering::Relaxed);
    }
}
