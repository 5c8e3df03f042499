//! The original's behaviour, intended or not.

use super::super::{PrimitiveAction, Reply};
use super::{go_to_json, joined_actions, level_json, open_level};
use crate::env::Environment;
use serde_json::{Value, json};

const ROOM: [&str; 5] = ["#######", "#....a#", "#..>b.#", "#.c...#", "#######"];

fn room_level() -> Value {
    level_json(&ROOM, &["red ball", "grey box", "blue key"], go_to_json("ball", "red"))
}

#[test]
fn observations_list_objects_by_distance() {
    let mut world = open_level(&room_level());
    assert_eq!(
        world.restart(),
        "In front of you in this room, you can see several objects: There is a grey box 1 right in front of you 1 steps \
         away.  There is a red ball 1 2 steps in front of you and 1 steps to your left.  The room has walls around you. \
         You are facing a box 1 steps away. You are not carrying anything."
    );
    assert_eq!(
        joined_actions(&world),
        "turn left, turn right, pickup grey box 1, pickup red ball 1, go to grey box 1, go to red ball 1, check available actions"
    );
}

#[test]
fn every_rejection_has_its_message() {
    let mut world = open_level(&room_level());
    for (action, answer, valid) in [
        ("", "No change in state.", false),
        ("  \u{1c} ", "No change in state.", false),
        ("dance", "The action is not recognized. Please check valid actions.", false),
        ("pick up red ball 1", "The action is not recognized. Please check valid actions.", false),
        ("toggle", "The action is not recognized. Please check valid actions.", false),
        ("move forward", "There is a barrier in front of you, you can't move forward.", false),
        ("drop", "You cannot drop the object, as you are not carrying anything.", false),
        // It is listed, but the agent already faces it: `valid` keeps its previous value.
        ("go to grey box 1", "No change in state.", false),
        (
            "please CHECK the oven",
            "You can take the following actions: turn left, turn right, pickup grey box 1, pickup red ball 1, go to grey box 1, go to red ball 1, check available actions",
            true,
        ),
        ("go to grey box 1", "No change in state.", true),
    ] {
        let Reply { observation, primitive_actions: low, environment_result: raw } = world.play(action);
        assert_eq!((observation.as_str(), world.last_valid()), (answer, Some(valid)), "{action}");
        assert!(low.is_empty() && raw.is_none(), "{action}");
    }
    assert_eq!(world.action_count(), 0);
}

#[test]
fn passing_a_door_depends_on_its_state() {
    let rows = ["#########", "#.>.a..b#", "####c####", "#...d...#", "#########"];
    let objects = ["red closed door", "blue key", "blue locked door", "green ball"];
    let level = level_json(&rows, &objects, go_to_json("ball", "green"));
    let mut world = open_level(&level);
    assert_eq!(
        world.play("go through red closed door 1").observation,
        "You cannot go through red closed door 1, as it is closed. You should toggle it first."
    );
    // The key behind the door is out of view, and the locked door around the corner is visible.
    let reply = world.play("toggle and go through blue locked door 1");
    assert_eq!(
        reply.observation,
        "You cannot toggle and go through blue locked door 1, as you are not carrying a key."
    );
    let reply = world.play("  TOGGLE and go through red closed door 1");
    assert_eq!(
        reply.primitive_actions,
        [PrimitiveAction::Forward, PrimitiveAction::Toggle, PrimitiveAction::Forward]
    );
    assert_eq!((world.agent().x, world.agent().y), (4, 1));
    assert!(joined_actions(&world).contains("pickup blue key 1"), "{}", joined_actions(&world));
    world.play("pickup blue key 1");
    world.play("turn left");
    world.play("turn left");
    world.play("go through red open door 1");
    world.play("turn left");
    // The key stays in hand, and the door is unlocked.
    assert_eq!(world.play("toggle").primitive_actions, [PrimitiveAction::Toggle]);
    assert!(joined_actions(&world).contains("go through blue open door 1"), "{}", joined_actions(&world));
    assert!(world.play("turn left").observation.ends_with("You are carrying a blue key."));
}

