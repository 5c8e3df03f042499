//! Tests of label files in AgentBoard's format.

use super::super::{Selection, find, list_tasks, open, select_tasks};
use crate::domain::Task;
use crate::env::{TaskError, TaskOptions};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

fn write_list(dir: &Path, rows: &[Value]) -> Selection {
    let lines: Vec<String> = rows.iter().map(ToString::to_string).collect();
    fs::write(dir.join("test.jsonl"), lines.join("\n")).unwrap();
    Selection { list: Some(dir.join("test.jsonl").display().to_string()), ..Selection::default() }
}

fn list_rows(env: &str, dir: &Path, rows: &[Value]) -> Vec<Task> {
    list_tasks(env, &write_list(dir, rows), &TaskOptions::default()).unwrap()
}

fn alfworld_label(description: &str) -> Value {
    json!({"task": "alfworld", "id": 0, "goal": "put a hot thing somewhere.", "difficulty": "hard",
        "subgoals": ["^(?=.* you see)(?=.*a \\w+ \\d+)", "You never say this"],
        "additional_info": {"description": description}})
}

#[test]
fn alfworld_labels_measure_progress_by_their_own_subgoals() {
    let dir = tempfile::tempdir().unwrap();
    let game = crate::env::household::generate(&"easy/heat/23".parse().unwrap()).unwrap();
    let folder = dir.path().join("json_2.1.1/valid_unseen/pick_heat-Mug/trial_1");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("game.tw-pddl"), game.game_json).unwrap();
    let selection = write_list(dir.path(), &[alfworld_label("pick_heat-Mug/trial_1")]);
    // Listing needs no data, and the environment comes from the label.
    let listed = list_tasks("household", &selection, &TaskOptions::default()).unwrap();
    assert_eq!(
        (
            listed[0].env.as_str(),
            listed[0].goal.as_str(),
            listed[0].task_type.as_deref(),
            listed[0].difficulty.as_deref()
        ),
        ("alfworld", "put a hot thing somewhere.", Some("pick_heat"), Some("hard"))
    );
    let error = select_tasks("alfworld", &selection, &TaskOptions::default()).unwrap_err().to_string();
    assert!(error.contains("test.jsonl:1: ") && error.contains("ALFWORLD_DATA is not set"), "{error}");
    let options = TaskOptions { data: Some(dir.path().to_owned()), ..TaskOptions::default() };
    let task = select_tasks("alfworld", &selection, &options).unwrap().remove(0);
    let mut world = open(&task, &options).unwrap();
    world.reset().unwrap();
    let places = world.admissible().unwrap();
    let results = places.iter().filter(|a| a.starts_with("go to ")).map(|a| world.step(a).unwrap());
    let best = results.map(|result| result.progress).fold(0.0, f64::max);
    assert!((best - 1.0 / 3.0).abs() < 1e-12, "one of two patterns, and a slot for the end: {best}");
}

/// AgentBoard's wrapper answers `look` and `check valid actions` itself, and searches its answers for subgoals.
#[test]
fn alfworld_labels_search_the_text_that_agentboard_shows() {
    let dir = tempfile::tempdir().unwrap();
    let game = crate::env::household::generate(&"easy/heat/23".parse().unwrap()).unwrap();
    let folder = dir.path().join("json_2.1.1/valid_unseen/pick_heat-Mug/trial_1");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("game.tw-pddl"), game.game_json).unwrap();
    let mut label = alfworld_label("pick_heat-Mug/trial_1");
    label["subgoals"] = json!([
        "^You are in the middle",
        "^Choose an action .*, look, check valid actions$",
        "^On the|^The "
    ]);
    let options = TaskOptions { data: Some(dir.path().to_owned()), ..TaskOptions::default() };
    let task = select_tasks("alfworld", &write_list(dir.path(), &[label]), &options).unwrap().remove(0);
    let mut world = open(&task, &options).unwrap();
    world.reset().unwrap();
    let quarters = |progress: f64| (progress * 4.0).round() as u8;
    // The game's own answer to `look` says nothing about the middle of the room.
    assert_eq!(quarters(world.step("look").unwrap().progress), 1);
    let before = world.admissible().unwrap();
    let listed = world.step("check valid actions").unwrap();
    assert!(listed.valid && listed.observation.starts_with("Choose an action from these valid actions: "));
    assert_eq!((quarters(listed.progress), world.admissible().unwrap()), (2, before.clone()));
    let place = before.iter().find(|action| action.starts_with("go to ")).unwrap();
    world.step(place).unwrap();
    let seen = world.step("look").unwrap();
    assert_eq!(quarters(seen.progress), 2, "{}", seen.observation);
}

