//! Prompts that a person edits before they are sent or retried.

use super::mentor::{QUESTIONS, failure, with_questions_in_flight};
use super::{TestScreen, screen_text};
use crate::engine::{Cause, Command, Event};
use crate::ui::msg::Request;

#[test]
fn a_drafted_prompt_is_changed_in_one_place_before_it_is_sent() {
    let (mut fixture, _) = with_questions_in_flight();
    fixture.write(
        Cause::Person,
        Event::CallCancelled {
            call: fixture.state().calls.keys().copied().next().unwrap(),
            partial_reply: Box::default(),
        },
    );
    let draft = fixture.mentor_prompt(QUESTIONS[0]);
    fixture.write(Cause::Policy, Event::PromptDrafted { prompt: draft.into() });
    let mut stage = TestScreen::new(fixture, 80, 24);
    stage.press("p");
    stage.draw();
    stage.press("Down");
    insta::assert_snapshot!("prompt_drafted_80x24", screen_text(&stage.draw()));
    for _ in 0..20 {
        stage.press("Up");
    }
    // Text that was typed before Esc is kept.
    for key in ["e", "!", "Esc", "e", "!"] {
        stage.press(key);
        stage.draw();
    }
    insta::assert_snapshot!("prompt_changed_80x24", screen_text(&stage.draw()));
    let text = "Read the attempt below and write: Error.!!".to_owned();
    let [Request::Send(Command::EditPrompt { call: Some(_), segment: 0, text: got })] =
        &stage.press("Enter")[..]
    else {
        panic!("the edited text is sent")
    };
    assert_eq!(*got, text);
}

/// The third choice after failed calls: each of their prompts can be edited in the prompt view and retried from there.
#[test]
fn the_prompt_of_a_failed_call_is_changed_where_it_is_read() {
    let (mut fixture, calls) = with_questions_in_flight();
    for call in &calls {
        fixture
            .write(Cause::Model, Event::CallFailed { call: *call, failure: failure("connection refused") });
    }
    let mut stage = TestScreen::new(fixture, 80, 24);
    assert!(screen_text(&stage.draw()).contains("p edit prompt"));
    stage.press("p");
    assert!(screen_text(&stage.draw()).contains("its call failed"), "{}", screen_text(&stage.draw()));
    stage.press("Tab");
    stage.draw();
    for key in ["e", "!"] {
        stage.press(key);
        stage.draw();
    }
    let requests = stage.press("Enter");
    // The first lesson is selected at first.
    let [Request::Send(Command::EditPrompt { call: Some(call), segment: 1, text })] = &requests[..] else {
        panic!("{requests:?}")
    };
    assert!(*call == calls[1] && text.ends_with('!'), "{call:?} of {calls:?}: {text}");
    let mut changed = (**stage.fixture.state().waiting_prompt(*call).unwrap()).clone();
    (changed.edited, changed.sha256) = (true, "other".to_owned());
    stage.fixture.write(Cause::Person, Event::PromptDrafted { prompt: changed.into() });
    let text = screen_text(&stage.draw());
    assert!(text.contains("edited, unsent"), "{text}");
    assert_eq!(stage.press("s"), [Request::Send(Command::Retry)]);
}
