//! Effects: the work that the driver has to do for events.

use super::Event;
use crate::domain::{CallId, Job, ModelRole, PromptRecord, Question, Task};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Work for the driver. The state stores the calls in flight as effects, so that the driver can repeat them when a
/// session is resumed after a crash.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum Effect {
    /// Start the task's environment and reset it.
    ResetWorld { call: CallId, task: Box<Task> },
    /// Execute an action in the environment.
    StepWorld {
        call: CallId,
        /// The text that is sent.
        action: String,
        /// Whether to only list the admissible actions, without stepping the environment.
        admissible_only: bool,
    },
    /// Send a prompt to a model.
    Ask { call: CallId, prompt: Arc<PromptRecord> },
    /// Compute a job of the method.
    Compute { call: CallId, job: Arc<Job> },
    /// Cancel a call.
    Cancel { call: CallId },
}

/// Returns the work that the driver has to do for an event, if there is any.
pub fn effect_of(event: &Event) -> Option<Effect> {
    match event {
        Event::EpisodeStarted { call, task, .. } => {
            Some(Effect::ResetWorld { call: *call, task: task.clone() })
        }
        Event::ActionTaken { call: Some(call), executed, admissible_only, .. } => Some(Effect::StepWorld {
            call: *call,
            action: executed.sent.clone().unwrap_or_else(|| executed.action.clone()),
            admissible_only: *admissible_only,
        }),
        Event::PromptSent { prompt } => Some(Effect::Ask { call: prompt.call, prompt: prompt.clone() }),
        Event::ComputeRequested { call, job } => Some(Effect::Compute { call: *call, job: job.clone() }),
        Event::CallCancelled { call, .. } => Some(Effect::Cancel { call: *call }),
        _ => None,
    }
}

impl Effect {
    /// Returns whether the environment performs it.
    pub fn is_of_environment(&self) -> bool {
        matches!(self, Self::ResetWorld { .. } | Self::StepWorld { .. })
    }

    /// Returns the question to the mentor, or `None` for any other effect.
    pub fn question(&self) -> Option<Question> {
        match self {
            Self::Ask { prompt, .. } => prompt.question,
            _ => None,
        }
    }

    /// Returns the job, or `None` for any other effect.
    pub fn job(&self) -> Option<&Job> {
        match self {
            Self::Compute { job, .. } => Some(job),
            _ => None,
        }
    }

    /// Returns whether this is a prompt for a role.
    pub fn is_prompt_for(&self, role: ModelRole) -> bool {
        matches!(self, Self::Ask { prompt, .. } if prompt.role == role)
    }

    /// Returns whether a person can cancel it: a call to a model or a job.
    pub fn is_cancellable(&self) -> bool {
        matches!(self, Self::Ask { .. } | Self::Compute { .. })
    }

    /// Returns the id of the call to make or cancel.
    pub fn call(&self) -> CallId {
        match self {
            Self::ResetWorld { call, .. }
            | Self::StepWorld { call, .. }
            | Self::Ask { call, .. }
            | Self::Compute { call, .. }
            | Self::Cancel { call } => *call,
        }
    }
}
