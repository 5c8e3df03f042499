//! The wall time of an episode: what it counts, and when its bound holds.

use super::fixture::{Bench, policy, spec, turn};
use crate::domain::{BranchId, EndReason};
use crate::engine::{Command, Engine, Reply, State};
use jiff::ToSpan as _;
use serde_json::json;
use std::time::Duration;

/// A bench of so many tasks whose episodes may take so many seconds.
pub(super) fn bounded(tasks: usize, seconds: u64) -> Bench {
    let mut spec = spec(tasks, 50);
    spec.limits.wall_seconds = Some(seconds);
    Bench::with(spec)
}

pub(super) fn time_up(episode: u32, seconds: u64) -> Reply {
    Reply::TimeUp { episode, spent: Duration::from_secs(seconds) }
}

impl Bench {
    /// The events to come are stamped so much later.
    fn later(&mut self, seconds: i64) {
        self.at += seconds.seconds();
    }

    /// What the driver would set its timer to.
    fn left(&self) -> Option<u64> {
        self.state().time_left(self.at).map(|(_, left)| left.as_secs())
    }
}

#[test]
fn the_wall_time_counted_the_time_of_a_pause() {
    let mut bench = bounded(2, 60);
    bench.later(1000);
    bench.wish(Command::Step).unwrap();
    assert_eq!(bench.left(), Some(60), "the time before the episode is nobody's");
    bench.later(10);
    bench.world(turn("A room."));
    bench.later(5);
    assert_eq!(bench.left(), Some(45), "the time of a call under way counts at once");
    bench.says("look");
    assert_eq!(bench.left(), None, "no timer runs while the proposal waits for a person");
    bench.later(1000);
    bench.wish(Command::Run).unwrap();
    assert_eq!(bench.left(), Some(45));
    bench.later(20);
    bench.world(turn("A room."));
    bench.wish(Command::Pause).unwrap();
    bench.later(7);
    assert_eq!(bench.left(), Some(18), "a pause that was asked for counts from when it has come");
    bench.says("look");
    bench.later(1000);
    assert!(bench.reply(time_up(1, 60)).is_empty(), "a timer that comes into a pause is inert");
    bench.wish(Command::Run).unwrap();
    assert_eq!(bench.left(), Some(18));
    bench.reply(time_up(1, 60));
    assert_eq!(bench.state().past.last().unwrap().reason, EndReason::TimeLimit);
    assert_eq!(bench.left(), Some(60), "the next episode has its own time");
}

#[test]
fn the_wall_time_began_anew_on_a_resume() {
    let mut bench = bounded(2, 60);
    bench.wish(Command::Run).unwrap();
    bench.later(10);
    bench.world(turn("A room."));
    bench.later(15);
    // Killed 25 seconds into the episode, taken up a day later: the last 15 are in no event, and lost.
    let mut state = State::default();
    for envelope in &bench.journal {
        state.apply(envelope);
    }
    let engine = Engine::resume(state, policy(), BranchId::trunk());
    let mut bench = Bench { engine, journal: bench.journal, at: bench.at };
    bench.later(24 * 3600);
    bench.wish(Command::Reopen).unwrap();
    assert_eq!(bench.left(), Some(50));
    bench.wish(Command::Run).unwrap();
    bench.later(50);
    assert_eq!(bench.left(), Some(0));
}

#[test]
fn a_changed_bound_on_the_wall_time_counted_from_the_next_episode_only() {
    let set = |seconds: u64| Command::Set { name: "wall_seconds".to_owned(), value: json!(seconds) };
    let mut bench = bounded(2, 60);
    bench.wish(Command::Run).unwrap();
    bench.later(30);
    bench.wish(set(100)).unwrap();
    assert_eq!(bench.left(), Some(70));
    assert!(bench.reply(time_up(1, 60)).is_empty(), "the timer of the old bound is inert");
    bench.wish(set(0)).unwrap();
    assert_eq!(bench.left(), None);
    assert!(bench.reply(time_up(1, 100)).is_empty());
    bench.later(5);
    bench.wish(set(20)).unwrap();
    assert_eq!(bench.left(), Some(0), "a bound that has passed holds at once");
    bench.reply(time_up(1, 35));
    assert_eq!(bench.state().past.last().unwrap().reason, EndReason::TimeLimit);
}

#[test]
fn a_clock_that_is_set_back_takes_no_time_back() {
    let mut bench = bounded(2, 60);
    bench.wish(Command::Run).unwrap();
    bench.later(10);
    bench.world(turn("A room."));
    bench.later(-3600);
    bench.says("look");
    assert_eq!(bench.left(), Some(50));
}
