//! What the computation of a job may use besides the job's inputs.

use super::{JobProgress, JobServices};
use rpds::HashTrieMapSync;
use std::sync::Arc;

/// What the computation of a job may use besides its inputs: its progress, texts and services. It adds nothing that the
/// result could depend on: inputs name a text by the hash of its content, and a service only saves time.
#[derive(Clone, Debug, Default)]
pub struct JobContext {
    /// How much is done; shown on the screen.
    pub progress: Arc<JobProgress>,
    /// The texts of the session (`text_defined`) when the computation starts, by hash.
    pub texts: HashTrieMapSync<String, Arc<str>>,
    /// What has been opened for the jobs of this run.
    pub services: Arc<JobServices>,
}

impl JobContext {
    /// Reports that `done` of `all` parts are done.
    ///
    /// # Errors
    /// Returns a message if the job was cancelled.
    pub fn report(&self, done: u64, all: u64) -> Result<(), String> {
        self.progress.report(done, all)
    }

    /// The same, and says in a few words what is being done, such as `vector 3 of 10`.
    ///
    /// # Errors
    /// Returns a message if the job was cancelled.
    pub fn report_stage(&self, done: u64, all: u64, stage: String) -> Result<(), String> {
        self.progress.report_stage(done, all, stage)
    }

    /// Returns the text with this hash, or `None` if the session doesn't contain it.
    pub fn text(&self, hash: &str) -> Option<Arc<str>> {
        self.texts.get(hash).cloned()
    }

    /// Returns what an earlier job has opened under this name, or opens it. Later jobs of the program share it, so the
    /// name must say everything that its content depends on (such as the path of a model). If another job is opening it,
    /// waits for that one. If opening fails or panics, the next job tries again. What takes long must report its progress to
    /// this context, so that it can be cancelled. `open` must not ask for the same name.
    ///
    /// # Errors
    /// Returns a message if opening fails, if the job is cancelled while another one is opening it, or if it was opened
    /// with another type.
    pub fn service<T: Send + Sync + 'static>(
        &self,
        name: &str,
        open: impl FnOnce() -> Result<T, String>,
    ) -> Result<Arc<T>, String> {
        self.services.get_or_open(name, &self.progress, open)
    }
}
