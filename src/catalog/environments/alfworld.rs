//! The environment `alfworld`.

use crate::catalog::environment_entry::EnvironmentEntry;
use crate::symbolic::HOUSEHOLD_RULES;

pub(super) const ENTRY: EnvironmentEntry = EnvironmentEntry { name: "alfworld", rules: &HOUSEHOLD_RULES };
