//! An inactive branch that is kept in memory.

use super::checkpoint_writer::CheckpointWriter;
use crate::domain::BranchId;
use crate::journal::AncestorFile;
use crate::timeline::Timeline;
use std::sync::Arc;

/// An inactive branch in memory. Valid as long as its file has not changed since.
pub(super) struct CachedBranch {
    pub(super) branch: BranchId,
    /// The length of its file in bytes.
    pub(super) file_len: u64,
    pub(super) timeline: Timeline,
    pub(super) checkpoint_writer: CheckpointWriter,
    pub(super) parents: Vec<Arc<AncestorFile>>,
}
