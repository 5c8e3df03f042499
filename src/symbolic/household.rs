//! Detectors and rules for the household environments (`household`, `alfworld`).

mod detect;
mod failure;
mod planner;
mod sentences;
mod situation;

use super::environment_rules::EnvironmentRules;
use super::goal::Goal;
use super::names::HOUSEHOLD_DETECTORS;
use crate::domain::{MAX_NUMBER, SettingOrigin::BuiltIn, TypedSetting};
use crate::engine::Episode;

/// A threshold; not published, our own.
pub const CIRCLE_VISITS: TypedSetting<u64> = TypedSetting::number(
    "circle_visits",
    "how many times the same action must have run before it can count as going in circles (household, alfworld)",
    3,
    (1, MAX_NUMBER),
    BuiltIn,
);

/// A threshold; not published, our own.
pub const CIRCLE_WINDOW: TypedSetting<u64> = TypedSetting::number(
    "circle_window",
    "steps without progress before going in circles is reported",
    6,
    (1, MAX_NUMBER),
    BuiltIn,
);

/// The rules of the household environments.
pub static HOUSEHOLD_RULES: EnvironmentRules = EnvironmentRules {
    detectors: HOUSEHOLD_DETECTORS,
    detect: detect::detect,
    abstract_lessons: sentences::abstract_lessons,
    error_lessons: sentences::error_lessons,
    progress_text,
    plan: Some(planner::plan),
};

/// Describes the state of the search and what comes next; `None` once all sub-goals are reached.
fn progress_text(episode: &Episode) -> Option<String> {
    let goal = Goal::parse(&episode.task.goal)?;
    if detect::reached_subgoals(episode) >= goal.subgoals().len() {
        return None;
    }
    sentences::progress_text(&goal, &detect::current_situation(episode))
}

#[cfg(test)]
mod tests;
