//! `play`: driving an environment manually.

use crate::{Home, field_names};
use serde_json::Value;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;

#[test]
fn play_takes_every_line_verbatim() {
    let home = Home::new();
    let text = home
        .run_with_input(
            &["play", "--env", "household", "--task", "easy/heat/23"],
            "look\n look \n\"look\"\n\ngo to fridge 1",
        )
        .assert_success();
    insta::assert_snapshot!("play_text", text.stdout);
    assert_eq!(text.stderr, "");
}

#[test]
fn play_json_has_its_fields_in_order() {
    let home = Home::new();
    let input = "look\n\"go to\\u0020fridge 1\"\nxyzzy \"quoted\"\n";
    let output = home.run_with_input(&["play", "--task", "easy/heat/23", "--json"], input).assert_success();
    let lines: Vec<&str> = output.stdout.lines().collect();
    let shared = [
        "step",
        "action",
        "observation",
        "reward",
        "progress",
        "done",
        "won",
        "valid",
        "admissible",
        "world",
    ];
    assert_eq!(field_names(lines[0]), [&shared[..], &["goal", "task"]].concat());
    for line in &lines[1..] {
        assert_eq!(field_names(line), shared);
    }
    let printed = output.json_lines();
    assert_eq!(printed.len(), 4);
    assert_eq!((&printed[0]["step"], &printed[0]["action"]), (&0.into(), &Value::Null));
    assert_eq!(
        (&printed[0]["task"], &printed[0]["goal"]),
        (&"easy/heat/23".into(), &"put a hot apple in fridge".into())
    );
    assert_eq!((&printed[2]["action"], &printed[2]["valid"]), (&"go to fridge 1".into(), &true.into()));
    assert_eq!((&printed[3]["action"], &printed[3]["valid"]), (&"xyzzy \"quoted\"".into(), &false.into()));
    assert_eq!(printed[3]["observation"], "Nothing happens.");
    assert!(printed[3]["world"]["inventory"].is_array());
    let admissible: Vec<&str> =
        printed[2]["admissible"].as_array().unwrap().iter().map(|a| a.as_str().unwrap()).collect();
    assert!(admissible.is_sorted() && admissible.contains(&"open fridge 1"), "{admissible:?}");
    let broken = home.run_with_input(&["play", "--task", "easy/heat/23", "--json"], "look\n\"open\n");
    assert_eq!(broken.code, 2);
    assert_eq!(broken.json_lines().last().unwrap()["error"]["kind"], "usage");
    assert!(broken.stdout.contains("standard input, line 2"), "{}", broken.stdout);
}

/// Replays recorded traces through the real program: feedback, admissible commands and `won` match.
#[test]
fn play_repeats_the_recorded_traces() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/household");
    let index: Value = serde_json::from_slice(&std::fs::read(dir.join("index.json")).unwrap()).unwrap();
    let home = Home::new();
    let mut compared = 0;
    for game in index["games"].as_array().unwrap().iter().take(3) {
        let file = std::fs::File::open(dir.join(game["traces"].as_str().unwrap())).unwrap();
        let mut text = String::new();
        flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
        let lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        let first: Vec<&Value> =
            lines.iter().enumerate().take_while(|(n, l)| *n == 0 || l["step"] != 0).map(|l| l.1).collect();
        let mut input = String::new();
        for line in &first[1..] {
            writeln!(input, "{}", line["command"]).unwrap();
        }
        let output = home
            .run_with_input(&["play", "--task", game["id"].as_str().unwrap(), "--json"], &input)
            .assert_success();
        let printed = output.json_lines();
        assert_eq!(printed.len(), first.len());
        for (now, recorded) in printed.iter().zip(&first) {
            assert_eq!(now["action"], recorded["command"]);
            assert_eq!(now["observation"], recorded["feedback"]);
            assert_eq!(now["admissible"], recorded["admissible_commands"]);
            assert_eq!(now["won"], recorded["won"]);
            assert_eq!(now["world"]["inventory"], recorded["inventory"]);
            compared += 1;
        }
    }
    assert!(compared > 30, "{compared}");
}

#[test]
fn play_shows_an_interface() {
    let home = Home::new();
    let output = home.run_with_input(
        &["play", "--task", "easy/heat/23", "--interface", "agentboard", "--json"],
        "think: hm\ncheck valid actions\ngo to fridge 1.\n",
    );
    let printed = output.assert_success().json_lines();
    assert!(printed[0]["observation"].as_str().unwrap().starts_with("You are in the middle of a room."));
    assert_eq!(printed[1]["observation"], "OK.");
    assert!(
        printed[2]["observation"]
            .as_str()
            .unwrap()
            .starts_with("Choose an action from these valid actions: ")
    );
    assert!(printed[3]["observation"].as_str().unwrap().contains("The fridge 1 is closed."));
}
