//! Whose turn it is, and what only looks like it.

use super::{Stage, screen};
use crate::domain::{Autonomy, By, EndReason};
use crate::driver::Health;
use crate::engine::{Cause, Command, Event, PauseReason};
use crate::ui::fixture::kitchen;
use crate::ui::msg::{Msg, Request};

fn said(stage: &Stage) -> String {
    stage.model.notice.as_ref().map(|n| n.text.clone()).unwrap_or_default()
}

fn names(stage: &Stage) -> Vec<&'static str> {
    stage.model.overlays.iter().map(|o| o.name()).collect()
}

/// Does the step that waits, as the driver would after `n`.
fn done(stage: &mut Stage) {
    stage.fixture.write(Cause::Person, Event::StepGranted);
    assert_eq!(stage.tell(Msg::News), [], "a step is under way");
    stage.fixture.take("look", By::Actor, "You are in a room.", 0.5, serde_json::Value::Null);
    assert_eq!(stage.tell(Msg::News), [], "a step is under way");
    stage.fixture.propose(None, Some("look"));
}

/// Eight presses in a quarter of a second made two steps.
#[test]
fn fast_steps_are_all_done() {
    let step = [Request::Send(Command::Step)];
    let mut stage = Stage::new(kitchen(), 80, 24);
    assert_eq!(stage.press("n"), step);
    for _ in 0..2 {
        assert_eq!(stage.press("n"), []);
    }
    for _ in 0..2 {
        done(&mut stage);
        assert_eq!(stage.tell(Msg::News), step);
        assert_eq!(stage.tell(Msg::News), [], "it is asked for once");
    }
    done(&mut stage);
    assert_eq!(stage.tell(Msg::News), [], "nothing more was asked for");
}

#[test]
fn any_other_key_lets_go_of_the_steps_that_are_owed() {
    let mut stage = Stage::new(kitchen(), 80, 24);
    stage.press("n");
    stage.press("n");
    stage.press("Tab");
    done(&mut stage);
    assert_eq!(stage.tell(Msg::News), []);
}

/// A session without a driver said "your turn", and its lesson editor claimed to save.
#[test]
fn a_session_that_is_only_read_says_so() {
    let mut stage = Stage::new(kitchen(), 80, 24);
    stage.fixture.store.edit_live(|live| live.health = Health::Reading);
    stage.model.hint = crate::ui::model::Hint::Step;
    stage.model.resume = Some("retrospect resume elsewhere/20261120T104000Z-hot-apple-k3v9q2".to_owned());
    let shown = screen(&stage.draw());
    assert!(shown.lines().next().unwrap().ends_with("READING"), "{shown}");
    assert!(
        !shown.contains("do it") && !shown.contains("your turn") && !shown.contains("press n"),
        "{shown}"
    );
    for key in ["n", "s", "Space", "c", "H", "o", "x", "r", "a", "A", "e", "R", "u", "N", "X"] {
        assert_eq!(stage.press(key), [], "{key}");
        assert_eq!(names(&stage), [""; 0], "{key}");
        let session = "elsewhere/20261120T104000Z-hot-apple-k3v9q2";
        assert_eq!(said(&stage), format!("read-only; to go on: retrospect resume {session}"), "{key}");
    }
    stage.press("Enter");
    assert_eq!(names(&stage), ["step"]);
}

#[test]
fn the_end_of_an_episode_is_asked_for_twice() {
    let mut stage = Stage::new(kitchen(), 80, 24);
    assert_eq!(stage.press("X"), []);
    assert!(said(&stage).starts_with("end this episode?"));
    stage.press("Left");
    assert_eq!(stage.press("End"), []);
    assert_eq!(stage.press("X"), [], "another key was a no");
    assert_eq!(stage.press("X"), [Request::Send(Command::EndEpisode(EndReason::Person))]);
}

#[test]
fn a_person_who_plays_gets_the_line_at_every_step_and_esc_leaves_it() {
    let mut stage = Stage::new(kitchen(), 80, 24);
    stage.fixture.write(Cause::Person, Event::AutonomySet { autonomy: Autonomy::Human });
    assert_eq!(stage.tell(Msg::News), [Request::Admissible]);
    assert_eq!(names(&stage), ["play"]);
    stage.press("Esc");
    assert_eq!(stage.tell(Msg::News), []);
    assert_eq!(names(&stage), [""; 0]);
    stage.fixture.take("look", By::Person, "You are in a room.", 0.5, serde_json::Value::Null);
    assert_eq!(stage.tell(Msg::News), [Request::Admissible]);
    assert_eq!(stage.press("Enter").len(), 0, "an empty line is no action");
}

/// After Ctrl-C during a call the step stood there empty, and its keys led nowhere.
#[test]
fn a_step_whose_call_was_broken_off_says_what_goes_on() {
    let mut fixture = kitchen();
    fixture.take("look", By::Actor, "You are in a room.", 0.5, serde_json::Value::Null);
    let call = fixture.ask();
    fixture.write(Cause::Person, Event::CallCancelled { call });
    fixture.write(Cause::Person, Event::Paused { reason: PauseReason::Person });
    let mut stage = Stage::new(fixture, 80, 24);
    let shown = screen(&stage.draw());
    assert!(shown.contains("n asks the agent"), "{shown}");
    assert_eq!(stage.press("n"), [Request::Send(Command::Step)]);
}

#[test]
fn a_task_is_played_again_from_a_pause_and_its_number_is_shown() {
    let mut fixture = kitchen();
    fixture.write(Cause::Person, Event::Resumed);
    fixture.end(false, EndReason::StepLimit);
    fixture.write(Cause::Policy, Event::RunEnded);
    let mut stage = Stage::new(fixture, 80, 24);
    stage.tell(Msg::News);
    stage.press("Esc");
    let shown = screen(&stage.draw());
    assert!(
        shown.contains("r again") && shown.contains("result card") && !shown.contains("do it"),
        "{shown}"
    );
    stage.press("Enter");
    assert_eq!(names(&stage), ["end"]);
    let wants = stage.press("r");
    assert!(
        matches!(&wants[..], [Request::Send(Command::Pause), Request::Send(Command::Begin(_))]),
        "{wants:?}"
    );
    stage.fixture.begin();
    assert!(screen(&stage.draw()).contains("Story · episode 2"));
}
