//! Services that the screen needs from its host program.

use super::branches::{BranchEdit, BranchInfo};
use super::compare::EpisodeRef;
use crate::domain::{BranchId, ModelRole, RunSpec};
use crate::driver::Store;
use std::sync::Arc;

/// A function of the host: takes an argument and returns a result, or the reason it failed.
pub type HostFn<T, R> = Arc<dyn Fn(&T) -> Result<R, String> + Send + Sync>;

/// Lists things by name, each with a short description.
pub type ListFn = Arc<dyn Fn() -> Vec<(String, String)> + Send + Sync>;

/// The models that a server offers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelList {
    /// Host and port.
    pub server: String,
    /// Model names, as the server lists them.
    pub names: Vec<String>,
}

/// Services of the host program: the screen itself opens no files and starts no programs.
#[derive(Clone)]
pub struct HostServices {
    /// Opens a text in the person's editor, which has the terminal meanwhile. Returns `None` if nothing was saved.
    pub edit_text: HostFn<str, Option<String>>,
    /// Also writes copied text to a file, for terminals without a clipboard, and returns its path.
    pub save_copy: HostFn<str, String>,
    /// Writes a report of the session and returns its path.
    pub export_report: HostFn<Store, String>,
    /// Lists the sessions, newest first, each with a short description. May be slow.
    pub list_sessions: ListFn,
    /// Asks the server of a role in this run for its models. May be slow.
    pub list_models: HostFn<(Arc<RunSpec>, ModelRole), ModelList>,
    /// Lists the session's other branches, and other sessions.
    pub list_comparable: HostFn<Store, Vec<EpisodeRef>>,
    /// Opens one of them read-only.
    pub open_comparable: HostFn<EpisodeRef, Arc<Store>>,
    /// Reads the session's branches.
    pub list_branches: HostFn<(), Arc<[BranchInfo]>>,
    /// Edits a branch's name, note or archived flag.
    pub edit_branch: HostFn<(BranchId, BranchEdit), ()>,
}
