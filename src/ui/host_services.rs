//! What the screen needs of the world around it.

use super::branches::{BranchEdit, BranchInfo};
use super::compare::EpisodeRef;
use crate::domain::{BranchId, ModelRole, RunSpec};
use crate::driver::Store;
use std::sync::Arc;

/// Takes a text outside, and says what came of it: a place, or why not.
pub type HostFn<T, Said> = Arc<dyn Fn(&T) -> Result<Said, String> + Send + Sync>;

/// Lists things by name, each with a few words about it.
pub type ListFn = Arc<dyn Fn() -> Vec<(String, String)> + Send + Sync>;

/// The models of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelList {
    /// Host and port.
    pub server: String,
    /// Their names there.
    pub names: Vec<String>,
}

/// What the screen needs of the world around it: it opens no file and starts no program itself.
#[derive(Clone)]
pub struct HostServices {
    /// Lets the person edit a text in their editor; the terminal is free meanwhile. None: nothing was saved.
    pub edit_text: HostFn<str, Option<String>>,
    /// Writes what was copied to a file as well, for terminals that know no clipboard, and says which.
    pub save_copy: HostFn<str, String>,
    /// Writes a report of the session and says where.
    pub export_report: HostFn<Store, String>,
    /// Lists the sessions there are, the newest first, each with a few words about it. It may take its time.
    pub list_sessions: ListFn,
    /// Asks the server of a role in this run for its models. It may take its time.
    pub list_models: HostFn<(Arc<RunSpec>, ModelRole), ModelList>,
    /// Lists the other branches of this session, and other sessions.
    pub list_comparable: HostFn<Store, Vec<EpisodeRef>>,
    /// Opens one of them to be read.
    pub open_comparable: HostFn<EpisodeRef, Arc<Store>>,
    /// Reads the session's branches.
    pub list_branches: HostFn<(), Arc<[BranchInfo]>>,
    /// Calls a branch otherwise.
    pub edit_branch: HostFn<(BranchId, BranchEdit), ()>,
}
