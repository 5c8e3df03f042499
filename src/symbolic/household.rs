//! Detectors and rules for household environments.

mod detect;
mod failure;
mod findings;
mod planner;
mod sentences;
mod situation;

use super::environment_rules::{Detector, EnvironmentRules};
use super::goal::{Goal, Subgoal};
use crate::domain::{MAX_NUMBER, SettingOrigin::BuiltIn, TypedSetting};
use crate::engine::Episode;

/// A threshold; not published, our own.
pub const CIRCLE_VISITS: TypedSetting<u64> = TypedSetting::number(
    "circle_visits",
    "how many times the same action must have run before it can count as going in circles",
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
    detectors: DETECTORS,
    detect: detect::detect,
    abstract_lessons: sentences::abstract_lessons,
    error_lessons: sentences::error_lessons,
    progress_text,
    plan: Some(planner::plan),
    missing_part,
    is_navigation: |action| action.trim_start().starts_with("go "),
    describe_finding: findings::describe_finding,
};

const DETECTORS: &[Detector] = &[
    Detector::described("already_closed", "closed something already closed"),
    Detector::described("already_open", "opened something already open"),
    Detector::described("already_there", "went to the place where they already were"),
    Detector::described("cannot_take", "tried to take something that cannot be taken"),
    Detector::described("cannot_treat", "tried to heat, cool or clean an unsuitable object"),
    Detector::described("circling", "went in circles"),
    Detector::described("container_closed", "never opened the container"),
    Detector::described("does_not_fit", "put an object where it does not fit"),
    Detector::described("examined_without_lamp", "examined without the lamp"),
    Detector::named("found"),
    Detector::described("hand_full", "took with a full hand"),
    Detector::named("lamp_in_hand"),
    Detector::described("lamp_without_object", "used the lamp without the object"),
    Detector::described("left_closed", "left a container closed"),
    Detector::described("left_target", "left the place without using it"),
    Detector::described("no_door", "tried to open something without a door"),
    Detector::described("not_at_place", "acted on a place without being there"),
    Detector::described("not_holding", "used an object without holding it"),
    Detector::described("nothing_happened", "did what changes nothing"),
    Detector::described("number_missing", "named things without their number"),
    Detector::described("object_not_here", "tried to take an object that was not there"),
    Detector::described("placed_untreated", "put the object down untreated"),
    Detector::named("progress"),
    Detector::described("repeat", "repeated an action that did nothing"),
    Detector::described("searched_again", "searched the same places again"),
    Detector::named("situation"),
    Detector::named("subgoal"),
    Detector::described("took_back", "took an object away from its destination"),
    Detector::named("treated"),
    Detector::described("unclear", "did what changes nothing"),
    Detector::described("unknown_action", "used an unknown action"),
    Detector::described("unknown_place", "tried to go to an unknown place"),
    Detector::described("wrong_appliance", "used the wrong appliance"),
    Detector::described("wrong_form", "worded the action wrongly"),
    Detector::described("wrong_object", "took the wrong object"),
    Detector::described("wrong_treatment", "treated the object wrongly"),
];

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
            format!("the {object} was not {} ({})", how.participle(), how.appliance())
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
