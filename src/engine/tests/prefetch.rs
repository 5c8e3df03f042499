//! Prefetched requests. Their tokens and cost are counted; they have no other effect.

use super::fixture::{Harness, event_names, step_result};
use crate::domain::{CallId, ModelRole, Usage};
use crate::engine::{Command, Event, Prefetch, PrefetchStatus, Reply, State};

/// Returns the driver's report about a prefetch of ten prompt tokens. They are only estimated if the cost is 0.
fn prefetch_reply(number: u64, status: PrefetchStatus, call: Option<CallId>, cost_nano: u64) -> Reply {
    let usage = Usage { prompt_tokens: 10, estimated: cost_nano == 0, cost_nano, ..Usage::default() };
    Reply::Prefetch(Box::new(Prefetch { number, role: ModelRole::Actor, status, call, usage }))
}

/// Returns a harness in which a proposal waits and two requests were prefetched. Only the second has been answered.
fn with_two_prefetches() -> Harness {
    let mut harness = Harness::with_tasks(1);
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(step_result("A room. Your task is to: rest."));
    harness.reply_as_actor("look");
    for reply in [
        prefetch_reply(1, PrefetchStatus::Requested, None, 0),
        prefetch_reply(2, PrefetchStatus::Requested, None, 0),
        prefetch_reply(2, PrefetchStatus::Answered, None, 700),
    ] {
        assert_eq!(event_names(&harness.reply(reply)), ["asked_ahead"]);
    }
    harness
}

/// Returns the numbers of requested, used and dropped prefetches, and the tokens and cost of the dropped ones.
fn prefetch_counts(harness: &Harness) -> (u64, u64, u64, u64, u64) {
    let stats = harness.state().usage.prefetch;
    (stats.requested, stats.used, stats.dropped, stats.wasted.tokens(), stats.wasted.cost_nano)
}

#[test]
fn unused_prefetches_are_part_of_the_runs_cost() {
    let mut harness = with_two_prefetches();
    let before = harness.state().usage;
    assert_eq!(prefetch_counts(&harness), (2, 0, 0, 0, 0));
    harness.reply(prefetch_reply(2, PrefetchStatus::Dropped, None, 700));
    assert_eq!(prefetch_counts(&harness), (2, 0, 1, 10, 700));
    let after = harness.state().usage;
    assert_eq!((after.cost_nano(), after.tokens()), (before.cost_nano() + 700, before.tokens() + 10));
    let episode = harness.state().episode.as_deref().unwrap();
    assert_eq!(
        (episode.calls, episode.tokens, episode.assisted),
        (1, 4, false),
        "the episode doesn't count it"
    );
    assert!(
        harness.reply(prefetch_reply(2, PrefetchStatus::Dropped, None, 700)).is_empty(),
        "it has already been dropped"
    );
    assert!(
        harness.reply(prefetch_reply(9, PrefetchStatus::Used, Some(CallId(9)), 0)).is_empty(),
        "no prefetch has this number"
    );
    assert!(
        harness.reply(prefetch_reply(1, PrefetchStatus::Requested, None, 0)).is_empty(),
        "it has already been requested"
    );
}

#[test]
fn a_used_prefetch_is_counted_only_with_its_call() {
    let mut harness = with_two_prefetches();
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(step_result("You see a lamp."));
    let (call, _) = harness.first_call().unwrap();
    harness.reply(prefetch_reply(2, PrefetchStatus::Used, Some(call), 700));
    assert!(
        harness.reply(prefetch_reply(2, PrefetchStatus::Answered, None, 700)).is_empty(),
        "the tokens of a used prefetch are reported by the reply to its call"
    );
    harness.reply_as_actor("sleep");
    assert_eq!(prefetch_counts(&harness), (2, 1, 0, 0, 0));
    // The next call uses the first prefetch and is cancelled, so that prefetch counts as dropped.
    harness.command(Command::Step).unwrap();
    harness.reply_as_env(step_result("You sleep."));
    let (call, _) = harness.first_call().unwrap();
    harness.reply(prefetch_reply(1, PrefetchStatus::Used, Some(call), 0));
    harness.command(Command::Cancel).unwrap();
    assert_eq!(prefetch_counts(&harness), (2, 1, 1, 10, 0));
    assert!(harness.state().prefetched.is_empty());
}

/// Regression: a failed call counted the estimated tokens of its prefetched request, although they may never have been
/// spent.
#[test]
fn a_failed_prefetch_counts_only_reported_tokens() {
    for (estimated, tokens) in [(true, 0), (false, 10)] {
        let mut harness = with_two_prefetches();
        harness.command(Command::Step).unwrap();
        harness.reply_as_env(step_result("You see a lamp."));
        let (call, _) = harness.first_call().unwrap();
        let mut report = prefetch_reply(2, PrefetchStatus::Used, Some(call), 0);
        let Reply::Prefetch(prefetch) = &mut report else { panic!("{report:?}") };
        prefetch.usage.estimated = estimated;
        harness.reply(report);
        harness.reply(Reply::Failed { call, failure: super::fixture::sample_failure() });
        assert_eq!(prefetch_counts(&harness), (2, 0, 1, tokens, 0), "estimated: {estimated}");
    }
}

/// If the program is killed while prefetches are open, the resumed session counts them as dropped.
#[test]
fn resuming_a_killed_session_drops_its_open_prefetches() {
    let harness = with_two_prefetches();
    let mut state = State::default();
    for envelope in &harness.journal {
        state.apply(envelope);
    }
    let mut harness = Harness {
        engine: crate::engine::Engine::resume(state, harness.engine.policy, harness.engine.branch),
        ..harness
    };
    harness.command(Command::Reopen).unwrap();
    assert_eq!(prefetch_counts(&harness), (2, 0, 2, 20, 700));
    assert!(harness.state().prefetched.is_empty());
    let changes = harness.journal.iter().filter(|e| matches!(e.event, Event::PrefetchChanged(_))).count();
    assert_eq!(changes, 3, "folding `Reopened` drops them without further events");
}
