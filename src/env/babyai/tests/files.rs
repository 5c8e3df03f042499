//! Valid and malformed level files.

use super::super::thing::cell_at;
use super::super::{Level, LevelStart};
use super::{go_to_json, level_json, load_level, open_level};
use crate::env::EnvError;
use serde_json::{Value, json};

fn small_level() -> Value {
    level_json(
        &["#####", "#>.a#", "#.b.#", "#####"],
        &["red closed door", "grey key"],
        go_to_json("key", "grey"),
    )
}

#[test]
fn missing_fields_of_level_files_are_inferred() {
    let start = load_level(&small_level());
    assert_eq!((start.mission.as_str(), start.goal.as_str()), ("go to the grey key", "go to the grey key"));
    assert_eq!((start.width, start.height, start.max_steps), (5, 4, 100));
    let mut level = small_level();
    level.as_object_mut().unwrap().remove("max_steps");
    assert_eq!(load_level(&level).max_steps, 25);
    // The original treats a wall as a grey object.
    level["instr"] = json!({"op": "pickup", "desc": {"color": "grey"}});
    assert_eq!(load_level(&level).mission, "pick up a grey object");
    level["instr"] = json!({"op": "goto", "desc": {"color": "grey", "loc": "right"}});
    assert_eq!(
        load_level(&level).instruction.clauses().next().unwrap().descriptions().next().unwrap().things.len(),
        1
    );
}

#[test]
fn errors_in_level_files_name_the_location_and_the_reason() {
    let change = |at: &str, to: Value| {
        let mut level = small_level();
        *level.pointer_mut(at).unwrap_or_else(|| panic!("{at}")) = to;
        level.to_string()
    };
    let mut long = small_level();
    long["mission"] = "x".repeat(5000).into();
    let pair = json!({"op": "and", "a": {"op": "and", "a": go_to_json("key", "grey"), "b": go_to_json("key", "grey")}, "b": go_to_json("key", "grey")});
    for (text, place, reason) in [
        ("{".to_owned(), "line 1, column 1", "not JSON"),
        ("[]".to_owned(), "the file", "expected an object"),
        ("{}".to_owned(), "the file", "`objects` is missing"),
        (change("/grid", json!([])), "grid", "no cells"),
        (change("/grid/1", json!(["W"])), "grid[1]", "1 cells, the first row has 5"),
        (
            change("/grid/1/2", json!("X")),
            "grid[1][2]",
            "expected a whole number, got \"X\"; a cell is null, \"W\" or an object's number",
        ),
        (change("/grid/1/2", json!(7)), "grid[1][2]", "no object 7; there are 2"),
        (change("/grid/1/2", json!(1)), "grid[2][2]", "object 1 is already somewhere else"),
        (change("/objects/0/state", json!("ajar")), "objects[0].state", "open, closed or locked"),
        (change("/objects/1/color", json!("pink")), "objects[1].color", "got \"pink\""),
        (
            change("/objects/1", json!({"type": "box", "color": "red", "contains": 9})),
            "objects[1].contains",
            "no object 9",
        ),
        (change("/agent", json!([0, 0, 0])), "agent", "on an empty cell or an open door"),
        (change("/agent", json!([3, 1, 0])), "agent", "on an empty cell or an open door"),
        (change("/agent", json!([1, 1, 4])), "agent[2]", "4 is not between 0 and 3"),
        (change("/agent", json!([1, 1])), "agent", "list of three"),
        (change("/max_steps", json!(0)), "max_steps", "0 is not between 1"),
        (change("/instr/op", json!("sing")), "instr.op", "expected goto"),
        (change("/instr", pair), "instr.a.op", "joins two clauses"),
        (change("/instr/desc", json!({"obj_set": [5]})), "instr.desc.obj_set[0]", "no object 5"),
        (
            change("/instr/desc", json!({"obj_set": [1], "obj_poss": []})),
            "instr.desc.obj_poss",
            "0 positions for 1 objects",
        ),
        (long.to_string(), "mission", "5000 bytes"),
    ] {
        match LevelStart::parse("own.json", text.as_bytes()) {
            Err(EnvError::Broken { file, place: at, reason: why }) => {
                assert_eq!(file, "own.json");
                assert_eq!(at, place, "{why}");
                assert!(why.contains(reason), "{why:?} does not say {reason:?}");
            }
            other => panic!("{place}: {other:?}"),
        }
    }
}

#[test]
fn the_first_view_of_a_level_that_starts_carrying_still_shows_the_object_on_the_floor() {
    let start = Level::from_name("PutNextS7N4Carrying").unwrap().generate(1234).unwrap();
    assert!(start.stale_view.is_some() && start.carrying.is_some());
    // Its original cell is now empty.
    let held = start.carrying.unwrap();
    let (x, y) = start.known_positions[usize::from(held.0)].unwrap();
    let cell = cell_at(&start.cells, start.width, start.height, x, y);
    assert_eq!(cell, super::super::Cell::Empty);
}

#[test]
fn labels_determine_levels_by_their_position() {
    let label = json!({"task": "babyai", "subgoals": ["There is a red ball **"], "difficulty": "easy"});
    let start = LevelStart::from_task_row("labels#4", &label, 4).unwrap();
    assert_eq!((start.env_id.as_str(), start.seed), ("BabyAI-GoToRedBall-v0", 1234));
    assert_eq!((start.subgoals.len(), start.difficulty.as_deref()), (1, Some("easy")));
    let both = json!({"subgoals_1": ["a", "b"], "subgoals_2": ["c", "d"], "difficulty": "hard"});
    assert_eq!(LevelStart::from_task_row("labels#52", &both, 52).unwrap().subgoals, [["a", "b"], ["c", "d"]]);
    assert!(
        LevelStart::from_task_row("labels#112", &label, 112).unwrap_err().to_string().contains("112 tasks")
    );
}

#[test]
fn cells_outside_the_grid_are_walls() {
    // A level without a border: everything beyond its edge is wall, and cells with a negative coordinate are not
    // mentioned.
    let open = level_json(&["...", ".^.", ".a."], &["red ball"], go_to_json("ball", "red"));
    let mut world = open_level(&open);
    assert_eq!(
        world.restart(),
        "In front of you in this room, you can see several objects: The room has walls around you. You are not carrying anything."
    );
    let reply = world.play("turn right");
    assert!(reply.observation.contains("You are facing a wall 2 steps away."), "{}", reply.observation);
}

#[test]
fn the_level_in_the_documentation_can_be_won() {
    let page = include_str!("../../../../docs/BABYAI.md");
    let (_, rest) = page.split_once("```json\n").unwrap();
    let mut world = open_level(&serde_json::from_str(rest.split_once("```").unwrap().0).unwrap());
    world.play("pickup red ball 1");
    assert!(world.is_done());
}
