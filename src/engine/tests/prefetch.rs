//! Prefetched requests: their cost is counted, and they have no other effect.

use super::fixture::{TestEngine, event_names, step_result};
use crate::domain::{CallId, ModelRole, Usage};
use crate::engine::{Command, Event, Prefetch, PrefetchStatus, Reply, State};

fn prefetch_reply(number: u64, now: PrefetchStatus, call: Option<CallId>, nano: u64) -> Reply {
    let usage = Usage { prompt_tokens: 10, estimated: nano == 0, cost_nano: nano, ..Usage::default() };
    Reply::Prefetch(Box::new(Prefetch { number, role: ModelRole::Actor, status: now, call, usage }))
}

/// A proposal waits, and two requests have been prefetched; the second is answered.
fn with_two_prefetches() -> TestEngine {
    let mut harness = TestEngine::started(1, 50);
    harness.command(Command::Step).unwrap();
    harness.answer_world(step_result("A room. Your task is to: rest."));
    harness.answer_actor("look");
    for reply in [
        prefetch_reply(1, PrefetchStatus::Requested, None, 0),
        prefetch_reply(2, PrefetchStatus::Requested, None, 0),
        prefetch_reply(2, PrefetchStatus::Answered, None, 700),
    ] {
        assert_eq!(event_names(&harness.reply(reply)), ["asked_ahead"]);
    }
    harness
}

fn prefetch_counts(harness: &TestEngine) -> (u64, u64, u64, u64, u64) {
    let ahead = harness.state().usage.prefetch;
    (ahead.requested, ahead.used, ahead.dropped, ahead.wasted.tokens(), ahead.wasted.cost_nano)
}

#[test]
fn unused_prefetches_are_part_of_the_runs_cost() {
    let mut harness = with_two_prefetches();
    let before = harness.state().usage;
    assert_eq!(prefetch_counts(&harness), (2, 0, 0, 0, 0));
    harness.reply(prefetch_reply(2, PrefetchStatus::Dropped, None, 700));
    assert_eq!(prefetch_counts(&harness), (2, 0, 1, 10, 700));
    let spent = harness.state().usage;
    assert_eq!((spent.cost_nano(), spent.tokens()), (before.cost_nano() + 700, before.tokens() + 10));
    let episode = harness.state().episode.as_deref().unwrap();
    assert_eq!((episode.calls, episode.tokens, episode.assisted), (1, 4, false), "no part of the episode");
    assert!(
        harness.reply(prefetch_reply(2, PrefetchStatus::Dropped, None, 700)).is_empty(),
        "it is not open any more"
    );
    assert!(harness.reply(prefetch_reply(9, PrefetchStatus::Used, Some(CallId(9)), 0)).is_empty());
    assert!(
        harness.reply(prefetch_reply(1, PrefetchStatus::Requested, None, 0)).is_empty(),
        "it is open already"
    );
}

#[test]
fn a_used_prefetch_is_counted_only_with_its_call() {
    let mut harness = with_two_prefetches();
    harness.command(Command::Step).unwrap();
    harness.answer_world(step_result("You see a lamp."));
    let (call, _) = harness.first_call().unwrap();
    harness.reply(prefetch_reply(2, PrefetchStatus::Used, Some(call), 700));
    assert!(
        harness.reply(prefetch_reply(2, PrefetchStatus::Answered, None, 700)).is_empty(),
        "its reply says so itself"
    );
    harness.answer_actor("sleep");
    assert_eq!(prefetch_counts(&harness), (2, 1, 0, 0, 0));
    // The other one is used too, and its call cancelled.
    harness.command(Command::Step).unwrap();
    harness.answer_world(step_result("You sleep."));
    let (call, _) = harness.first_call().unwrap();
    harness.reply(prefetch_reply(1, PrefetchStatus::Used, Some(call), 0));
    harness.command(Command::Cancel).unwrap();
    assert_eq!(prefetch_counts(&harness), (2, 1, 1, 10, 0));
    assert!(harness.state().prefetched.is_empty());
}

/// A failed call counted the estimate of its prefetched request: tokens that nobody spent.
#[test]
fn a_failed_prefetch_counts_only_reported_tokens() {
    for (estimated, tokens) in [(true, 0), (false, 10)] {
        let mut harness = with_two_prefetches();
        harness.command(Command::Step).unwrap();
        harness.answer_world(step_result("You see a lamp."));
        let (call, _) = harness.first_call().unwrap();
        let mut taken = prefetch_reply(2, PrefetchStatus::Used, Some(call), 0);
        let Reply::Prefetch(ahead) = &mut taken else { panic!("{taken:?}") };
        ahead.usage.estimated = estimated;
        harness.reply(taken);
        harness.reply(Reply::Failed { call, failure: super::fixture::sample_failure() });
        assert_eq!(prefetch_counts(&harness), (2, 0, 1, tokens, 0), "{estimated}");
    }
}

/// The program was killed with requests in flight: the resumed session counts them.
#[test]
fn a_killed_session_keeps_its_open_prefetches() {
    let harness = with_two_prefetches();
    let mut state = State::default();
    for envelope in &harness.journal {
        state.apply(envelope);
    }
    let mut harness = TestEngine {
        engine: crate::engine::Engine::resume(state, harness.engine.policy, harness.engine.branch),
        ..harness
    };
    harness.command(Command::Reopen).unwrap();
    assert_eq!(prefetch_counts(&harness), (2, 0, 2, 20, 700));
    assert!(harness.state().prefetched.is_empty());
    let asked = harness.journal.iter().filter(|e| matches!(e.event, Event::PrefetchChanged(_))).count();
    assert_eq!(asked, 3, "the fold alone counts them");
}
