//! Answers a person's questions about a point of the episode, past or present, using a separate environment on a separate thread:
//! what it would accept there, or a hint towards the goal. The run continues, and its environment is neither changed nor kept
//! waiting. The deadlines are those of the run's environment, and one query is answered at a time. One that nobody waits
//! for stops at its next report, its processes can be used again, and the next query waits for that. If an environment exceeds its deadline, or the
//! driver ends, the processes it has started are killed.

use super::snapshot_cache::{RebuildError, RebuildPlan, SnapshotCache};
use super::world_thread::WorldThread;
use super::{AnswerDeadlines, OpenWorld, worlds};
use crate::domain::Seq;
use crate::engine::{Reply, State};
use crate::env::{EnvError, Environment};
use crate::timeline::{ReportProgress, stage_progress};
use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// How long a query waits for the end of one that nobody waits for any more, so that no two environments are open for queries:
/// longer than a simulator takes to start. A test doesn't wait so long for one that hangs.
const ABANDONED_WAIT: Duration = Duration::from_secs(if cfg!(test) { 2 } else { 15 });

/// The actions in the environment's own order, or why they are not available.
pub type PastAdmissible = Result<Vec<String>, String>;

/// Loads the past state, and reports its progress. Folding it takes a while.
type LoadState = Box<dyn FnOnce(&ReportProgress<'_>) -> Result<Arc<State>, String> + Send>;

/// A hint towards the goal at a point, if the environment has one there, or why it is not available.
pub type PastHint = Result<Option<String>, String>;

/// A point of the episode about which something is asked.
pub struct PastQuery {
    /// The event after which the answer holds.
    pub seq: Seq,
    pub load_state: LoadState,
    /// Receives the progress of loading and replaying; its error stops the query.
    pub report: Box<dyn Fn(u64, u64) -> Result<(), String> + Send>,
}

/// What is asked about a point, and who receives the answer.
pub(super) enum PastQuestion {
    /// The actions that are admissible there.
    Actions(oneshot::Sender<PastAdmissible>),
    /// A hint towards the goal.
    Hint(oneshot::Sender<PastHint>),
}

/// What an environment has answered.
enum PastAnswer {
    Actions(Vec<String>),
    Hint(Option<String>),
}

/// Asks an environment that has been brought to the point.
type AskWorld = fn(&mut dyn Environment) -> Result<PastAnswer, EnvError>;

impl PastQuestion {
    /// Waits until nobody waits for the answer any more.
    async fn closed(&mut self) {
        match self {
            Self::Actions(reply_to) => reply_to.closed().await,
            Self::Hint(reply_to) => reply_to.closed().await,
        }
    }

    /// Returns whether nobody waits for the answer any more.
    fn is_closed(&self) -> bool {
        match self {
            Self::Actions(reply_to) => reply_to.is_closed(),
            Self::Hint(reply_to) => reply_to.is_closed(),
        }
    }

    /// Returns how an environment answers.
    fn ask(&self) -> AskWorld {
        match self {
            Self::Actions(_) => |world| world.admissible().map(PastAnswer::Actions),
            Self::Hint(_) => |world| world.hint().map(PastAnswer::Hint),
        }
    }

    /// Sends the answer. The receiver may be gone.
    fn answer(self, answer: Result<PastAnswer, String>) {
        match (self, answer) {
            (Self::Actions(reply_to), Ok(PastAnswer::Actions(actions))) => drop(reply_to.send(Ok(actions))),
            (Self::Hint(reply_to), Ok(PastAnswer::Hint(hint))) => drop(reply_to.send(Ok(hint))),
            (Self::Actions(reply_to), Err(why)) => drop(reply_to.send(Err(why))),
            (Self::Hint(reply_to), Err(why)) => drop(reply_to.send(Err(why))),
            // The environment was asked something else, which never happens.
            (Self::Actions(_) | Self::Hint(_), Ok(_)) => {}
        }
    }
}

/// The queue of past queries. One is answered at a time; of those waiting, only the newest of each kind is answered.
#[derive(Default)]
pub(super) struct PastQueries {
    requests: Option<UnboundedSender<PastRequest>>,
}

struct PastRequest {
    open_world: OpenWorld,
    deadlines: AnswerDeadlines,
    query: PastQuery,
    question: PastQuestion,
}

/// A message of the query's thread.
enum QueryMessage {
    /// Still working; the next message may take this long.
    InProgress(Duration),
    Finished(Result<PastAnswer, String>),
}

impl PastQueries {
    /// Answers when the actions before that point have been replayed, or when the environment exceeds the deadline
    /// for one answer. Runs on the driver's runtime.
    pub(super) fn submit(
        &mut self,
        open_world: OpenWorld,
        deadlines: AnswerDeadlines,
        query: PastQuery,
        question: PastQuestion,
    ) {
        let requests = self.requests.get_or_insert_with(|| {
            // Unbounded, because the driver may not wait; a person sends each request, and all but the newest of each kind are
            // dropped.
            let (requests, receiver) = unbounded_channel();
            tokio::spawn(serve_requests(receiver));
            requests
        });
        // Sending fails only if the task has ended. Then `question` is dropped, and its receiver sees that no answer
        // will come.
        let _ = requests.send(PastRequest { open_world, deadlines, query, question });
    }
}

async fn serve_requests(mut requests: UnboundedReceiver<PastRequest>) {
    let mut waiting: VecDeque<PastRequest> = VecDeque::new();
    let mut abandoned: Option<JoinHandle<Result<PastAnswer, String>>> = None;
    loop {
        if waiting.is_empty() {
            match requests.recv().await {
                Some(request) => waiting.push_back(request),
                None => return,
            }
        }
        // A newer query replaces the older ones of its kind.
        while let Ok(newer) = requests.try_recv() {
            let kind = std::mem::discriminant(&newer.question);
            waiting.retain(|request| std::mem::discriminant(&request.question) != kind);
            waiting.push_back(newer);
        }
        if let Some(ending) = abandoned.take() {
            // Its environment may be a large program, and is kept for the next query. Newer queries may arrive meanwhile.
            let _ = tokio::time::timeout(ABANDONED_WAIT, ending).await;
            continue;
        }
        let Some(request) = waiting.pop_front() else { continue };
        let PastRequest { open_world, deadlines, query, mut question } = request;
        if question.is_closed() {
            continue;
        }
        let ask = question.ask();
        let mut asking = tokio::spawn(query_world(open_world, deadlines, query, ask));
        let answer = tokio::select! {
            biased;
            // Nobody waits for the answer any more. The task goes on alone, so that the deadlines still apply.
            () = question.closed() => {
                abandoned = Some(asking);
                continue;
            }
            answer = &mut asking => answer,
        };
        question.answer(answer.unwrap_or_else(|error| Err(error.to_string())));
    }
}

/// Asks an environment on a separate thread. If a deadline expires, the thread and its environment are abandoned and
/// ignored, and the environment's processes are killed.
async fn query_world(
    open_world: OpenWorld,
    deadlines: AnswerDeadlines,
    query: PastQuery,
    ask: AskWorld,
) -> Result<PastAnswer, String> {
    // Unbounded: there is one message per replayed step, and they are read as they arrive.
    let (sender, mut receiver) = unbounded_channel();
    let answer_query = move || {
        let continue_for = |deadline| {
            // Whether anybody waits is decided by `report`.
            let _ = sender.send(QueryMessage::InProgress(deadline));
        };
        let result = panic::catch_unwind(AssertUnwindSafe(|| {
            ask_at_point(&open_world, &deadlines, query, ask, &continue_for)
        }));
        let _ = sender.send(QueryMessage::Finished(
            result.unwrap_or_else(|_| Err("the environment panicked".to_owned())),
        ));
    };
    // Dropped at a deadline, or when the driver ends.
    let mut thread = WorldThread::start("past-world", answer_query)
        .map_err(|error| format!("no thread for another environment could be started: {error}"))?;
    let mut deadline = worlds::DEFAULT_DEADLINE;
    loop {
        match tokio::time::timeout(deadline, receiver.recv()).await {
            Ok(Some(QueryMessage::InProgress(next))) => deadline = next,
            Ok(Some(QueryMessage::Finished(answer))) => {
                thread.release();
                return answer;
            }
            Ok(None) => return Err("the environment of that point does not answer".to_owned()),
            Err(_) => return Err(EnvError::timed_out(deadline).to_string()),
        }
    }
}

/// `continue_for` receives how long the next part of the work may take.
fn ask_at_point(
    open: &OpenWorld,
    deadlines: &AnswerDeadlines,
    query: PastQuery,
    ask: AskWorld,
    continue_for: &dyn Fn(Duration),
) -> Result<PastAnswer, String> {
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
    let rebuilt = cache.rebuild(open, &plan, &|_| {
        continue_for(limits.step);
        report_replay(replayed.replace(replayed.get() + 1), all)
    });
    report_replay(all, all)?;
    rebuilt.map_err(|error| match error {
        RebuildError::Failed(error) => error.to_string(),
        RebuildError::Differs(difference) => {
            let position = match *difference {
                Reply::Diverged { step, .. } if step > 0 => format!("step {step}"),
                _ => "its first observation".to_owned(),
            };
            format!("the environment now answers differently from {position} on")
        }
    })?;
    // A hint may begin the task anew.
    continue_for(limits.list.max(limits.open));
    cache.query(ask).map_err(|error| error.to_string())
}
