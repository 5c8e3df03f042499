//! What the world of a moment of the past would accept: asked of a world of its own on a thread of its own, so that the run
//! goes on meanwhile and its world is not moved.

use super::OpenWorld;
use super::trail::{Rebuild, Trail};
use crate::engine::{Reply, State};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::thread;
use tokio::sync::oneshot;

/// The actions, in the world's own order; or why they cannot be had, in words.
pub type Accepted = Result<Vec<String>, String>;

/// Brings the state of that moment; folding it takes a while.
pub type Then = Box<dyn FnOnce() -> Arc<State> + Send>;

/// Answers when the actions before that moment have been taken again.
pub(super) fn list(open: OpenWorld, then: Then, tell: oneshot::Sender<Accepted>) {
    let look = move || {
        let looked = panic::catch_unwind(AssertUnwindSafe(|| accepted(&open, &then())));
        // Whoever asked may have gone.
        let _ = tell.send(looked.unwrap_or_else(|_| Err("the world broke (a panic)".to_owned())));
    };
    // Where the system gives no thread the sender goes with the closure, and the asker is told nothing can be had.
    let _ = thread::Builder::new().name("world of then".to_owned()).spawn(look);
}

fn accepted(open: &OpenWorld, state: &State) -> Accepted {
    let past = state.open_episode().and_then(|episode| Rebuild::of(episode, 0));
    let past = past.ok_or("no episode is open there")?;
    let mut trail = Trail::default();
    if let Some(differs) = trail.rebuild(open, &past, &|_| {}) {
        let from = match differs {
            Reply::Diverged { step, .. } if step > 0 => format!("turn {step}"),
            _ => "its first observation".to_owned(),
        };
        return Err(format!("the world of now answers otherwise from {from} on"));
    }
    trail.ask(|world| world.admissible()).map_err(|error| error.to_string())
}
