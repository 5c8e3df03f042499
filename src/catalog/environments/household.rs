//! The environment `household`.

use crate::catalog::environment_entry::EnvironmentEntry;
use crate::symbolic::HOUSEHOLD_RULES;

pub(super) const ENTRY: EnvironmentEntry = EnvironmentEntry { name: "household", rules: &HOUSEHOLD_RULES };
