//! How the driver ends what an abandoned environment has started.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

thread_local! {
    static CURRENT: RefCell<Option<StopHandle>> = const { RefCell::new(None) };
}

/// Ends what the environments of one thread have started (child processes), from any other thread.
///
/// A thread that blocks in an environment can't be ended, and the environment may not even have been opened yet. So
/// whoever starts the thread installs a handle on it first, and what the environments start there is registered with it.
#[derive(Clone, Default)]
pub struct StopHandle(Arc<Mutex<Targets>>);

#[derive(Default)]
struct Targets {
    is_stopped: bool,
    last_id: u64,
    /// By id.
    stop_functions: Vec<(u64, StopFunction)>,
}

type StopFunction = Box<dyn Fn() + Send>;

/// Keeps a function registered with a [`StopHandle`] until it is dropped; it isn't called after that.
pub struct StopRegistration {
    handle: StopHandle,
    id: u64,
}

impl StopHandle {
    /// Makes this the handle of the current thread, as long as the thread runs.
    pub fn install(&self) {
        CURRENT.set(Some(self.clone()));
    }

    /// Returns the handle of the current thread, if it has one.
    pub fn current() -> Option<Self> {
        CURRENT.with_borrow(Clone::clone)
    }

    /// Calls every registered function, and from now on each one that is registered later. Doesn't wait for what they
    /// end.
    pub fn stop(&self) {
        let mut targets = self.lock();
        targets.is_stopped = true;
        for (_, stop) in &targets.stop_functions {
            stop();
        }
    }

    /// Returns whether [`StopHandle::stop`] has been called, so that nothing should be started any more.
    pub fn is_stopped(&self) -> bool {
        self.lock().is_stopped
    }

    /// Registers what [`StopHandle::stop`] calls, on the thread that calls that. The function must return at once and must
    /// not use the handle.
    #[must_use = "the function is called only while it is registered"]
    pub fn register(&self, stop: impl Fn() + Send + 'static) -> StopRegistration {
        let mut targets = self.lock();
        if targets.is_stopped {
            stop();
        }
        targets.last_id += 1;
        let id = targets.last_id;
        targets.stop_functions.push((id, Box::new(stop)));
        StopRegistration { handle: self.clone(), id }
    }

    fn lock(&self) -> MutexGuard<'_, Targets> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for StopRegistration {
    fn drop(&mut self) {
        self.handle.lock().stop_functions.retain(|(id, _)| *id != self.id);
    }
}
