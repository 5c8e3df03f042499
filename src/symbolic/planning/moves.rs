//! Detects why an action failed, and which accepted actions are unhelpful or show something worth learning, in the
//! four domains.

use super::{DomainAction, Facts};
use crate::domain::NoteKind;

/// The actions of the four domains.
pub(super) const ACTION_NAMES: &[&str] = &[
    "move",
    "pick",
    "drop",
    "pickup",
    "putdown",
    "stack",
    "unstack",
    "grasp",
    "leave",
    "fill-shot",
    "refill-shot",
    "empty-shot",
    "clean-shot",
    "pour-shot-to-clean-shaker",
    "pour-shot-to-used-shaker",
    "empty-shaker",
    "clean-shaker",
    "shake",
    "pour-shaker-to-shot",
    "open",
    "close",
    "fetch",
    "put-away",
    "loosen",
    "tighten",
    "jack-up",
    "jack-down",
    "undo",
    "do-up",
    "remove-wheel",
    "put-on-wheel",
    "inflate",
];

/// Returns why an action changed nothing, if the facts show it.
pub(super) fn failure_reason(
    domain: &str,
    facts: &Facts<'_>,
    action: &DomainAction<'_>,
) -> Option<&'static str> {
    let objects = action.objects.as_slice();
    match (domain, action.name, objects) {
        ("gripper-strips", "pick", [ball, room, hand, ..]) => first_true_reason(&[
            (!facts.is_true(&format!("at-robby {room}")), "not_in_the_room"),
            (!facts.is_true(&format!("free {hand}")), "hand_not_free"),
            (!facts.is_true(&format!("at {ball} {room}")), "ball_not_here"),
        ]),
        ("gripper-strips", "drop", [ball, room, hand, ..]) => first_true_reason(&[
            (!facts.is_true(&format!("at-robby {room}")), "not_in_the_room"),
            (!facts.is_true(&format!("carry {ball} {hand}")), "ball_not_carried"),
        ]),
        ("blocksworld-4ops", "pickup" | "unstack", _) if !facts.is_true("arm-empty") => Some("arm_full"),
        ("blocksworld-4ops", "pickup", [block, ..]) => first_true_reason(&[
            (!facts.is_true(&format!("on-table {block}")), "pickup_for_unstack"),
            (!facts.is_true(&format!("clear {block}")), "block_below_another"),
        ]),
        ("blocksworld-4ops", "unstack", [block, ..]) => first_true_reason(&[
            (facts.is_true(&format!("on-table {block}")), "unstack_for_pickup"),
            (!facts.is_true(&format!("clear {block}")), "block_below_another"),
        ]),
        ("blocksworld-4ops", "stack", [block, below, ..]) => first_true_reason(&[
            (!facts.is_true(&format!("holding {block}")), "block_not_held"),
            (!facts.is_true(&format!("clear {below}")), "block_below_another"),
        ]),
        ("barman", "grasp", [hand, ..]) => {
            first_true_reason(&[(!facts.is_true(&format!("handempty {hand}")), "did_not_leave")])
        }
        ("barman", "fill-shot", [shot, ..]) => first_true_reason(&[
            (!is_held(facts, shot), "glass_not_held"),
            (!facts.is_true(&format!("empty {shot}")), "glass_not_empty"),
            (!facts.is_true(&format!("clean {shot}")), "not_clean"),
            (are_both_hands_full(facts), "did_not_leave"),
        ]),
        ("barman", "pour-shot-to-clean-shaker", [_, _, shaker, ..]) => {
            first_true_reason(&[(!facts.is_true(&format!("clean {shaker}")), "not_clean")])
        }
        ("barman", "clean-shot" | "clean-shaker", _) if are_both_hands_full(facts) => Some("did_not_leave"),
        ("barman", "shake", [_, one, other, shaker, ..]) => first_true_reason(&[
            (!is_held(facts, shaker), "glass_not_held"),
            (are_both_hands_full(facts), "did_not_leave"),
            (
                !facts.is_true(&format!("contains {shaker} {one}"))
                    || !facts.is_true(&format!("contains {shaker} {other}")),
                "ingredients_missing",
            ),
        ]),
        ("barman", "pour-shaker-to-shot", [_, shot, ..]) => first_true_reason(&[
            (!facts.is_true(&format!("empty {shot}")), "glass_not_empty"),
            (!facts.is_true(&format!("clean {shot}")), "not_clean"),
        ]),
        ("tyreworld", "fetch" | "put-away", [_, container, ..]) => {
            first_true_reason(&[(!facts.is_true(&format!("isopen {container}")), "boot_closed")])
        }
        ("tyreworld", "loosen" | "tighten", [_, hub, ..]) => first_true_reason(&[
            (!facts.is_true("have wrench"), "tool_missing"),
            (!facts.is_true(&format!("on-ground {hub}")), "hub_in_the_air"),
        ]),
        ("tyreworld", "jack-up", _) if !facts.is_true("have jack") => Some("tool_missing"),
        ("tyreworld", "inflate", _) if !facts.is_true("have pump") => Some("tool_missing"),
        ("tyreworld", "undo" | "do-up", [nut, hub, ..]) => first_true_reason(&[
            (!facts.is_true("have wrench"), "tool_missing"),
            (facts.is_true(&format!("tight {nut} {hub}")), "nut_tight"),
            (!facts.is_true(&format!("not-on-ground {hub}")), "hub_on_the_ground"),
        ]),
        ("tyreworld", "remove-wheel" | "put-on-wheel", [_, hub, ..]) => first_true_reason(&[
            (!facts.is_true(&format!("not-on-ground {hub}")), "hub_on_the_ground"),
            (!facts.is_true(&format!("unfastened {hub}")), "nut_on"),
        ]),
        _ => None,
    }
}

