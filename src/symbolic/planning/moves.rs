//! Moves in the four domains that don't help, and moves that teach something.

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

/// Returns why a move changed nothing, if the facts show it.
pub(super) fn failure_reason(
    domain: &str,
    known: &Facts<'_>,
    done: &DomainAction<'_>,
) -> Option<&'static str> {
    let objects = done.objects.as_slice();
    match (domain, done.name, objects) {
        ("gripper-strips", "pick", [ball, room, hand, ..]) => first_true_reason(&[
            (!known.is_true(&format!("at-robby {room}")), "not_in_the_room"),
            (!known.is_true(&format!("free {hand}")), "hand_not_free"),
            (!known.is_true(&format!("at {ball} {room}")), "ball_not_here"),
        ]),
        ("gripper-strips", "drop", [ball, room, hand, ..]) => first_true_reason(&[
            (!known.is_true(&format!("at-robby {room}")), "not_in_the_room"),
            (!known.is_true(&format!("carry {ball} {hand}")), "ball_not_carried"),
        ]),
        ("blocksworld-4ops", "pickup" | "unstack", _) if !known.is_true("arm-empty") => Some("arm_full"),
        ("blocksworld-4ops", "pickup", [block, ..]) => first_true_reason(&[
            (!known.is_true(&format!("on-table {block}")), "pickup_for_unstack"),
            (!known.is_true(&format!("clear {block}")), "block_below_another"),
        ]),
        ("blocksworld-4ops", "unstack", [block, ..]) => first_true_reason(&[
            (known.is_true(&format!("on-table {block}")), "unstack_for_pickup"),
            (!known.is_true(&format!("clear {block}")), "block_below_another"),
        ]),
        ("blocksworld-4ops", "stack", [block, below, ..]) => first_true_reason(&[
            (!known.is_true(&format!("holding {block}")), "block_not_held"),
            (!known.is_true(&format!("clear {below}")), "block_below_another"),
        ]),
        ("barman", "grasp", [hand, ..]) => {
            first_true_reason(&[(!known.is_true(&format!("handempty {hand}")), "did_not_leave")])
        }
        ("barman", "fill-shot", [shot, ..]) => first_true_reason(&[
            (!is_held(known, shot), "glass_not_held"),
            (!known.is_true(&format!("empty {shot}")), "glass_not_empty"),
            (!known.is_true(&format!("clean {shot}")), "not_clean"),
            (are_both_hands_full(known), "did_not_leave"),
        ]),
        ("barman", "pour-shot-to-clean-shaker", [_, _, shaker, ..]) => {
            first_true_reason(&[(!known.is_true(&format!("clean {shaker}")), "not_clean")])
        }
        ("barman", "clean-shot" | "clean-shaker", _) if are_both_hands_full(known) => Some("did_not_leave"),
        ("barman", "shake", [_, one, other, shaker, ..]) => first_true_reason(&[
            (!is_held(known, shaker), "glass_not_held"),
            (are_both_hands_full(known), "did_not_leave"),
            (
                !known.is_true(&format!("contains {shaker} {one}"))
                    || !known.is_true(&format!("contains {shaker} {other}")),
                "ingredients_missing",
            ),
        ]),
        ("barman", "pour-shaker-to-shot", [_, shot, ..]) => first_true_reason(&[
            (!known.is_true(&format!("empty {shot}")), "glass_not_empty"),
            (!known.is_true(&format!("clean {shot}")), "not_clean"),
        ]),
        ("tyreworld", "fetch" | "put-away", [_, container, ..]) => {
            first_true_reason(&[(!known.is_true(&format!("isopen {container}")), "boot_closed")])
        }
        ("tyreworld", "loosen" | "tighten", [_, hub, ..]) => first_true_reason(&[
            (!known.is_true("have wrench"), "tool_missing"),
            (!known.is_true(&format!("on-ground {hub}")), "hub_in_the_air"),
        ]),
        ("tyreworld", "jack-up", _) if !known.is_true("have jack") => Some("tool_missing"),
        ("tyreworld", "inflate", _) if !known.is_true("have pump") => Some("tool_missing"),
        ("tyreworld", "undo" | "do-up", [nut, hub, ..]) => first_true_reason(&[
            (!known.is_true("have wrench"), "tool_missing"),
            (known.is_true(&format!("tight {nut} {hub}")), "nut_tight"),
            (!known.is_true(&format!("not-on-ground {hub}")), "hub_on_the_ground"),
        ]),
        ("tyreworld", "remove-wheel" | "put-on-wheel", [_, hub, ..]) => first_true_reason(&[
            (!known.is_true(&format!("not-on-ground {hub}")), "hub_on_the_ground"),
            (!known.is_true(&format!("unfastened {hub}")), "nut_on"),
        ]),
        _ => None,
    }
}

