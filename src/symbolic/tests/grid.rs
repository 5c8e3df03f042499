//! Tests the detectors and rules of the grid world on episodes in a hand-written level.

use super::*;
use crate::env::Environment;
use crate::env::babyai::{LevelStart, World};
use crate::grid::{Clause, ObjectDesc, View, parse_clauses};
use std::sync::Arc;

/// Two rooms with a locked blue door between them; the first holds a blue key, a red box and a grey ball, the second a
/// green ball.
fn level(mission: &str) -> World {
    let text = format!(
        r#"{{"grid":[["W","W","W","W","W","W","W","W","W"],["W",null,null,1,"W",null,null,null,"W"],
        ["W",null,null,null,0,null,4,null,"W"],["W",null,null,2,"W",null,null,null,"W"],
        ["W",null,null,3,"W",null,null,null,"W"],["W","W","W","W","W","W","W","W","W"]],
        "objects":[{{"type":"door","color":"blue","state":"locked"}},{{"type":"key","color":"blue"}},
        {{"type":"box","color":"red"}},{{"type":"ball","color":"grey"}},{{"type":"ball","color":"green"}}],
        "agent":[1,2,0],"max_steps":500,"instr":{mission}}}"#
    );
    World::new(Arc::new(LevelStart::parse("level", text.as_bytes()).unwrap()))
}

const FETCH: &str = r#"{"op":"pickup","desc":{"type":"ball","color":"green"}}"#;
const OPEN: &str = r#"{"op":"open","desc":{"type":"door"}}"#;

fn play_level(mission: &str, actions: &[&str]) -> TestRun {
    let mut world = level(mission);
    let mut run = test_spec("omnireflect", &[("level", "")]);
    run.tasks[0].env = "babyai".to_owned();
    let mut play = TestRun::new(run);
    let mut answer = |action: Option<&str>| match action {
        None => world.reset().unwrap(),
        Some(action) => world.step(action).unwrap(),
    };
    play.play_script_in(&mut answer, actions);
    play
}

#[test]
fn every_rejection_reason_is_detected() {
    for (actions, reason) in [
        (&["pick up red box 1"][..], "wrong_verb"),
        (&["pickup red box 1", "pickup grey ball 1"], "hands_full"),
        (&["open sesame"], "unknown_action"),
        (&["toggle and go through blue locked door 1"], "no_key"),
        (&["drop"], "empty_hands"),
        (&["go to red box 1", "go to red box 1"], "no_change"),
        (&["go to red box 1", "move forward"], "barrier"),
        (
            &[
                "go to red box 1",
                "turn left",
                "turn left",
                "pickup blue key 1",
                "turn left",
                "turn left",
                "drop",
            ],
            "no_room",
        ),
    ] {
        let play = play_level(FETCH, actions);
        let notes = last_notes(play.state());
        assert!(
            notes.contains(&"nothing_happened".to_owned()) && notes.contains(&reason.to_owned()),
            "{actions:?}: {notes:?}"
        );
        assert!(!lesson_texts(play.state(), ReflectionKind::Error).is_empty(), "{actions:?}");
    }
}

#[test]
fn key_door_and_target_events_are_each_noted_once() {
    let play = play_level(
        FETCH,
        &[
            "turn left",
            "turn right",
            "pickup blue key 1",
            "turn right",
            "toggle and go through blue locked door 1",
            "go to green ball 1",
        ],
    );
    let episode = play.state().episode.as_deref().unwrap();
    let note_count = |name: &str| episode.note_tallies.get(name).map_or(0, |tally| tally.count);
    assert_eq!(
        ["found_key", "took_key", "unlocked", "found_target", "circling"].map(note_count),
        [1, 1, 1, 1, 0],
        "{:?}",
        episode.note_tallies
    );
    let lessons = lesson_texts(play.state(), ReflectionKind::Abstract);
    assert!(
        lessons.iter().any(|text| text.starts_with("A key opens locked doors of its own colour")),
        "{lessons:?}"
    );
    assert_eq!(
        lesson_texts(play.state(), ReflectionKind::Progress),
        [
            "You are carrying the blue key. Next: open the blue locked door with it, and don't drop it until then."
        ]
    );
}

#[test]
fn progress_lesson_names_the_task_door_and_the_next_action() {
    let play = play_level(OPEN, &["move forward"]);
    assert_eq!(
        lesson_texts(play.state(), ReflectionKind::Progress),
        [
            "You see blue locked door 1, which the task mentions. Next: go to blue locked door 1, carrying a key of the same colour, and toggle it."
        ]
    );
}

#[test]
fn picking_up_another_object_is_noted_as_must_drop() {
    let play = play_level(FETCH, &["pickup red box 1"]);
    assert!(last_notes(play.state()).contains(&"must_drop".to_owned()));
    assert!(
        lesson_texts(play.state(), ReflectionKind::Error)[0]
            .starts_with("Drop what you carry on a free cell")
    );
}

#[test]
fn circling_is_noted_after_more_than_one_full_turn() {
    let circling_notes = |turn_count: usize| {
        let play = play_level(FETCH, &vec!["turn left"; turn_count]);
        let episode = play.state().episode.as_deref().unwrap();
        episode.note_tallies.get("circling").map_or(0, |tally| tally.count)
    };
    assert_eq!([3, 4, 5, 9, 10].map(circling_notes), [0, 0, 1, 1, 2]);
    // A turn in the other direction starts the count again.
    let play =
        play_level(FETCH, &["turn left", "turn left", "turn left", "turn right", "turn left", "turn left"]);
    assert!(!last_notes(play.state()).contains(&"circling".to_owned()));
}

#[test]
fn listing_actions_is_not_a_mistake_and_a_second_failure_is_a_repeat() {
    let listed = play_level(FETCH, &["check available actions"]);
    assert!(last_notes(listed.state()).is_empty());
    let again = play_level(FETCH, &["open sesame", "open sesame"]);
    assert!(last_notes(again.state()).contains(&"repeat".to_owned()));
    assert!(
        lesson_texts(again.state(), ReflectionKind::Error)
            .contains(&"Do not repeat an action that did nothing.".to_owned())
    );
}

#[test]
fn views_and_goals_are_parsed_completely() {
    let view = View::parse(
        "In front of you in this room, you can see several objects: There is a blue locked door 2 0 steps in front of you and 3 \
         steps to your left.  There is a red ball 1 right in front of you 1 steps away.  The room has walls around you. You are \
         facing a box 4 steps away. You are carrying a grey key.",
    )
    .unwrap();
    assert_eq!((view.barrier, view.carrying), (Some(4), Some(("grey", "key"))));
    let objects: Vec<_> = view.objects.iter().map(|o| (o.name, o.door_state, o.ahead, o.right)).collect();
    assert_eq!(objects, [("blue locked door 2", "locked", 0, -3), ("red ball 1", "", 1, 0)]);
    assert!(View::parse("No change in state.").is_none());
    let goal = parse_clauses(
        "go to a ball and put the red key on your left next to the grey box, and open a door behind you",
    );
    let any_ball = ObjectDesc { colour: None, kind: Some("ball"), side: None };
    let red_key = ObjectDesc { colour: Some("red"), kind: Some("key"), side: Some(3) };
    let grey_box = ObjectDesc { colour: Some("grey"), kind: Some("box"), side: None };
    let any_door = ObjectDesc { colour: None, kind: Some("door"), side: Some(2) };
    assert_eq!(goal, [Clause::GoTo(any_ball), Clause::PutNext(red_key, grey_box), Clause::Open(any_door)]);
}
