//! Continuing from the present on a new branch, while somebody is asked, and while the session goes on behind the dialog.

use super::{Stage, screen};
use crate::domain::DecidedBy;
use crate::driver::Fork;
use crate::engine::{Cause, Command, Event};
use crate::ui::fixture::Fixture;
use crate::ui::msg::{Msg, Request};

fn forked(wants: &[Request]) -> &Fork {
    let [.., Request::Fork(fork)] = wants else { panic!("no fork in {wants:?}") };
    fork
}

/// Turns that a person has granted, one after the other.
fn granted(turns: u32) -> Fixture {
    let mut f = Fixture::new();
    f.begin();
    for turn in 1..=turns {
        f.propose(Some("I look."), Some("look"));
        f.pause();
        f.write(Cause::Person, Event::StepGranted);
        f.write(Cause::Person, Event::Approved { step: turn });
        f.take("look", DecidedBy::Actor, &format!("You saw {turn}."), 0.0, serde_json::Value::Null);
    }
    f
}

fn proposed() -> Fixture {
    let mut f = granted(3);
    f.propose(Some("What now?"), Some("go to fridge 1"));
    f.pause();
    f
}

fn asked() -> Fixture {
    let mut f = granted(3);
    f.ask();
    f
}

/// A prompt had shown the observation: the dialog offered it all the same, and the typed words went with a refusal.
#[test]
fn another_observation_begins_before_the_prompt_that_has_shown_it() {
    for (name, fixture) in [("proposed", proposed as fn() -> Fixture), ("asked", asked)] {
        let mut stage = Stage::new(fixture(), 120, 36);
        stage.press("F");
        let shown = screen(&stage.draw());
        assert!(shown.contains("before turn 4 is asked: You saw 3."), "{name}: {shown}");
        stage.press("Down");
        stage.press("Enter");
        stage.tell(Msg::Paste("EDITED ".to_owned()));
        let wants = stage.press("Enter");
        let fork = forked(&wants);
        assert_eq!(fork.reason, "after turn 3: another observation", "{name}");
        let text = match &fork.then[..] {
            [Command::EditObservation { step: 3, text }, Command::Step] => text,
            other => panic!("{name}: {other:?}"),
        };
        assert!(text.contains("EDITED"), "{name}: {text}");
        let there = stage.fixture.store.state_at(fork.at);
        let step = there.last_step().unwrap();
        assert_eq!((there.head, step.number), (fork.at, 3), "{name}");
        assert!(
            step.answer.is_some() && there.last_pool_use <= step.answered_seq,
            "{name}: nothing has used it"
        );
    }
}

/// A session, and the title, the first choice's words and the branch's reason over it.
type Case = (fn() -> Fixture, &'static str, &'static str, &'static str);

/// While turn 3 was answered the dialog spoke of what comes after it, and the tree kept that.
#[test]
fn a_turn_counts_once_it_is_answered() {
    let cases: &[Case] = &[
        (asked, "After turn 3: turn 4 is under way", "the agent is asked turn 4", "after turn 3: gone on"),
        (
            proposed,
            "From here: turn 4 waits for a decision",
            "what is proposed is done",
            "at turn 4's proposal: gone on",
        ),
        (|| granted(3), "After turn 3", "the agent is asked turn 4", "after turn 3: gone on"),
    ];
    for (fixture, head, next, reason) in cases {
        let mut stage = Stage::new(fixture(), 120, 36);
        stage.press("F");
        let shown = screen(&stage.draw());
        assert!(shown.contains(head) && shown.contains(next), "{head}: {shown}");
        assert_eq!(forked(&stage.press("Enter")).reason, *reason);
    }
}

/// The dialog said that turn 11 was the present while the run was at turn 18.
#[test]
fn the_moment_stays_the_one_at_which_it_was_opened() {
    let mut stage = Stage::new(asked(), 120, 36);
    let at = stage.fixture.state().head;
    stage.press("F");
    stage.fixture.propose(Some("I go on."), Some("look"));
    stage.fixture.take("look", DecidedBy::Actor, "You saw more.", 0.0, serde_json::Value::Null);
    stage.fixture.ask();
    stage.tell(Msg::News);
    let shown = screen(&stage.draw()).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("This is after turn 3; the session has gone on since"), "{shown}");
    assert!(shown.contains("it is at turn 5 now") && !shown.contains("This is the present"), "{shown}");
    let wants = stage.press("Enter");
    let fork = forked(&wants);
    assert_eq!((fork.at, fork.reason.as_str()), (at, "after turn 3: gone on"));
}
