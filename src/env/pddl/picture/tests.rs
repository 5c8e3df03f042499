//! Drawings of planning problems, and of malformed ones.

use super::*;
use crate::env::Environment;
use crate::env::pddl::{GoalSeparator, generate};
use serde_json::json;

/// Returns the picture of a problem in an area of some width.
fn draw(shown: &Value, truth: Option<&Value>, columns: usize, is_ascii: bool) -> Picture {
    draw_picture(&PictureRequest { shown, truth, goal: "", progress: 0.0, columns, rows: 20, is_ascii })
}

/// Returns the drawing of a generated problem after some actions.
fn picture(task: &str, actions: &[&str], columns: usize) -> Vec<String> {
    let mut env = generate(&task.parse().unwrap()).unwrap().open(GoalSeparator::Comma);
    let mut shown = env.reset().unwrap().shown;
    for action in actions {
        let result = env.step(action).unwrap();
        assert!(result.valid, "{action}");
        crate::domain::merge_patch(&mut shown, &result.shown);
    }
    row_texts(&draw(&shown, None, columns, false).rows)
}

/// Returns the picture of facts and of no goal.
fn facts_picture(domain: &str, facts: &[&str], rows: usize) -> Vec<String> {
    let facts: serde_json::Map<String, Value> =
        facts.iter().map(|fact| ((*fact).to_owned(), true.into())).collect();
    let shown = json!({"domain": domain, "facts": facts, "subgoals": {}});
    let request = PictureRequest {
        shown: &shown,
        truth: None,
        goal: "",
        progress: 0.0,
        columns: 40,
        rows,
        is_ascii: false,
    };
    row_texts(&draw_picture(&request).rows)
}

fn row_texts(rows: &[PictureRow]) -> Vec<String> {
    let text = |row: &PictureRow| row.iter().map(|(_, text)| text.as_str()).collect::<String>();
    rows.iter().map(|row| text(row).trim_end().replace('\u{a0}', " ")).collect()
}

#[test]
fn blocks_are_drawn_as_towers() {
    assert_eq!(
        picture("blockworld/easy/2", &["unstack b2 from b3"], 38),
        ["· b1 is on b2.  · b2 is on b3.", "arm  [b2]", "", "┌────┐", "│ b3 │", "├────┤", "│ b1 │", "┴────┴"]
    );
}

#[test]
fn towers_share_edges_and_have_brackets_where_frames_do_not_fit() {
    let facts = ["on-table a", "on b a", "on-table c", "arm-empty"];
    assert_eq!(
        facts_picture("blocksworld-4ops", &facts, 20)[2..],
        ["┌───┐", "│ b │", "├───┤ ┌───┐", "│ a │ │ c │", "┴───┴─┴───┴"]
    );
    assert_eq!(facts_picture("blocksworld-4ops", &facts, 5)[2..], ["[b]", "[a] [c]", "───────"]);
}

#[test]
fn facts_of_other_domains_are_listed_by_object() {
    let facts = [
        "raining",
        "at truck2 depot",
        "at truck10 depot",
        "loaded truck2",
        "near depot harbour",
        "depot depot",
    ];
    assert_eq!(
        facts_picture("logistics", &facts, 20),
        [
            "         raining",
            "depot    depot, near harbour",
            "truck2   at depot, loaded",
            "truck10  at depot"
        ]
    );
}

#[test]
fn gripper_rooms_are_drawn_as_boxes() {
    assert_eq!(
        picture("gripper/easy/1", &["pick ball1 rooma left"], 42),
        [
            "· ball1 is at roomb.  · ball2 is at roomb.",
            "┌─ rooma ────────┐ ┌─ roomb ────────┐",
            "│ ball2          │ │ no balls       │",
            "│ ▸ Robby        │ │                │",
            "│   left   ball1 │ │                │",
            "│   right  free  │ │                │",
            "└────────────────┘ └────────────────┘"
        ]
    );
}

#[test]
fn barman_and_tyreworld_are_drawn_as_boxes() {
    let bar = picture("barman/easy/1", &["right grasp shot1"], 58);
    assert!(bar.iter().any(|row| row == "left  free   right  shot1"), "{bar:#?}");
    assert!(bar.iter().any(|row| row.contains("─ shot1 ─")), "{bar:#?}");
    assert!(bar.iter().any(|row| row == "dispenser1 gives ingredient1"), "{bar:#?}");
    let garage = picture("tyreworld/hard/1", &["open boot", "fetch wrench boot"], 58);
    // Regression: the goal was below everything else, where a pane of 17 rows hid it.
    assert!(garage[0].starts_with("✓ jack is in boot.") || garage[0].starts_with("· "), "{garage:#?}");
    assert!(garage.iter().any(|row| row == "at hand  wrench"), "{garage:#?}");
    assert!(garage.iter().any(|row| row.contains("─ boot, open ─")), "{garage:#?}");
    assert!(garage.iter().any(|row| row.contains("✓ jack is in boot.")), "{garage:#?}");
}

