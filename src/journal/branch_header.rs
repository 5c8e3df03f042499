//! The header of a branch file, and the names of branches.

use super::VERSION;
use crate::domain::{BranchId, Seq};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The maximum number of ancestors of a branch.
pub(super) const MAX_PARENTS: usize = 1000;

/// The stem of the file of labels; no branch has this name.
pub const LABELS_STEM: &str = "labels";

/// The first line of a branch file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchHeader {
    /// Version of the format.
    pub v: u32,
    /// Always `branch`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Name of the branch.
    pub id: BranchId,
    /// The parent branch.
    pub parent: Option<BranchId>,
    /// The last event it shares with its parent.
    pub at_seq: Seq,
    /// Why it was created.
    pub reason: String,
    /// When it was created.
    pub created: Timestamp,
}

impl BranchHeader {
    /// Returns the header of a trunk.
    pub fn trunk(created: Timestamp) -> Self {
        Self {
            v: VERSION,
            kind: "branch".to_owned(),
            id: BranchId::trunk(),
            parent: None,
            at_seq: Seq(0),
            reason: "start".to_owned(),
            created,
        }
    }
}

/// Returns whether a branch id is a valid file name, which cannot lead to another folder.
pub(super) fn is_branch_name(id: &BranchId) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !id.0.is_empty() && id.0.len() <= 64 && id.0.chars().all(is_allowed) && id.0 != LABELS_STEM
}

/// Returns the branch written last, given the headers with the times of their last events.
pub(super) fn last_written_branch(timestamped: impl Iterator<Item = (Timestamp, BranchHeader)>) -> BranchId {
    let newest = timestamped.max_by_key(|(timestamp, h)| (*timestamp, h.created, fork_number(&h.id)));
    newest.map_or_else(BranchId::trunk, |(_, h)| h.id)
}

/// Returns the number of a fork; 0 for the trunk.
pub(super) fn fork_number(id: &BranchId) -> u64 {
    id.0.strip_prefix('b').and_then(|n| n.parse().ok()).unwrap_or(0)
}
