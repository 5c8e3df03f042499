//! The requests that an environment has not answered yet.

use super::past_query::PastHint;
use crate::domain::CallId;
use crate::env::TimeLimits;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A request with the time that its answer may take.
pub(super) struct TimedRequest {
    pub(super) request: PendingRequest,
    /// How long the answer, or the next sign of progress, may take.
    pub(super) deadline: Duration,
    /// The deadlines of the request's environment.
    pub(super) limits: TimeLimits,
}

/// A request whose answer is pending.
pub(super) enum PendingRequest {
    /// A call of the engine.
    Call(CallId),
    /// A rebuild with this number.
    Rebuild(u64),
    /// A list for a person. Dropping the sender answers with an empty list.
    ListForPerson(oneshot::Sender<Vec<String>>),
    /// A hint for a person. Dropping the sender answers that there is no answer.
    HintForPerson(oneshot::Sender<PastHint>),
    /// A barrier. Dropping the sender answers it.
    Barrier(oneshot::Sender<()>),
    /// A request of an abandoned branch; its answer is ignored.
    Stale,
    /// A lookahead, by its number.
    Lookahead(u64),
}

/// The pending requests of the current environment.
#[derive(Default)]
pub(super) struct PendingRequests {
    /// In the order in which they are handled.
    pub(super) queue: VecDeque<TimedRequest>,
    /// The number of the current environment: how many were abandoned before it.
    pub(super) worker_number: u64,
    /// The timer of the first pending request. Messages of timers with another number are ignored.
    pub(super) timeout: Option<JoinHandle<()>>,
    pub(super) timeout_number: u64,
    /// The number of rebuilds requested so far.
    pub(super) last_rebuild: u64,
    pub(super) is_rebuilding: bool,
    /// Whether the episode's environment was dropped after an error, or the last rebuild left no usable one.
    pub(super) has_lost_world: bool,
}

impl PendingRequests {
    /// Stops the timer.
    pub(super) fn stop_timeout(&mut self) {
        self.timeout_number += 1;
        if let Some(timeout) = self.timeout.take() {
            timeout.abort();
        }
    }

    /// Begins a new epoch. Pending answers are still awaited, because the environment handles requests in order, but
    /// they are ignored.
    pub(super) fn begin_epoch(&mut self) {
        for pending in &mut self.queue {
            pending.request = PendingRequest::Stale;
        }
        (self.is_rebuilding, self.has_lost_world) = (false, false);
    }
}
