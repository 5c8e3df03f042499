//! The prompt that would be sent now.

use super::{TestScreen, screen_text};
use crate::domain::{DecidedBy, EndReason, LessonOrigin, LessonText, ReflectionKind, SettingOrigin};
use crate::engine::{Cause, Event};
use crate::prompt::Templates;
use crate::ui::fixture::{Fixture, sample_session};
use std::sync::Arc;

fn screen_with_templates(fixture: Fixture, size: (u16, u16)) -> TestScreen {
    let mut stage = TestScreen::new(fixture, size.0, size.1);
    stage.model.templates = Some(Arc::new(Templates::builtin()));
    stage
}

fn press_all(stage: &mut TestScreen, keys: &[&str]) -> String {
    for key in keys {
        assert_eq!(stage.press(key), [], "a preview asks the driver for nothing: {key}");
    }
    screen_text(&stage.draw())
}

/// What an edit of the lessons does to the prompt could only be seen after the prompt had been sent.
#[test]
fn the_prompt_that_was_not_drafted_yet_can_be_seen() {
    let mut fixture = sample_session();
    let lesson = LessonText::error("Took the stove for an oven.", "Only a microwave heats food.");
    fixture.add_lesson(ReflectionKind::Error, lesson, LessonOrigin::Person);
    let before = fixture.state().clone();
    let mut stage = screen_with_templates(fixture, (120, 60));
    let sent = press_all(&mut stage, &["p"]);
    assert!(sent.contains("Prompt of turn 24, as it was sent") && !sent.contains("Took the stove"), "{sent}");
    let ahead = press_all(&mut stage, &["v"]);
    assert!(ahead.contains("Prompt of turn 24, not sent yet: a preview"), "{ahead}");
    let rest = (0..12).map(|_| press_all(&mut stage, &["PageDown"]));
    let all: String = std::iter::once(ahead).chain(rest).collect();
    assert!(all.contains("Took the stove for an oven.") && all.contains("put a hot apple"), "{all}");
    // Compared with the prompt that was sent.
    let differs = press_all(&mut stage, &["d"]);
    assert!(differs.contains("not sent yet: what would change since the last call"), "{differs}");
    assert!(differs.contains("+ error 11 v1"), "{differs}");
    // And back.
    let sent = press_all(&mut stage, &["d", "v"]);
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
    let mut stage = screen_with_templates(fixture, (120, 60));
    let ahead = press_all(&mut stage, &["p", "v"]);
    assert!(ahead.contains("max_tokens 900 (by a flag), seed ") && !ahead.contains("seed 0"), "{ahead}");
}

#[test]
fn a_preview_shows_the_next_step_once_this_one_is_done() {
    let mut fixture = sample_session();
    fixture.execute(
        "go to microwave 1",
        DecidedBy::Actor,
        "The microwave 1 is closed.",
        0.5,
        serde_json::Value::Null,
    );
    let mut stage = screen_with_templates(fixture, (120, 60));
    let ahead = press_all(&mut stage, &["p", "v"]);
    assert!(ahead.contains("Prompt of turn 25, not sent yet: a preview"), "{ahead}");
    let end = press_all(&mut stage, &["End"]);
    assert!(end.contains("The microwave 1 is closed."), "{end}");
    // It follows what happens.
    stage.fixture.actor_step("open microwave 1", "You open the microwave 1.", 0.5, serde_json::Value::Null);
    let ahead = press_all(&mut stage, &["End"]);
    assert!(ahead.contains("Prompt of turn 26") && ahead.contains("You open the microwave 1."), "{ahead}");
}

/// Before the first call there was only "No prompt has been sent yet".
#[test]
fn before_the_first_prompt_the_preview_is_shown() {
    let mut fixture = Fixture::new();
    fixture.begin_episode();
    let mut stage = screen_with_templates(fixture, (80, 24));
    let shown = press_all(&mut stage, &["p"]);
    assert!(shown.contains("Prompt of turn 1, not sent yet: a preview"), "{shown}");
}

#[test]
fn an_empty_preview_says_why() {
    let words =
        |fixture: Fixture, keys: &[&str]| press_all(&mut screen_with_templates(fixture, (120, 36)), keys);
    assert!(
        words(sample_session(), &["Left", "p", "v"]).contains("A preview is of the present; End goes there.")
    );
    let mut ended = sample_session();
    ended.end_episode(false, EndReason::StepLimit);
    assert!(words(ended, &["p", "v"]).contains("No episode is under way, so no prompt would be sent."));
    let mut other = TestScreen::new(sample_session(), 120, 36);
    assert!(press_all(&mut other, &["p", "v"]).contains("templates are not the ones in force here"));
}

#[test]
fn pictures_of_the_preview() {
    for (w, h) in super::SIZES {
        let shown = press_all(&mut screen_with_templates(sample_session(), (w, h)), &["p", "v"]);
        insta::assert_snapshot!(format!("preview_{w}x{h}"), shown);
    }
}
