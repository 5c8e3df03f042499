//! Failed mentor calls that wait for a decision: nothing hides them, and no choice skips them.

use super::mentor::{QUESTIONS, failure, with_questions_in_flight};
use super::{TestScreen, screen_text};
use crate::domain::{BranchId, EndReason};
use crate::engine::{Cause, Command, Engine, Event, Input};
use crate::ui::fixture::Fixture;
use crate::ui::msg::{Request, UiMessage};
use std::sync::Arc;

/// A lost episode whose mentor call failed.
fn lost_with_failed_question() -> Fixture {
    let mut f = Fixture::for_method("reflexion", "openai:m", 2);
    f.begin_episode();
    f.actor_step("look", "A room.", 0.25, serde_json::Value::Null);
    f.end_episode(false, EndReason::StepLimit);
    for call in f.ask_mentor(&QUESTIONS[..1]) {
        f.write(Cause::Model, Event::CallFailed { call, failure: failure("connection refused") });
    }
    f.pause();
    f
}

/// Regression: the end card covered the choices, and its own `r` started the next trial; the mentor was then called
/// about that one.
#[test]
fn a_failed_question_blocks_end_card_and_next_episode_until_decided() {
    let mut stage = TestScreen::new(lost_with_failed_question(), 80, 24);
    stage.send(UiMessage::StoreChanged);
    let shown = screen_text(&stage.draw());
    assert!(stage.compositor.overlays().is_empty(), "{shown}");
    assert!(shown.contains("r retry") && shown.contains("L continue without"), "{shown}");
    assert_eq!(stage.press("r"), [Request::Send(Command::Retry)]);
    let state = stage.fixture.state.clone();
    let task = state.episode.as_ref().unwrap().task.clone();
    let policy = crate::catalog::build_policy(
        state.run.as_deref().unwrap(),
        Arc::new(crate::catalog::builtin_templates()),
    )
    .unwrap();
    let engine = Engine::resume(state, policy, BranchId::trunk());
    let error = engine.decide(&Input::Command(Command::BeginEpisode(Box::new(task)))).unwrap_err();
    assert!(error.message.contains("is unfinished"), "{error:?}");
    // The card opens once the person has decided.
    let events = engine.decide(&Input::Command(Command::GiveUp)).unwrap();
    for (cause, event) in events {
        stage.fixture.write(cause, event);
    }
    stage.send(UiMessage::StoreChanged);
    assert_eq!(stage.compositor.overlays().last().map(|o| o.name()), Some("end"));
}

/// Regression: at 60x16 the choices were out of view, and nothing scrolled to them.
#[test]
fn choices_after_failed_calls_show_at_every_size_and_equal_failures_once() {
    let long = "127.0.0.1:18533 returned HTTP 401: Incorrect API key provided: Bearer [hidden]";
    for (columns, rows) in super::SIZES {
        let (mut fixture, calls) = with_questions_in_flight();
        for call in calls {
            fixture.write(Cause::Model, Event::CallFailed { call, failure: failure(long) });
        }
        let shown = screen_text(&TestScreen::new(fixture, columns, rows).draw());
        for choice in ["r retry all", "L continue without", "O another model", "Y a recorded reply"] {
            assert!(shown.contains(choice), "{columns}x{rows}: {choice}\n{shown}");
        }
        assert!(shown.contains("(Error, Abstract, Progress)"), "{columns}x{rows}\n{shown}");
        assert_eq!(shown.matches("[hidden]").count(), 1, "{columns}x{rows}\n{shown}");
    }
}

/// Regression: after `O` and `symbolic` the last row offered a retry that could only fail.
#[test]
fn rules_are_not_offered_to_answer_a_model_question() {
    let mut stage = TestScreen::new(lost_with_failed_question(), 80, 24);
    stage.press("O");
    for key in "symbolic".chars() {
        stage.press(&key.to_string());
    }
    stage.press("Enter");
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("can't answer a model's prompt; L continues without it"), "{shown}");
    assert!(!shown.contains("retries the failed call"), "{shown}");
}
