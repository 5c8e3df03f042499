//! The list of values, and the pictures of every environment for malformed data.

use super::*;
use crate::env::{alfworld, babyai, pddl};
use proptest::prelude::*;
use serde_json::json;

/// Returns the rows of the list of values.
fn listed(shown: &Value, goal: &str, columns: usize) -> Vec<String> {
    let picture = list_values(&PictureRequest {
        shown,
        truth: None,
        goal,
        progress: 0.0,
        columns,
        rows: 20,
        is_ascii: false,
    });
    let text = |row: &PictureRow| row.iter().map(|(_, text)| text.as_str()).collect::<String>();
    picture.rows.iter().map(|row| text(row).trim_end().to_owned()).collect()
}

#[test]
fn known_values_are_listed_by_name() {
    let shown = json!({
        "number": 7,
        "is_even": false,
        "buttons": ["add 1", "add 3"],
        "history": {"last": "add 3", "by": {"kind": "person"}},
        "rows": [[1, 2], []],
        "empty": {},
    });
    assert_eq!(
        listed(&shown, "reach 10 with as few additions as possible", 40),
        [
            "goal      reach 10 with as few additions",
            "          as possible",
            "buttons   add 1, add 3",
            "empty     none",
            "history",
            "  by",
            "    kind  person",
            "  last    add 3",
            "is_even   no",
            "number    7",
            "rows",
            "  1       1, 2",
            "  2       none",
        ]
    );
    // What an environment tells of the goal isn't repeated, unless it is something else.
    let goal = "reach 10 with three additions or fewer";
    assert_eq!(listed(&json!({"goal": goal}), goal, 60), [format!("goal  {goal}")]);
    assert_eq!(listed(&json!({"goal": "now 4"}), "reach 10", 40), ["goal  now 4"]);
    assert_eq!(listed(&Value::Null, "", 40), ["nothing is known yet"]);
    assert_eq!(listed(&json!([1, "two"]), "", 40), ["value  1, two"]);
}

/// Regression: a goal that the status row shows was repeated, and a score and its maximum were two rows.
#[test]
fn a_score_is_one_row_and_a_short_goal_none() {
    let shown = json!({"cell": 1, "goal": "reach cell 4", "max_score": 4, "moves": 2, "score": 2});
    assert_eq!(listed(&shown, "reach cell 4", 40), ["cell   1", "moves  2", "score  2 of 4"]);
    assert_eq!(listed(&json!({"max_score": 4}), "", 40), ["max_score  4"]);
    let request = PictureRequest {
        shown: &shown,
        truth: None,
        goal: "reach cell 4",
        progress: 0.0,
        columns: 40,
        rows: 0,
        is_ascii: false,
    };
    assert_eq!(list_values(&request).one_line[0], "cell 1 · moves 2 · score 2 of 4");
}

#[test]
fn the_list_is_bounded_and_has_a_summary_for_one_line() {
    let many: Value = (0..5000).map(|n| (format!("{n:04}"), json!(vec![n; 5000]))).collect();
    let rows = listed(&many, "", 60);
    assert!(rows.len() < 13 * MAX_VALUES && rows.last().unwrap() == "… more is known", "{}", rows.len());
    let shown = json!({"a": 1, "b": {"c": 2}, "d": "x"});
    let request = PictureRequest {
        shown: &shown,
        truth: Some(&shown),
        goal: "g",
        progress: 0.0,
        columns: 40,
        rows: 0,
        is_ascii: true,
    };
    let picture = list_values(&request);
    assert_eq!(picture.one_line, ["a 1 - d x", "a 1"]);
    assert!(picture.shows_truth);
}

#[test]
fn a_tab_in_a_name_is_measured_as_it_is_drawn() {
    let shown = json!({"receptacles": "aaa\tbbb"});
    let request = PictureRequest {
        shown: &shown,
        truth: None,
        goal: "g\tg",
        progress: 0.0,
        columns: 19,
        rows: 0,
        is_ascii: false,
    };
    for row in alfworld::draw_picture(&request).rows {
        assert!(row.iter().map(|(_, text)| width(text)).sum::<usize>() <= 19, "{row:?}");
    }
}

/// Returns any JSON, with names that the pictures look for.
fn any_json() -> impl Strategy<Value = Value> {
    let names = prop::sample::select(vec![
        "size",
        "agent",
        "rows",
        "view",
        "mission",
        "carrying",
        "text",
        "done",
        "facts",
        "subgoals",
        "domain",
        "held",
        "place",
        "room",
        "holding",
        "receptacles",
        "seen",
        "items",
        "open",
        "plan",
        "no_plan",
        "0",
        "1",
        "on a b",
        "on b a",
        "on-table a",
        "room 世界",
        "ontable \u{1b}[2J",
        "on-ground h",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2_i64..300).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,30}".prop_map(Value::from),
        prop::sample::select(vec![
            "k\u{1b}o\u{9b}##. /r",
            "世界世界世界",
            "\u{202e}key",
            "barman",
            "tyreworld"
        ])
        .prop_map(Value::from),
        prop::sample::select(vec![json!([3, 2]), json!([1, 1, 2]), json!([40, 30]), json!([5, 5, 9])]),
    ];
    leaf.prop_recursive(4, 40, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec((names.clone(), inner), 0..8).prop_map(|fields| fields
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]
    /// Whatever an environment shows, no picture panics, and none but a drawing of towers is wider than its area.
    #[test]
    fn malformed_data_fits_the_area(
        shown in any_json(),
        truth in any_json(),
        size in prop::sample::select(vec![json!([3, 2]), json!([9, 9]), json!([256, 256]), json!([1, 40])]),
        columns in 0_usize..90,
        rows in 0_usize..30,
        is_ascii: bool,
    ) {
        let mut grid = if shown.is_object() { shown.clone() } else { json!({}) };
        (grid["size"], grid["agent"]) = (size, json!([1, 1, 3]));
        for (shown, truth) in [(&shown, None), (&shown, Some(&truth)), (&grid, None), (&grid, Some(&grid))] {
            let request = PictureRequest { shown, truth, goal: "g \u{1b}[2J", progress: 0.0, columns, rows, is_ascii };
            pddl::draw_picture(&request);
            for picture in [list_values(&request), alfworld::draw_picture(&request), babyai::draw_picture(&request)] {
                for row in &picture.rows {
                    let wide: usize = row.iter().map(|(_, text)| width(text)).sum();
                    prop_assert!(columns < 18 || wide <= columns, "{columns}: {row:?}");
                }
            }
            if shown == &grid {
                prop_assert!(babyai::draw_picture(&request).rows.len() <= rows);
            }
        }
    }
}
