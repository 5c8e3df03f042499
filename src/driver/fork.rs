//! A request to fork.

use crate::domain::{BranchId, Seq};
use crate::engine::Command;

/// A request to fork: to continue from a past event in a new branch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fork {
    /// The branch to fork from; `None` for the active one.
    pub source_branch: Option<BranchId>,
    /// The last event to keep. Inside a batch it moves back to the end of the previous batch.
    pub at_seq: Seq,
    /// The reason shown in the branch tree; if empty, the position is used.
    pub reason: String,
    /// Commands to run first on the new branch: written when it is created, and carried out once the environment is
    /// restored.
    pub commands: Vec<Command>,
}
