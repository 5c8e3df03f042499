//! Services that the program provides to the screen.

use crate::domain::{BranchId, ModelRole, RunSpec};
use crate::driver::Store;
use crate::ui::branches::{BranchEdit, BranchInfo};
use crate::ui::types::{EpisodeRef, ModelList, WorkProgress};
use std::sync::Arc;

/// A function that the program provides. Returns a result, or a message if it failed.
pub type HostFn<T, R> = Arc<dyn Fn(&T) -> Result<R, String> + Send + Sync>;

/// A function that the program provides and that may take long. Reports its progress, and stops with a message when it
/// is cancelled.
pub type WorkFn<T, R> = Arc<dyn Fn(&T, &WorkProgress) -> Result<R, String> + Send + Sync>;

/// Services that open files, start programs or connect to servers; the screen itself does none of this.
#[derive(Clone)]
pub struct HostServices {
    /// Opens a text in the user's editor, which takes over the terminal until it exits. Returns `None` if nothing was
    /// saved.
    pub edit_text: HostFn<str, Option<String>>,
    /// Writes copied text to a file, for terminals without clipboard support, and returns the file's path.
    pub save_copy: HostFn<str, String>,
    /// Writes a report of the session and returns its path. Long sessions take seconds.
    pub export_report: WorkFn<Store, String>,
    /// Lists the sessions, newest first, each as its name and a short description.
    pub list_sessions: WorkFn<(), Vec<(String, String)>>,
    /// Lists the models of the server that a role of this run uses.
    pub list_models: WorkFn<(Arc<RunSpec>, ModelRole), ModelList>,
    /// Lists what an episode can be compared with: the session's other branches, and other sessions.
    pub list_comparable: WorkFn<Store, Vec<EpisodeRef>>,
    /// Opens an entry of `list_comparable` read-only.
    pub open_comparable: WorkFn<EpisodeRef, Arc<Store>>,
    /// Reads the session's branches.
    pub list_branches: WorkFn<(), Arc<[BranchInfo]>>,
    /// Edits names, notes or archived flags of branches, in order. If one edit fails, the others are made nevertheless, and the
    /// first error is returned.
    pub edit_branches: HostFn<[(BranchId, BranchEdit)], ()>,
}
