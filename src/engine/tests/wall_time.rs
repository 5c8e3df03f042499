//! The time limit of an episode: which time counts, and when the limit takes effect.

use super::fixture::{Harness, policy, spec_with_tasks, step_result};
use crate::domain::{BranchId, EndReason};
use crate::engine::{Command, Engine, Reply, State};
use jiff::ToSpan as _;
use serde_json::json;
use std::time::Duration;

/// Starts a run of two tasks with a time limit for each episode.
fn with_time_limit(seconds: u64) -> Harness {
    let mut spec = spec_with_tasks(2);
    spec.limits.wall_seconds = Some(seconds);
    Harness::with_spec(spec)
}

/// Returns the driver's report that the timer of the first episode fired after this many seconds of active time.
fn time_up(seconds: u64) -> Reply {
    Reply::TimeUp { episode: 1, elapsed: Duration::from_secs(seconds) }
}

impl Harness {
    /// Moves the timestamp of the next events forward, or back if `seconds` is negative.
    fn advance_time(&mut self, seconds: i64) {
        self.timestamp += seconds.seconds();
    }

    /// Returns the time for which the driver would set its timer; `None` if it would set none.
    fn seconds_left(&self) -> Option<u64> {
        self.state().time_left(self.timestamp).map(|(_, left)| left.as_secs())
    }
}

#[test]
fn pauses_do_not_count_as_active_time() {
    let mut harness = with_time_limit(60);
    harness.advance_time(1000);
    harness.command(Command::Step).unwrap();
    assert_eq!(harness.seconds_left(), Some(60), "time before the episode isn't counted");
    harness.advance_time(10);
    harness.reply_as_env(step_result("A room."));
    harness.advance_time(5);
    assert_eq!(harness.seconds_left(), Some(45), "the time of a call in progress counts");
    harness.reply_as_actor("look");
    assert_eq!(harness.seconds_left(), None, "no timer runs while the proposal waits for a person");
    harness.advance_time(1000);
    harness.command(Command::Run).unwrap();
    assert_eq!(harness.seconds_left(), Some(45));
    harness.advance_time(20);
    harness.reply_as_env(step_result("A room."));
    harness.command(Command::Pause).unwrap();
    harness.advance_time(7);
    assert_eq!(
        harness.seconds_left(),
        Some(18),
        "a requested pause stops the clock only when the call in flight has ended"
    );
    harness.reply_as_actor("look");
    harness.advance_time(1000);
    assert!(harness.reply(time_up(60)).is_empty(), "a timer that fires during a pause is ignored");
    harness.command(Command::Run).unwrap();
    assert_eq!(harness.seconds_left(), Some(18));
    harness.reply(time_up(60));
    assert_eq!(harness.state().ended_episodes.last().unwrap().reason, EndReason::TimeLimit);
    assert_eq!(harness.seconds_left(), Some(60), "the next episode has its full time");
}

#[test]
fn active_time_continues_after_a_resume() {
    let mut harness = with_time_limit(60);
    harness.command(Command::Run).unwrap();
    harness.advance_time(10);
    harness.reply_as_env(step_result("A room."));
    harness.advance_time(15);
    // The program is killed 25 seconds into the episode, and the session is resumed a day later. No event recorded the
    // last 15 seconds, so they aren't counted.
    let mut state = State::default();
    for envelope in &harness.journal {
        state.apply(envelope);
    }
    let engine = Engine::resume(state, policy(), BranchId::trunk());
    let mut harness = Harness { engine, journal: harness.journal, timestamp: harness.timestamp };
    harness.advance_time(24 * 3600);
    harness.command(Command::Reopen).unwrap();
    assert_eq!(harness.seconds_left(), Some(50));
    harness.command(Command::Run).unwrap();
    harness.advance_time(50);
    assert_eq!(harness.seconds_left(), Some(0));
}

#[test]
fn a_changed_time_limit_applies_at_once() {
    let set_limit =
        |seconds: u64| Command::ChangeSetting { name: "wall_seconds".to_owned(), value: json!(seconds) };
    let mut harness = with_time_limit(60);
    harness.command(Command::Run).unwrap();
    harness.advance_time(30);
    harness.command(set_limit(100)).unwrap();
    assert_eq!(harness.seconds_left(), Some(70));
    assert!(harness.reply(time_up(60)).is_empty(), "the old limit's timer is ignored");
    harness.command(set_limit(0)).unwrap();
    assert_eq!(harness.seconds_left(), None);
    assert!(harness.reply(time_up(100)).is_empty(), "a limit of 0 means no limit");
    harness.advance_time(5);
    harness.command(set_limit(20)).unwrap();
    assert_eq!(harness.seconds_left(), Some(0), "a limit that is already exceeded takes effect at once");
    harness.reply(time_up(35));
    assert_eq!(harness.state().ended_episodes.last().unwrap().reason, EndReason::TimeLimit);
}

#[test]
fn setting_the_system_clock_back_subtracts_no_active_time() {
    let mut harness = with_time_limit(60);
    harness.command(Command::Run).unwrap();
    harness.advance_time(10);
    harness.reply_as_env(step_result("A room."));
    harness.advance_time(-3600);
    harness.reply_as_actor("look");
    assert_eq!(harness.seconds_left(), Some(50));
}
