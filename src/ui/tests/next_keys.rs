//! Where the program waits for a person, a row says what the next keys are.

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

/// The kitchen after a turn, with nothing asked and nothing pending.
fn after_step() -> Fixture {
    let mut f = sample_session();
    f.execute("go to stoveburner 1", DecidedBy::Actor, "Nothing.", 0.5, Value::Null);
    f.pause();
    f
}

/// A branch that began with another sampling.
fn with_changed_sampling() -> Fixture {
    let mut f = after_step();
    f.write(Cause::Person, Event::SettingChanged { name: "actor.temperature".to_owned(), value: json!(0.5) });
    f
}

/// A run that was stopped while its first world was being made.
fn paused_while_starting() -> Fixture {
    let mut f = Fixture::new();
    let task = f.state.run.as_deref().unwrap().tasks[0].clone();
    let call = crate::domain::CallId(1);
    let (task, role) = (Box::new(task), EpisodeRole::Test);
    f.write(Cause::Policy, Event::EpisodeStarted { episode: 1, task, trial: 1, role, call });
    f.write(Cause::Person, Event::Paused { reason: PauseReason::Person });
    let turn =
        crate::domain::StepResult { observation: "A room.".to_owned(), valid: true, ..Default::default() };
    let goal = "find a mug".to_owned();
    f.write(Cause::World, Event::WorldReset { call, result: Box::new(turn), agent_view: None, goal });
    f
}

/// Nothing has begun.
fn before_start() -> Fixture {
    let mut f = Fixture::new();
    f.pause();
    f
}

/// A person plays and has put the line away.
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

/// After a fork by sampling, and after a pause while the world was being made, nothing said what to do.
#[test]
fn every_wait_for_a_person_shows_the_next_keys() {
    let cases: [(&str, MakeFixture, &str); 12] = [
        ("nothing has begun", before_start, "n goes on   Space runs"),
        ("stopped at the start", paused_while_starting, "n asks the agent   Space runs"),
        ("between turns", after_step, "n asks the agent   Space runs"),
        ("a fork by sampling", with_changed_sampling, "n asks the agent   Space runs"),
        ("a proposal", sample_session, "Enter do it   o override"),
        ("an approved proposal", with_approved_step, "n does what is proposed   Space runs"),
        ("a person plays", with_person_playing, "o your action   H lets the agent play"),
        ("the mentor was broken off", with_cancelled_questions, "n go on: what is due is asked again"),
        ("a summary", summary, "M shows its lines"),
        ("a world that differs", with_divergence, "r go on with the world as it is"),
        ("an ended episode", lost_episode, "C result card   r play it again"),
        ("an ended run", after_run_end, "C result card   r play it again"),
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

/// Every moment of several sessions, stopped there.
#[test]
fn a_session_stopped_anywhere_shows_the_next_keys() {
    const KEY_ROWS: [&str; 11] = [
        "n asks the agent",
        "n goes on",
        "n does what",
        "n go on:",
        "Enter do it",
        "o your action",
        "o type your action",
        "M shows its lines",
        "C result card   ",
        "s send it",
        "L go on without",
    ];
    let mut waited = 0;
    for make in [sample_session, reflexion, fcrf, sweet_sour, planning_only, summary] {
        let whole = make();
        for seq in 1..=whole.state().head.0 {
            let mut f = Fixture::empty();
            let state = whole.store.state_at(Seq(seq));
            let mut line = Timeline::default();
            line.push(whole.store.timeline().events_between(Seq(0), Seq(seq)), state.clone());
            f.store.swap_branch(line, BranchId::trunk());
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
