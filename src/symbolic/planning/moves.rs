//! Moves of the four domains that do not help, and those that teach something.

use super::{Known, Move};
use crate::domain::NoteKind;

/// The actions of the four domains.
pub(super) const VERBS: &[&str] = &[
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

/// Why a move changed nothing, where the facts tell.
pub(super) fn refused(domain: &str, known: &Known<'_>, done: &Move<'_>) -> Option<&'static str> {
    let objects = done.objects.as_slice();
    match (domain, done.verb, objects) {
        ("gripper-strips", "pick", [ball, room, hand, ..]) => first(&[
            (!known.has(&format!("at-robby {room}")), "not_in_the_room"),
            (!known.has(&format!("free {hand}")), "hand_not_free"),
            (!known.has(&format!("at {ball} {room}")), "ball_not_here"),
        ]),
        ("gripper-strips", "drop", [ball, room, hand, ..]) => first(&[
            (!known.has(&format!("at-robby {room}")), "not_in_the_room"),
            (!known.has(&format!("carry {ball} {hand}")), "ball_not_carried"),
        ]),
        ("blocksworld-4ops", "pickup" | "unstack", _) if !known.has("arm-empty") => Some("arm_full"),
        ("blocksworld-4ops", "pickup", [block, ..]) => first(&[
            (!known.has(&format!("on-table {block}")), "pickup_for_unstack"),
            (!known.has(&format!("clear {block}")), "block_below_another"),
        ]),
        ("blocksworld-4ops", "unstack", [block, ..]) => first(&[
            (known.has(&format!("on-table {block}")), "unstack_for_pickup"),
            (!known.has(&format!("clear {block}")), "block_below_another"),
        ]),
        ("blocksworld-4ops", "stack", [block, below, ..]) => first(&[
            (!known.has(&format!("holding {block}")), "block_not_held"),
            (!known.has(&format!("clear {below}")), "block_below_another"),
        ]),
        ("barman", "grasp", [hand, ..]) => {
            first(&[(!known.has(&format!("handempty {hand}")), "did_not_leave")])
        }
        ("barman", "fill-shot", [shot, ..]) => first(&[
            (!held(known, shot), "glass_not_held"),
            (!known.has(&format!("empty {shot}")), "glass_not_empty"),
            (!known.has(&format!("clean {shot}")), "not_clean"),
            (both_hands_full(known), "did_not_leave"),
        ]),
        ("barman", "pour-shot-to-clean-shaker", [_, _, shaker, ..]) => {
            first(&[(!known.has(&format!("clean {shaker}")), "not_clean")])
        }
        ("barman", "clean-shot" | "clean-shaker", _) if both_hands_full(known) => Some("did_not_leave"),
        ("barman", "shake", [_, one, other, shaker, ..]) => first(&[
            (!held(known, shaker), "glass_not_held"),
            (both_hands_full(known), "did_not_leave"),
            (
                !known.has(&format!("contains {shaker} {one}"))
                    || !known.has(&format!("contains {shaker} {other}")),
                "ingredients_missing",
            ),
        ]),
        ("barman", "pour-shaker-to-shot", [_, shot, ..]) => first(&[
            (!known.has(&format!("empty {shot}")), "glass_not_empty"),
            (!known.has(&format!("clean {shot}")), "not_clean"),
        ]),
        ("tyreworld", "fetch" | "put-away", [_, container, ..]) => {
            first(&[(!known.has(&format!("isopen {container}")), "boot_closed")])
        }
        ("tyreworld", "loosen" | "tighten", [_, hub, ..]) => first(&[
            (!known.has("have wrench"), "tool_missing"),
            (!known.has(&format!("on-ground {hub}")), "hub_in_the_air"),
        ]),
        ("tyreworld", "jack-up", _) if !known.has("have jack") => Some("tool_missing"),
        ("tyreworld", "inflate", _) if !known.has("have pump") => Some("tool_missing"),
        ("tyreworld", "undo" | "do-up", [nut, hub, ..]) => first(&[
            (!known.has("have wrench"), "tool_missing"),
            (known.has(&format!("tight {nut} {hub}")), "nut_tight"),
            (!known.has(&format!("not-on-ground {hub}")), "hub_on_the_ground"),
        ]),
        ("tyreworld", "remove-wheel" | "put-on-wheel", [_, hub, ..]) => first(&[
            (!known.has(&format!("not-on-ground {hub}")), "hub_on_the_ground"),
            (!known.has(&format!("unfastened {hub}")), "nut_on"),
        ]),
        _ => None,
    }
}

