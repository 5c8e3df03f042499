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
    targets: Vec<Target>,
    /// What the last target that has ended had printed.
    last_text: Option<String>,
}

struct Target {
    id: u64,
    stop: Box<dyn Fn() + Send>,
    /// Returns what it has printed.
    printed_text: Option<Box<dyn Fn() -> String + Send>>,
}

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
        for target in &targets.targets {
            (target.stop)();
        }
    }

    /// Returns what the programs have printed that the environments have started, or what the last one had printed. `None` if
    /// none has been started. It doesn't wait, also if an environment doesn't answer.
    pub fn printed_text(&self) -> Option<String> {
        let targets = self.lock();
        let texts: Vec<String> =
            targets.targets.iter().filter_map(|t| Some(t.printed_text.as_ref()?())).collect();
        if texts.is_empty() { targets.last_text.clone() } else { Some(texts.join("\n")) }
    }

    /// Sets what is returned until a program is started: the text of the handle before this one.
    pub fn set_last_text(&self, text: Option<String>) {
        self.lock().last_text = text;
    }

    /// Returns whether [`StopHandle::stop`] has been called, so that nothing should be started any more.
    pub fn is_stopped(&self) -> bool {
        self.lock().is_stopped
    }

    /// Registers what [`StopHandle::stop`] calls, on the thread that calls that. The function must return at once and must
    /// not use the handle.
    #[must_use = "the function is called only while it is registered"]
    pub fn register(&self, stop: impl Fn() + Send + 'static) -> StopRegistration {
        self.add(Box::new(stop), None)
    }

    /// The same for a program that prints something. `printed_text` must return at once, too.
    #[must_use = "the functions are called only while they are registered"]
    pub fn register_program(
        &self,
        stop: impl Fn() + Send + 'static,
        printed_text: impl Fn() -> String + Send + 'static,
    ) -> StopRegistration {
        self.add(Box::new(stop), Some(Box::new(printed_text)))
    }

    fn add(
        &self,
        stop: Box<dyn Fn() + Send>,
        printed_text: Option<Box<dyn Fn() -> String + Send>>,
    ) -> StopRegistration {
        let mut targets = self.lock();
        if targets.is_stopped {
            stop();
        }
        targets.last_id += 1;
        let id = targets.last_id;
        targets.targets.push(Target { id, stop, printed_text });
        StopRegistration { handle: self.clone(), id }
    }

    fn lock(&self) -> MutexGuard<'_, Targets> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for StopRegistration {
    fn drop(&mut self) {
        let mut targets = self.handle.lock();
        let Some(index) = targets.targets.iter().position(|target| target.id == self.id) else { return };
        if let Some(printed_text) = targets.targets.swap_remove(index).printed_text {
            targets.last_text = Some(printed_text());
        }
    }
}
