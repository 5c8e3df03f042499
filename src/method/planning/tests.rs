//! Lines of programs, and conditions against observations.

use super::condition::Condition;
use super::program::{Statement, parse, parse_line};
use crate::engine::Episode;
use serde_json::{Value, json};

#[test]
fn lines_are_read_as_statements() {
    let action = |text: &str| Some(Statement::Action(text.to_owned()));
    let comment = |text: &str| Some(Statement::Comment(text.to_owned()));
    for (line, expected) in [
        ("go to fridge 1", action("go to fridge 1")),
        ("  12. > look", action("look")),
        ("go_to('fridge 1')", action("go to fridge 1")),
        ("put_in(\"egg 1\", 'drawer 1');", action("put egg 1 in drawer 1")),
        ("stack('b1', 'b2')", action("stack b1 b2")),
        ("toggle_and_go_through('red door 1')", action("toggle and go through red door 1")),
        ("turn_left()", action("turn left")),
        ("# find it", comment("find it")),
        ("think: find it", comment("find it")),
        ("def heat(apple):", None),
        ("return", None),
        ("", None),
        ("Plan:", None),
        ("assert 'egg 1' in", None),
        ("assertion fails", action("assertion fails")),
    ] {
        assert_eq!(parse_line(line).0, expected, "{line:?}");
    }
    for line in
        ["assert('close' to 'fridge 1') else: go to fridge 1", "else: open fridge 1", "# find it", "look"]
    {
        assert_eq!(parse_line(line).0.unwrap().line(), line, "a statement keeps its form");
    }
    for line in [
        "assert ('close' to 'fridge 1'): else go_to('fridge 1')",
        "ASSERT 'close' to 'fridge 1' else: go to fridge 1",
    ] {
        assert_eq!(parse_line(line).0.unwrap().action(), Some("go to fridge 1"), "{line}");
    }
    let complaints = |text: &str| parse(text).1.join("; ");
    assert_eq!(complaints("look\nelse: look"), "no assertion precedes this: else: look");
    assert_eq!(
        complaints("assert('a' is 'open')\nlook"),
        "nothing is done if this assertion fails: 'a' is 'open'"
    );
    assert_eq!(complaints("assert('a' is 'open')\nelse: open a\nelse: look"), "");
}

/// Creates an episode from the first observation and steps: an action, the answer, and whether it was accepted.
fn episode(first: &str, steps: &[(&str, &str, bool)]) -> Episode {
    let observation = |raw: &str, valid: bool| json!({"raw": raw, "reward": 0.0, "progress": 0.0, "done": false, "won": false, "valid": valid});
    let steps: Vec<Value> = (1..)
        .zip(steps)
        .map(|(number, (action, answer, valid))| {
            json!({
                "number": number, "stage": "settled", "proposed": action, "answer": observation(answer, *valid),
                "prompt_seq": 0, "first_seq": 0, "last_seq": 0,
            })
        })
        .collect();
    serde_json::from_value(json!({
        "number": 1, "task": {"env": "e", "id": "t", "goal": "", "seed": 0}, "trial": 1, "role": "test",
        "first_observation": observation(first, true), "steps": steps, "shown": null, "truth": null,
        "progress": 0.0, "progress_step": 0, "moves": 0, "invalid_moves": 0, "action_counts": {},
        "note_tallies": {}, "calls": 0, "tokens": 0, "assisted": false, "outcome": null, "first_seq": 1,
    }))
    .unwrap()
}

#[test]
fn conditions_are_decided_by_the_newest_observation_about_them() {
    let household = episode(
        "You see a fridge 1, and a drawer 1. Your task is to: put egg 1 in drawer 1.",
        &[
            ("go to fridge 1", "You arrive at fridge 1. The fridge 1 is closed.", true),
            ("open fridge 1", "You open the fridge 1. The fridge 1 is open. In it, you see a egg 1.", true),
            ("take egg 1 from fridge 1", "You pick up the egg 1 from the fridge 1.", true),
            ("go to shelf 9", "Nothing happens.", false),
            ("go to drawer 1", "You arrive at drawer 1. The drawer 1 is closed.", true),
        ],
    );
    let grid = episode(
        "You see a red ball 1.",
        &[
            ("pickup red ball 1", "You are carrying a red ball.", true),
            ("drop", "There is a red ball 1 in front of you. You are not carrying anything.", true),
        ],
    );
    let blocks = episode(
        "B2 is on the table. The b2 is clear. Your arm is empty.",
        &[("pickup b2", "You are holding b2.", true), ("stack b2 b1", "B2 is on b1. The b2 is clear.", true)],
    );
    // The step before which it is asked, and the answer.
    for (episode, condition, step, expected) in [
        (&household, "'close' to 'fridge 1'", 1, false),
        (&household, "'close' to 'fridge 1'", 2, true),
        (&household, "'close' to 'fridge'", 5, true),
        (&household, "near 'fridge 1'", 6, false),
        (&household, "'close' to 'drawer 1'", 6, true),
        (&household, "'fridge 1' is 'opened'", 2, false),
        (&household, "'fridge 1' is 'opened'", 4, true),
        (&household, "'fridge 1' is not 'closed'", 6, true),
        (&household, "'drawer 1' is open", 6, false),
        (&household, "'egg 1' in 'hands'", 3, false),
        (&household, "'egg 1' in 'hands'", 6, true),
        (&household, "holding 'egg 1'", 6, true),
        (&household, "not 'egg 1' in 'fridge 1'", 4, true),
        (&household, "'mug 1' in 'hands'", 6, false),
        (&grid, "'red ball 1' in 'hands'", 2, true),
        (&grid, "'red ball 1' in 'hands'", 3, false),
        (&blocks, "'b2' is 'on the table'", 1, true),
        (&blocks, "'b2' is 'on the table'", 3, false),
        (&blocks, "'b2' in 'hands'", 2, true),
        (&blocks, "'b2' in 'hands'", 3, false),
        (&blocks, "'b2' on 'b1'", 3, true),
    ] {
        let parsed = Condition::parse(condition).unwrap();
        assert_eq!(parsed.holds(episode, step), expected, "{condition} before step {step}");
    }
    for unreadable in ["", "somewhere", "'a'", "'a' is", "'a' 'b' 'c'", "'a", "'' is 'open'"] {
        assert_eq!(Condition::parse(unreadable), None, "{unreadable:?}");
    }
}
