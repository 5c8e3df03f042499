//! How many requests a server gets at once: any number, until it was seen to break off a reply because another request arrived.
//! Then it gets one at a time, whichever of its models is asked.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Admits requests to one server. Requests share the lock; a server that takes one at a time gets it exclusively, so that the
/// next request also waits for those that were sent before this was known.
#[derive(Debug, Default)]
pub(super) struct Gate {
    lock: RwLock<()>,
    /// Requests admitted so far.
    admitted: AtomicU64,
    /// Requests that have been answered or given up.
    left: AtomicU64,
    one_at_a_time: AtomicBool,
    announced: AtomicBool,
}

/// A request that the server is answering.
pub(super) struct Admission<'a> {
    gate: &'a Gate,
    /// Another request was being answered already.
    joined: bool,
    /// How many requests had been admitted, this one included.
    number: u64,
    _guard: Guard<'a>,
}

/// What is held while a request is being answered.
enum Guard<'a> {
    Shared { _lock: RwLockReadGuard<'a, ()> },
    Exclusive { _lock: RwLockWriteGuard<'a, ()> },
}

impl Gate {
    /// Waits until the server may get another request; with `alone` it is the only one, whatever the server was seen to do.
    pub(super) async fn admit(&self, alone: bool) -> Admission<'_> {
        let guard = if alone || self.one_at_a_time.load(Ordering::Relaxed) {
            Guard::Exclusive { _lock: self.lock.write().await }
        } else {
            Guard::Shared { _lock: self.lock.read().await }
        };
        let before = self.admitted.fetch_add(1, Ordering::Relaxed);
        let joined = before > self.left.load(Ordering::Relaxed);
        Admission { gate: self, joined, number: before + 1, _guard: guard }
    }

    /// One request at a time from now on, or any number again.
    pub(super) fn set_one_at_a_time(&self, one: bool) {
        self.one_at_a_time.store(one, Ordering::Relaxed);
    }

    /// The server gets one request at a time, and nobody was told so yet.
    pub(super) fn announce(&self) -> bool {
        self.one_at_a_time.load(Ordering::Relaxed) && !self.announced.swap(true, Ordering::Relaxed)
    }
}

impl Admission<'_> {
    /// The server had another request at some time since this one was admitted.
    pub(super) fn was_shared(&self) -> bool {
        self.joined || self.gate.admitted.load(Ordering::Relaxed) > self.number
    }
}

impl Drop for Admission<'_> {
    fn drop(&mut self) {
        self.gate.left.fetch_add(1, Ordering::Relaxed);
    }
}
