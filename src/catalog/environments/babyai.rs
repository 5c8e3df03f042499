//! The environment `babyai`.

use crate::catalog::environment_entry::EnvironmentEntry;
use crate::symbolic::GRID_RULES;

pub(super) const ENTRY: EnvironmentEntry = EnvironmentEntry { name: "babyai", rules: &GRID_RULES };