#[test]
fn an_unreachable_door_prints_the_count_table_by_mistake() {
    let rows = ["#########", "#>.b...a#", "#########"];
    let mut world =
        open_level(&level_json(&rows, &["red closed door", "grey ball"], go_to_json("ball", "grey")));
    for (action, answer) in [
        (
            "toggle and go through red closed door 1",
            "You cannot toggle and go through red closed door {'red closed door': 1}, as there is no path leading to it.",
        ),
        ("go to red closed door 1", "You cannot go to red closed door 1, as there is no path leading to it."),
    ] {
        assert_eq!(world.play(action).observation, answer);
    }
    assert_eq!(
        joined_actions(&world),
        "turn left, turn right, move forward, pickup grey ball 1, go to grey ball 1, check available actions"
    );
}

#[test]
fn a_macro_action_continues_after_success_and_its_last_step_decides() {
    let rows = ["#######", "#.>.a.#", "#######"];
    let open = json!({"op": "open", "desc": {"type": "door", "color": "red"}});
    let mut through = open_level(&level_json(&rows, &["red closed door"], open.clone()));
    let reply = through.play("toggle and go through red closed door 1");
    assert_eq!(
        reply.primitive_actions,
        [PrimitiveAction::Forward, PrimitiveAction::Toggle, PrimitiveAction::Forward]
    );
    assert_eq!((reply.environment_result, through.is_done()), (Some((0.0, false)), false));
    let mut toggled = open_level(&level_json(&rows, &["red closed door"], open));
    toggled.play("go to red closed door 1");
    let reply = toggled.play("toggle");
    assert_eq!(reply.environment_result, Some((1.0 - 0.9 * (2.0 / 100.0), true)));
    assert!(
        toggled.is_done()
            && reply.observation.ends_with("You are not carrying anything.\n The task is completed.")
    );
}

#[test]
fn an_unchanged_view_ends_a_macro_action() {
    // In the middle of a large empty room, all directions look the same.
    let rows: Vec<String> = (0..25)
        .map(|y| {
            (0..25)
                .map(|x| {
                    if y % 24 == 0 || x % 24 == 0 {
                        '#'
                    } else if (x, y) == (12, 12) {
                        '>'
                    } else {
                        '.'
                    }
                })
                .collect()
        })
        .collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let mut world = open_level(&level_json(&rows, &["red ball"], go_to_json("ball", "red")));
    assert_eq!(
        world.restart(),
        "You cannot see any objects within sight.The room has walls around you. You are not carrying anything."
    );
    let reply = world.play("turn right");
    assert_eq!((reply.primitive_actions.len(), world.agent().direction, world.action_count()), (1, 1, 1));
}

#[test]
fn success_is_not_permanent() {
    let rows = ["######", "#>..a#", "######"];
    let mut level = level_json(&rows, &["red ball"], go_to_json("ball", "red"));
    // One of two subgoals is seen on the way, and half of the progress is not enough.
    level["subgoals"] = json!(["There is a green ball **", " There is a red ball ** 1 steps away."]);
    let mut one = open_level(&level);
    let reply = one.play("go to red ball 1");
    assert!(reply.observation.ends_with("The task is completed."));
    assert_eq!(
        (reply.environment_result.map(|r| r.1), one.reward(), one.is_done()),
        (Some(true), 0.5, false)
    );
    // With the other list as an alternative, both are seen, one per action.
    level["subgoals"] =
        json!([["There is a green ball **", "nothing"], ["1 steps away", "The task is completed"]]);
    let mut two = open_level(&level);
    two.play("go to red ball 1");
    assert_eq!((two.reward(), two.is_done()), (0.5, false));
    two.play("turn left");
    assert_eq!((two.reward(), two.is_done()), (0.5, false));
    let reply = two.play("turn right");
    assert_eq!((two.reward(), two.is_done()), (1.0, true));
    assert_eq!(reply.observation.matches("The task is completed.").count(), 1);
    // Reaching all subgoals without completing the mission also ends the episode.
    level["subgoals"] = json!(["There is a red ball"]);
    let mut three = open_level(&level);
    let reply = three.play("move forward");
    assert_eq!(
        (reply.environment_result.map(|r| r.1), three.reward(), three.is_done()),
        (Some(false), 1.0, true)
    );
    assert!(reply.observation.ends_with("\n The task is completed."));
}

