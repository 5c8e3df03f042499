//! The environment `household`.

use super::alfworld::{LESSON_FORMS, TEXTS};
use crate::catalog::environment_entry::{EnvironmentDefaults, EnvironmentEntry, TaskFacts, difficulty_in_id};
use crate::env::ExportedGame;
use crate::env::alfworld;
use crate::env::household::{self, HouseholdTasks, TaskId, export_folder};
use crate::stand_in::household_reply;
use crate::symbolic::HOUSEHOLD_RULES;
use crate::symbolic::{CIRCLE_VISITS, CIRCLE_WINDOW};

pub(super) const ENTRY: EnvironmentEntry = EnvironmentEntry {
    name: household::NAME,
    tasks: &HouseholdTasks,
    rules: &HOUSEHOLD_RULES,
    settings: &[CIRCLE_VISITS.spec, CIRCLE_WINDOW.spec],
    options: &[],
    defaults: EnvironmentDefaults::NONE,
    templates: &[
        ("household.toml", include_str!("../../env/household/prompts/household.toml")),
        ("put.txt", include_str!("../../env/household/prompts/put.txt")),
        ("clean.txt", include_str!("../../env/household/prompts/clean.txt")),
        ("heat.txt", include_str!("../../env/household/prompts/heat.txt")),
        ("cool.txt", include_str!("../../env/household/prompts/cool.txt")),
        ("examine.txt", include_str!("../../env/household/prompts/examine.txt")),
        ("puttwo.txt", include_str!("../../env/household/prompts/puttwo.txt")),
    ],
    public_files: None,
    rule_based_reply: Some(household_reply),
    texts: TEXTS,
    task_facts: TaskFacts {
        start_text: Some("built in; thousands more with --tasks"),
        short_type: alfworld::short_type,
        stands_in_for: Some(alfworld::NAME),
        subgoals: alfworld::subgoals,
        difficulty: difficulty_in_id,
        export_task: Some(export_task),
        lesson_forms: Some(LESSON_FORMS),
        ..TaskFacts::NONE
    },
    draw_picture: alfworld::draw_picture,
};

fn export_task(id: &str) -> Result<ExportedGame, String> {
    let id = TaskId::parse(id).map_err(|e| e.to_string())?;
    export_folder(&id).map_err(|e| e.to_string())
}
