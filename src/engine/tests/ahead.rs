//! Questions that were asked ahead: what they cost is not forgotten, and nothing else comes of them.

use super::fixture::{Bench, names, turn};
use crate::domain::{CallId, ModelRole, Usage};
use crate::engine::{AheadNow, AskedAhead, Command, Event, Reply, State};

fn told(number: u64, now: AheadNow, call: Option<CallId>, nano: u64) -> Reply {
    let usage = Usage { prompt_tokens: 10, estimated: nano == 0, cost_nano: nano, ..Usage::default() };
    Reply::Ahead(Box::new(AskedAhead { number, asked: ModelRole::Actor, now, call, usage }))
}

/// A proposal waits, and two questions have been asked ahead; the second is answered.
fn asked() -> Bench {
    let mut bench = Bench::started(1, 50);
    bench.wish(Command::Step).unwrap();
    bench.world(turn("A room. Your task is to: rest."));
    bench.says("look");
    for reply in [
        told(1, AheadNow::Asked, None, 0),
        told(2, AheadNow::Asked, None, 0),
        told(2, AheadNow::Answered, None, 700),
    ] {
        assert_eq!(names(&bench.reply(reply)), ["asked_ahead"]);
    }
    bench
}

fn counts(bench: &Bench) -> (u64, u64, u64, u64, u64) {
    let ahead = bench.state().spent.ahead;
    (ahead.asked, ahead.used, ahead.dropped, ahead.wasted.tokens(), ahead.wasted.cost_nano)
}

#[test]
fn what_was_for_nothing_is_part_of_what_the_run_has_spent() {
    let mut bench = asked();
    let before = bench.state().spent;
    assert_eq!(counts(&bench), (2, 0, 0, 0, 0));
    bench.reply(told(2, AheadNow::Dropped, None, 700));
    assert_eq!(counts(&bench), (2, 0, 1, 10, 700));
    let spent = bench.state().spent;
    assert_eq!((spent.cost_nano(), spent.tokens()), (before.cost_nano() + 700, before.tokens() + 10));
    let episode = bench.state().episode.as_deref().unwrap();
    assert_eq!((episode.calls, episode.tokens, episode.assisted), (1, 4, false), "no part of the episode");
    assert!(bench.reply(told(2, AheadNow::Dropped, None, 700)).is_empty(), "it is not open any more");
    assert!(bench.reply(told(9, AheadNow::Taken, Some(CallId(9)), 0)).is_empty());
    assert!(bench.reply(told(1, AheadNow::Asked, None, 0)).is_empty(), "it is open already");
}

#[test]
fn an_answer_that_was_taken_is_counted_with_its_call_alone() {
    let mut bench = asked();
    bench.wish(Command::Step).unwrap();
    bench.world(turn("You see a lamp."));
    let (call, _) = bench.call().unwrap();
    bench.reply(told(2, AheadNow::Taken, Some(call), 700));
    assert!(bench.reply(told(2, AheadNow::Answered, None, 700)).is_empty(), "its reply says so itself");
    bench.says("sleep");
    assert_eq!(counts(&bench), (2, 1, 0, 0, 0));
    // The other one is taken too, and its call broken off.
    bench.wish(Command::Step).unwrap();
    bench.world(turn("You sleep."));
    let (call, _) = bench.call().unwrap();
    bench.reply(told(1, AheadNow::Taken, Some(call), 0));
    bench.wish(Command::Cancel).unwrap();
    assert_eq!(counts(&bench), (2, 1, 1, 10, 0));
    assert!(bench.state().early.is_empty());
}

/// A failed call counted the estimate of what had been asked ahead for it: tokens that nobody spent.
#[test]
fn a_failure_of_what_was_asked_ahead_counts_only_what_somebody_counted() {
    for (estimated, tokens) in [(true, 0), (false, 10)] {
        let mut bench = asked();
        bench.wish(Command::Step).unwrap();
        bench.world(turn("You see a lamp."));
        let (call, _) = bench.call().unwrap();
        let mut taken = told(2, AheadNow::Taken, Some(call), 0);
        let Reply::Ahead(ahead) = &mut taken else { panic!("{taken:?}") };
        ahead.usage.estimated = estimated;
        bench.reply(taken);
        bench.reply(Reply::Failed { call, failure: super::fixture::no_answer() });
        assert_eq!(counts(&bench), (2, 0, 1, tokens, 0), "{estimated}");
    }
}

/// The program was killed with questions under way: whoever takes the session up counts them.
#[test]
fn a_killed_session_does_not_forget_what_was_asked_ahead() {
    let bench = asked();
    let mut state = State::default();
    for envelope in &bench.journal {
        state.apply(envelope);
    }
    let mut bench = Bench {
        engine: crate::engine::Engine::resume(state, bench.engine.policy, bench.engine.branch),
        ..bench
    };
    bench.wish(Command::Reopen).unwrap();
    assert_eq!(counts(&bench), (2, 0, 2, 20, 700));
    assert!(bench.state().early.is_empty());
    let asked = bench.journal.iter().filter(|e| matches!(e.event, Event::AskedAhead(_))).count();
    assert_eq!(asked, 3, "the fold alone counts them");
}
