//! What the screen says of a session: nothing that did not happen, and nothing twice.

use super::{Stage, screen};
use crate::domain::{DecidedBy, EndReason, ReflectionKind};
use crate::ui::fixture::Fixture;
use crate::ui::msg::Msg;
use serde_json::Value;

fn shown(fixture: Fixture, keys: &[&str], size: (u16, u16)) -> String {
    let mut stage = Stage::new(fixture, size.0, size.1);
    stage.tell(Msg::News);
    for key in keys {
        stage.press(key);
    }
    screen(&stage.draw())
}

/// Found by a new user: a thought, which the world answers with nothing, was counted among the failed actions, and
/// repeats that went well among the repeats.
#[test]
fn the_end_card_counts_failed_actions_and_vain_repeats_alone() {
    let mut f = Fixture::new();
    f.begin();
    f.propose(Some("Where is it?"), None).take(
        "think: Where is it?",
        DecidedBy::Actor,
        "Nothing happens.",
        0.0,
        Value::Null,
    );
    for seen in ["It is empty.", "There is an apple 1.", "There is a cup 1."] {
        f.act("go to shelf 1", seen, 0.0, Value::Null);
    }
    f.act("take lamp 1", "Nothing happens.", 0.0, Value::Null);
    f.act("open safe 1", "You open it.", 0.0, Value::Null);
    f.act("open safe 1", "You open it.", 0.0, Value::Null);
    f.end(false, EndReason::StepLimit);
    let card = shown(f, &[], (100, 30));
    assert!(card.contains("nothing happened once, at turn 5"), "{card}");
    assert!(card.contains("repeated         open safe 1, again at turn 7 (nothing changed)"), "{card}");
    assert!(!card.contains("go to shelf 1, "), "{card}");
}

/// Found by a new user: an action in the place of a thought was no override, so no lesson could be drawn from it.
#[test]
fn a_thought_that_was_overridden_is_known_as_an_override() {
    let make = || {
        let mut f = Fixture::new();
        f.begin();
        f.propose(Some("I wait here."), None).take(
            "look",
            DecidedBy::Person,
            "You see a shelf 1.",
            0.0,
            Value::Null,
        );
        f.propose(None, Some("go to shelf 1"));
        f
    };
    let story = shown(make(), &[], (100, 30));
    assert!(story.contains("you, instead of: think: I wait here."), "{story}");
    let editor = shown(make(), &["A"], (100, 30));
    assert!(editor.contains("Wanted to think: I wait here."), "{editor}");
    assert!(editor.contains(ReflectionKind::Error.name()), "{editor}");
}

/// Found by a new user: the view of what is true said that the agent had seen every place.
#[test]
fn the_truth_does_not_change_how_much_the_agent_has_seen() {
    let mut f = Fixture::new();
    f.begin();
    f.act(
        "go to shelf 1",
        "You see a cup 1.",
        0.0,
        serde_json::json!({"seen": {"shelf 1": {"items": ["cup 1"]}}}),
    );
    let mut stage = Stage::new(f, 120, 36);
    let line = |stage: &mut Stage| screen(&stage.draw()).lines().nth(1).unwrap_or_default().to_owned();
    assert!(line(&mut stage).contains("1 of "), "{}", line(&mut stage));
    stage.model.truth = true;
    assert!(!line(&mut stage).contains("0 of 0"), "{}", line(&mut stage));
}

/// Found by a new user: a notice longer than the row, such as one that names a file, could not be read to its end.
#[test]
fn a_long_notice_is_told_as_a_whole() {
    let mut f = Fixture::new();
    f.begin();
    let mut stage = Stage::new(f, 60, 16);
    let path = "/home/somebody/.local/share/retrospect/exports/hot-apple.html";
    stage.model.say(
        format!("The report is written: {path} (the end)"),
        crate::ui::model::Tone::Told,
        stage.now,
    );
    let shown = screen(&stage.draw());
    assert!(shown.contains("The report is written"), "{shown}");
    assert!(shown.contains("(the end)"), "{shown}");
}
