//! The prompt that would be sent now.

use super::{Stage, screen};
use crate::domain::{DecidedBy, EndReason, LessonOrigin, LessonText, ReflectionKind, SettingOrigin};
use crate::engine::{Cause, Event};
use crate::prompt::Templates;
use crate::ui::fixture::{Fixture, sample_session};
use std::sync::Arc;

fn stage(fixture: Fixture, size: (u16, u16)) -> Stage {
    let mut stage = Stage::new(fixture, size.0, size.1);
    stage.model.templates = Some(Arc::new(Templates::builtin()));
    stage
}

fn told(stage: &mut Stage, keys: &[&str]) -> String {
    for key in keys {
        assert_eq!(stage.press(key), [], "a preview asks the driver for nothing: {key}");
    }
    screen(&stage.draw())
}

/// What an edit of the lessons does to the prompt could only be seen after the prompt had been sent.
#[test]
fn the_prompt_that_was_not_drafted_yet_can_be_seen() {
    let mut fixture = sample_session();
    let lesson = LessonText::error("Took the stove for an oven.", "Only a microwave heats food.");
    fixture.lesson(ReflectionKind::Error, lesson, LessonOrigin::Person);
    let before = fixture.state().clone();
    let mut stage = stage(fixture, (120, 60));
    let sent = told(&mut stage, &["p"]);
    assert!(sent.contains("Prompt of turn 24, as it was sent") && !sent.contains("Took the stove"), "{sent}");
    let ahead = told(&mut stage, &["v"]);
    assert!(ahead.contains("Prompt of turn 24, not sent yet: a preview"), "{ahead}");
    let rest = (0..12).map(|_| told(&mut stage, &["PageDown"]));
    let all: String = std::iter::once(ahead).chain(rest).collect();
    assert!(all.contains("Took the stove for an oven.") && all.contains("put a hot apple"), "{all}");
    // Compared with the prompt that was sent.
    let differs = told(&mut stage, &["d"]);
    assert!(differs.contains("not sent yet: what would change since the last call"), "{differs}");
    assert!(differs.contains("+ error 11 v1"), "{differs}");
    // And back.
    let sent = told(&mut stage, &["d", "v"]);
    assert!(sent.contains("as it was sent"), "{sent}");
    assert_eq!(*stage.fixture.state(), before, "nothing was written");
}

/// The preview said "seed 0", which no request has, and knew nothing of what was set since.
#[test]
fn the_preview_had_no_seed_and_not_the_values_of_now() {
    let mut fixture = sample_session();
    let mut spec = fixture.state().run.as_deref().cloned().unwrap();
    "openai:small".clone_into(&mut spec.actor);
    let sampling = serde_json::json!({"seed": true, "max_tokens": 256});
    spec.settings.set("actor.sampling", sampling, SettingOrigin::Config);
    spec.settings.set("actor.max_tokens", 900, SettingOrigin::Flag);
    fixture.write(Cause::Person, Event::RunChanged { spec: Box::new(spec) });
    let mut stage = stage(fixture, (120, 60));
    let ahead = told(&mut stage, &["p", "v"]);
    assert!(ahead.contains("max_tokens 900 (by a flag), seed ") && !ahead.contains("seed 0"), "{ahead}");
}

#[test]
fn a_preview_is_of_the_next_turn_once_this_one_is_done() {
    let mut fixture = sample_session();
    fixture.take(
        "go to microwave 1",
        DecidedBy::Actor,
        "The microwave 1 is closed.",
        0.5,
        serde_json::Value::Null,
    );
    let mut stage = stage(fixture, (120, 60));
    let ahead = told(&mut stage, &["p", "v"]);
    assert!(ahead.contains("Prompt of turn 25, not sent yet: a preview"), "{ahead}");
    let end = told(&mut stage, &["End"]);
    assert!(end.contains("The microwave 1 is closed."), "{end}");
    // It follows what happens.
    stage.fixture.act("open microwave 1", "You open the microwave 1.", 0.5, serde_json::Value::Null);
    let ahead = told(&mut stage, &["End"]);
    assert!(ahead.contains("Prompt of turn 26") && ahead.contains("You open the microwave 1."), "{ahead}");
}

/// Before the first call there was only "No prompt has been sent yet".
#[test]
fn before_the_first_prompt_the_one_that_would_be_is_shown() {
    let mut fixture = Fixture::new();
    fixture.begin();
    let mut stage = stage(fixture, (80, 24));
    let shown = told(&mut stage, &["p"]);
    assert!(shown.contains("Prompt of turn 1, not sent yet: a preview"), "{shown}");
}

#[test]
fn where_nothing_would_be_sent_the_preview_says_why() {
    let words = |fixture: Fixture, keys: &[&str]| told(&mut stage(fixture, (120, 36)), keys);
    assert!(
        words(sample_session(), &["Left", "p", "v"]).contains("A preview is of the present; End goes there.")
    );
    let mut ended = sample_session();
    ended.end(false, EndReason::StepLimit);
    assert!(words(ended, &["p", "v"]).contains("No episode is under way, so no prompt would be sent."));
    let mut other = Stage::new(sample_session(), 120, 36);
    assert!(told(&mut other, &["p", "v"]).contains("templates are not the ones in force here"));
}

#[test]
fn pictures_of_the_preview() {
    for (w, h) in super::SIZES {
        let shown = told(&mut stage(sample_session(), (w, h)), &["p", "v"]);
        insta::assert_snapshot!(format!("preview_{w}x{h}"), shown);
    }
}
