//! Work that a method has computed beside the run.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

/// Work of a method that takes too long for a pure function, such as fitting a model to all earlier rewards. The inputs
/// hold everything the result depends on, including seeds and versions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// The name under which the method's entry lists it.
    pub name: String,
    pub inputs: Value,
}

/// The progress of a job on its thread, which can be cancelled.
#[derive(Debug, Default)]
pub struct JobProgress {
    percent: AtomicU8,
    stage: Mutex<String>,
    is_cancelled: AtomicBool,
}

impl JobProgress {
    /// Reports that `done` of `all` parts are done.
    ///
    /// # Errors
    /// Returns a message if the job was cancelled.
    pub fn report(&self, done: u64, all: u64) -> Result<(), String> {
        let percent = done.saturating_mul(100).checked_div(all).unwrap_or(100).min(100);
        self.percent.store(percent as u8, Ordering::Relaxed);
        if self.is_cancelled() { Err("cancelled".to_owned()) } else { Ok(()) }
    }

    /// The same, and says in a few words what is being done, such as `vector 3 of 10`.
    ///
    /// # Errors
    /// Returns a message if the job was cancelled.
    pub fn report_stage(&self, done: u64, all: u64, stage: String) -> Result<(), String> {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage;
        self.report(done, all)
    }

    /// Returns what is being done; empty if the job doesn't say.
    pub fn stage(&self) -> String {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns how much is done, in percent.
    pub fn percent(&self) -> u8 {
        self.percent.load(Ordering::Relaxed)
    }

    /// Makes the next report fail.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Returns whether the job was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }
}
