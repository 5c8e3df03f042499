//! Tiles and lists of households.

use super::*;
use crate::text::width;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A kitchen in which the agent has looked at some places.
fn kitchen() -> Value {
    json!({
        "receptacles": ["cabinet 2", "cabinet 1", "countertop 1", "fridge 1", "shelf 2", "shelf 1"],
        "place": "countertop 1",
        "holding": "mug 1",
        "seen": {
            "cabinet 1": {"open": true, "items": []},
            "cabinet 2": {"open": true, "items": ["plate 1", "mug 2"]},
            "countertop 1": {"items": ["apple 1", "bread 1", "butterknife 1", "tomato 1"]},
            "fridge 1": {"open": false},
        },
    })
}

/// Returns the picture of what is shown.
fn draw(shown: &Value, columns: usize, rows: usize, is_ascii: bool) -> Picture {
    let goal = "put two mugs in shelf";
    draw_picture(&PictureRequest { shown, truth: None, goal, progress: 0.0, columns, rows, is_ascii })
}

fn row_texts(rows: &[PictureRow]) -> Vec<String> {
    let text = |row: &PictureRow| row.iter().map(|(_, text)| text.as_str()).collect::<String>();
    rows.iter().map(|row| text(row).trim_end().replace('\u{a0}', " ")).collect()
}

#[test]
fn places_are_tiles_in_the_order_of_the_room() {
    let picture = draw(&kitchen(), 58, 20, false);
    assert_eq!(picture.summary, "4 of 6 places seen");
    assert_eq!(
        row_texts(&picture.rows),
        [
            "goal   put two mugs in shelf",
            "agent  kitchen · at countertop 1 · holding mug 1",
            "",
            "┌ cabinet 2 ────────── open ┬ cabinet 1 ────────── open ┐",
            "│ mug 2, plate 1            │ empty                     │",
            "│                           │                           │",
            "│                           │                           │",
            "├▸ countertop 1 ────────────┼ fridge 1 ─────────────────┤",
            "│ apple 1, bread 1,         │ closed                    │",
            "│ butterknife 1, tomato 1   │                           │",
            "│                           │                           │",
            "├ shelf 2 ░░░░░░░░░░░░░░░░░░┼ shelf 1 ░░░░░░░░░░░░░░░░░░┤",
            "│                           │                           │",
            "│                           │                           │",
            "│                           │                           │",
            "└───────────────────────────┴───────────────────────────┘",
            " ░░ not seen   ▸ agent   named in the goal",
        ]
    );
}

/// Regression: in a zoomed pane the tiles of places that weren't seen stayed edges without rows, above forty empty rows.
#[test]
fn low_tiles_are_as_high_as_there_is_room() {
    let heights = [(20, 13), (15, 10), (13, 8), (12, 7)];
    for (rows, height) in heights {
        let drawn = row_texts(&draw(&kitchen(), 58, rows, false).rows);
        let tiles = drawn.iter().filter(|row| row.starts_with(['┌', '├', '│', '└'])).count();
        assert_eq!(tiles, height, "{rows}: {drawn:#?}");
        assert!(drawn.len() <= rows);
    }
}

#[test]
fn tiles_without_room_are_counted_and_so_are_their_contents() {
    let rows = row_texts(&draw(&kitchen(), 50, 8, false).rows);
    assert_eq!(rows.last().unwrap(), "2 not seen: shelf ×2");
    assert!(rows.iter().any(|row| row.contains("apple 1, bread 1 +2")), "{rows:#?}");
    assert!(row_texts(&draw(&kitchen(), 50, 8, true).rows).concat().is_ascii());
}

/// Regression: the place that the task is about was hidden, and `+8` counted kinds beside numbers of places.
#[test]
fn unseen_places_of_the_goal_come_first_and_all_others_are_counted() {
    let names = (1..=9).map(|n| format!("cabinet {n}")).chain((1..=3).map(|n| format!("drawer {n}")));
    let names: Vec<String> = names.chain(["shelf 1", "fridge 1", "toaster 1"].map(str::to_owned)).collect();
    let rows = |columns| row_texts(&draw(&json!({ "receptacles": names }), columns, 5, false).rows);
    assert_eq!(rows(46).last().unwrap(), "15 not seen: shelf, cabinet ×9 +5 more");
    assert_eq!(rows(36).last().unwrap(), "15 not seen: shelf +14 more");
}

