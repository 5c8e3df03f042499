//! What the screen needs of the world around it.

use super::branches::{BranchEdit, BranchInfo};
use super::compare::Place;
use crate::domain::{BranchId, ModelRole, RunSpec};
use crate::driver::Store;
use std::sync::Arc;

/// Takes a text outside, and says what came of it: a place, or why not.
pub type HostFn<T, Said> = Arc<dyn Fn(&T) -> Result<Said, String> + Send + Sync>;

/// Lists things by name, each with a few words about it.
pub type Listing = Arc<dyn Fn() -> Vec<(String, String)> + Send + Sync>;

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
    pub edit: HostFn<str, Option<String>>,
    /// Writes what was copied to a file as well, for terminals that know no clipboard, and says which.
    pub keep: HostFn<str, String>,
    /// Writes a report of the session and says where.
    pub export: HostFn<Store, String>,
    /// Lists the sessions there are, the newest first, each with a few words about it. It may take its time.
    pub sessions: Listing,
    /// Asks the server of a role in this run for its models. It may take its time.
    pub models: HostFn<(Arc<RunSpec>, ModelRole), ModelList>,
    /// Lists the other branches of this session, and other sessions.
    pub others: HostFn<Store, Vec<Place>>,
    /// Opens one of them to be read.
    pub branch: HostFn<Place, Arc<Store>>,
    /// Reads the session's branches.
    pub branches: HostFn<(), Arc<[BranchInfo]>>,
    /// Calls a branch otherwise.
    pub relabel: HostFn<(BranchId, BranchEdit), ()>,
}
