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

/// Answers when the actions before that moment have been taken again.
pub(super) fn list(open: OpenWorld, state: &Arc<State>, tell: oneshot::Sender<Accepted>) {
    let past = state.open_episode().and_then(|episode| Rebuild::of(episode, 0));
    let Some(past) = past else {
        // Whoever asked may have gone; that is so below, too.
        let _ = tell.send(Err("no episode is open there".to_owned()));
        return;
    };
    let look = move || {
        let looked = panic::catch_unwind(AssertUnwindSafe(|| accepted(&open, &past)));
        let _ = tell.send(looked.unwrap_or_else(|_| Err("the world broke (a panic)".to_owned())));
    };
    // Where the system gives no thread the sender goes with the closure, and the asker is told nothing can be had.
    let _ = thread::Builder::new().name("world of then".to_owned()).spawn(look);
}

fn accepted(open: &OpenWorld, past: &Rebuild) -> Accepted {
    let mut trail = Trail::default();
    if let Some(differs) = trail.rebuild(open, past, &|_| {}) {
        let from = match differs {
            Reply::Diverged { step, .. } if step > 0 => format!("turn {step}"),
            _ => "its first observation".to_owned(),
        };
        return Err(format!("the world of now answers otherwise from {from} on"));
    }
    trail.ask(|world| world.admissible()).map_err(|error| error.to_string())
}
