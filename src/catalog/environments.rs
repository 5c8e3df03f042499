//! The entries of the environments.

mod alfworld;
mod babyai;
mod household;
mod pddl;

use super::environment_entry::EnvironmentEntry;
use super::extension::{Extension, extension};
use std::sync::LazyLock;

/// All environments, in the order in which screens list them: the built-in ones, then those of an extension.
pub static ENVIRONMENTS: LazyLock<Vec<&'static EnvironmentEntry>> = LazyLock::new(|| with(extension()));

/// The names of all environments, in the same order.
pub static ENVIRONMENT_NAMES: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| ENVIRONMENTS.iter().map(|entry| entry.name).collect());

const BUILT_IN: &[&EnvironmentEntry] = &[&household::ENTRY, &alfworld::ENTRY, &babyai::ENTRY, &pddl::ENTRY];

/// The environment of a run that names none. It works without data.
pub const DEFAULT_ENVIRONMENT: &EnvironmentEntry = &household::ENTRY;

/// Returns the built-in environments and those of an extension.
pub(super) fn with(extension: &Extension) -> Vec<&'static EnvironmentEntry> {
    BUILT_IN.iter().chain(extension.environments).copied().collect()
}
