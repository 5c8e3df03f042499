//! The time limit of an episode: what it counts, and when it takes effect.

use super::fixture::{TestEngine, policy, run_spec, step_result};
use crate::domain::{BranchId, EndReason};
use crate::engine::{Command, Engine, Reply, State};
use jiff::ToSpan as _;
use serde_json::json;
use std::time::Duration;

/// Returns a harness with this many tasks and a time limit for each episode.
pub(super) fn with_time_limit(tasks: usize, seconds: u64) -> TestEngine {
    let mut spec = run_spec(tasks, 50);
    spec.limits.wall_seconds = Some(seconds);
    TestEngine::with_spec(spec)
}

pub(super) fn time_up(episode: u32, seconds: u64) -> Reply {
    Reply::TimeUp { episode, elapsed: Duration::from_secs(seconds) }
}

impl TestEngine {
    /// Moves the timestamps of the next events forward.
    fn advance_time(&mut self, seconds: i64) {
        self.timestamp += seconds.seconds();
    }

    /// Returns the time for which the driver would set its timer.
    fn seconds_left(&self) -> Option<u64> {
        self.state().time_left(self.timestamp).map(|(_, left)| left.as_secs())
    }
}

#[test]
fn active_time_excludes_pauses() {
    let mut harness = with_time_limit(2, 60);
    harness.advance_time(1000);
    harness.command(Command::Step).unwrap();
    assert_eq!(harness.seconds_left(), Some(60), "time before the episode isn't counted");
    harness.advance_time(10);
    harness.answer_world(step_result("A room."));
    harness.advance_time(5);
    assert_eq!(harness.seconds_left(), Some(45), "the time of a call in progress counts");
    harness.answer_actor("look");
    assert_eq!(harness.seconds_left(), None, "no timer runs while the proposal waits for a person");
    harness.advance_time(1000);
    harness.command(Command::Run).unwrap();
    assert_eq!(harness.seconds_left(), Some(45));
    harness.advance_time(20);
    harness.answer_world(step_result("A room."));
    harness.command(Command::Pause).unwrap();
    harness.advance_time(7);
    assert_eq!(
        harness.seconds_left(),
        Some(18),
        "a requested pause stops the clock only when the call has ended"
    );
    harness.answer_actor("look");
    harness.advance_time(1000);
    assert!(harness.reply(time_up(1, 60)).is_empty(), "a timer that fires during a pause is ignored");
    harness.command(Command::Run).unwrap();
    assert_eq!(harness.seconds_left(), Some(18));
    harness.reply(time_up(1, 60));
    assert_eq!(harness.state().ended_episodes.last().unwrap().reason, EndReason::TimeLimit);
    assert_eq!(harness.seconds_left(), Some(60), "the next episode has its own time");
}

#[test]
fn active_time_continues_after_a_resume() {
    let mut harness = with_time_limit(2, 60);
    harness.command(Command::Run).unwrap();
    harness.advance_time(10);
    harness.answer_world(step_result("A room."));
    harness.advance_time(15);
    // Killed 25 seconds into the episode and resumed a day later: the last 15 seconds are in no event and are lost.
    let mut state = State::default();
    for envelope in &harness.journal {
        state.apply(envelope);
    }
    let engine = Engine::resume(state, policy(), BranchId::trunk());
    let mut harness = TestEngine { engine, journal: harness.journal, timestamp: harness.timestamp };
    harness.advance_time(24 * 3600);
    harness.command(Command::Reopen).unwrap();
    assert_eq!(harness.seconds_left(), Some(50));
    harness.command(Command::Run).unwrap();
    harness.advance_time(50);
    assert_eq!(harness.seconds_left(), Some(0));
}

#[test]
fn a_changed_time_limit_applies_at_once() {
    let set =
        |seconds: u64| Command::ChangeSetting { name: "wall_seconds".to_owned(), value: json!(seconds) };
    let mut harness = with_time_limit(2, 60);
    harness.command(Command::Run).unwrap();
    harness.advance_time(30);
    harness.command(set(100)).unwrap();
    assert_eq!(harness.seconds_left(), Some(70));
    assert!(harness.reply(time_up(1, 60)).is_empty(), "the old limit's timer is ignored");
    harness.command(set(0)).unwrap();
    assert_eq!(harness.seconds_left(), None);
    assert!(harness.reply(time_up(1, 100)).is_empty());
    harness.advance_time(5);
    harness.command(set(20)).unwrap();
    assert_eq!(harness.seconds_left(), Some(0), "a limit that is already exceeded takes effect at once");
    harness.reply(time_up(1, 35));
    assert_eq!(harness.state().ended_episodes.last().unwrap().reason, EndReason::TimeLimit);
}

#[test]
fn a_clock_set_back_removes_no_time() {
    let mut harness = with_time_limit(2, 60);
    harness.command(Command::Run).unwrap();
    harness.advance_time(10);
    harness.answer_world(step_result("A room."));
    harness.advance_time(-3600);
    harness.answer_actor("look");
    assert_eq!(harness.seconds_left(), Some(50));
}
