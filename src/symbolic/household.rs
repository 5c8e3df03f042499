//! Detectors and rules for the household environments (`household`, `alfworld`).

mod detect;
mod failure;
mod planner;
mod sentences;
mod situation;

use super::environment_rules::EnvironmentRules;
use super::goal::Goal;
use super::names::HOUSEHOLD_DETECTORS;
use crate::engine::Episode;

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
