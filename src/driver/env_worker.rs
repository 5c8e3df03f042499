//! Runs an environment on a thread of its own. Requests arrive as messages; answers go to the driver's inbox.

use super::env_messages::{EnvAnswer, EnvRequest, EnvResponse, RebuildResult};
use super::snapshot_cache::{RebuildError, SnapshotCache};
use super::world_thread::WorldThread;
use super::{Message, OpenWorld};
use crate::domain::{CallId, FailureKind, StepResult};
use crate::engine::{Failure, Reply};
use crate::env::EnvError;
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc;
use tokio::sync::mpsc::UnboundedSender;

/// The driver's handle to the environment's thread. Dropping it abandons the environment and ends the processes it has started,
/// unless it was released; the thread ends once the environment returns.
pub(super) struct EnvWorker {
    requests: mpsc::Sender<EnvRequest>,
    thread: WorldThread,
}

impl EnvWorker {
    /// Starts the thread of the environment with this number. `printed_text` is what the one before it had printed.
    pub(super) fn start_after(
        printed_text: Option<String>,
        number: u64,
        open: OpenWorld,
        inbox: UnboundedSender<Message>,
    ) -> std::io::Result<Self> {
        let worker = Self::start(number, open, inbox)?;
        worker.thread.set_last_text(printed_text);
        Ok(worker)
    }

    /// Starts the thread of the environment with this number.
    pub(super) fn start(
        number: u64,
        open: OpenWorld,
        inbox: UnboundedSender<Message>,
    ) -> std::io::Result<Self> {
        // Unbounded, because the driver may not wait; it sends a request only when the one before has been answered.
        let (requests, receiver) = mpsc::channel::<EnvRequest>();
        let thread = WorldThread::start("world", move || {
            let send = |answer, has_lost_world| {
                let response = EnvResponse { worker_number: number, has_lost_world, answer };
                inbox.send(Message::EnvResponse(response)).is_ok()
            };
            let mut cache = SnapshotCache::default();
            while let Ok(request) = receiver.recv() {
                let (target, was_open) = (request.answer_target(), cache.is_open());
                // A panic ends the environment, but not its thread, and the request is still answered.
                let outcome =
                    panic::catch_unwind(AssertUnwindSafe(|| execute(&open, &mut cache, request, &send)));
                let answer = outcome.unwrap_or_else(|_| {
                    cache.drop_world();
                    panic_answer(target)
                });
                if !send(answer, was_open && !cache.is_open()) {
                    break;
                }
            }
        })?;
        Ok(Self { requests, thread })
    }

    /// Leaves it to the thread to close the environment, because it has answered every request.
    pub(super) fn release(&mut self) {
        self.thread.release();
    }

    /// Returns what the environment's program has printed. Doesn't wait, also if it doesn't answer.
    pub(super) fn printed_text(&self) -> Option<String> {
        self.thread.printed_text()
    }

    /// Sends a request. The answer arrives in the inbox.
    pub(super) fn send(&self, request: EnvRequest) {
        // The thread ends only when this handle is dropped, because it catches panics.
        let _ = self.requests.send(request);
    }
}

/// The receiver of an answer.
#[derive(Clone, Copy)]
pub(super) enum AnswerTarget {
    Call(CallId),
    Rebuild(u64),
    ListRequest,
    HintRequest,
    Barrier,
    Lookahead(u64),
}

impl EnvRequest {
    pub(super) fn answer_target(&self) -> AnswerTarget {
        match self {
            Self::Reset(call, ..) | Self::Step { call, .. } | Self::AnswerWithList(call, _) => {
                AnswerTarget::Call(*call)
            }
            Self::Rebuild(rebuild) => AnswerTarget::Rebuild(rebuild.number),
            Self::Admissible => AnswerTarget::ListRequest,
            Self::Hint => AnswerTarget::HintRequest,
            Self::Barrier => AnswerTarget::Barrier,
            Self::Lookahead { number, .. } => AnswerTarget::Lookahead(*number),
        }
    }
}

