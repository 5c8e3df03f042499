//! Continuing from the present on a new branch, while somebody is asked, and while the session goes on behind the dialog.

use super::{TestScreen, screen_text};
use crate::domain::DecidedBy;
use crate::driver::Fork;
use crate::engine::{Cause, Command, Event};
use crate::ui::fixture::Fixture;
use crate::ui::msg::{Request, UiMessage};

fn fork_request(wants: &[Request]) -> &Fork {
    let [.., Request::Fork(fork)] = wants else { panic!("no fork in {wants:?}") };
    fork
}

/// Turns that a person has granted, one after the other.
fn granted_steps(turns: u32) -> Fixture {
    let mut f = Fixture::new();
    f.begin_episode();
    for turn in 1..=turns {
        f.propose(Some("I look."), Some("look"));
        f.pause();
        f.write(Cause::Person, Event::StepGranted);
        f.write(Cause::Person, Event::Approved { step: turn });
        f.execute("look", DecidedBy::Actor, &format!("You saw {turn}."), 0.0, serde_json::Value::Null);
    }
    f
}

fn with_proposal() -> Fixture {
    let mut f = granted_steps(3);
    f.propose(Some("What now?"), Some("go to fridge 1"));
    f.pause();
    f
}

fn with_call_in_flight() -> Fixture {
    let mut f = granted_steps(3);
    f.send_prompt();
    f
}

/// A prompt had shown the observation: the dialog offered it all the same, and the typed words went with a refusal.
#[test]
fn an_edited_observation_forks_before_the_prompt_that_showed_it() {
    for (name, fixture) in [("proposed", with_proposal as fn() -> Fixture), ("asked", with_call_in_flight)] {
        let mut stage = TestScreen::new(fixture(), 120, 36);
        stage.press("F");
        let shown = screen_text(&stage.draw());
        assert!(shown.contains("before turn 4 is asked: You saw 3."), "{name}: {shown}");
        stage.press("Down");
        stage.press("Enter");
        stage.send(UiMessage::Paste("EDITED ".to_owned()));
        let wants = stage.press("Enter");
        let fork = fork_request(&wants);
        assert_eq!(fork.reason, "after turn 3: another observation", "{name}");
        let text = match &fork.commands[..] {
            [Command::EditObservation { step: 3, text }, Command::Step] => text,
            other => panic!("{name}: {other:?}"),
        };
        assert!(text.contains("EDITED"), "{name}: {text}");
        let there = stage.fixture.store.state_at(fork.at_seq);
        let step = there.last_step().unwrap();
        assert_eq!((there.head, step.number), (fork.at_seq, 3), "{name}");
        assert!(
            step.answer.is_some() && there.last_pool_use <= step.answered_seq,
            "{name}: nothing has used it"
        );
    }
}

/// A session, and the title, the first choice's words and the branch's reason over it.
type DialogCase = (fn() -> Fixture, &'static str, &'static str, &'static str);

/// While turn 3 was answered the dialog spoke of what comes after it, and the tree kept that.
#[test]
fn a_step_counts_once_it_is_answered() {
    let cases: &[DialogCase] = &[
        (
            with_call_in_flight,
            "After turn 3: turn 4 is under way",
            "the agent is asked turn 4",
            "after turn 3: gone on",
        ),
        (
            with_proposal,
            "From here: turn 4 waits for a decision",
            "what is proposed is done",
            "at turn 4's proposal: gone on",
        ),
        (|| granted_steps(3), "After turn 3", "the agent is asked turn 4", "after turn 3: gone on"),
    ];
    for (fixture, head, next, reason) in cases {
        let mut stage = TestScreen::new(fixture(), 120, 36);
        stage.press("F");
        let shown = screen_text(&stage.draw());
        assert!(shown.contains(head) && shown.contains(next), "{head}: {shown}");
        assert_eq!(fork_request(&stage.press("Enter")).reason, *reason);
    }
}

/// The dialog said that turn 11 was the present while the run was at turn 18.
#[test]
fn the_fork_point_stays_where_the_dialog_was_opened() {
    let mut stage = TestScreen::new(with_call_in_flight(), 120, 36);
    let at = stage.fixture.state().head;
    stage.press("F");
    stage.fixture.propose(Some("I go on."), Some("look"));
    stage.fixture.execute("look", DecidedBy::Actor, "You saw more.", 0.0, serde_json::Value::Null);
    stage.fixture.send_prompt();
    stage.send(UiMessage::StoreChanged);
    let shown = screen_text(&stage.draw()).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("This is after turn 3; the session has gone on since"), "{shown}");
    assert!(shown.contains("it is at turn 5 now") && !shown.contains("This is the present"), "{shown}");
    let wants = stage.press("Enter");
    let fork = fork_request(&wants);
    assert_eq!((fork.at_seq, fork.reason.as_str()), (at, "after turn 3: gone on"));
}
