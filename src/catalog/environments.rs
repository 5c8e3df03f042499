//! The entries of the environments.

mod alfworld;
mod babyai;
mod household;
mod pddl;

use super::environment_entry::EnvironmentEntry;

/// All environments, in the order in which screens list them.
pub const ENVIRONMENTS: &[&EnvironmentEntry] =
    &[&household::ENTRY, &alfworld::ENTRY, &babyai::ENTRY, &pddl::ENTRY];