#[test]
fn a_failed_strict_clause_does_not_end_an_episode_without_subgoals() {
    let rows = ["#####", "#>a.#", "#.b.#", "#####"];
    let mission = json!({"op": "pickup", "strict": true, "desc": {"type": "ball", "color": "blue"}});
    let mut world = open_level(&level_json(&rows, &["red ball", "blue ball"], mission));
    let reply = world.play("pickup red ball 1");
    assert_eq!((reply.environment_result, world.reward(), world.is_done()), (Some((0.0, true)), 0.0, false));
    assert!(reply.observation.ends_with("The task is completed."));
}

#[test]
fn a_taken_object_keeps_its_known_position_until_the_next_drop() {
    let rows = ["######", "#.>a.#", "######"];
    let mut world = open_level(&level_json(&rows, &["red ball"], go_to_json("ball", "red")));
    assert!(world.play("pickup red ball 1").environment_result.is_some_and(|(_, ended)| ended));
    world.play("turn left");
    assert!(world.play("turn right").environment_result.is_some_and(|(_, ended)| ended));
    world.play("turn left");
    world.play("turn left");
    assert_eq!(world.play("drop").environment_result.map(|(_, ended)| ended), Some(true));
    world.play("turn left");
    assert_eq!(world.play("turn left").environment_result.map(|(_, ended)| ended), Some(false));
}

#[test]
fn a_sequence_checks_its_second_half_with_the_same_action() {
    let rows = ["######", "#>a..#", "#....#", "######"];
    let clause = go_to_json("ball", "red");
    for (op, mission) in [
        ("before", "go to the red ball, then go to the red ball"),
        ("after", "go to the red ball after you go to the red ball"),
    ] {
        let instr = json!({"op": op, "a": clause, "b": clause});
        let mut world = open_level(&level_json(&rows, &["red ball"], instr));
        assert_eq!(world.start().mission, mission);
        assert_eq!(
            world.start().goal,
            if op == "before" {
                "go to the red ball, and go to the red ball"
            } else {
                "go to the red ball and go to the red ball"
            }
        );
        world.play("turn left");
        assert!(world.play("turn right").environment_result.is_some_and(|(_, ended)| ended), "{op}");
    }
}

#[test]
fn snapshots_restore_the_whole_state() {
    let mut level = room_level();
    level["subgoals"] = json!(["a red ball", "carrying a red ball"]);
    let mut world = open_level(&level);
    world.reset().unwrap();
    world.step("turn left").unwrap();
    let (snapshot, before) = (world.snapshot().unwrap(), (joined_actions(&world), world.world_summary()));
    let mut first = Vec::new();
    for again in 0..2 {
        let results = ["turn right", "pickup red ball 1", "turn left", "nonsense", "drop"]
            .map(|a| world.step(a).unwrap());
        if again == 0 {
            first = results.to_vec();
            assert!(results.iter().any(|t| t.progress > 0.9), "{results:?}");
        } else {
            assert_eq!(first, results);
        }
        world.restore(&snapshot).unwrap();
        assert_eq!((joined_actions(&world), world.world_summary()), before);
    }
    let other = super::open_level(&level);
    assert!(world.restore(&other.snapshot().unwrap()).is_err());
}

#[test]
fn shown_contains_only_what_was_seen() {
    let mut world = open_level(&room_level());
    let first = world.reset().unwrap();
    assert_eq!(first.shown["goal"], "go to the red ball");
    assert_eq!(first.shown["rows"]["1"], "      . . or##");
    // The key is behind the agent: it is in the ground truth, but has not been seen.
    assert_eq!(first.shown["rows"]["3"], "      . . . ##");
    assert_eq!(first.truth["rows"]["3"], "##. kb. . . ##");
    let mut known = first.shown.clone();
    for action in ["turn right", "turn right"] {
        crate::domain::merge_patch(&mut known, &world.step(action).unwrap().shown);
    }
    assert_eq!(known["rows"]["3"], "##. kb. . . ##");
    let result = world.step("dance").unwrap();
    assert!(result.shown.is_null() && result.truth.is_null());
}