/// Returns the detectors that an accepted action triggers. `previous` is the action of the previous step.
pub(super) fn triggered_detectors(
    domain: &str,
    facts: &Facts<'_>,
    action: &DomainAction<'_>,
    previous: Option<&(String, Vec<String>)>,
) -> Vec<(&'static str, NoteKind)> {
    let mut found = Vec::new();
    let mut mistake =
        |applies: bool, detector| found.extend(applies.then_some((detector, NoteKind::Mistake)));
    match (domain, action.name, action.objects.as_slice()) {
        ("gripper-strips", "pick", [ball, room, ..]) => {
            mistake(facts.is_goal_condition(&format!("at {ball} {room}")), "took_back");
            mistake(
                !facts.goal_conditions("at").any(|(words, _)| words.first() == Some(ball)),
                "ball_not_wanted",
            );
        }
        ("gripper-strips", "drop", [ball, room, ..]) => {
            let belongs_elsewhere = facts
                .goal_conditions("at")
                .any(|(words, _)| words.first() == Some(ball) && words.get(1) != Some(room));
            mistake(belongs_elsewhere, "wrong_drop");
        }
        ("gripper-strips", "move", [from, ..]) => {
            let is_carrying = facts.true_facts("carry").next().is_some();
            let has_free_hand = facts.true_facts("free").next().is_some();
            let ball_waits = facts.goal_conditions("at").any(|(words, satisfied)| match words.as_slice() {
                [ball, to] => !satisfied && to != from && facts.is_true(&format!("at {ball} {from}")),
                _ => false,
            });
            mistake(is_carrying && has_free_hand && ball_waits, "hand_left_free");
        }
        ("blocksworld-4ops", "stack", [block, below, ..]) => {
            let wanted = facts.is_goal_condition(&format!("on {block} {below}"));
            mistake(!wanted, "wrong_stack");
            let is_base_unfinished = facts
                .goal_conditions("on")
                .any(|(words, satisfied)| words.first() == Some(below) && !satisfied);
            mistake(wanted && is_base_unfinished, "two_towers");
            let is_stacked_back = previous.is_some_and(|(verb, objects)| {
                verb == "unstack"
                    && objects.first().map(String::as_str) == Some(block)
                    && objects.get(1).map(String::as_str) == Some(below)
            });
            mistake(is_stacked_back, "stacked_back");
        }
        ("barman", "grasp", _) => mistake(are_both_hands_full(facts), "both_hands_full"),
        ("barman", "pour-shot-to-clean-shaker" | "pour-shot-to-used-shaker", [_, drink, shaker, ..]) => {
            mistake(!is_useful_ingredient(facts, drink, shaker), "wrong_ingredient");
        }
        ("tyreworld", "fetch", [thing, ..]) => mistake(!is_needed(facts, thing), "not_needed"),
        _ => {}
    }
    let instructive = match (domain, action.name) {
        ("gripper-strips", "pick") if facts.true_facts("free").next().is_none() => Some("carried_two"),
        ("barman", "shake") => Some("shook"),
        ("tyreworld", "undo") => Some("undid"),
        ("blocksworld-4ops", "unstack") => Some("unstacked"),
        _ => None,
    };
    found.extend(instructive.map(|detector| (detector, NoteKind::Fact)));
    found
}

/// Returns the first reason whose condition holds.
fn first_true_reason(reasons: &[(bool, &'static str)]) -> Option<&'static str> {
    reasons.iter().find(|(holds, _)| *holds).map(|(_, reason)| *reason)
}

fn is_held(facts: &Facts<'_>, vessel: &str) -> bool {
    facts.true_facts("holding").any(|words| words.get(1) == Some(&vessel))
}

fn are_both_hands_full(facts: &Facts<'_>) -> bool {
    facts.true_facts("handempty").next().is_none()
}

/// Returns whether adding a drink to a shaker, given its present contents, contributes to a cocktail that is still
/// needed.
fn is_useful_ingredient(facts: &Facts<'_>, drink: &str, shaker: &str) -> bool {
    let inside: Vec<&str> = facts
        .true_facts("contains")
        .filter(|words| words.first() == Some(&shaker))
        .filter_map(|words| words.get(1).copied())
        .collect();
    facts.goal_conditions("contains").filter(|(_, satisfied)| !satisfied).any(|(words, _)| {
        let Some(mix) = words.get(1) else { return false };
        let is_part = |name: &str| {
            facts.is_true(&format!("cocktail-part1 {mix} {name}"))
                || facts.is_true(&format!("cocktail-part2 {mix} {name}"))
        };
        is_part(drink) && inside.iter().all(|name| is_part(name))
    })
}

/// Returns whether a tool or wheel from the boot is needed for an unmet goal condition.
fn is_needed(facts: &Facts<'_>, thing: &str) -> bool {
    let has_unmet = |predicate| facts.goal_conditions(predicate).any(|(_, satisfied)| !satisfied);
    match thing {
        "pump" => has_unmet("inflated"),
        "wrench" | "jack" => ["on", "tight", "in", "loose"].into_iter().any(has_unmet),
        wheel => facts
            .goal_conditions("on")
            .chain(facts.goal_conditions("inflated"))
            .any(|(words, satisfied)| !satisfied && words.first() == Some(&wheel)),
    }
}
