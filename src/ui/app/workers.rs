//! The work that runs on threads of its own beside the event loop: of each kind, at most one piece whose answer is awaited,
//! unless it writes files. Cancelled pieces may still be ending, until they report the next time.

use crate::driver::lower_thread_priority;
use crate::ui::msg::Answer;
use crate::ui::types::{WorkKind, WorkProgress, WorkStatus};
use futures_util::FutureExt as _;
use std::panic::AssertUnwindSafe;
use std::thread::JoinHandle;
use std::time::Instant;
use tokio::sync::mpsc;

/// The running work and its answers, without what was cancelled. Dropping it cancels all work, and waits for what writes files.
pub(super) struct Workers {
    // Dropped before `running`: then nobody that is waited for waits to send.
    messages: mpsc::Receiver<Message>,
    sender: mpsc::Sender<Message>,
    running: Vec<RunningWork>,
    last_id: u64,
}

/// What a worker thread sends.
struct Message {
    /// The work that it belongs to.
    id: u64,
    /// `None` if the work was cancelled or panicked.
    answer: Option<Answer>,
    is_last: bool,
}

/// Work on another thread, or a task. Dropping it cancels it and drops its answers.
struct RunningWork {
    id: u64,
    kind: WorkKind,
    since: Instant,
    progress: WorkProgress,
    /// `None` for a task, and once newer work waits for the thread.
    thread: Option<JoinHandle<()>>,
}

/// What the function of a piece of work gets.
pub(super) struct Worker {
    pub(super) progress: WorkProgress,
    id: u64,
    sender: mpsc::Sender<Message>,
}

/// Sends a worker's last message when it is dropped, even if the worker panics.
struct LastMessage {
    id: u64,
    answer: Option<Answer>,
    sender: mpsc::Sender<Message>,
}

impl Default for Workers {
    fn default() -> Self {
        let (sender, messages) = mpsc::channel(4);
        Self { messages, sender, running: Vec::new(), last_id: 0 }
    }
}

impl Drop for RunningWork {
    fn drop(&mut self) {
        self.progress.cancel();
        if let Some(thread) = self.thread.take().filter(|_| self.kind.writes_files()) {
            // A panic of the thread has been reported by then.
            let _ = thread.join();
        }
    }
}

impl Drop for LastMessage {
    fn drop(&mut self) {
        // The message is dropped if the screen has closed.
        let message = Message { id: self.id, answer: self.answer.take(), is_last: true };
        let _ = self.sender.blocking_send(message);
    }
}

impl Worker {
    /// Sends an answer before the last one.
    pub(super) fn send(&self, answer: Answer) {
        // The answer is dropped if the screen has closed.
        let _ = self.sender.blocking_send(Message { id: self.id, answer: Some(answer), is_last: false });
    }
}

impl Workers {
    /// Starts work on a thread of its own; `since` is when a person began to wait for it. Older work of the kind is
    /// cancelled, or finished first if it writes files.
    ///
    /// # Errors
    /// Returns a message if no thread can be started.
    pub(super) fn start<T: Into<Option<Answer>>>(
        &mut self,
        kind: WorkKind,
        since: Instant,
        work: impl FnOnce(&Worker) -> T + Send + 'static,
    ) -> Result<(), String> {
        let previous = if kind.writes_files() {
            self.running.iter_mut().filter(|running| running.kind == kind).find_map(|r| r.thread.take())
        } else {
            self.cancel(kind);
            None
        };
        let worker = self.new_worker();
        let (id, progress, sender) = (worker.id, worker.progress.clone(), worker.sender.clone());
        let run = move || {
            let mut last = LastMessage { id, answer: None, sender };
            if kind.is_long() {
                lower_thread_priority();
            }
            if let Some(previous) = previous {
                // A panic of the thread has been reported by then.
                let _ = previous.join();
            }
            last.answer = work(&worker).into();
        };
        let spawned = std::thread::Builder::new().name(kind.name().to_owned()).spawn(run);
        let thread = spawned.map_err(|why| format!("starting the thread `{}` failed: {why}", kind.name()))?;
        self.running.push(RunningWork { id, kind, since, progress, thread: Some(thread) });
        Ok(())
    }

    /// Starts work that only waits for somebody else, as a task. Older work of the kind is cancelled.
    pub(super) fn start_task<F: Future<Output = Answer> + Send + 'static>(
        &mut self,
        kind: WorkKind,
        since: Instant,
        work: impl FnOnce(WorkProgress) -> F,
    ) {
        self.cancel(kind);
        let Worker { progress, id, sender } = self.new_worker();
        self.running.push(RunningWork { id, kind, since, progress: progress.clone(), thread: None });
        let work = work(progress.clone());
        tokio::spawn(async move {
            let answer = tokio::select! {
                biased;
                () = progress.cancelled() => None,
                answer = AssertUnwindSafe(work).catch_unwind() => answer.ok(),
            };
            // The message is dropped if the screen has closed.
            let _ = sender.send(Message { id, answer, is_last: true }).await;
        });
    }

    fn new_worker(&mut self) -> Worker {
        self.last_id += 1;
        Worker { progress: WorkProgress::default(), id: self.last_id, sender: self.sender.clone() }
    }

    /// Waits for the next answer of work that has not been cancelled.
    pub(super) async fn next_answer(&mut self) -> Option<Answer> {
        loop {
            let message = self.messages.recv().await?;
            let Some(at) = self.running.iter().position(|running| running.id == message.id) else { continue };
            let (kind, is_cancelled) = (self.running[at].kind, self.running[at].progress.is_cancelled());
            if message.is_last {
                self.running.remove(at);
            }
            if message.answer.is_some() {
                return message.answer;
            }
            if !is_cancelled {
                return Some(Answer::WorkCrashed(kind));
            }
        }
    }

    /// Returns whether work of a kind is running.
    pub(super) fn is_running(&self, kind: WorkKind) -> bool {
        self.running.iter().any(|running| running.kind == kind)
    }

    /// Cancels work of a kind and drops its answers.
    pub(super) fn cancel(&mut self, kind: WorkKind) {
        self.running.retain(|running| running.kind != kind);
    }

    /// Cancels work that isn't awaited any more.
    pub(super) fn cancel_unless(&mut self, is_awaited: impl Fn(WorkKind) -> bool) {
        self.running.retain(|running| is_awaited(running.kind));
    }

    /// Cancels work of a kind, whose answer says so.
    pub(super) fn ask_to_cancel(&self, kind: WorkKind) {
        self.running.iter().filter(|running| running.kind == kind).for_each(|r| r.progress.cancel());
    }

    /// Returns what is running.
    pub(super) fn statuses(&self) -> Vec<WorkStatus> {
        let status = |running: &RunningWork| WorkStatus {
            kind: running.kind,
            since: running.since,
            percent: running.progress.percent(),
            is_cancelled: running.progress.is_cancelled(),
        };
        self.running.iter().map(status).collect()
    }
}

#[cfg(test)]
mod tests;
