//! Jobs of a method on the screen: in progress, failed, cancelled.

use super::{TestScreen, screen_text};
use crate::domain::{CallId, EndReason, Job, JobProgress, PartialReply};
use crate::driver::LiveJob;
use crate::engine::{Cause, Command, Event, Failure, PauseReason};
use crate::ui::fixture::sample_session;
use crate::ui::msg::{Request, UiMessage};
use std::sync::Arc;
use std::time::Duration;

const CALL: CallId = CallId(900);

/// A session whose method computes a job that this program doesn't know, so that its name is shown.
fn with_job() -> (TestScreen, Arc<Job>) {
    let mut fixture = sample_session();
    let job = Arc::new(Job { name: "fit".to_owned(), inputs: serde_json::Value::Null });
    fixture.execute("look", crate::domain::DecidedBy::Actor, "You see.", 0.5, serde_json::Value::Null);
    fixture.write(Cause::Person, Event::Resumed);
    fixture.write(Cause::Policy, Event::ComputeRequested { call: CALL, job: job.clone() });
    (TestScreen::new(fixture, 120, 36), job)
}

#[test]
fn a_job_in_progress_shows_how_far_it_is() {
    let (mut stage, job) = with_job();
    let progress = Arc::<JobProgress>::default();
    progress.report_stage(2, 5, "vector 3 of 10".to_owned()).unwrap();
    let live = LiveJob { call: CALL, job, started: stage.now, progress };
    stage.fixture.store.edit_live(|l| l.jobs = vec![live]);
    stage.now += Duration::from_secs(12);
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("COMPUTING 12 s"), "{shown}");
    assert!(shown.contains("fit") && shown.contains("12 s · 40 % · vector 3 of 10"), "{shown}");
}

#[test]
fn after_a_failed_job_the_keys_retry_it_or_continue_without_it() {
    let (mut stage, _) = with_job();
    let failure = Failure {
        message: "the matrix is singular".to_owned(),
        source: "fit".to_owned(),
        hint: "retry it, or continue without its result".to_owned(),
        ..Failure::default()
    };
    stage.fixture.write(Cause::Job, Event::CallFailed { call: CALL, failure });
    stage.fixture.write(Cause::Job, Event::Paused { reason: PauseReason::Failure });
    let shown = screen_text(&stage.draw());
    for words in ["fit: the matrix is singular", "r retry", "L continue without"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert_eq!(stage.press("L"), [Request::Send(Command::GiveUp)]);
}

#[test]
fn after_a_cancelled_job_the_keys_compute_it_again_or_continue_without_it() {
    let (mut stage, _) = with_job();
    let partial_reply = Box::<PartialReply>::default();
    stage.fixture.write(Cause::Person, Event::CallCancelled { call: CALL, partial_reply });
    stage.fixture.write(Cause::Person, Event::Paused { reason: PauseReason::Person });
    let shown = screen_text(&stage.draw());
    for words in ["cancelled: fit", "n compute it again", "L continue without it"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert_eq!(stage.press("n"), [Request::Send(Command::Step)]);
}

/// A session whose method computes a job after an episode that was won, with the end card not shown yet.
fn with_job_after_episode() -> TestScreen {
    let mut fixture = sample_session();
    fixture.execute("look", crate::domain::DecidedBy::Actor, "You see.", 0.5, serde_json::Value::Null);
    fixture.end_episode(true, EndReason::Won);
    fixture.write(Cause::Person, Event::Resumed);
    let job = Arc::new(Job { name: "fit".to_owned(), inputs: serde_json::Value::Null });
    fixture.write(Cause::Policy, Event::ComputeRequested { call: CALL, job });
    TestScreen::new(fixture, 120, 36)
}

/// Regression: after Ctrl-C during the search the header said "WON", the end card covered the keys and offered another episode, and
/// `r` played one.
#[test]
fn a_job_cancelled_after_an_episode_waits_for_a_decision() {
    let mut stage = with_job_after_episode();
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("Ctrl-C cancel") && !shown.contains("play again"), "{shown}");
    let partial_reply = Box::<PartialReply>::default();
    stage.fixture.write(Cause::Person, Event::CallCancelled { call: CALL, partial_reply });
    stage.fixture.write(Cause::Person, Event::Paused { reason: PauseReason::Person });
    stage.send(UiMessage::StoreChanged);
    let shown = screen_text(&stage.draw());
    assert_eq!(stage.compositor.overlays().len(), 0, "no end card: {shown}");
    assert!(!shown.lines().next().unwrap().contains("WON"), "{shown}");
    for words in ["cancelled: fit", "n compute it again", "L continue without"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(!shown.contains("next task") && !shown.contains("play again"), "{shown}");
    assert_eq!(stage.press("r"), [Request::Send(Command::Retry)]);
    // The card that a person opens offers neither.
    stage.press("C");
    let shown = screen_text(&stage.draw());
    assert!(shown.contains("Episode 1 ended"), "{shown}");
    assert!(
        !shown.contains("continue with the next task") && !shown.contains("play this task again"),
        "{shown}"
    );
}
