//! The entries of the undo stack.

use crate::domain::{LessonOp, ManualEdit, RunSpec, Seq};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// An action of a person on the undo stack, including those that can't be undone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UndoAction {
    /// A lesson operation.
    Lesson(LessonOp),
    /// Any other edit.
    ManualEdit(ManualEdit),
    /// A change of the run within the same method; holds the previous run.
    Run(Arc<RunSpec>),
    /// An override that ran, or a rejection that the agent has read. Only a fork can go back to before it. Unused edits
    /// made earlier stay below it on the stack.
    Executed,
    /// Any other action that can't be undone, described in words.
    Irreversible(String),
}

/// An action and its event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UndoEntry {
    pub seq: Seq,
    pub action: UndoAction,
}
