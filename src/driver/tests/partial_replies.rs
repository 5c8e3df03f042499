//! Unusable and partial replies: which ones are requested again, and what is journaled.

use super::*;
use crate::domain::{BranchId, CallPhase, PartialReply};
use crate::driver::Fork;
use crate::engine::{Cause, Command};
use crate::journal::read_branch;
use crate::provider::{CacheMode, CachedProvider, Delta, Provider, ProviderError, Request};
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use std::sync::atomic::{AtomicU32, Ordering};

fn send_command(handle: &Handle, command: Command) {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(handle.send_and_wait(command))
        .unwrap();
}

/// Regression: the empty reply was cached, so every retry returned it.
#[test]
fn an_unusable_reply_is_not_read_from_the_cache_again() {
    let (dir, cache_dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let calls = Arc::new(AtomicU32::new(0));
    let counter = calls.clone();
    let script = ScriptedProvider::new(move |_| {
        Ok(if counter.fetch_add(1, Ordering::Relaxed) < 2 { "" } else { "count" }.to_owned())
    });
    let cached =
        CachedProvider::new(Arc::new(script), "toy".to_owned(), cache_dir.path(), CacheMode::ReadWrite);
    let run_config = || {
        let mut run_config = RunConfig { actor: Arc::new(cached.clone()), ..test_config(9, false) };
        run_config.policy.parse_reply = |_, _, text| ParsedActorReply {
            action: Some(text.to_owned()).filter(|text| !text.is_empty()),
            ..ParsedActorReply::default()
        };
        run_config
    };
    let (handle, thread, session) = start(dir.path(), 1, run_config());
    send_command(&handle, Command::Step);
    wait_until(&handle, |h| h.store.head().failed_call.is_some());
    for expected_calls in [2, 3] {
        send_command(&handle, Command::Retry);
        wait_until(&handle, |h| {
            h.store.head().failed_call.is_some() || h.store.head().step_awaiting_decision().is_some()
        });
        assert_eq!(calls.load(Ordering::Relaxed), expected_calls);
    }
    assert_eq!(handle.store.head().step_awaiting_decision().unwrap().proposed.as_deref(), Some("count"));
    handle.quit();
    thread.join().unwrap();
    let branch = read_branch(&session.branch_file(&BranchId::trunk())).unwrap();
    let replies = branch.events.iter().filter_map(|e| match &e.event {
        Event::ReplyReceived { usage, .. } => Some(usage.cached),
        _ => None,
    });
    assert_eq!(replies.collect::<Vec<_>>(), [false; 3]);
    // The usable reply replaced the empty one in the cache.
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread, _) = start(dir.path(), 1, run_config());
    send_command(&handle, Command::Step);
    wait_until(&handle, |h| h.store.head().step_awaiting_decision().is_some());
    assert_eq!(calls.load(Ordering::Relaxed), 3);
    assert!(handle.store.head().step_awaiting_decision().unwrap().usage.cached);
    handle.quit();
    thread.join().unwrap();
}

/// A provider that streams two words and then stalls.
struct StallingProvider;

impl Provider for StallingProvider {
    fn name(&self) -> String {
        "halfway".to_owned()
    }

    fn stream(&self, _: Request) -> BoxStream<'static, Result<Delta, ProviderError>> {
        let deltas = [Delta::Phase(CallPhase::Answering), Delta::Text("count up".to_owned())];
        stream::iter(deltas.map(Ok)).chain(stream::pending()).boxed()
    }
}

/// Regression: quitting or switching branches during a reply lost its text and its tokens.
#[test]
fn a_reply_in_progress_is_journaled_before_the_branch_is_left() {
    for fork in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let run_config = RunConfig { actor: Arc::new(StallingProvider), ..test_config(9, false) };
        let (handle, thread, session) = start(dir.path(), 1, run_config);
        send_command(&handle, Command::Step);
        wait_until(&handle, |h| h.store.live().calls.iter().any(|c| !c.text.is_empty()));
        if fork {
            let fork = Fork { at_seq: handle.store.head().head, ..Fork::default() };
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(handle.fork(fork)).unwrap();
        }
        handle.quit();
        thread.join().unwrap();
        let branch = read_branch(&session.branch_file(&BranchId::trunk())).unwrap();
        let [.., cancelled, closed] = branch.events.as_slice() else { panic!("too few events") };
        assert!(matches!(closed.event, Event::Closed));
        let Event::CallCancelled { partial_reply, .. } = &cancelled.event else { panic!("{cancelled:?}") };
        assert!(
            matches!(&**partial_reply, PartialReply { text, usage: Some(_), .. } if text == "count up"),
            "{partial_reply:?}"
        );
        assert_eq!(cancelled.cause, Cause::Policy);
        let mut state = State::default();
        for envelope in &branch.events {
            state.apply(envelope);
        }
        assert_eq!(
            (state.usage.actor_counts.tokens(), state.is_step_cancelled()),
            (partial_reply.usage.unwrap().tokens(), true)
        );
        assert!(!state.open_episode().unwrap().assisted, "no person intervened");
    }
}
