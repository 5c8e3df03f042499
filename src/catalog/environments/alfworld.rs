//! The environment `alfworld`.

use crate::catalog::environment_entry::EnvironmentEntry;
use crate::prompt::interface::PLAIN_TEXTS;
use crate::symbolic::HOUSEHOLD_RULES;

pub(super) const ENTRY: EnvironmentEntry = EnvironmentEntry {
    name: "alfworld",
    rules: &HOUSEHOLD_RULES,
    settings: &[],
    // It shares those of `household`.
    templates: &[],
    has_public_examples: true,
    texts: PLAIN_TEXTS,
};
