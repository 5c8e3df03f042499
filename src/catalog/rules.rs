//! The symbolic rules and the pictures of the environments.

use super::environment_entry::EnvironmentEntry;
use super::environments::ENVIRONMENTS;
use crate::domain::{Picture, PictureRequest, RunSpec};
use crate::symbolic::{COMMON_DETECTORS, NO_RULES, SymbolicRules};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The symbolic rules of all environments.
pub const RULES: SymbolicRules =
    SymbolicRules { for_environment: |name| find_environment(name).map_or(&NO_RULES, |entry| entry.rules) };

/// The names of all detectors, sorted.
pub static DETECTORS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let own = ENVIRONMENTS.iter().flat_map(|entry| entry.rules.detectors);
    let all: BTreeSet<&str> = own.chain(COMMON_DETECTORS).map(|detector| detector.name).collect();
    all.into_iter().collect()
});

/// Draws the world of an environment. One that this program doesn't know is a list of what is known.
pub fn draw_picture(environment: &str, request: &PictureRequest<'_>) -> Picture {
    match find_environment(environment) {
        Some(entry) => (entry.draw_picture)(request),
        None => crate::env::list_values(request),
    }
}

/// Returns the entry of an environment, or `None` if this program has none of this name.
pub fn find_environment(name: &str) -> Option<&'static EnvironmentEntry> {
    ENVIRONMENTS.iter().find(|entry| entry.name == name).copied()
}

/// Returns a goal as lists show it, without the words with which every goal of the environment begins.
pub fn short_goal<'g>(env: &str, goal: &'g str) -> Cow<'g, str> {
    find_environment(env).map_or(Cow::Borrowed(goal), |entry| (entry.task_facts.short_goal)(goal))
}

/// Returns the first environment of a run that this program doesn't have.
pub fn missing_environment(run: &RunSpec) -> Option<&str> {
    run.tasks.iter().map(|task| task.env.as_str()).find(|name| find_environment(name).is_none())
}
