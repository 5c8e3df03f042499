//! What a person changed beside the texts of a step.

use super::{LessonOp, Seq};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An intervention is a person's act that changes no text of the step at which it happened, such as a lesson that was
/// taught there. Overrides, rejections and edits of texts are parts of their steps instead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Intervention {
    /// The event that recorded it or, if it was redone, the event that redid it.
    pub seq: Seq,
    #[serde(flatten)]
    pub act: PersonAct,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undone: bool,
}

/// A person's act is what an intervention did: changed a lesson, a setting or the run, asked for another reply, or
/// reviewed a summary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
pub enum PersonAct {
    Lesson {
        /// The lesson's short number.
        number: u32,
        change: Box<LessonOp>,
    },
    /// Asked for another reply without giving a reason.
    AskedAgain,
    Setting {
        name: String,
        value: Value,
    },
    Run {
        method: String,
        actor: String,
        mentor: String,
    },
    Summary {
        /// Indices of the refused changes, counted from 0.
        refused: Vec<u32>,
    },
}