#[test]
fn a_narrow_area_has_a_list_and_counts_unseen_places() {
    assert_eq!(
        row_texts(&draw(&kitchen(), 46, 20, false).rows),
        [
            "goal     put two mugs in shelf",
            "place    kitchen · countertop 1",
            "holding  mug 1",
            "",
            "▸ countertop 1  apple 1, bread 1,",
            "                butterknife 1, tomato 1",
            "  cabinet 2     open: mug 2, plate 1",
            "  cabinet 1     open, empty",
            "  fridge 1      closed",
            "",
            "2 not seen: shelf ×2",
        ]
    );
}

#[test]
fn known_things_of_the_goal_are_highlighted() {
    for columns in [46, 80] {
        let rows = draw(&kitchen(), columns, 20, false).rows.concat();
        let wanted = rows.iter().filter(|(role, _)| *role == PictureRole::Goal);
        let wanted: Vec<&str> = wanted.map(|(_, text)| text.as_str()).collect();
        for name in ["mugs", "shelf", "mug 1", "mug 2"] {
            assert!(wanted.contains(&name), "{columns}: {name} not in {wanted:?}");
        }
        assert!(wanted.iter().all(|name| !name.contains("plate")), "{wanted:?}");
    }
}

#[test]
fn the_ground_truth_keeps_the_order_and_marks_what_the_agent_has_not_seen() {
    let truth = json!({"place": "shelf 1", "receptacles": {
        "attic 1": {"items": []},
        "shelf 1": {"items": ["mug 3"]},
        "cabinet 2": {"open": true, "items": ["plate 1"]},
    }});
    let shown = kitchen();
    let request = PictureRequest {
        shown: &shown,
        truth: Some(&truth),
        goal: "",
        progress: 0.0,
        columns: 120,
        rows: 30,
        is_ascii: false,
    };
    let picture = draw_picture(&request);
    assert!(picture.shows_truth);
    assert_eq!(picture.summary, "4 of 7 places seen");
    let text = row_texts(&picture.rows[2..]).join("\n");
    assert!(text.contains("mug 3") && !text.contains("not seen:"), "{text}");
    let positions = ["cabinet 2", "shelf 1", "attic 1"].map(|name| text.find(name).unwrap());
    assert!(positions.is_sorted(), "{text}");
}

/// Returns a household with some places, of which the agent has looked at some, and the things that it saw.
fn any_household() -> impl Strategy<Value = (Value, usize)> {
    let place = (any::<bool>(), proptest::option::of(any::<bool>()), 0_usize..12, "[a-z]{1,20}");
    proptest::collection::vec(place, 0..45).prop_map(|places| {
        let mut shown = json!({"receptacles": [], "seen": {}});
        let mut count = 0;
        for (at, (is_seen, open, things, kind)) in places.into_iter().enumerate() {
            let name = format!("{kind} {at}");
            shown["receptacles"].as_array_mut().unwrap().push(name.clone().into());
            if is_seen {
                let items: Vec<String> =
                    (0..things).map(|thing| format!("thing{} {}", count + thing, at)).collect();
                count += things;
                shown["seen"][name] = json!({"open": open, "items": items});
            }
        }
        (shown, count)
    })
}

/// Returns how many things a picture shows or counts. Their names begin with `thing`. The rows that count places are
/// left out.
fn shown_or_counted(picture: &Picture) -> usize {
    let count = |(_, text): &(PictureRole, String)| {
        let text = text.trim();
        let more = text.strip_prefix('+').and_then(|more| more.parse().ok());
        more.unwrap_or_else(|| usize::from(text.starts_with("thing")))
    };
    let is_about_things = |row: &&PictureRow| !row.iter().any(|(_, text)| text.ends_with("not seen:"));
    picture.rows.iter().take_while(is_about_things).flatten().map(count).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn every_seen_thing_is_shown_or_counted(
        (shown, things) in any_household(),
        columns in 30_usize..130,
        rows in 0_usize..60,
        is_ascii: bool,
    ) {
        let picture = draw(&shown, columns, rows, is_ascii);
        prop_assert_eq!(shown_or_counted(&picture), things, "{:#?}", row_texts(&picture.rows));
        for row in &picture.rows {
            prop_assert!(row.iter().map(|(_, text)| width(text)).sum::<usize>() <= columns);
        }
        let truth = json!({"receptacles": {"hidden 1": {"items": ["secret 1"]}}});
        let hidden = PictureRequest { shown: &shown, truth: None, goal: "", progress: 0.0, columns, rows, is_ascii };
        let revealed = PictureRequest { truth: Some(&truth), ..hidden };
        prop_assert!(!row_texts(&draw_picture(&hidden).rows).concat().contains("secret"));
        prop_assert!(row_texts(&draw_picture(&revealed).rows).concat().contains("secret"));
    }
}
