//! The entries of the undo stack.

use crate::domain::{LessonOp, ManualEdit, RunSpec, Seq};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A person's action on the undo stack. The stack also holds actions that can't be undone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UndoAction {
    /// A lesson operation.
    Lesson(LessonOp),
    /// Any other edit.
    ManualEdit(ManualEdit),
    /// A change of the run that keeps the method, with the previous run.
    Run(Arc<RunSpec>),
    /// An override or a rejection. It can't be undone, because it takes effect at once; a person can only fork before
    /// it. Edits below it on the stack that nothing has used yet can still be undone.
    Executed,
    /// Any other action that can't be undone, with a description for the person.
    Irreversible(String),
}

/// A person's action and the event that recorded it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UndoEntry {
    pub seq: Seq,
    pub action: UndoAction,
}
