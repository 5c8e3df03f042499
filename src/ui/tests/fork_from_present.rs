//! Forking from the present, also while a call is in flight and while the session runs behind the dialog.

use super::{TestScreen, screen_text};
use crate::domain::DecidedBy;
use crate::driver::Fork;
use crate::engine::{Cause, Command, Event};
use crate::ui::fixture::Fixture;
use crate::ui::msg::{Request, UiMessage};

fn fork_request(requests: &[Request]) -> &Fork {
    let [.., Request::Fork(fork)] = requests else { panic!("no fork in {requests:?}") };
    fork
}

/// An episode with steps that a person granted one by one.
fn granted_steps(steps: u32) -> Fixture {
    let mut f = Fixture::new();
    f.begin_episode();
    for step in 1..=steps {
        f.propose(Some("I look."), Some("look"));
        f.pause();
        f.write(Cause::Person, Event::StepGranted);
        f.write(Cause::Person, Event::Approved { step });
        f.execute("look", DecidedBy::Actor, &format!("You saw {step}."), 0.0, serde_json::Value::Null);
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

/// Regression: the dialog offered to edit an observation that a prompt had shown; the command failed and the typed text
/// was lost.
#[test]
fn an_edited_observation_forks_before_the_prompt_that_showed_it() {
    for (name, fixture) in [("proposed", with_proposal as fn() -> Fixture), ("asked", with_call_in_flight)] {
        let mut stage = TestScreen::new(fixture(), 120, 36);
        stage.press("F");
        let shown = screen_text(&stage.draw());
        assert!(shown.contains("before the actor call of step 4: You saw 3."), "{name}: {shown}");
        stage.press("Down");
        stage.press("Enter");
        stage.send(UiMessage::Paste("EDITED ".to_owned()));
        let requests = stage.press("Enter");
        let fork = fork_request(&requests);
        assert_eq!(fork.reason, "after step 3: another observation", "{name}");
        let text = match &fork.commands[..] {
            [Command::EditObservation { step: 3, text }, Command::Step] => text,
            other => panic!("{name}: {other:?}"),
        };
        assert!(text.contains("EDITED"), "{name}: {text}");
        let state = stage.fixture.store.state_at(fork.at_seq);
        let step = state.last_step().unwrap();
        assert_eq!((state.head, step.number), (fork.at_seq, 3), "{name}");
        assert!(
            step.answer.is_some() && state.last_pool_use <= step.answered_seq,
            "{name}: no prompt has used it"
        );
    }
}

/// A session, the title of its dialog, the text of the first choice, and the branch's reason.
type DialogCase = (fn() -> Fixture, &'static str, &'static str, &'static str);

/// Regression: while step 3 was being answered, the dialog and the branch's reason said "after step 3".
#[test]
fn a_step_counts_once_it_is_answered() {
    let cases: &[DialogCase] = &[
        (
            with_call_in_flight,
            "After step 3: step 4 in progress",
            "actor call of step 4",
            "after step 3: continued",
        ),
        (
            with_proposal,
            "From here: step 4 awaits a decision",
            "runs the proposed action",
            "at step 4's proposal: continued",
        ),
        (|| granted_steps(3), "After step 3", "actor call of step 4", "after step 3: continued"),
    ];
    for (fixture, head, next, reason) in cases {
        let mut stage = TestScreen::new(fixture(), 120, 36);
        stage.press("F");
        let shown = screen_text(&stage.draw());
        assert!(shown.contains(head) && shown.contains(next), "{head}: {shown}");
        assert_eq!(fork_request(&stage.press("Enter")).reason, *reason);
    }
}

/// Regression: the dialog called step 11 the present while the run was at step 18.
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
    assert!(shown.contains("This is after step 3; the session has since"), "{shown}");
    assert!(shown.contains("has since reached step 5") && !shown.contains("This is the present"), "{shown}");
    let requests = stage.press("Enter");
    let fork = fork_request(&requests);
    assert_eq!((fork.at_seq, fork.reason.as_str()), (at, "after step 3: continued"));
}
