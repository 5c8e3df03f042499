//! The environment `pddl`.

use crate::catalog::environment_entry::EnvironmentEntry;
use crate::symbolic::PLANNING_RULES;

pub(super) const ENTRY: EnvironmentEntry = EnvironmentEntry { name: "pddl", rules: &PLANNING_RULES };