#[test]
fn babyai_labels_are_found_by_number_and_checked() {
    let dir = tempfile::tempdir().unwrap();
    let row = |id: u64, goal: &str| {
        json!({"task": "babyai", "id": id, "goal": goal, "difficulty": "easy",
            "subgoals": ["There is a ** ball"]})
    };
    // Part of the file works too: the number counts, not the position.
    let found =
        list_rows("household", dir.path(), &[row(5, "go to the red ball"), row(0, "go to the red ball")]);
    let named: Vec<_> = found.iter().map(|t| (t.task_type.as_deref().unwrap(), t.seed)).collect();
    assert_eq!(named, [("GoToRedBall", 1235), ("GoToRedBallGrey", 1234)]);
    assert_eq!(find("babyai", &found[0].id, &TaskOptions::default()).unwrap(), found[0]);
    let mut world = open(&found[0], &TaskOptions::default()).unwrap();
    let first = world.reset().unwrap().observation;
    let mut row_with_observation = row(5, "go to the red ball");
    row_with_observation["additional_info"] = json!({"init_obs": first, "subtask": 2});
    assert_eq!(list_rows("babyai", dir.path(), &[row_with_observation]).len(), 1);
}

/// Two gripper problems in a folder beside the label file.
fn write_problems(dir: &Path) {
    fs::create_dir_all(dir.join("problems/gripper")).unwrap();
    for (name, room) in [("prob1", "rooma"), ("prob2", "roomb")] {
        let text = format!(
            "(define (problem p) (:domain gripper-strips) (:objects rooma roomb ball1 left)
            (:init (room rooma) (room roomb) (ball ball1) (gripper left) (free left) (at ball1 rooma) (at-robby rooma))
            (:goal (and (at-robby {room}) (at ball1 roomb))))"
        );
        fs::write(dir.join("problems/gripper").join(format!("{name}.pddl")), text).unwrap();
    }
}

fn pddl_label(id: u64, goal: &str) -> Value {
    json!({"task": "pddl", "id": id, "goal": goal, "subgoals": ["ball1 is at roomb."], "difficulty": "easy",
        "additional_info": {"subtask": "gripper"}})
}

const GOAL: &str = "The goal is to satisfy the following conditions: Robby is at roomb.  ball1 is at roomb. ";

#[test]
fn pddl_labels_select_the_problem_of_their_number() {
    let dir = tempfile::tempdir().unwrap();
    write_problems(dir.path());
    let selection = write_list(dir.path(), &[pddl_label(1, GOAL)]);
    let task = select_tasks("pddl", &selection, &TaskOptions::default()).unwrap().remove(0);
    assert_eq!((task.task_type.as_deref(), task.difficulty.as_deref()), (Some("gripper"), Some("easy")));
    let mut world = open(&task, &TaskOptions::default()).unwrap();
    world.reset().unwrap();
    world.step("pick ball1 rooma left").unwrap();
    assert!(world.step("move rooma roomb").unwrap().progress > 0.49);
    assert!(world.step("drop ball1 roomb left").unwrap().won);
}

