//! Lists what the environment would accept at a past point, using a separate environment on a separate thread, so
//! that the run continues and its environment is not changed. The deadlines are those of the run's
//! environment, and one query is answered at a time. Threads of abandoned queries may still be ending: one that nobody waits
//! for stops at its next report, and its processes can be used again. If an environment exceeds its deadline, or the
//! driver ends, the processes it has started are killed.

use super::snapshot_cache::{RebuildPlan, SnapshotCache};
use super::world_thread::WorldThread;
use super::{AnswerDeadlines, OpenWorld, worlds};
use crate::domain::Seq;
use crate::engine::{Reply, State};
use crate::env::EnvError;
use crate::timeline::{ReportProgress, stage_progress};
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

/// The actions in the environment's own order, or why they are not available.
pub type PastAdmissible = Result<Vec<String>, String>;

/// Loads the past state, and reports its progress. Folding it takes a while.
type LoadState = Box<dyn FnOnce(&ReportProgress<'_>) -> Result<Arc<State>, String> + Send>;

/// A question for the actions that were admissible at a past point.
pub struct PastQuery {
    /// The event after which the actions were admissible.
    pub seq: Seq,
    pub load_state: LoadState,
    /// Receives the progress of loading and replaying; its error stops the query.
    pub report: Box<dyn Fn(u64, u64) -> Result<(), String> + Send>,
}

/// The queue of past queries. One is answered at a time; of those waiting, only the newest is answered next.
#[derive(Default)]
pub(super) struct PastQueries {
    requests: Option<UnboundedSender<PastRequest>>,
}

struct PastRequest {
    open_world: OpenWorld,
    deadlines: AnswerDeadlines,
    query: PastQuery,
    reply_sender: oneshot::Sender<PastAdmissible>,
}

/// A message of the query's thread.
enum QueryMessage {
    /// Still working; the next message may take this long.
    InProgress(Duration),
    Finished(PastAdmissible),
}

impl PastQueries {
    /// Answers when the actions before that point have been replayed, or when the environment exceeds the deadline
    /// for one answer. Runs on the driver's runtime.
    pub(super) fn submit(
        &mut self,
        open_world: OpenWorld,
        deadlines: AnswerDeadlines,
        query: PastQuery,
        reply_to: oneshot::Sender<PastAdmissible>,
    ) {
        let requests = self.requests.get_or_insert_with(|| {
            // Unbounded, because the driver may not wait; a person sends each request, and all but the newest are dropped.
            let (requests, receiver) = unbounded_channel();
            tokio::spawn(serve_requests(receiver));
            requests
        });
        // Sending fails only if the task has ended. Then `reply_to` is dropped, and its receiver sees that no answer
        // will come.
        let _ = requests.send(PastRequest { open_world, deadlines, query, reply_sender: reply_to });
    }
}

async fn serve_requests(mut requests: UnboundedReceiver<PastRequest>) {
    while let Some(mut request) = requests.recv().await {
        // A newer query replaces the older ones.
        while let Ok(newer) = requests.try_recv() {
            request = newer;
        }
        let PastRequest { open_world, deadlines, query, mut reply_sender } = request;
        let actions = tokio::select! {
            biased;
            // Nobody waits for the answer any more. The task goes on alone, so that the deadlines still apply.
            () = reply_sender.closed() => continue,
            actions = tokio::spawn(query_world(open_world, deadlines, query)) => actions,
        };
        let actions = actions.unwrap_or_else(|error| Err(error.to_string()));
        // The receiver may be gone.
        let _ = reply_sender.send(actions);
    }
}

/// Lists the actions on a separate thread. If a deadline expires, the thread and its environment are abandoned and
/// ignored, and the environment's processes are killed.
async fn query_world(open_world: OpenWorld, deadlines: AnswerDeadlines, query: PastQuery) -> PastAdmissible {
    // Unbounded: there is one message per replayed step, and they are read as they arrive.
    let (sender, mut receiver) = unbounded_channel();
    let list_actions = move || {
        let continue_for = |deadline| {
            // Whether anybody waits is decided by `report`.
            let _ = sender.send(QueryMessage::InProgress(deadline));
        };
        let result = panic::catch_unwind(AssertUnwindSafe(|| {
            list_past_actions(&open_world, &deadlines, query, &continue_for)
        }));
        let _ = sender.send(QueryMessage::Finished(
            result.unwrap_or_else(|_| Err("the environment panicked".to_owned())),
        ));
    };
    // Dropped at a deadline, or when the driver ends.
    let mut thread = WorldThread::start("past-world", list_actions)
        .map_err(|error| format!("no thread for another environment could be started: {error}"))?;
    let mut deadline = worlds::DEFAULT_DEADLINE;
    loop {
        match tokio::time::timeout(deadline, receiver.recv()).await {
            Ok(Some(QueryMessage::InProgress(next))) => deadline = next,
            Ok(Some(QueryMessage::Finished(accepted))) => {
                thread.release();
                return accepted;
            }
            Ok(None) => return Err("the environment of that point does not answer".to_owned()),
            Err(_) => return Err(EnvError::timed_out(deadline).to_string()),
        }
    }
}

/// `continue_for` receives how long the next part of the work may take.
fn list_past_actions(
    open: &OpenWorld,
    deadlines: &AnswerDeadlines,
    query: PastQuery,
    continue_for: &dyn Fn(Duration),
) -> PastAdmissible {
    let PastQuery { seq, load_state, report } = query;
    let report_loading = |done: u64, all: u64| {
        continue_for(worlds::DEFAULT_DEADLINE);
        report(done, all)
    };
    let state = load_state(&stage_progress(&report_loading, 0, 2))?;
    // If events can't be read again, it is an earlier state.
    if state.head != seq {
        return Err(format!("the events up to {seq} could not be read; run `retrospect verify`"));
    }
    let plan = RebuildPlan::of_open_episode(&state, 0).ok_or("no episode is open at that point")?;
    let limits = deadlines(&plan.task);
    let mut cache = SnapshotCache::default();
    let (report_replay, all) = (stage_progress(&report, 1, 2), plan.actions.len() as u64);
    let replayed = Cell::new(0);
    continue_for(limits.open);
    let difference = cache.rebuild(open, &plan, &|_| {
        continue_for(limits.step);
        report_replay(replayed.replace(replayed.get() + 1), all)
    });
    report_replay(all, all)?;
    if let Some(difference) = difference {
        let position = match difference {
            Reply::Diverged { step, .. } if step > 0 => format!("step {step}"),
            _ => "its first observation".to_owned(),
        };
        return Err(format!("the environment now answers differently from {position} on"));
    }
    continue_for(limits.list);
    cache.query(|world| world.admissible()).map_err(|error| error.to_string())
}
