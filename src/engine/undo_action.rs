//! What a person did, to be taken back.

use crate::domain::{LessonOp, ManualEdit, RunSpec, Seq};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What a person did that can be taken back, or would have been.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UndoAction {
    /// A change of the pool.
    Lesson(LessonOp),
    /// Another change.
    ManualEdit(ManualEdit),
    /// Another run of the same method; what is held is the one before.
    Run(Arc<RunSpec>),
    /// An override that has run, or a rejection that the agent was told: only going back takes it back. What was changed
    /// before it and is not used yet is kept below it, as below the next.
    Executed,
    /// Something else that only going back takes back; what it was, in words.
    Irreversible(String),
}

/// A deed and its event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UndoEntry {
    /// The event that made it.
    pub seq: Seq,
    /// What was done.
    pub action: UndoAction,
}
