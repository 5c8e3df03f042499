//! The thread for a session's calls to models.

use std::cell::OnceCell;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

/// The thread on which a driver's model calls run. However fast a server sends and however long its data takes to
/// parse, the driver still handles commands, timeouts and signals. There is only one such thread, so providers that
/// don't wait for anything (rules, recordings) reply in the order of the calls, and a run with them is deterministic.
#[derive(Default)]
pub(super) struct CallThread(OnceCell<Option<Runtime>>);

impl CallThread {
    /// Starts a call; on the driver's own thread if the system refuses another one.
    pub(super) fn spawn(&self, call: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime =
            self.0.get_or_init(|| builder.worker_threads(1).thread_name("models").enable_all().build().ok());
        match runtime {
            Some(runtime) => runtime.spawn(call),
            None => tokio::spawn(call),
        }
    }
}

impl Drop for CallThread {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take().flatten() {
            // Doesn't wait for a call in progress.
            runtime.shutdown_background();
        }
    }
}
