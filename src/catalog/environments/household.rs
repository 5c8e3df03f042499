//! The environment `household`.

use crate::catalog::environment_entry::EnvironmentEntry;
use crate::env::household::{self, HouseholdTasks};
use crate::prompt::interface::PLAIN_TEXTS;
use crate::symbolic::HOUSEHOLD_RULES;

pub(super) const ENTRY: EnvironmentEntry = EnvironmentEntry {
    name: household::NAME,
    tasks: &HouseholdTasks,
    rules: &HOUSEHOLD_RULES,
    settings: &[],
    templates: &[
        ("household.toml", include_str!("../../env/household/prompts/household.toml")),
        ("put.txt", include_str!("../../env/household/prompts/put.txt")),
        ("clean.txt", include_str!("../../env/household/prompts/clean.txt")),
        ("heat.txt", include_str!("../../env/household/prompts/heat.txt")),
        ("cool.txt", include_str!("../../env/household/prompts/cool.txt")),
        ("examine.txt", include_str!("../../env/household/prompts/examine.txt")),
        ("puttwo.txt", include_str!("../../env/household/prompts/puttwo.txt")),
    ],
    has_public_examples: false,
    texts: PLAIN_TEXTS,
};