/// Returns the answer for an environment that panicked.
pub(super) fn panic_answer(target: AnswerTarget) -> EnvAnswer {
    let error = EnvError::Died { what: "its program panicked".to_owned() };
    match target {
        AnswerTarget::Call(call) => EnvAnswer::Reply(call, failed_call_reply(call, &error)),
        AnswerTarget::Rebuild(number) => {
            let outcome = Err(RebuildError::Failed(error));
            EnvAnswer::Rebuilt(RebuildResult { number, outcome, has_world: false })
        }
        AnswerTarget::ListRequest => EnvAnswer::Actions(Err(error)),
        AnswerTarget::HintRequest => EnvAnswer::Hint(Err(error)),
        AnswerTarget::Barrier => EnvAnswer::BarrierReached,
        AnswerTarget::Lookahead(number) => EnvAnswer::Lookahead(number, None),
    }
}

pub(super) fn execute(
    open: &OpenWorld,
    cache: &mut SnapshotCache,
    request: EnvRequest,
    send: &dyn Fn(EnvAnswer, bool) -> bool,
) -> EnvAnswer {
    let answer = |call, result: Result<(StepResult, Vec<String>), EnvError>| {
        let reply = match result {
            Ok((result, admissible)) => Reply::World { call, result: Box::new(result), admissible },
            Err(error) => failed_call_reply(call, &error),
        };
        EnvAnswer::Reply(call, reply)
    };
    match request {
        EnvRequest::Reset(call, task, trial) => {
            answer(call, cache.reset(open, &task, trial).map(|result| (result, Vec::new())))
        }
        EnvRequest::Step { call, action, is_last } => {
            answer(call, cache.step(&action, is_last).map(|result| (result, Vec::new())))
        }
        EnvRequest::AnswerWithList(call, result) => {
            answer(call, cache.query(|w| w.admissible()).map(|admissible| (result, admissible)))
        }
        EnvRequest::Admissible if cache.listing_changes_world() => EnvAnswer::ListElsewhere,
        EnvRequest::Admissible => {
            let actions = cache.query(|w| w.admissible());
            // Only its reply says so. The environment is rebuilt as if it had not been asked.
            if cache.listing_changes_world() {
                cache.drop_world();
            }
            EnvAnswer::Actions(actions)
        }
        EnvRequest::Hint if cache.is_hint_risky() => EnvAnswer::HintElsewhere,
        EnvRequest::Hint => EnvAnswer::Hint(cache.query(|w| w.hint())),
        EnvRequest::Barrier => EnvAnswer::BarrierReached,
        EnvRequest::Lookahead { number, action, list } => {
            EnvAnswer::Lookahead(number, cache.preview_step(&action, list))
        }
        EnvRequest::Rebuild(plan) => {
            let on_step = |_| {
                // A driver that has ended ignores it.
                let _ = send(EnvAnswer::Replaying, false);
                Ok(())
            };
            let outcome = cache.rebuild(open, &plan, &on_step);
            EnvAnswer::Rebuilt(RebuildResult { number: plan.number, outcome, has_world: cache.is_open() })
        }
    }
}

/// Describes a failed call.
pub(super) fn failed_call_reply(call: CallId, error: &EnvError) -> Reply {
    let hint = match error {
        EnvError::Broken { .. } => "fix or replace the file, then retry; or choose another task",
        EnvError::Refused { .. } => "choose another task, or end the episode",
        EnvError::TimedOut { .. } | EnvError::Died { .. } | EnvError::Protocol { .. } => {
            "retry: the environment is reopened and the actions are replayed"
        }
        EnvError::NotStarted { .. } => "install or correct the program, then retry",
    };
    Reply::Failed {
        call,
        failure: Failure {
            message: error.to_string(),
            source: "world".to_owned(),
            hint: hint.to_owned(),
            kind: matches!(error, EnvError::TimedOut { .. }).then_some(FailureKind::TimedOut),
            partial_text: String::new(),
            usage: None,
        },
    }
}
