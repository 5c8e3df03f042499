//! Tests of the reasons inferred for actions without effect; the environment itself only says that nothing happened.

use super::{HEAT_TASK, last_notes, play_kitchen};

#[test]
fn failed_steps_are_noted_with_their_reason() {
    let cases: &[(&[&str], &str)] = &[
        (&["go to countertop"], "number_missing"),
        (&["go to countertop 9"], "unknown_place"),
        (&["go to fridge 1", "go to fridge 1"], "already_there"),
        (&["open fridge 1"], "not_at_place"),
        (&["go to countertop 1", "open countertop 1"], "no_door"),
        (&["go to fridge 1", "open fridge 1", "open fridge 1"], "already_open"),
        (&["go to countertop 2", "take apple from countertop 2"], "number_missing"),
        (&["take apple 1 from countertop 2"], "not_at_place"),
        (&["go to countertop 1", "take apple 1 from countertop 1"], "object_not_here"),
        (&["go to fridge 1", "take apple 2 from fridge 1"], "container_closed"),
        (
            &["go to countertop 2", "take mug 1 from countertop 2", "take apple 1 from countertop 2"],
            "hand_full",
        ),
        (&["go to countertop 2", "move apple 1 to countertop 2"], "not_holding"),
        (
            &["go to countertop 2", "take apple 1 from countertop 2", "move apple 1 to garbagecan 1"],
            "not_at_place",
        ),
        (
            &[
                "go to countertop 2",
                "take apple 1 from countertop 2",
                "go to cabinet 1",
                "move apple 1 to cabinet 1",
            ],
            "container_closed",
        ),
        (
            &[
                "go to countertop 2",
                "take apple 1 from countertop 2",
                "go to garbagecan 1",
                "put apple 1 in/on garbagecan 1",
            ],
            "wrong_form",
        ),
        (
            &[
                "go to countertop 2",
                "take apple 1 from countertop 2",
                "go to stoveburner 1",
                "heat apple 1 with stoveburner 1",
            ],
            "wrong_appliance",
        ),
        (
            &["go to countertop 2", "take apple 1 from countertop 2", "heat apple 1 with microwave 1"],
            "not_at_place",
        ),
        (&["go to microwave 1", "heat apple 1 with microwave 1"], "not_holding"),
        (&["use desklamp 1"], "object_not_here"),
        (&["slice apple 1 with knife 1"], "not_holding"),
        (&["goto fridge 1"], "unknown_action"),
        (&["pick up the apple"], "unknown_action"),
    ];
    assert_failure_reasons(cases);
}

#[test]
fn actions_with_two_objects_are_unknown_actions() {
    // `examine`, `open` and `use` take one object. With a second one they are unknown actions, wherever the agent is
    // and whatever it holds.
    let take = ["go to countertop 2", "take apple 1 from countertop 2"];
    let with_apple = |action: &'static str| [&take[..], &[action]].concat();
    let cases: [(&[&str], &str); 7] = [
        (&with_apple("examine apple 1 with desklamp 1"), "unknown_action"),
        (&with_apple("examine apple with desklamp"), "unknown_action"),
        (&["examine apple 1 under desklamp 1"], "unknown_action"),
        (&["examine the apple with the desklamp"], "unknown_action"),
        (&["go to fridge 1", "open fridge 1 with knife 1"], "unknown_action"),
        (&with_apple("use desklamp 1 on apple 1"), "unknown_action"),
        (&["examine apple 1"], "not_holding"),
    ];
    assert_failure_reasons(&cases);
}

/// Plays each case and compares why its last step had no effect.
fn assert_failure_reasons(cases: &[(&[&str], &str)]) {
    for (actions, reason) in cases {
        let play = play_kitchen(HEAT_TASK, actions);
        let notes = last_notes(play.state());
        assert!(
            notes.starts_with(&["nothing_happened".to_owned(), (*reason).to_owned()]),
            "{actions:?}: {notes:?}"
        );
    }
}
