//! Where a lesson applies.

use serde::{Deserialize, Serialize};

/// A scope says where a lesson applies: in one episode, one task, one type of task, or the whole environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The episode in which it was learnt.
    Episode,
    /// Every trial of one task.
    Task,
    /// All tasks of one type.
    TaskType,
    Environment,
}
