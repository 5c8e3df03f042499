//! What the world of a moment of the past would accept: asked of a world of its own on a thread of its own, so that the run
//! goes on meanwhile and its world is not moved. It has as long for one answer as the run's world has, and there is one at a time.

use super::OpenWorld;
use super::snapshot_cache::{Rebuild, SnapshotCache};
use crate::engine::{Reply, State};
use crate::env::EnvError;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

/// The actions, in the world's own order; or why they cannot be had, in words.
pub type Accepted = Result<Vec<String>, String>;

/// Brings the state of that moment; folding it takes a while.
pub type PastQuery = Box<dyn FnOnce() -> Arc<State> + Send>;

/// Who asks for the worlds of then: one is asked at a time, and only the last of those that wait comes next.
#[derive(Default)]
pub(super) struct PastQueries {
    wishes: Option<UnboundedSender<PastRequest>>,
}

struct PastRequest {
    open: OpenWorld,
    deadline: Duration,
    then: PastQuery,
    tell: oneshot::Sender<Accepted>,
}

/// What the thread says.
enum Said {
    /// It goes on; the clock begins anew.
    Alive,
    Looked(Accepted),
}

impl PastQueries {
    /// Answers when the actions before that moment have been taken again, or when the world takes longer than the deadline
    /// for one answer. Runs on the driver's runtime.
    pub(super) fn ask(
        &mut self,
        open: OpenWorld,
        deadline: Duration,
        then: PastQuery,
        tell: oneshot::Sender<Accepted>,
    ) {
        let wishes = self.wishes.get_or_insert_with(|| {
            let (wishes, asked) = unbounded_channel();
            tokio::spawn(one_by_one(asked));
            wishes
        });
        // It listens as long as there is a sender; else the asker is told nothing can be had.
        let _ = wishes.send(PastRequest { open, deadline, then, tell });
    }
}

async fn one_by_one(mut asked: UnboundedReceiver<PastRequest>) {
    while let Some(mut wish) = asked.recv().await {
        // Whoever asks anew does not want what was asked before.
        while let Ok(newer) = asked.try_recv() {
            wish = newer;
        }
        let PastRequest { open, deadline, then, tell } = wish;
        // Whoever asked may have gone.
        let _ = tell.send(look(open, deadline, then).await);
    }
}

/// Looks on a thread of its own. One that lets the deadline run out is left behind with its world, and heard no more.
async fn look(open: OpenWorld, deadline: Duration, then: PastQuery) -> Accepted {
    let (say, mut said) = unbounded_channel();
    let looks = move || {
        let alive = || drop(say.send(Said::Alive));
        let looked = panic::catch_unwind(AssertUnwindSafe(|| accepted(&open, then, &alive)));
        let _ =
            say.send(Said::Looked(looked.unwrap_or_else(|_| Err("the world broke (a panic)".to_owned()))));
    };
    thread::Builder::new()
        .name("world of then".to_owned())
        .spawn(looks)
        .map_err(|error| format!("no thread for the world of then: {error}"))?;
    loop {
        match tokio::time::timeout(deadline, said.recv()).await {
            Ok(Some(Said::Alive)) => {}
            Ok(Some(Said::Looked(accepted))) => return accepted,
            Ok(None) => return Err("the world of then cannot be asked".to_owned()),
            Err(_) => return Err(EnvError::TimedOut { millis: deadline.as_millis() as u64 }.to_string()),
        }
    }
}

fn accepted(open: &OpenWorld, then: PastQuery, alive: &dyn Fn()) -> Accepted {
    let state = then();
    alive();
    let past = state.open_episode().and_then(|episode| Rebuild::of(episode, 0));
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
    trail.ask(|world| world.admissible()).map_err(|error| error.to_string())
}
