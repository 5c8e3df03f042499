//! What the world of a moment of the past would accept: asked of a world of its own on a thread of its own, so that the run
//! goes on meanwhile and its world is not moved. It has as long for one answer as the run's world has, and there is one at a time.

use super::OpenWorld;
use super::snapshot_cache::{RebuildPlan, SnapshotCache};
use crate::engine::{Reply, State};
use crate::env::EnvError;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

/// The actions, in the world's own order; or why they cannot be had, in words.
pub type PastAdmissible = Result<Vec<String>, String>;

/// Brings the state of that moment; folding it takes a while.
pub type PastQuery = Box<dyn FnOnce() -> Arc<State> + Send>;

/// Who asks for the worlds of then: one is asked at a time, and only the last of those that wait comes next.
#[derive(Default)]
pub(super) struct PastQueries {
    requests: Option<UnboundedSender<PastRequest>>,
}

struct PastRequest {
    open_world: OpenWorld,
    deadline: Duration,
    load_state: PastQuery,
    reply_sender: oneshot::Sender<PastAdmissible>,
}

/// What the thread says.
enum QueryMessage {
    /// It goes on; the clock begins anew.
    InProgress,
    Finished(PastAdmissible),
}

impl PastQueries {
    /// Answers when the actions before that moment have been taken again, or when the world takes longer than the deadline
    /// for one answer. Runs on the driver's runtime.
    pub(super) fn submit(
        &mut self,
        open: OpenWorld,
        deadline: Duration,
        then: PastQuery,
        tell: oneshot::Sender<PastAdmissible>,
    ) {
        let wishes = self.requests.get_or_insert_with(|| {
            let (wishes, asked) = unbounded_channel();
            tokio::spawn(serve_requests(asked));
            wishes
        });
        // It listens as long as there is a sender; else the asker is told nothing can be had.
        let _ = wishes.send(PastRequest { open_world: open, deadline, load_state: then, reply_sender: tell });
    }
}

async fn serve_requests(mut asked: UnboundedReceiver<PastRequest>) {
    while let Some(mut wish) = asked.recv().await {
        // Whoever asks anew does not want what was asked before.
        while let Ok(newer) = asked.try_recv() {
            wish = newer;
        }
        let PastRequest { open_world: open, deadline, load_state: then, reply_sender: tell } = wish;
        // Whoever asked may have gone.
        let _ = tell.send(query_world(open, deadline, then).await);
    }
}

/// Looks on a thread of its own. One that lets the deadline run out is left behind with its world, and heard no more.
async fn query_world(open: OpenWorld, deadline: Duration, then: PastQuery) -> PastAdmissible {
    let (say, mut said) = unbounded_channel();
    let looks = move || {
        let alive = || drop(say.send(QueryMessage::InProgress));
        let looked = panic::catch_unwind(AssertUnwindSafe(|| list_past_actions(&open, then, &alive)));
        let _ = say.send(QueryMessage::Finished(
            looked.unwrap_or_else(|_| Err("the world broke (a panic)".to_owned())),
        ));
    };
    thread::Builder::new()
        .name("world of then".to_owned())
        .spawn(looks)
        .map_err(|error| format!("no thread for the world of then: {error}"))?;
    loop {
        match tokio::time::timeout(deadline, said.recv()).await {
            Ok(Some(QueryMessage::InProgress)) => {}
            Ok(Some(QueryMessage::Finished(accepted))) => return accepted,
            Ok(None) => return Err("the world of then cannot be asked".to_owned()),
            Err(_) => return Err(EnvError::TimedOut { millis: deadline.as_millis() as u64 }.to_string()),
        }
    }
}

fn list_past_actions(open: &OpenWorld, then: PastQuery, alive: &dyn Fn()) -> PastAdmissible {
    let state = then();
    alive();
    let past = state.open_episode().and_then(|episode| RebuildPlan::from_episode(episode, 0));
    let past = past.ok_or("no episode is open there")?;
    let mut trail = SnapshotCache::default();
    if let Some(differs) = trail.rebuild(open, &past, &|_| alive()) {
        let from = match differs {
            Reply::Diverged { step, .. } if step > 0 => format!("turn {step}"),
            _ => "its first observation".to_owned(),
        };
        return Err(format!("the world of now answers otherwise from {from} on"));
    }
    alive();
    trail.query(|world| world.admissible()).map_err(|error| error.to_string())
}
