//! Drawings of planning problems, and of malformed ones.

use super::*;
use crate::env::Environment;
use crate::env::pddl::{GoalSeparator, generate};
use crate::ui::glyphs::{ASCII, UNICODE};
use serde_json::json;

/// Returns the drawing of a generated problem after some actions.
fn picture(task: &str, actions: &[&str], columns: u16) -> Vec<String> {
    let mut env = generate(&task.parse().unwrap()).unwrap().open(GoalSeparator::Comma);
    let mut shown = env.reset().unwrap().shown;
    for action in actions {
        let result = env.step(action).unwrap();
        assert!(result.valid, "{action}");
        crate::domain::merge_patch(&mut shown, &result.shown);
    }
    row_texts(&world_rows(&UNICODE, &shown, None, columns))
}

fn row_texts(rows: &[StyledLine]) -> Vec<String> {
    let text = |row: &StyledLine| row.iter().map(|(_, text)| text.as_str()).collect::<String>();
    rows.iter().map(|row| text(row).trim_end().to_owned()).collect()
}

#[test]
fn blocks_are_drawn_as_towers() {
    assert_eq!(
        picture("blockworld/easy/2", &["unstack b2 from b3"], 40),
        ["arm  [b2]", "", "[b3]", "[b1]", "────", "· b1 is on b2.  · b2 is on b3."]
    );
}

#[test]
fn gripper_rooms_are_drawn_as_boxes() {
    assert_eq!(
        picture("gripper/easy/1", &["pick ball1 rooma left"], 44),
        [
            "┌─ rooma ────────┐ ┌─ roomb ────────┐",
            "│ ball2          │ │ no balls       │",
            "│ ▸ Robby        │ │                │",
            "│   left   ball1 │ │                │",
            "│   right  free  │ │                │",
            "└────────────────┘ └────────────────┘",
            "· ball1 is at roomb.  · ball2 is at roomb."
        ]
    );
}

#[test]
fn barman_and_tyreworld_are_drawn_as_boxes() {
    let bar = picture("barman/easy/1", &["right grasp shot1"], 60);
    assert!(bar.iter().any(|row| row == "right  shot1"), "{bar:#?}");
    assert!(bar.iter().any(|row| row.contains("─ shot1 (right) ")), "{bar:#?}");
    assert!(bar.iter().any(|row| row == "dispenser1 gives ingredient1"), "{bar:#?}");
    let garage = picture("tyreworld/hard/1", &["open boot", "fetch wrench boot"], 60);
    assert_eq!(garage[0], "at hand  wrench");
    assert!(garage.iter().any(|row| row.contains("─ boot, open ─")), "{garage:#?}");
    assert!(garage.iter().any(|row| row.contains("✓ jack is in boot.")), "{garage:#?}");
}

/// Ground truths about the plan from the start.
const PLAN_TRUTHS: [&str; 4] =
    ["{}", r#"{"plan": 12}"#, r#"{"no_plan": "impossible"}"#, r#"{"no_plan": "gave_up", "states": 4000}"#];

#[test]
fn the_plan_length_says_when_the_planner_gave_up() {
    let words = |truth: &str| {
        let rows = world_rows(
            &ASCII,
            &json!({"facts": {}, "subgoals": {}}),
            serde_json::from_str(truth).ok().as_ref(),
            90,
        );
        rows.concat().into_iter().map(|(_, text)| text).collect::<String>()
    };
    for (truth, expected) in PLAN_TRUTHS.iter().zip([
        "is known",
        "takes 12 actions",
        "no listed actions reach",
        "gave up after 4000 states",
    ]) {
        assert!(words(truth).contains(expected), "{truth}: {}", words(truth));
    }
}

/// No row is wider than the pane, whatever the environment shows.
#[test]
fn malformed_problems_fit_the_pane() {
    let malformed = [
        json!({"facts": {}, "subgoals": {}}),
        json!({"domain": "blocksworld-4ops", "facts": {"on a b": true, "on b a": true, "on-table c": true, "on d c": true, "on c d": true}, "subgoals": {"(x)": 7}}),
        json!({"domain": "barman", "facts": {"ontable": true, "ontable a b": true, "": true, " ": true}, "subgoals": {"": {"text": "", "held": "no"}}}),
        json!({"domain": "tyreworld", "facts": {"on-ground h": true, "on  h": true, "tight n h": 3, "closed b": [], "have 世界世界世界世界世界世界世界世界世界世界": null}, "subgoals": {"(a)": {"text": "世界世界世界世界世界世界世界世界", "held": true}}}),
        json!({"domain": "gripper-strips", "facts": {"room \u{1b}[2J": true, "room aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": true, "at-robby x": true}, "subgoals": {}}),
        json!({"domain": 7, "facts": {"p": true, "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq a b c d e f": true}, "subgoals": {"(p)": {"held": true}}}),
    ];
    for shown in &malformed {
        assert!(is_planning_world(shown));
        for columns in [0, 1, 5, 9, 12, 20, 37, 64] {
            for glyphs in [&UNICODE, &ASCII] {
                for row in PLAN_TRUTHS.iter().flat_map(|truth| {
                    world_rows(glyphs, shown, serde_json::from_str(truth).ok().as_ref(), columns)
                }) {
                    let wide: usize = row.iter().map(|(_, text)| width(text)).sum();
                    // In a pane too small for a box, the canvas cuts.
                    assert!(columns < 20 || wide <= usize::from(columns), "{columns}: {row:?}");
                }
            }
            assert!(!in_one_line(shown, "·").is_empty());
        }
    }
}