/// Regression: at the width of the pane on a screen of 120 columns only two boxes fitted side by side, the recipes were
/// below the lower edge, and a glass that had been used widened all boxes.
#[test]
fn a_bar_fits_its_pane() {
    let actions = [
        "left grasp shot1",
        "fill-shot glass shot1 with ingredient1 with left and right holding dispenser1",
        "pour-shot-to-clean-shaker from a shot glass shot1 with ingredient1 to a clean shaker shaker1 with hand left from level l0 to level l1",
    ];
    for actions in [&actions[..0], &actions[..2], &actions[..]] {
        let bar = picture("barman/easy/1", actions, 46);
        assert!(bar.len() <= 17 && bar.iter().any(|row| row.matches('┌').count() == 3), "{bar:#?}");
        assert!(bar.iter().all(|row| width(row) <= 46 && !row.contains('…')), "{bar:#?}");
    }
    let wide = picture("barman/easy/1", &[], 78);
    assert!(
        wide.iter().any(|row| row == "dispenser1 gives ingredient1   dispenser2 gives ingredient2"),
        "{wide:#?}"
    );
}

/// Ground truths about the plan from the start.
const PLAN_TRUTHS: [&str; 4] =
    ["{}", r#"{"plan": 12}"#, r#"{"no_plan": "impossible"}"#, r#"{"no_plan": "gave_up", "states": 4000}"#];

#[test]
fn the_plan_length_says_when_the_planner_gave_up() {
    let words = |truth: &str| {
        let truth = serde_json::from_str(truth).ok();
        let picture = draw(&json!({"facts": {}, "subgoals": {}}), truth.as_ref(), 90, true);
        picture.rows.concat().into_iter().map(|(_, text)| text).collect::<String>()
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

/// Regression: the header's 0/5 contradicted "1 of 5 subgoals hold now".
#[test]
fn the_number_of_held_subgoals_says_why_it_is_not_the_progress() {
    let mut env = generate(&"tyreworld/1".parse().unwrap()).unwrap().open(GoalSeparator::Comma);
    let mut result = env.reset().unwrap();
    let mut shown = result.shown.clone();
    let mut said = Vec::new();
    for action in ["open boot", "fetch wrench boot", "loosen nuts1 the-hub1", ""] {
        let (truth, goal, columns, rows, is_ascii) = (None, "", 60, 20, false);
        let progress = result.progress;
        let request = PictureRequest { shown: &shown, truth, goal, progress, columns, rows, is_ascii };
        said.push(draw_picture(&request).summary);
        result = env.step(action).unwrap();
        crate::domain::merge_patch(&mut shown, &result.shown);
    }
    let expected = ["hold from the start", "hold now", "hold now", "hold now, best 1"];
    let held = [1, 1, 1, 0];
    let lines = held.iter().zip(expected).map(|(held, when)| format!("{held} of 5 subgoals {when}"));
    assert_eq!(said, lines.collect::<Vec<_>>());
}

/// No row is wider than the area, whatever the environment shows.
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
        for columns in [0, 1, 3, 7, 10, 18, 35, 62] {
            for (truth, is_ascii) in PLAN_TRUTHS.iter().flat_map(|truth| [(truth, false), (truth, true)]) {
                let picture = draw(shown, serde_json::from_str(truth).ok().as_ref(), columns, is_ascii);
                assert!(picture.summary.contains(" subgoals hold "));
                assert!(picture.one_line.iter().all(|text| !text.is_empty()) && !picture.one_line.is_empty());
                for row in picture.rows {
                    let wide: usize = row.iter().map(|(_, text)| width(text)).sum();
                    // In an area too small for a box, the screen cuts.
                    assert!(columns < 18 || wide <= columns, "{columns}: {row:?}");
                }
            }
        }
    }
}

#[test]
fn what_is_not_a_problem_is_listed() {
    let shown = json!({"facts": ["on a b"], "subgoals": {}});
    assert_eq!(row_texts(&draw(&shown, None, 40, false).rows), ["facts     on a b", "subgoals  none"]);
}
