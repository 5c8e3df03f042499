//! What an event asks of the outside.

use super::Event;
use crate::domain::{CallId, ModelRole, PromptRecord, Question, Task};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Work for the driver. The calls in flight are kept in the state as these, so a crashed session resumes by
/// issuing them again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum Effect {
    /// Open the task's world and reset it.
    ResetWorld {
        /// The call.
        call: CallId,
        /// The task.
        task: Box<Task>,
    },
    /// Take an action in the world.
    StepWorld {
        /// The call.
        call: CallId,
        /// What the world is sent.
        action: String,
        /// Only list the admissible actions; the world does not move.
        list_only: bool,
    },
    /// Ask a model.
    Ask {
        /// The call.
        call: CallId,
        /// The prompt.
        prompt: Arc<PromptRecord>,
    },
    /// Break a call off.
    Cancel {
        /// The call.
        call: CallId,
    },
}

/// The effect of an event: a table, one line each.
pub fn effect_of(event: &Event) -> Option<Effect> {
    match event {
        Event::EpisodeStarted { call, task, .. } => {
            Some(Effect::ResetWorld { call: *call, task: task.clone() })
        }
        Event::ActionTaken { call: Some(call), executed, list_only: list, .. } => Some(Effect::StepWorld {
            call: *call,
            action: executed.sent.clone().unwrap_or_else(|| executed.action.clone()),
            list_only: *list,
        }),
        Event::PromptSent { prompt } => Some(Effect::Ask { call: prompt.call, prompt: prompt.clone() }),
        Event::CallCancelled { call, .. } => Some(Effect::Cancel { call: *call }),
        _ => None,
    }
}

impl Effect {
    /// What it asks the mentor; none for every other work.
    pub fn question(&self) -> Option<Question> {
        match self {
            Self::Ask { prompt, .. } => prompt.question,
            _ => None,
        }
    }

    /// It asks this model.
    pub fn is_prompt_for(&self, who: ModelRole) -> bool {
        matches!(self, Self::Ask { prompt, .. } if prompt.role == who)
    }

    /// The call it names.
    pub fn call(&self) -> CallId {
        match self {
            Self::ResetWorld { call, .. }
            | Self::StepWorld { call, .. }
            | Self::Ask { call, .. }
            | Self::Cancel { call } => *call,
        }
    }
}