#[test]
fn labels_of_an_unknown_environment_are_listed_but_not_played() {
    let dir = tempfile::tempdir().unwrap();
    let bare = json!({"task": "webshop", "id": 1, "goal": "Buy something.", "subgoals": ["Bought."]});
    assert_eq!(list_rows("household", dir.path(), &[bare])[0].env, "webshop");
    let row = json!({"task": "tools", "id": 3, "goal": "Look something up.", "difficulty": "hard",
        "subgoals": ["Found."], "additional_info": {"var": 21, "env_name": "boil"}});
    let found = list_rows("household", dir.path(), std::slice::from_ref(&row));
    // What its fields mean, only its environment knows.
    assert_eq!((found[0].task_type.as_deref(), found[0].difficulty.as_deref()), (None, Some("hard")));
    let error =
        select_tasks("household", &write_list(dir.path(), &[row]), &TaskOptions::default()).unwrap_err();
    assert!(
        matches!(error, TaskError::Unplayable { .. }) && error.to_string().contains("no environment tools")
    );
    assert!(open(&found[0], &TaskOptions::default()).is_err());
}

#[test]
fn a_broken_label_is_reported_with_file_line_and_reason() {
    let dir = tempfile::tempdir().unwrap();
    write_problems(dir.path());
    let label_with = |key: &str, value: Value| {
        let mut row = pddl_label(1, GOAL);
        row[key] = value;
        row
    };
    let babyai = |id: u64, goal: &str| json!({"task": "babyai", "id": id, "goal": goal, "subgoals": ["x"]});
    let cases: Vec<(Value, &str)> = vec![
        (label_with("task", json!("household")), "labels of \"household\" are not supported"),
        (label_with("task", json!(3)), "`task` is not a string"),
        (label_with("id", json!(-1)), "`id` is not a whole number"),
        (label_with("id", json!(25)), "out of range for gripper"),
        (label_with("id", json!(2)), "which has only 2 files"),
        (label_with("goal", Value::Null), "`goal` is not a string"),
        (label_with("goal", json!("another")), "differs from the label's"),
        (label_with("goal", json!("x".repeat(9_000))), "`goal` has 9000 bytes"),
        (label_with("difficulty", json!("medium")), "`difficulty` is neither"),
        (label_with("subgoals", json!([])), "`subgoals` has 0 entries"),
        (label_with("subgoals", json!(["x", 1])), "`subgoals[1]` is not a string"),
        (label_with("additional_info", json!({})), "`additional_info.subtask` is missing"),
        (label_with("additional_info", json!({"subtask": "chess"})), "supported are gripper, blockworld"),
        (label_with("additional_info", json!({"subtask": "barman"})), "out of range for barman"),
        (babyai(112, ""), "112 tasks"),
        (babyai(0, "open the box"), "the index in AgentBoard's own file"),
        (
            json!({"task": "babyai", "id": 0, "subgoals": ["x"], "additional_info": {"init_obs": "Nothing."}}),
            "is not the level's first observation",
        ),
        (json!({"task": "babyai", "id": 0, "subgoals": 7}), "subgoals"),
        (
            json!({"task": "alfworld", "goal": "g", "subgoals": ["a("], "additional_info": {"description": "a/b"}}),
            "not a supported pattern",
        ),
        (
            json!({"task": "alfworld", "goal": "g", "subgoals_1": ["a"]}),
            "alternatives (`subgoals_1`, `subgoals_2`) aren't supported here",
        ),
    ];
    for (row, expected) in cases {
        // A valid row, then the broken one: the error names the second line.
        let selection = write_list(dir.path(), &[pddl_label(1, GOAL), row.clone()]);
        let error = select_tasks("pddl", &selection, &TaskOptions::default()).unwrap_err().to_string();
        assert!(error.contains("test.jsonl:2: ") && error.contains(expected), "{row}: {error}");
    }
    let error_of = |bytes: &[u8]| {
        fs::write(dir.path().join("raw.jsonl"), bytes).unwrap();
        let list = Some(dir.path().join("raw.jsonl").display().to_string());
        let selection = Selection { list, ..Selection::default() };
        select_tasks("pddl", &selection, &TaskOptions::default()).unwrap_err().to_string()
    };
    assert!(error_of(b"{\"task\": \"pddl\", \"subgoals\"").contains("raw.jsonl:1: invalid JSON: "));
    assert!(error_of(&[0x1f, 0x8b, 8, 0]).contains("unpack it"));
}
