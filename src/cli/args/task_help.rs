//! Help of the flags that choose tasks: each environment of the catalog says in its entry what they take.

use crate::catalog::{ENVIRONMENTS, EnvironmentEntry, PROGRAM_ENVIRONMENT};

/// Returns the help of `--task`: `start`, then what each environment takes.
pub(super) fn task_help(start: &str) -> String {
    let described = ENVIRONMENTS.iter().filter(|entry| !entry.task_facts.task_help.is_empty());
    let clauses: Vec<String> =
        described.map(|entry| format!("for {} {}", entry.name, entry.task_facts.task_help)).collect();
    format!("{start}{}", super::sentence(&clauses.join(", ")))
}

/// Returns the help of `--split`: the splits of each environment.
pub(super) fn split_help() -> String {
    let clauses = entries_where(|entry| !entry.task_facts.splits.is_empty())
        .map(|entry| format!("{} ({})", entry.task_facts.splits.join(", "), entry.name));
    format!("Split: {}", clauses.collect::<Vec<_>>().join(", "))
}

/// Returns the help of `--state`: the environments that have such files.
pub(super) fn state_help() -> String {
    let names: Vec<&str> = entries_where(|entry| entry.task_facts.has_state_files).map(|e| e.name).collect();
    format!("Level file to play ({})", names.join(", "))
}

/// Returns the help of `--unsandboxed`: the environments that run programs in a sandbox.
pub(super) fn unsandboxed_help() -> String {
    let names = entries_where(|entry| entry.task_facts.unsandboxed_option.is_some());
    let names: Vec<String> = names.map(|entry| format!("--env {}", entry.name)).collect();
    format!(
        "Run the agent's programs without a sandbox (with {}): they can do whatever you can",
        names.join(", ")
    )
}

/// Returns the help of the command after `--`.
pub(super) fn command_help() -> String {
    format!(
        "Program that is the environment (with --env {PROGRAM_ENVIRONMENT}), and its arguments; docs/ENVIRONMENTS.md describes what \
         it reads and writes"
    )
}

fn entries_where(
    has_it: impl Fn(&EnvironmentEntry) -> bool,
) -> impl Iterator<Item = &'static EnvironmentEntry> {
    ENVIRONMENTS.iter().copied().filter(move |entry| has_it(entry))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entries_of_the_catalog_explain_their_tasks() {
        let help = task_help("Task id. ");
        assert!(help.starts_with("Task id. For alfworld also a game.tw-pddl"), "{help}");
        assert!(help.contains(", for pddl `gripper/3`, for hotpotqa the id of a question, for programming the id of an exercise, for miniwob a web page, with its seed, as in `click-color/7`, for scienceworld `boil/21`"), "{help}");
        assert_eq!(
            split_help(),
            "Split: train, valid_seen, valid_unseen (alfworld), test (babyai), train, dev, test (scienceworld)"
        );
        assert_eq!(state_help(), "Level file to play (babyai)");
    }
}
