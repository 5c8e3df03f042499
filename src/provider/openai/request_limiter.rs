//! How many requests a server gets at once: any number, until it was seen to break off a reply because another request arrived,
//! or to be a server that does so. Then it gets one at a time, whichever of its models is asked.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use tokio::sync::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// So many replies that broke off beside another request, each after the one before was noticed, show that the server takes one
/// request at a time. Once may be a connection that was lost.
const BREAKS: u32 = 2;

/// Admits requests to one server. Requests share the lock; a server that takes one at a time gets it exclusively, so that the
/// next request also waits for those that were sent before this was known.
#[derive(Debug, Default)]
pub(super) struct RequestLimiter {
    lock: RwLock<()>,
    /// Requests admitted so far.
    started: AtomicU64,
    /// Requests that have been answered or given up.
    finished: AtomicU64,
    one_at_a_time: AtomicBool,
    has_announced: AtomicBool,
    /// Held by a request to a server of which it isn't known yet whether it takes several at once.
    probe: Mutex<()>,
    /// Whether the server takes several requests at once was looked into.
    decided: AtomicBool,
    /// It may be one that doesn't.
    suspect: AtomicBool,
    /// Replies that broke off beside another request.
    breaks: AtomicU32,
    /// How many requests had been admitted when the last of them was noticed.
    noticed: AtomicU64,
}

/// The only request to a server of which it isn't known yet whether it takes several at once. The others wait until it is
/// dropped.
pub(super) struct Probe<'a> {
    /// The server had another request, which was waited for.
    pub(super) waited: bool,
    _guard: MutexGuard<'a, ()>,
}

/// A request that the server is answering.
pub(super) struct RequestPermit<'a> {
    limiter: &'a RequestLimiter,
    /// Another request was being answered already.
    has_joined_another: bool,
    /// How many requests had been admitted, this one included.
    number: u64,
    _guard: LockGuard<'a>,
}

/// What is held while a request is being answered.
enum LockGuard<'a> {
    Shared { _lock: RwLockReadGuard<'a, ()> },
    Exclusive { _lock: RwLockWriteGuard<'a, ()> },
}

impl RequestLimiter {
    /// Waits until the server may get another request; with `alone` it is the only one, whatever the server was seen to do.
    pub(super) async fn acquire(&self, alone: bool) -> RequestPermit<'_> {
        let guard = if alone || self.one_at_a_time.load(Ordering::Relaxed) {
            LockGuard::Exclusive { _lock: self.lock.write().await }
        } else {
            LockGuard::Shared { _lock: self.lock.read().await }
        };
        let before = self.started.fetch_add(1, Ordering::Relaxed);
        let joined = before > self.finished.load(Ordering::Relaxed);
        RequestPermit { limiter: self, has_joined_another: joined, number: before + 1, _guard: guard }
    }

    /// Waits until it is known whether the server takes several requests at once, or this is the request that shows it.
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

    /// It is known as well as it can be whether the server takes several requests at once.
    pub(super) fn decide(&self) {
        self.decided.store(true, Ordering::Relaxed);
    }

    /// The server may be one that takes one request at a time.
    pub(super) fn suspect(&self) {
        self.suspect.store(true, Ordering::Relaxed);
    }

    /// Whether it may be such a server.
    pub(super) fn is_suspect(&self) -> bool {
        self.suspect.load(Ordering::Relaxed)
    }

    /// Request number `number` broke off beside another one, and was answered when it was alone.
    pub(super) fn count_break(&self, number: u64) {
        // Requests that were under way when one broke off may have broken off for the same reason.
        if number <= self.noticed.load(Ordering::Relaxed) {
            return;
        }
        self.noticed.store(self.started.load(Ordering::Relaxed), Ordering::Relaxed);
        if self.breaks.fetch_add(1, Ordering::Relaxed) + 1 >= BREAKS {
            self.set_one_at_a_time(true);
        }
    }

    /// One request at a time from now on, or any number again.
    pub(super) fn set_one_at_a_time(&self, one: bool) {
        self.one_at_a_time.store(one, Ordering::Relaxed);
    }

    /// The server gets one request at a time, and nobody was told so yet.
    pub(super) fn should_announce(&self) -> bool {
        self.one_at_a_time.load(Ordering::Relaxed) && !self.has_announced.swap(true, Ordering::Relaxed)
    }
}

impl RequestPermit<'_> {
    /// Which request it is, of all that this program sent to the server.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The server had another request at some time since this one was admitted.
    pub(super) fn was_shared(&self) -> bool {
        self.has_joined_another || self.limiter.started.load(Ordering::Relaxed) > self.number
    }
}

impl Drop for RequestPermit<'_> {
    fn drop(&mut self) {
        self.limiter.finished.fetch_add(1, Ordering::Relaxed);
    }
}
