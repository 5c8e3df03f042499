//! The entries of the environments.

mod alfworld;
mod babyai;
mod hotpotqa;
mod household;
#[cfg(unix)]
mod miniwob;
mod pddl;
#[cfg(unix)]
mod programming;
#[cfg(unix)]
mod scienceworld;
#[cfg(unix)]
mod stdio;

use super::environment_entry::EnvironmentEntry;
use super::extension::{Extension, extension};
use std::sync::{LazyLock, OnceLock};
#[cfg(unix)]
pub use stdio::PROGRAM_ENVIRONMENT;

/// All environments, in the order in which screens list them: the built-in ones, those of an extension, then the programs
/// that the configuration names.
pub static ENVIRONMENTS: LazyLock<Vec<&'static EnvironmentEntry>> = LazyLock::new(|| {
    let configured = CONFIGURED.get_or_init(Vec::new);
    with(extension()).into_iter().chain(configured.iter().copied()).collect()
});

/// The names of all environments, in the same order.
pub static ENVIRONMENT_NAMES: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| ENVIRONMENTS.iter().map(|entry| entry.name).collect());

static CONFIGURED: OnceLock<Vec<&'static EnvironmentEntry>> = OnceLock::new();

const BUILT_IN: &[&EnvironmentEntry] = &[
    &household::ENTRY,
    &alfworld::ENTRY,
    &babyai::ENTRY,
    &pddl::ENTRY,
    &hotpotqa::ENTRY,
    #[cfg(unix)]
    &programming::ENTRY,
    #[cfg(unix)]
    &miniwob::ENTRY,
    #[cfg(unix)]
    &scienceworld::ENTRY,
    #[cfg(unix)]
    &stdio::ENTRY,
];

/// The environment of a run that names none. It works without data.
pub const DEFAULT_ENVIRONMENT: &EnvironmentEntry = &household::ENTRY;

/// Here no program can be an environment.
#[cfg(not(unix))]
pub const PROGRAM_ENVIRONMENT: &str = "";

/// Adds environments that are programs, by the names that the configuration gives them. Does nothing if environments have been
/// looked up before. Names of other environments are left out: reading the configuration reports them.
pub fn add_programs(names: impl IntoIterator<Item = String>) {
    #[cfg(unix)]
    {
        let known: Vec<&str> = with(extension()).iter().map(|entry| entry.name).collect();
        let new = names.into_iter().filter(|name| !known.contains(&name.as_str()));
        let entries = new.map(stdio::configured).collect();
        // It fails if the names were added before, or nothing can be added any more.
        let _ = CONFIGURED.set(entries);
    }
    #[cfg(not(unix))]
    drop(names);
}

/// Returns whether the configuration may name a program so: no other environment has the name.
pub fn is_free_for_program(name: &str) -> bool {
    !with(extension()).iter().any(|entry| entry.name == name)
}

/// Returns the built-in environments and those of an extension.
pub(super) fn with(extension: &Extension) -> Vec<&'static EnvironmentEntry> {
    BUILT_IN.iter().chain(extension.environments).copied().collect()
}
