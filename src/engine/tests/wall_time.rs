//! The wall time of an episode: what it counts, and when its bound holds.

use super::fixture::{TestEngine, policy, run_spec, step_result};
use crate::domain::{BranchId, EndReason};
use crate::engine::{Command, Engine, Reply, State};
use jiff::ToSpan as _;
use serde_json::json;
use std::time::Duration;

/// A bench of so many tasks whose episodes may take so many seconds.
pub(super) fn with_time_limit(tasks: usize, seconds: u64) -> TestEngine {
    let mut spec = run_spec(tasks, 50);
    spec.limits.wall_seconds = Some(seconds);
    TestEngine::with_spec(spec)
}

pub(super) fn time_up(episode: u32, seconds: u64) -> Reply {
    Reply::TimeUp { episode, elapsed: Duration::from_secs(seconds) }
}

impl TestEngine {
    /// The events to come are stamped so much later.
    fn advance_time(&mut self, seconds: i64) {
        self.at += seconds.seconds();
    }

    /// What the driver would set its timer to.
    fn seconds_left(&self) -> Option<u64> {
        self.state().time_left(self.at).map(|(_, left)| left.as_secs())
    }
}

#[test]
fn the_wall_time_counted_the_time_of_a_pause() {
    let mut bench = with_time_limit(2, 60);
    bench.advance_time(1000);
    bench.command(Command::Step).unwrap();
    assert_eq!(bench.seconds_left(), Some(60), "the time before the episode is nobody's");
    bench.advance_time(10);
    bench.answer_world(step_result("A room."));
    bench.advance_time(5);
    assert_eq!(bench.seconds_left(), Some(45), "the time of a call under way counts at once");
    bench.answer_actor("look");
    assert_eq!(bench.seconds_left(), None, "no timer runs while the proposal waits for a person");
    bench.advance_time(1000);
    bench.command(Command::Run).unwrap();
    assert_eq!(bench.seconds_left(), Some(45));
    bench.advance_time(20);
    bench.answer_world(step_result("A room."));
    bench.command(Command::Pause).unwrap();
    bench.advance_time(7);
    assert_eq!(bench.seconds_left(), Some(18), "a pause that was asked for counts from when it has come");
    bench.answer_actor("look");
    bench.advance_time(1000);
    assert!(bench.reply(time_up(1, 60)).is_empty(), "a timer that comes into a pause is inert");
    bench.command(Command::Run).unwrap();
    assert_eq!(bench.seconds_left(), Some(18));
    bench.reply(time_up(1, 60));
    assert_eq!(bench.state().ended_episodes.last().unwrap().reason, EndReason::TimeLimit);
    assert_eq!(bench.seconds_left(), Some(60), "the next episode has its own time");
}

#[test]
fn the_wall_time_began_anew_on_a_resume() {
    let mut bench = with_time_limit(2, 60);
    bench.command(Command::Run).unwrap();
    bench.advance_time(10);
    bench.answer_world(step_result("A room."));
    bench.advance_time(15);
    // Killed 25 seconds into the episode, taken up a day later: the last 15 are in no event, and lost.
    let mut state = State::default();
    for envelope in &bench.journal {
        state.apply(envelope);
    }
    let engine = Engine::resume(state, policy(), BranchId::trunk());
    let mut bench = TestEngine { engine, journal: bench.journal, at: bench.at };
    bench.advance_time(24 * 3600);
    bench.command(Command::Reopen).unwrap();
    assert_eq!(bench.seconds_left(), Some(50));
    bench.command(Command::Run).unwrap();
    bench.advance_time(50);
    assert_eq!(bench.seconds_left(), Some(0));
}

#[test]
fn a_changed_bound_on_the_wall_time_counted_from_the_next_episode_only() {
    let set =
        |seconds: u64| Command::ChangeSetting { name: "wall_seconds".to_owned(), value: json!(seconds) };
    let mut bench = with_time_limit(2, 60);
    bench.command(Command::Run).unwrap();
    bench.advance_time(30);
    bench.command(set(100)).unwrap();
    assert_eq!(bench.seconds_left(), Some(70));
    assert!(bench.reply(time_up(1, 60)).is_empty(), "the timer of the old bound is inert");
    bench.command(set(0)).unwrap();
    assert_eq!(bench.seconds_left(), None);
    assert!(bench.reply(time_up(1, 100)).is_empty());
    bench.advance_time(5);
    bench.command(set(20)).unwrap();
    assert_eq!(bench.seconds_left(), Some(0), "a bound that has passed holds at once");
    bench.reply(time_up(1, 35));
    assert_eq!(bench.state().ended_episodes.last().unwrap().reason, EndReason::TimeLimit);
}

#[test]
fn a_clock_that_is_set_back_takes_no_time_back() {
    let mut bench = with_time_limit(2, 60);
    bench.command(Command::Run).unwrap();
    bench.advance_time(10);
    bench.answer_world(step_result("A room."));
    bench.advance_time(-3600);
    bench.answer_actor("look");
    assert_eq!(bench.seconds_left(), Some(50));
}
