//! The symbolic rules of the environments.

use super::environment_entry::EnvironmentEntry;
use super::environments::ENVIRONMENTS;
use crate::symbolic::{COMMON_DETECTORS, NO_RULES, SymbolicRules};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The symbolic rules of all environments.
pub const RULES: SymbolicRules =
    SymbolicRules { for_environment: |name| find_environment(name).map_or(&NO_RULES, |entry| entry.rules) };

/// The names of all detectors, sorted.
pub static DETECTORS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let own = ENVIRONMENTS.iter().flat_map(|entry| entry.rules.detectors);
    let all: BTreeSet<&str> = own.chain(COMMON_DETECTORS).copied().collect();
    all.into_iter().collect()
});

/// Returns the entry of an environment, or `None` if this program has none of this name.
pub fn find_environment(name: &str) -> Option<&'static EnvironmentEntry> {
    ENVIRONMENTS.iter().find(|entry| entry.name == name).copied()
}