/// What an accepted move shows. `previous` is the action of the step before.
pub(super) fn noticed(
    domain: &str,
    known: &Known<'_>,
    done: &Move<'_>,
    previous: Option<&(String, Vec<String>)>,
) -> Vec<(&'static str, NoteKind)> {
    let mut found = Vec::new();
    let mut mistake = |is: bool, detector| found.extend(is.then_some((detector, NoteKind::Mistake)));
    match (domain, done.verb, done.objects.as_slice()) {
        ("gripper-strips", "pick", [ball, room, ..]) => {
            mistake(known.wants(&format!("at {ball} {room}")), "took_back");
            mistake(!known.wanted("at").any(|(words, _)| words.first() == Some(ball)), "ball_not_wanted");
        }
        ("gripper-strips", "drop", [ball, room, ..]) => {
            let elsewhere = known
                .wanted("at")
                .any(|(words, _)| words.first() == Some(ball) && words.get(1) != Some(room));
            mistake(elsewhere, "wrong_drop");
        }
        ("gripper-strips", "move", [from, ..]) => {
            let carries = known.facts("carry").next().is_some();
            let free = known.facts("free").next().is_some();
            let waits = known.wanted("at").any(|(words, held)| match words.as_slice() {
                [ball, to] => !held && to != from && known.has(&format!("at {ball} {from}")),
                _ => false,
            });
            mistake(carries && free && waits, "hand_left_free");
        }
        ("blocksworld-4ops", "stack", [block, below, ..]) => {
            let wanted = known.wants(&format!("on {block} {below}"));
            mistake(!wanted, "wrong_stack");
            let unsettled = known.wanted("on").any(|(words, held)| words.first() == Some(below) && !held);
            mistake(wanted && unsettled, "two_towers");
            let back = previous.is_some_and(|(verb, objects)| {
                verb == "unstack"
                    && objects.first().map(String::as_str) == Some(block)
                    && objects.get(1).map(String::as_str) == Some(below)
            });
            mistake(back, "stacked_back");
        }
        ("barman", "grasp", _) => mistake(both_hands_full(known), "both_hands_full"),
        ("barman", "pour-shot-to-clean-shaker" | "pour-shot-to-used-shaker", [_, drink, shaker, ..]) => {
            mistake(!mixes(known, drink, shaker), "wrong_ingredient");
        }
        ("tyreworld", "fetch", [thing, ..]) => mistake(!needed(known, thing), "not_needed"),
        _ => {}
    }
    let taught = match (domain, done.verb) {
        ("gripper-strips", "pick") if known.facts("free").next().is_none() => Some("carried_two"),
        ("barman", "shake") => Some("shook"),
        ("tyreworld", "undo") => Some("undid"),
        ("blocksworld-4ops", "unstack") => Some("unstacked"),
        _ => None,
    };
    found.extend(taught.map(|detector| (detector, NoteKind::Fact)));
    found
}

/// The first reason that is true.
fn first(reasons: &[(bool, &'static str)]) -> Option<&'static str> {
    reasons.iter().find(|(is, _)| *is).map(|(_, why)| *why)
}

fn held(known: &Known<'_>, vessel: &str) -> bool {
    known.facts("holding").any(|words| words.get(1) == Some(&vessel))
}

fn both_hands_full(known: &Known<'_>) -> bool {
    known.facts("handempty").next().is_none()
}

/// Whether a drink in a shaker, with what is in it already, is part of a cocktail that is still wanted.
fn mixes(known: &Known<'_>, drink: &str, shaker: &str) -> bool {
    let inside: Vec<&str> = known
        .facts("contains")
        .filter(|words| words.first() == Some(&shaker))
        .filter_map(|words| words.get(1).copied())
        .collect();
    known.wanted("contains").filter(|(_, held)| !held).any(|(words, _)| {
        let Some(mix) = words.get(1) else { return false };
        let part = |name: &str| {
            known.has(&format!("cocktail-part1 {mix} {name}"))
                || known.has(&format!("cocktail-part2 {mix} {name}"))
        };
        part(drink) && inside.iter().all(|name| part(name))
    })
}

/// Whether something in the boot helps towards what is left of the goal.
fn needed(known: &Known<'_>, thing: &str) -> bool {
    let open = |predicate| known.wanted(predicate).any(|(_, held)| !held);
    match thing {
        "pump" => open("inflated"),
        "wrench" | "jack" => open("on") || open("tight") || open("in") || open("loose"),
        wheel => known
            .wanted("on")
            .chain(known.wanted("inflated"))
            .any(|(words, held)| !held && words.first() == Some(&wheel)),
    }
}
