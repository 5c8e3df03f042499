//! A world on a thread of its own. It is spoken to by messages and answers into the driver's inbox.

use super::{Message, OpenWorld};
use crate::domain::{CallId, Task, Turn};
use crate::engine::{Failure, Reply};
use crate::env::{EnvError, Environment};
use std::sync::mpsc;
use std::thread;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

/// What the world is told.
pub(super) enum Order {
    /// Open the task's world and reset it.
    Reset(CallId, Task),
    /// Take an action.
    Step(CallId, String),
    /// Answer a step with the admissible actions; the world does not move.
    List(CallId, Turn),
    /// Only list, for a person.
    Admissible(oneshot::Sender<Vec<String>>),
    /// Bring the world of an episode to where the journal says it is, comparing each observation.
    Rebuild(Rebuild),
}

/// An episode to be taken again.
pub(super) struct Rebuild {
    /// Its number.
    pub(super) episode: u32,
    /// Its task.
    pub(super) task: Task,
    /// The recorded first observation.
    pub(super) first: String,
    /// What the world was sent, with the recorded raw answers and the number of the step.
    pub(super) taken: Vec<(u32, String, String)>,
}

/// The driver's end of the world's thread.
pub(super) struct Host {
    orders: mpsc::Sender<Order>,
}

impl Host {
    /// Starts the thread. It ends when the host is dropped.
    pub(super) fn start(open: OpenWorld, inbox: UnboundedSender<Message>) -> std::io::Result<Self> {
        let (orders, received) = mpsc::channel::<Order>();
        thread::Builder::new().name("world".to_owned()).spawn(move || {
            let mut world: Option<Box<dyn Environment>> = None;
            while let Ok(order) = received.recv() {
                if let Some(reply) = obey(&open, &mut world, order)
                    && inbox.send(Message::Reply(reply)).is_err()
                {
                    break;
                }
            }
        })?;
        Ok(Self { orders })
    }

    /// Gives an order; the answer comes into the inbox.
    pub(super) fn order(&self, order: Order) {
        // The thread lives as long as its host; it cannot have ended before us.
        let _ = self.orders.send(order);
    }
}

fn obey(open: &OpenWorld, world: &mut Option<Box<dyn Environment>>, order: Order) -> Option<Reply> {
    match order {
        Order::Reset(call, task) => {
            // A world that was left half-way is never used again.
            *world = None;
            Some(match open(&task).and_then(|mut fresh| fresh.reset().map(|turn| (fresh, turn))) {
                Ok((fresh, turn)) => {
                    *world = Some(fresh);
                    Reply::World { call, turn: Box::new(turn), admissible: Vec::new() }
                }
                Err(error) => failed(call, &error),
            })
        }
        Order::Step(call, action) => Some(match world {
            Some(open) => match open.step(&action) {
                Ok(turn) => Reply::World { call, turn: Box::new(turn), admissible: Vec::new() },
                Err(error) => failed(call, &error),
            },
            None => failed(call, &no_world()),
        }),
        Order::List(call, turn) => Some(match world {
            Some(open) => match open.admissible() {
                Ok(admissible) => Reply::World { call, turn: Box::new(turn), admissible },
                Err(error) => failed(call, &error),
            },
            None => failed(call, &no_world()),
        }),
        Order::Admissible(tell) => {
            let actions = world.as_mut().and_then(|w| w.admissible().ok()).unwrap_or_default();
            // Whoever asked may have gone.
            let _ = tell.send(actions);
            None
        }
        Order::Rebuild(past) => rebuild(open, world, &past),
    }
}

fn rebuild(open: &OpenWorld, world: &mut Option<Box<dyn Environment>>, past: &Rebuild) -> Option<Reply> {
    *world = None;
    let differs = |step: u32, recorded: &str, now: String| Reply::Diverged {
        episode: past.episode,
        step,
        recorded: recorded.to_owned(),
        now,
    };
    let (mut fresh, turn) =
        match open(&past.task).and_then(|mut fresh| fresh.reset().map(|turn| (fresh, turn))) {
            Ok(opened) => opened,
            Err(error) => {
                return Some(differs(0, &past.first, format!("the world could not be opened: {error}")));
            }
        };
    let mut first_difference =
        (turn.observation != past.first).then(|| differs(0, &past.first, turn.observation));
    for (step, sent, recorded) in &past.taken {
        match fresh.step(sent) {
            Ok(turn) if first_difference.is_none() && turn.observation != *recorded => {
                first_difference = Some(differs(*step, recorded, turn.observation));
            }
            Ok(_) => {}
            Err(error) => {
                first_difference
                    .get_or_insert_with(|| differs(*step, recorded, format!("the world failed: {error}")));
                break;
            }
        }
    }
    *world = Some(fresh);
    first_difference
}

fn failed(call: CallId, error: &EnvError) -> Reply {
    let next = match error {
        EnvError::Broken { .. } => "mend or replace the file, then retry; or choose another task",
        EnvError::Refused { .. } => "choose another task, or end the episode",
        EnvError::TimedOut { .. } | EnvError::Died { .. } | EnvError::Protocol { .. } => {
            "retry: the world is opened anew and the actions are taken again"
        }
    };
    Reply::Failed {
        call,
        failure: Failure { what: error.to_string(), place: "world".to_owned(), next: next.to_owned() },
    }
}

fn no_world() -> EnvError {
    EnvError::Died { what: "no world is open".to_owned() }
}
