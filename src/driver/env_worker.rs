//! A world on a thread of its own. It is spoken to by messages and answers into the driver's inbox.

use super::snapshot_cache::{Rebuild, SnapshotCache};
use super::{Message, OpenWorld};
use crate::domain::{CallId, StepResult, Task};
use crate::engine::{Failure, Reply};
use crate::env::EnvError;
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc;
use std::thread;
use tokio::sync::mpsc::UnboundedSender;

/// What the world is told.
pub(super) enum EnvRequest {
    /// Open the task's world and reset it.
    Reset(CallId, Task),
    /// Take an action.
    Step(CallId, String),
    /// Answer a step with the admissible actions; the world does not move.
    List(CallId, StepResult),
    /// Only list, for a person.
    Admissible,
    /// Look for a way to the goal, for a person.
    Hint,
    /// Answer as a step (or a list, for the standing turn) would, and stand afterwards as before.
    Ahead {
        /// Which look ahead.
        number: u64,
        /// What the world would be sent.
        action: String,
        /// The standing turn, where it would only be asked for a list.
        list: Option<StepResult>,
    },
    /// Bring the world of an episode to where the journal says it is, comparing each observation.
    Rebuild(Rebuild),
}

/// How a rebuild went: where the world first answered otherwise, if it did, and whether a world stands there now.
pub struct Rebuilt {
    pub(super) number: u64,
    pub(super) difference: Option<Reply>,
    pub(super) stands: bool,
}

/// What a world's thread says, and which world it is: one that was left behind is not listened to.
pub struct EnvResponse {
    pub(super) world: u64,
    pub(super) answer: Answer,
}

/// The words of a world's thread.
pub(super) enum Answer {
    /// To a call of the engine.
    Reply(CallId, Reply),
    /// To a rebuild.
    Rebuilt(Rebuilt),
    /// All before this step has been taken again, and the world is being asked to take it: no answer, a sign of life.
    Taking(u32),
    /// To a person: what the world would accept; empty where that is not to be had.
    Listed(Vec<String>),
    /// To a person: a way to the goal, where the world knows one.
    Hinted(Option<String>),
    /// To a look ahead: the answer and the list; none where the world cannot be set back or failed. Whether a world stands.
    Ahead(u64, Option<(StepResult, Vec<String>)>, bool),
}

/// The driver's end of the world's thread.
pub(super) struct EnvWorker {
    orders: mpsc::Sender<EnvRequest>,
}

impl EnvWorker {
    /// Starts the thread of the world with this number. It ends when the host is dropped.
    pub(super) fn start(
        number: u64,
        open: OpenWorld,
        inbox: UnboundedSender<Message>,
    ) -> std::io::Result<Self> {
        let (orders, received) = mpsc::channel::<EnvRequest>();
        thread::Builder::new().name("world".to_owned()).spawn(move || {
            let say = |answer| inbox.send(Message::World(EnvResponse { world: number, answer })).is_ok();
            let mut trail = SnapshotCache::default();
            while let Ok(order) = received.recv() {
                let whom = order.whom();
                // A world that panics has died; its thread, and whoever waits for an answer, must not.
                let obeyed =
                    panic::catch_unwind(AssertUnwindSafe(|| execute(&open, &mut trail, order, &say)));
                let answer = obeyed.unwrap_or_else(|_| {
                    trail.drop_world();
                    died(whom)
                });
                if !say(answer) {
                    break;
                }
            }
        })?;
        Ok(Self { orders })
    }

    /// Gives an order; the answer comes into the inbox.
    pub(super) fn order(&self, order: EnvRequest) {
        // The thread ends only when its host is dropped: a panic of the world is caught there.
        let _ = self.orders.send(order);
    }
}

/// Whom an order's answer is for.
#[derive(Clone, Copy)]
enum Whom {
    Call(CallId),
    Rebuild(u64, u32),
    /// A person who wants the list.
    Person,
    /// A person who wants a hint.
    Asker,
    /// A look ahead.
    Ahead(u64),
}

impl EnvRequest {
    fn whom(&self) -> Whom {
        match self {
            Self::Reset(call, _) | Self::Step(call, _) | Self::List(call, _) => Whom::Call(*call),
            Self::Rebuild(rebuild) => Whom::Rebuild(rebuild.number, rebuild.episode),
            Self::Admissible => Whom::Person,
            Self::Hint => Whom::Asker,
            Self::Ahead { number, .. } => Whom::Ahead(*number),
        }
    }
}

/// What is answered for a world that panicked.
fn died(whom: Whom) -> Answer {
    let died = EnvError::Died { what: "its own program broke (a panic)".to_owned() };
    match whom {
        Whom::Call(call) => Answer::Reply(call, failed(call, &died)),
        Whom::Rebuild(number, episode) => {
            let now = died.to_string();
            let difference = Some(Reply::Diverged { episode, step: 0, recorded: String::new(), actual: now });
            Answer::Rebuilt(Rebuilt { number, difference, stands: false })
        }
        Whom::Person => Answer::Listed(Vec::new()),
        Whom::Asker => Answer::Hinted(None),
        Whom::Ahead(number) => Answer::Ahead(number, None, false),
    }
}

fn execute(
    open: &OpenWorld,
    trail: &mut SnapshotCache,
    order: EnvRequest,
    say: &dyn Fn(Answer) -> bool,
) -> Answer {
    let answer = |call, turn: Result<(StepResult, Vec<String>), EnvError>| {
        let reply = match turn {
            Ok((turn, admissible)) => Reply::World { call, result: Box::new(turn), admissible },
            Err(error) => failed(call, &error),
        };
        Answer::Reply(call, reply)
    };
    match order {
        EnvRequest::Reset(call, task) => {
            answer(call, trail.reset(open, &task).map(|turn| (turn, Vec::new())))
        }
        EnvRequest::Step(call, action) => answer(call, trail.step(&action).map(|turn| (turn, Vec::new()))),
        EnvRequest::List(call, turn) => {
            answer(call, trail.ask(|w| w.admissible()).map(|admissible| (turn, admissible)))
        }
        EnvRequest::Admissible => Answer::Listed(trail.ask(|w| w.admissible()).unwrap_or_default()),
        EnvRequest::Hint => Answer::Hinted(trail.ask(|w| Ok(w.hint())).ok().flatten()),
        EnvRequest::Ahead { number, action, list } => {
            let found = trail.ahead(&action, list);
            Answer::Ahead(number, found, trail.is_open())
        }
        EnvRequest::Rebuild(past) => {
            let taking = |step| {
                // A driver that has ended wants no sign of life.
                let _ = say(Answer::Taking(step));
            };
            let difference = trail.rebuild(open, &past, &taking);
            Answer::Rebuilt(Rebuilt { number: past.number, difference, stands: trail.is_open() })
        }
    }
}

/// A failed call in words for a person.
pub(super) fn failed(call: CallId, error: &EnvError) -> Reply {
    let next = match error {
        EnvError::Broken { .. } => "mend or replace the file, then retry; or choose another task",
        EnvError::Refused { .. } => "choose another task, or end the episode",
        EnvError::TimedOut { .. } | EnvError::Died { .. } | EnvError::Protocol { .. } => {
            "retry: the world is opened anew and the actions are taken again"
        }
    };
    Reply::Failed {
        call,
        failure: Failure {
            message: error.to_string(),
            source: "world".to_owned(),
            hint: next.to_owned(),
            kind: None,
            partial_text: String::new(),
            usage: None,
        },
    }
}