/// Returns what an accepted move shows. `previous` is the action of the step before.
pub(super) fn triggered_detectors(
    domain: &str,
    known: &Facts<'_>,
    done: &DomainAction<'_>,
    previous: Option<&(String, Vec<String>)>,
) -> Vec<(&'static str, NoteKind)> {
    let mut found = Vec::new();
    let mut mistake = |is: bool, detector| found.extend(is.then_some((detector, NoteKind::Mistake)));
    match (domain, done.name, done.objects.as_slice()) {
        ("gripper-strips", "pick", [ball, room, ..]) => {
            mistake(known.is_goal_condition(&format!("at {ball} {room}")), "took_back");
            mistake(
                !known.goal_conditions("at").any(|(words, _)| words.first() == Some(ball)),
                "ball_not_wanted",
            );
        }
        ("gripper-strips", "drop", [ball, room, ..]) => {
            let elsewhere = known
                .goal_conditions("at")
                .any(|(words, _)| words.first() == Some(ball) && words.get(1) != Some(room));
            mistake(elsewhere, "wrong_drop");
        }
        ("gripper-strips", "move", [from, ..]) => {
            let carries = known.true_facts("carry").next().is_some();
            let free = known.true_facts("free").next().is_some();
            let waits = known.goal_conditions("at").any(|(words, held)| match words.as_slice() {
                [ball, to] => !held && to != from && known.is_true(&format!("at {ball} {from}")),
                _ => false,
            });
            mistake(carries && free && waits, "hand_left_free");
        }
        ("blocksworld-4ops", "stack", [block, below, ..]) => {
            let wanted = known.is_goal_condition(&format!("on {block} {below}"));
            mistake(!wanted, "wrong_stack");
            let unsettled =
                known.goal_conditions("on").any(|(words, held)| words.first() == Some(below) && !held);
            mistake(wanted && unsettled, "two_towers");
            let back = previous.is_some_and(|(verb, objects)| {
                verb == "unstack"
                    && objects.first().map(String::as_str) == Some(block)
                    && objects.get(1).map(String::as_str) == Some(below)
            });
            mistake(back, "stacked_back");
        }
        ("barman", "grasp", _) => mistake(are_both_hands_full(known), "both_hands_full"),
        ("barman", "pour-shot-to-clean-shaker" | "pour-shot-to-used-shaker", [_, drink, shaker, ..]) => {
            mistake(!is_useful_ingredient(known, drink, shaker), "wrong_ingredient");
        }
        ("tyreworld", "fetch", [thing, ..]) => mistake(!is_needed(known, thing), "not_needed"),
        _ => {}
    }
    let taught = match (domain, done.name) {
        ("gripper-strips", "pick") if known.true_facts("free").next().is_none() => Some("carried_two"),
        ("barman", "shake") => Some("shook"),
        ("tyreworld", "undo") => Some("undid"),
        ("blocksworld-4ops", "unstack") => Some("unstacked"),
        _ => None,
    };
    found.extend(taught.map(|detector| (detector, NoteKind::Fact)));
    found
}

/// Returns the first reason whose condition holds.
fn first_true_reason(reasons: &[(bool, &'static str)]) -> Option<&'static str> {
    reasons.iter().find(|(is, _)| *is).map(|(_, why)| *why)
}

fn is_held(known: &Facts<'_>, vessel: &str) -> bool {
    known.true_facts("holding").any(|words| words.get(1) == Some(&vessel))
}

fn are_both_hands_full(known: &Facts<'_>) -> bool {
    known.true_facts("handempty").next().is_none()
}

/// Returns whether adding a drink to a shaker, given its present contents, contributes to a cocktail that is still
/// needed.
fn is_useful_ingredient(known: &Facts<'_>, drink: &str, shaker: &str) -> bool {
    let inside: Vec<&str> = known
        .true_facts("contains")
        .filter(|words| words.first() == Some(&shaker))
        .filter_map(|words| words.get(1).copied())
        .collect();
    known.goal_conditions("contains").filter(|(_, held)| !held).any(|(words, _)| {
        let Some(mix) = words.get(1) else { return false };
        let part = |name: &str| {
            known.is_true(&format!("cocktail-part1 {mix} {name}"))
                || known.is_true(&format!("cocktail-part2 {mix} {name}"))
        };
        part(drink) && inside.iter().all(|name| part(name))
    })
}

/// Returns whether something in the boot helps to reach an open part of the goal.
fn is_needed(known: &Facts<'_>, thing: &str) -> bool {
    let open = |predicate| known.goal_conditions(predicate).any(|(_, held)| !held);
    match thing {
        "pump" => open("inflated"),
        "wrench" | "jack" => open("on") || open("tight") || open("in") || open("loose"),
        wheel => known
            .goal_conditions("on")
            .chain(known.goal_conditions("inflated"))
            .any(|(words, held)| !held && words.first() == Some(&wheel)),
    }
}
