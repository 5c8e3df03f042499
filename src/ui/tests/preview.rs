//! The preview of the next prompt.

use super::{TestScreen, screen_text};
use crate::domain::{DecidedBy, EndReason, LessonOrigin, LessonText, ReflectionKind, SettingOrigin};
use crate::engine::{Cause, Event};
use crate::ui::fixture::{Fixture, sample_session};
use std::sync::Arc;

fn screen_with_templates(fixture: Fixture, size: (u16, u16)) -> TestScreen {
    let mut stage = TestScreen::new(fixture, size.0, size.1);
    stage.model.templates = Some(Arc::new(crate::catalog::builtin_templates()));
    stage
}

fn press_all(stage: &mut TestScreen, keys: &[&str]) -> String {
    for key in keys {
        assert_eq!(stage.press(key), [], "a preview makes no requests: {key}");
    }
    screen_text(&stage.draw())
}

/// Regression: the effect of a lesson edit on the prompt was visible only after the prompt had been sent.
#[test]
fn the_next_prompt_can_be_previewed() {
    let mut fixture = sample_session();
    let lesson = LessonText::error("Took the stove for an oven.", "Only a microwave heats food.");
    fixture.add_lesson(ReflectionKind::Error, lesson, LessonOrigin::Person);
    let before = fixture.state().clone();
    let mut stage = screen_with_templates(fixture, (120, 60));
    let sent = press_all(&mut stage, &["p"]);
    assert!(
        sent.contains("Prompt of step 24: read by the rules") && !sent.contains("Took the stove"),
        "{sent}"
    );
    let ahead = press_all(&mut stage, &["v"]);
    assert!(ahead.contains("Prompt of step 24: preview, not sent"), "{ahead}");
    let rest = (0..12).map(|_| press_all(&mut stage, &["PageDown"]));
    let all: String = std::iter::once(ahead).chain(rest).collect();
    assert!(all.contains("Took the stove for an oven.") && all.contains("put a hot apple"), "{all}");
    // Compared with the prompt that was sent.
    let differs = press_all(&mut stage, &["d"]);
    assert!(differs.contains("preview, changes since the last call"), "{differs}");
    assert!(differs.contains("+ error 11 v1"), "{differs}");
    // Back to the sent prompt.
    let sent = press_all(&mut stage, &["d", "v"]);
    assert!(sent.contains("read by the rules"), "{sent}");
    assert_eq!(*stage.fixture.state(), before, "nothing was written");
}

/// Regression: the preview said "seed 0", which no request has, and ignored settings changed since the start.
#[test]
fn the_preview_shows_the_current_seed_and_settings() {
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
    assert!(ahead.contains("Prompt of step 25: preview, not sent"), "{ahead}");
    let end = press_all(&mut stage, &["End"]);
    assert!(end.contains("The microwave 1 is closed."), "{end}");
    // The preview follows new events.
    stage.fixture.actor_step("open microwave 1", "You open the microwave 1.", 0.5, serde_json::Value::Null);
    let ahead = press_all(&mut stage, &["End"]);
    assert!(ahead.contains("Prompt of step 26") && ahead.contains("You open the microwave 1."), "{ahead}");
}

/// Regression: before the first call, the view showed only "No prompt has been sent yet".
#[test]
fn before_the_first_prompt_the_preview_is_shown() {
    let mut fixture = Fixture::new();
    fixture.begin_episode();
    let mut stage = screen_with_templates(fixture, (80, 24));
    let shown = press_all(&mut stage, &["p"]);
    assert!(shown.contains("Prompt of step 1: preview, not sent"), "{shown}");
}

#[test]
fn an_empty_preview_says_why() {
    let words =
        |fixture: Fixture, keys: &[&str]| press_all(&mut screen_with_templates(fixture, (120, 36)), keys);
    assert!(
        words(sample_session(), &["Left", "p", "v"])
            .contains("The past has no preview; End goes to the present.")
    );
    let mut ended = sample_session();
    ended.end_episode(false, EndReason::StepLimit);
    assert!(words(ended, &["p", "v"]).contains("No episode in progress, so no prompt would be sent."));
    let mut other = TestScreen::new(sample_session(), 120, 36);
    assert!(press_all(&mut other, &["p", "v"]).contains("used other prompt templates"));
}

#[test]
fn pictures_of_the_preview() {
    for (w, h) in super::SIZES {
        let shown = press_all(&mut screen_with_templates(sample_session(), (w, h)), &["p", "v"]);
        insta::assert_snapshot!(format!("preview_{w}x{h}"), shown);
    }
}

/// Regression: the prompt view opened at instructions that never change; what was learnt stood pages below.
#[test]
fn a_prompt_opens_at_its_lessons_and_folds_what_never_changes() {
    let mut stage = screen_with_templates(sample_session(), (120, 60));
    let shown = press_all(&mut stage, &["p", "v"]);
    let row =
        |label: &str| shown.lines().find(|line| line.contains(&format!(" {label}"))).unwrap_or_default();
    for label in ["instruction    + ", "guidance       + ", "example        + "] {
        assert!(row(label).contains(" tokens  "), "{label}: {shown}");
    }
    assert!(!row("abstract").contains(" tokens  "), "{shown}");
    // Up from the first lesson to the instruction, which unfolds and folds again.
    let folded = shown.matches(" tokens  ").count();
    let up = ["Up"; 20];
    assert_eq!(press_all(&mut stage, &up).matches(" tokens  ").count(), folded);
    let unfolded = press_all(&mut stage, &["Enter"]);
    assert_eq!(unfolded.matches(" tokens  ").count(), folded - 1, "{unfolded}");
    assert_eq!(press_all(&mut stage, &["Enter"]).matches(" tokens  ").count(), folded);
    assert!(!press_all(&mut stage, &["p"]).contains("Prompt of step"));
}
