//! Detectors and rules for the household environments (`household`, `alfworld`).

mod detect;
mod failure;
mod planner;
mod sentences;
mod situation;

use super::environment_rules::EnvironmentRules;
use super::goal::{Goal, Subgoal, Treatment};
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
    missing_part,
    is_move: |action| action.trim_start().starts_with("go "),
};

/// Describes the state of the search and what comes next; `None` once all sub-goals are reached.
fn progress_text(episode: &Episode) -> Option<String> {
    let goal = Goal::parse(&episode.task.goal)?;
    if detect::reached_subgoals(episode) >= goal.subgoals().len() {
        return None;
    }
    sentences::progress_text(&goal, &detect::current_situation(episode))
}

/// Describes the first sub-goal that wasn't reached; `None` if the goal has none that are known.
fn missing_part(episode: &Episode) -> Option<String> {
    let goal = Goal::parse(&episode.task.goal)?;
    let last = episode.note_tallies.get("subgoal").and_then(|t| t.last.parts.get("reached"));
    let reached: usize = last.and_then(|n| n.parse().ok()).unwrap_or(0);
    // Progress without a reached subgoal means that the environment doesn't follow these subgoals.
    if reached == 0 && episode.progress > 0.0 {
        return None;
    }
    let object = goal.object();
    let words = match goal.subgoals().get(reached)? {
        Subgoal::Seen => format!("no {object} was found"),
        Subgoal::Taken => format!("the {object} was not taken"),
        Subgoal::Treated(how) => {
            let participle = match how {
                Treatment::Heat => "heated",
                Treatment::Cool => "cooled",
                Treatment::Clean => "cleaned",
            };
            format!("the {object} was not {participle} ({})", how.appliance())
        }
        Subgoal::Placed => {
            format!("the {object} was not put where it belongs ({})", goal.destination().unwrap_or("?"))
        }
        Subgoal::LampSeen => format!("no {} was found", goal.lamp().unwrap_or("lamp")),
        Subgoal::LampUsed => format!("the {} was not used", goal.lamp().unwrap_or("lamp")),
    };
    Some(words)
}

#[cfg(test)]
mod tests;
