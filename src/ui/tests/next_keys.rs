//! Wherever the program waits for a person, a row shows the next keys.

use super::mentor::with_questions_in_flight;
use super::overlays::lost_episode;
use super::{SIZES, TestScreen, screen_text};
use crate::domain::{Autonomy, BranchId, DecidedBy, EpisodeRole, Seq};
use crate::engine::{Cause, Event, PauseReason};
use crate::timeline::Timeline;
use crate::ui::fixture::{Fixture, fcrf, planning_only, reflexion, sample_session, summary, sweet_sour};
use serde_json::{Value, json};

/// A session that waits.
type MakeFixture = fn() -> Fixture;

/// The sample session after a step, with no call in flight and nothing pending.
fn after_step() -> Fixture {
    let mut f = sample_session();
    f.execute("go to stoveburner 1", DecidedBy::Actor, "Nothing.", 0.5, Value::Null);
    f.pause();
    f
}

/// A session whose last event changed the actor's sampling.
fn with_changed_sampling() -> Fixture {
    let mut f = after_step();
    f.write(Cause::Person, Event::SettingChanged { name: "actor.temperature".to_owned(), value: json!(0.5) });
    f
}

/// A run that was paused while its first environment started.
fn paused_while_starting() -> Fixture {
    let mut f = Fixture::new();
    let task = f.state.run.as_deref().unwrap().tasks[0].clone();
    let call = crate::domain::CallId(1);
    let (task, role) = (Box::new(task), EpisodeRole::Test);
    f.write(Cause::Policy, Event::EpisodeStarted { episode: 1, task, trial: 1, role, call });
    f.write(Cause::Person, Event::Paused { reason: PauseReason::Person });
    let result =
        crate::domain::StepResult { observation: "A room.".to_owned(), valid: true, ..Default::default() };
    let goal = "find a mug".to_owned();
    f.write(Cause::World, Event::WorldReset { call, result: Box::new(result), agent_view: None, goal });
    f
}

/// A run without an episode.
fn before_start() -> Fixture {
    let mut f = Fixture::new();
    f.pause();
    f
}

/// A person plays and has closed the input.
fn with_person_playing() -> Fixture {
    let mut f = after_step();
    f.write(Cause::Person, Event::AutonomySet { autonomy: Autonomy::Human });
    f
}

fn with_approved_step() -> Fixture {
    let mut f = sample_session();
    let step = f.state().last_step().unwrap().number;
    f.write(Cause::Person, Event::Approved { step });
    f.pause();
    f
}

fn with_cancelled_questions() -> Fixture {
    let (mut f, _) = with_questions_in_flight();
    for call in f.state().calls.keys().copied().collect::<Vec<_>>() {
        f.write(Cause::Person, Event::CallCancelled { call, partial_reply: Box::default() });
    }
    f.pause();
    f
}

fn after_run_end() -> Fixture {
    let mut f = lost_episode();
    f.write(Cause::Policy, Event::RunEnded);
    f
}

fn with_divergence() -> Fixture {
    let mut f = sample_session();
    let (recorded, now) = ("A mug 2.".to_owned(), "Nothing.".to_owned());
    f.write(Cause::World, Event::Diverged { episode: 1, step: 9, recorded, actual: now });
    f
}

/// Regression: after a fork that changed sampling, and after a pause while the environment started, no keys were shown.
#[test]
fn every_wait_for_a_person_shows_the_next_keys() {
    let cases: [(&str, MakeFixture, &str); 12] = [
        ("nothing has begun", before_start, "n continue   Space run"),
        ("stopped at the start", paused_while_starting, "n ask the rules   Space run"),
        ("between steps", after_step, "n ask the rules   Space run"),
        ("a fork by sampling", with_changed_sampling, "n ask the rules   Space run"),
        ("a proposal", sample_session, "Enter run it   o override"),
        ("an approved proposal", with_approved_step, "n run the proposed action   Space run"),
        ("a person plays", with_person_playing, "o your action   H let the agent play"),
        ("the mentor was broken off", with_cancelled_questions, "n continue: retry the call"),
        ("a summary", summary, "M review it"),
        ("a world that differs", with_divergence, "r continue with the rebuilt environment"),
        ("an ended episode", lost_episode, "C end card   r play again"),
        ("an ended run", after_run_end, "C end card   r play again"),
    ];
    for (name, fixture, row) in cases {
        let whole = fixture();
        assert!(whole.state().is_waiting(), "{name} does not wait");
        for (w, h) in SIZES {
            let mut stage = TestScreen::new(Fixture::empty(), w, h);
            stage.fixture.store = whole.store.clone();
            let shown = screen_text(&stage.draw());
            assert!(shown.contains(row), "{name} at {w}x{h}:\n{shown}");
        }
    }
}

/// Stops several sessions after each of their events.
#[test]
fn a_session_stopped_anywhere_shows_the_next_keys() {
    const KEY_ROWS: [&str; 11] = [
        "n ask the rules",
        "n continue   ",
        "n run the proposed",
        "n continue:",
        "Enter run it",
        "o your action",
        "o type your action",
        "M review it",
        "C end card   ",
        "s send it",
        "L continue without",
    ];
    let mut waited = 0;
    for make in [sample_session, reflexion, fcrf, sweet_sour, planning_only, summary] {
        let whole = make();
        for seq in 1..=whole.state().head.0 {
            let mut f = Fixture::empty();
            let state = whole.store.state_at(Seq(seq));
            let mut timeline = Timeline::default();
            timeline.push(whole.store.timeline().events_between(Seq(0), Seq(seq)), state.clone());
            f.store.swap_branch(timeline, BranchId::trunk());
            f.state = (*state).clone();
            f.pause();
            if !f.state().is_waiting() {
                continue;
            }
            waited += 1;
            let shown = screen_text(&TestScreen::new(f, 80, 24).draw());
            assert!(KEY_ROWS.iter().any(|row| shown.contains(row)), "at {seq}:\n{shown}");
        }
    }
    assert!(waited > 200, "{waited}");
}
