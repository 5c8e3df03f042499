//! A world on a thread of its own. It is spoken to by messages and answers into the driver's inbox.

use super::snapshot_cache::{RebuildPlan, SnapshotCache};
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
    AnswerWithList(CallId, StepResult),
    /// Only list, for a person.
    Admissible,
    /// Look for a way to the goal, for a person.
    Hint,
    /// Answer as a step (or a list, for the standing turn) would, and stand afterwards as before.
    Lookahead {
        /// Which look ahead.
        number: u64,
        /// What the world would be sent.
        action: String,
        /// The standing turn, where it would only be asked for a list.
        list: Option<StepResult>,
    },
    /// Bring the world of an episode to where the journal says it is, comparing each observation.
    Rebuild(RebuildPlan),
}

/// How a rebuild went: where the world first answered otherwise, if it did, and whether a world stands there now.
pub struct RebuildResult {
    pub(super) number: u64,
    pub(super) difference: Option<Reply>,
    pub(super) has_world: bool,
}

/// What a world's thread says, and which world it is: one that was left behind is not listened to.
pub struct EnvResponse {
    pub(super) worker_number: u64,
    pub(super) answer: EnvAnswer,
}

/// The words of a world's thread.
pub(super) enum EnvAnswer {
    /// To a call of the engine.
    Reply(CallId, Reply),
    /// To a rebuild.
    Rebuilt(RebuildResult),
    /// All before this step has been taken again, and the world is being asked to take it: no answer, a sign of life.
    Replaying(u32),
    /// To a person: what the world would accept; empty where that is not to be had.
    Actions(Vec<String>),
    /// To a person: a way to the goal, where the world knows one.
    Hint(Option<String>),
    /// To a look ahead: the answer and the list; none where the world cannot be set back or failed. Whether a world stands.
    Ahead(u64, Option<(StepResult, Vec<String>)>, bool),
}

/// The driver's end of the world's thread.
pub(super) struct EnvWorker {
    requests: mpsc::Sender<EnvRequest>,
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
            let say = |answer| {
                inbox.send(Message::EnvResponse(EnvResponse { worker_number: number, answer })).is_ok()
            };
            let mut trail = SnapshotCache::default();
            while let Ok(order) = received.recv() {
                let whom = order.answer_target();
                // A world that panics has died; its thread, and whoever waits for an answer, must not.
                let obeyed =
                    panic::catch_unwind(AssertUnwindSafe(|| execute(&open, &mut trail, order, &say)));
                let answer = obeyed.unwrap_or_else(|_| {
                    trail.drop_world();
                    panic_answer(whom)
                });
                if !say(answer) {
                    break;
                }
            }
        })?;
        Ok(Self { requests: orders })
    }

    /// Gives an order; the answer comes into the inbox.
    pub(super) fn send(&self, order: EnvRequest) {
        // The thread ends only when its host is dropped: a panic of the world is caught there.
        let _ = self.requests.send(order);
    }
}

/// Whom an order's answer is for.
#[derive(Clone, Copy)]
enum AnswerTarget {
    Call(CallId),
    Rebuild(u64, u32),
    /// A person who wants the list.
    ListRequest,
    /// A person who wants a hint.
    HintRequest,
    /// A look ahead.
    Ahead(u64),
}

impl EnvRequest {
    fn answer_target(&self) -> AnswerTarget {
        match self {
            Self::Reset(call, _) | Self::Step(call, _) | Self::AnswerWithList(call, _) => {
                AnswerTarget::Call(*call)
            }
            Self::Rebuild(rebuild) => AnswerTarget::Rebuild(rebuild.number, rebuild.episode),
            Self::Admissible => AnswerTarget::ListRequest,
            Self::Hint => AnswerTarget::HintRequest,
            Self::Lookahead { number, .. } => AnswerTarget::Ahead(*number),
        }
    }
}

/// What is answered for a world that panicked.
fn panic_answer(whom: AnswerTarget) -> EnvAnswer {
    let died = EnvError::Died { what: "its own program broke (a panic)".to_owned() };
    match whom {
        AnswerTarget::Call(call) => EnvAnswer::Reply(call, failed_call_reply(call, &died)),
        AnswerTarget::Rebuild(number, episode) => {
            let now = died.to_string();
            let difference = Some(Reply::Diverged { episode, step: 0, recorded: String::new(), actual: now });
            EnvAnswer::Rebuilt(RebuildResult { number, difference, has_world: false })
        }
        AnswerTarget::ListRequest => EnvAnswer::Actions(Vec::new()),
        AnswerTarget::HintRequest => EnvAnswer::Hint(None),
        AnswerTarget::Ahead(number) => EnvAnswer::Ahead(number, None, false),
    }
}

fn execute(
    open: &OpenWorld,
    trail: &mut SnapshotCache,
    order: EnvRequest,
    say: &dyn Fn(EnvAnswer) -> bool,
) -> EnvAnswer {
    let answer = |call, turn: Result<(StepResult, Vec<String>), EnvError>| {
        let reply = match turn {
            Ok((turn, admissible)) => Reply::World { call, result: Box::new(turn), admissible },
            Err(error) => failed_call_reply(call, &error),
        };
        EnvAnswer::Reply(call, reply)
    };
    match order {
        EnvRequest::Reset(call, task) => {
            answer(call, trail.reset(open, &task).map(|turn| (turn, Vec::new())))
        }
        EnvRequest::Step(call, action) => answer(call, trail.step(&action).map(|turn| (turn, Vec::new()))),
        EnvRequest::AnswerWithList(call, turn) => {
            answer(call, trail.query(|w| w.admissible()).map(|admissible| (turn, admissible)))
        }
        EnvRequest::Admissible => EnvAnswer::Actions(trail.query(|w| w.admissible()).unwrap_or_default()),
        EnvRequest::Hint => EnvAnswer::Hint(trail.query(|w| Ok(w.hint())).ok().flatten()),
        EnvRequest::Lookahead { number, action, list } => {
            let found = trail.preview_step(&action, list);
            EnvAnswer::Ahead(number, found, trail.is_open())
        }
        EnvRequest::Rebuild(past) => {
            let taking = |step| {
                // A driver that has ended wants no sign of life.
                let _ = say(EnvAnswer::Replaying(step));
            };
            let difference = trail.rebuild(open, &past, &taking);
            EnvAnswer::Rebuilt(RebuildResult { number: past.number, difference, has_world: trail.is_open() })
        }
    }
}

/// A failed call in words for a person.
pub(super) fn failed_call_reply(call: CallId, error: &EnvError) -> Reply {
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
