//! The environment `stdio`: a program that is named on the command line. Those of the configuration are like it.

use crate::catalog::environment_entry::{EnvironmentDefaults, EnvironmentEntry, TaskFacts};
use crate::env::list_values;
use crate::env::stdio::StdioTasks;
use crate::prompt::interface::PLAIN_TEXTS;
use crate::symbolic::NO_RULES;

/// The environment whose program is named on the command line, and the kind of those in the configuration.
pub const PROGRAM_ENVIRONMENT: &str = "stdio";

pub(super) const ENTRY: EnvironmentEntry = EnvironmentEntry {
    name: PROGRAM_ENVIRONMENT,
    tasks: &StdioTasks { env: PROGRAM_ENVIRONMENT },
    rules: &NO_RULES,
    settings: &[],
    options: &[],
    defaults: EnvironmentDefaults::NONE,
    templates: &[],
    public_files: None,
    rule_based_reply: None,
    // The interfaces cut what ALFWorld's texts have; nothing is known about those of a program.
    texts: PLAIN_TEXTS,
    draw_picture: list_values,
    task_facts: TaskFacts {
        start_text: Some("another program"),
        lists_all_actions: false,
        task_help: "a task of the program, which `tasks` lists, or any text that it understands",
        ..TaskFacts::NONE
    },
};

/// Returns the entry of a program that the configuration names. It stays until the program ends.
pub(super) fn configured(name: String) -> &'static EnvironmentEntry {
    let name: &'static str = name.leak();
    let tasks: &'static StdioTasks = Box::leak(Box::new(StdioTasks { env: name }));
    Box::leak(Box::new(EnvironmentEntry {
        name,
        tasks,
        // The help mentions it once.
        task_facts: TaskFacts { task_help: "", ..ENTRY.task_facts },
        ..ENTRY
    }))
}
