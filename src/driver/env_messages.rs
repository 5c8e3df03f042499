//! What the driver and an environment's thread send each other.

use super::snapshot_cache::{RebuildError, RebuildPlan};
use crate::domain::{CallId, StepResult, Task, TrialInfo};
use crate::engine::Reply;
use crate::env::EnvError;

/// A request to the environment.
pub(super) enum EnvRequest {
    /// Open the task's environment and reset it.
    Reset(CallId, Task, TrialInfo),
    /// Execute an action.
    Step {
        call: CallId,
        action: String,
        /// Whether the run ends the episode after it.
        is_last: bool,
    },
    /// Answer a step with the admissible actions, without changing the environment.
    AnswerWithList(CallId, StepResult),
    /// Return the admissible actions, for a person.
    Admissible,
    /// Return a hint towards the goal, for a person.
    Hint,
    /// Answer, and do nothing else: every earlier request has been handled by then.
    Barrier,
    /// Answer as [`EnvRequest::Step`] (or [`EnvRequest::AnswerWithList`]) would, then return to the state before.
    Lookahead {
        number: u64,
        /// The action to try.
        action: String,
        /// The unchanged result, if only a list would be requested.
        list: Option<StepResult>,
    },
    /// Restore an episode's environment to its recorded position, comparing each observation.
    Rebuild(RebuildPlan),
}

/// The outcome of a rebuild, and whether an environment is open now.
pub struct RebuildResult {
    pub(super) number: u64,
    pub(super) outcome: Result<(), RebuildError>,
    pub(super) has_world: bool,
}

/// An answer of an environment's thread. Answers of an abandoned environment are ignored by its number.
pub struct EnvResponse {
    pub(super) worker_number: u64,
    /// Whether the open environment was dropped because of an error.
    pub(super) has_lost_world: bool,
    pub(super) answer: EnvAnswer,
}

/// What an environment's thread answers.
pub(super) enum EnvAnswer {
    /// To a call of the engine.
    Reply(CallId, Reply),
    /// To a rebuild.
    Rebuilt(RebuildResult),
    /// To a rebuild: the next step is about to be replayed. Not an answer, only a sign of progress.
    Replaying,
    /// To a person: the admissible actions.
    Actions(Result<Vec<String>, EnvError>),
    /// To a person: listing the actions would change the environment, so a copy must be asked.
    ListElsewhere,
    /// To a person: a hint towards the goal, if the environment has one.
    Hint(Result<Option<String>, EnvError>),
    /// To a person: a hint may take long or fail, so a copy must be asked.
    HintElsewhere,
    /// To a barrier.
    BarrierReached,
    /// To a lookahead: the result and the list, or `None` if the environment cannot return to its state or failed.
    Lookahead(u64, Option<(StepResult, Vec<String>)>),
}
