//! Models that panic, refuse settings, or are replaced by a recording.

use super::{run_to_end, start, test_config, wait_until};
use crate::domain::{FailureKind, Usage};
use crate::driver::{DriverError, ReplyOverride, RunConfig};
use crate::engine::{Command, Event};
use crate::journal::read_branch;
use crate::provider::{Delta, Provider, ProviderError, Request, ScriptedProvider};
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Panics a number of times: first in `stream`, then while the stream is read.
struct PanickingProvider(AtomicU32);

impl Provider for PanickingProvider {
    fn name(&self) -> String {
        "brittle".to_owned()
    }

    fn stream(&self, _: Request) -> BoxStream<'static, Result<Delta, ProviderError>> {
        match self.0.fetch_add(1, Ordering::Relaxed) {
            0 => panic!("before the reply"),
            1 => stream::once(async { panic!("in the reply") }).boxed(),
            _ => stream::iter([Ok(Delta::Text("count".to_owned()))]).boxed(),
        }
    }
}

/// Regression: the call stayed in flight forever.
#[test]
fn a_provider_that_panics_is_a_failed_call() {
    let dir = tempfile::tempdir().unwrap();
    let actor = Arc::new(PanickingProvider(AtomicU32::new(0)));
    let (handle, thread, _) = start(dir.path(), 1, RunConfig { actor, ..test_config(2, false) });
    handle.send(Command::Run);
    for _ in 0..2 {
        wait_until(&handle, |h| h.store.head().failed_call.is_some());
        let failure = handle.store.head().failed_call.clone().unwrap().1;
        assert_eq!((failure.source.as_str(), failure.kind), ("brittle", Some(FailureKind::Panicked)));
        assert!(failure.message.contains("panicked") && failure.hint.contains("retry"), "{failure:?}");
        assert!(handle.store.live().calls.is_empty());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let retried = runtime.block_on(handle.send_and_wait(Command::Retry)).unwrap();
        wait_until(&handle, |h| {
            let head = h.store.head();
            head.head > retried
                && (head.failed_call.is_some() || head.ended_episodes.len() == 1 || head.is_waiting())
        });
    }
    run_to_end(&handle, thread);
}

fn recorded_overrides() -> ReplyOverride {
    Arc::new(|_, source: &str| match source {
        "recorded:good" => {
            Ok(Arc::new(ScriptedProvider::new(|_| Ok("count".to_owned()))) as Arc<dyn Provider>)
        }
        "recorded:other" => Ok(Arc::new(ScriptedProvider::new(|_| {
            Err(ProviderError::new("segment 2 differs first", "choose another"))
        }))),
        other => {
            Err(DriverError::Refused(format!("{other}: there is no such session"), "list them".to_owned()))
        }
    })
}

#[test]
fn a_recorded_reply_is_used_once_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let mute = Arc::new(ScriptedProvider::new(|_| {
        Err(ProviderError::new("no one answers", "retry").with_kind(FailureKind::Unreachable))
    }));
    let run_config =
        RunConfig { actor: mute, reply_override: Some(recorded_overrides()), ..test_config(9, false) };
    let (handle, thread, session) = start(dir.path(), 1, run_config);
    handle.send(Command::RetryFromRecording("recorded:good".to_owned()));
    wait_until(&handle, |h| !h.store.live().signals.is_empty());
    assert!(format!("{:?}", handle.store.live().signals).contains("no model call has failed"));
    handle.send(Command::Step);
    let wait_for_failure = |words: &'static str| {
        wait_until(&handle, move |h| {
            h.store.head().failed_call.as_ref().is_some_and(|t| t.1.message.contains(words))
        });
    };
    wait_for_failure("no one answers");
    handle.send(Command::RetryFromRecording("recorded:none".to_owned()));
    wait_for_failure("there is no such session");
    handle.send(Command::RetryFromRecording("recorded:other".to_owned()));
    wait_for_failure("segment 2 differs first");
    handle.send(Command::RetryFromRecording("recorded:good".to_owned()));
    wait_until(&handle, |h| h.store.head().step_awaiting_decision().is_some());
    let state = handle.store.head();
    let step = state.step_awaiting_decision().unwrap();
    assert_eq!(
        (step.reply_source.as_deref(), step.proposed.as_deref()),
        (Some("recorded:good"), Some("count"))
    );
    assert!(
        step.usage.recorded
            && state.usage.actor_counts.recorded > 0
            && state.usage.actor_counts.cost_nano == 0
    );
    // Only once: the next request goes to the model again.
    handle.send(Command::Step);
    wait_for_failure("no one answers");
    assert!(handle.store.head().reply_overrides.is_empty());
    handle.quit();
    thread.join().unwrap();
    let events = read_branch(&session.trunk()).unwrap().events;
    let sources = events.iter().filter_map(|e| match &e.event {
        Event::ReplyReceived { reply_source, .. } => Some(reply_source.clone()),
        _ => None,
    });
    assert_eq!(sources.collect::<Vec<_>>(), [Some("recorded:good".to_owned())]);
    let state = crate::journal::fold_events(events);
    assert_eq!(state.head(), &handle.store.head(), "folding gives the same state");
}

/// Learns with its second reply that its server doesn't accept a seed.
struct Learner(Arc<AtomicU32>);

impl Provider for Learner {
    fn name(&self) -> String {
        "learner".to_owned()
    }

    fn setting_deviations(&self) -> Vec<String> {
        let refused = self.0.load(Ordering::Relaxed) >= 2;
        refused.then(|| "seed: the server refused it".to_owned()).into_iter().collect()
    }

    fn stream(&self, _: Request) -> BoxStream<'static, Result<Delta, ProviderError>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        stream::iter([Ok(Delta::Text("count".to_owned()))]).boxed()
    }
}

#[test]
fn a_setting_refused_during_a_run_is_journaled_once() {
    let dir = tempfile::tempdir().unwrap();
    let actor = Arc::new(Learner(Arc::default()));
    let (handle, thread, session) = start(dir.path(), 1, RunConfig { actor, ..test_config(4, false) });
    run_to_end(&handle, thread);
    let events = read_branch(&session.trunk()).unwrap().events;
    let positions_of = |want: fn(&Event) -> bool| -> Vec<usize> {
        events.iter().enumerate().filter(|(_, e)| want(&e.event)).map(|(n, _)| n).collect()
    };
    let (recorded, replies) = (
        positions_of(
            |e| matches!(e, Event::SettingDeviationsChanged { settings, .. } if settings == &["seed: the server refused it"]),
        ),
        positions_of(|e| matches!(e, Event::ReplyReceived { .. })),
    );
    assert_eq!(recorded, [replies[1] - 1], "before its reply, and only once");
    assert_eq!(
        handle.store.head().setting_deviations(crate::domain::ModelRole::Actor),
        ["seed: the server refused it"]
    );
}

/// Sends some text and then nothing more.
struct Slow(Option<Usage>);

impl Provider for Slow {
    fn name(&self) -> String {
        "slow".to_owned()
    }

    fn stream(&self, _: Request) -> BoxStream<'static, Result<Delta, ProviderError>> {
        let counted = self.0.map(Delta::Usage);
        let pieces = [Delta::Reasoning("It is ".to_owned()), Delta::Text("count to".to_owned())];
        let pieces = pieces.into_iter().chain(counted).map(Ok);
        stream::iter(pieces).chain(stream::pending()).boxed()
    }
}

/// Regression: Ctrl-C during a reply lost its text, and counted its tokens as none.
#[test]
fn the_partial_reply_of_a_cancelled_call_is_journaled() {
    let counted = Usage { prompt_tokens: 90, reply_tokens: 5, ..Usage::default() };
    // Regression: after a retry, only the usage of the earlier reply was counted.
    let earlier = Usage::default().with_earlier(&counted);
    for (usage, tokens, estimated) in [(None, 4, true), (Some(counted), 95, false), (Some(earlier), 99, true)]
    {
        let dir = tempfile::tempdir().unwrap();
        let (handle, thread, session) =
            start(dir.path(), 1, RunConfig { actor: Arc::new(Slow(usage)), ..test_config(2, false) });
        handle.send(Command::Step);
        wait_until(&handle, |h| {
            let live = h.store.live();
            live.calls.first().is_some_and(|c| c.text.to_string() == "count to" && c.usage == usage)
        });
        handle.send(Command::Cancel);
        wait_until(&handle, |h| h.store.head().is_step_cancelled());
        let state = handle.store.head();
        let step = state.last_step().unwrap();
        let partial = &step.partial_replies[0];
        assert_eq!((partial.text.as_str(), partial.reasoning.as_str()), ("count to", "It is "));
        let spent = partial.usage.unwrap();
        assert_eq!((spent.tokens(), spent.estimated), (tokens, estimated));
        assert_eq!((state.usage.actor_tokens, state.usage.actor_calls), (tokens, 1));
        let reported = usage.map_or(0, |_| 95);
        let counts = state.usage.actor_counts;
        assert_eq!((counts.reported, counts.estimated), (reported, tokens - reported));
        wait_until(&handle, |h| h.store.live().calls.is_empty());
        handle.quit();
        thread.join().unwrap();
        let events = read_branch(&session.trunk()).unwrap().events;
        assert_eq!(crate::journal::fold_events(events).head().last_step(), state.last_step());
    }
}

/// Fails after it has paid for an unusable reply.
struct Paid(Usage);

impl Provider for Paid {
    fn name(&self) -> String {
        "paid".to_owned()
    }

    fn stream(&self, _: Request) -> BoxStream<'static, Result<Delta, ProviderError>> {
        let (first, counted) = (Delta::Text("Thought: hm".to_owned()), Delta::Usage(self.0));
        let failed = ProviderError::new("no credit is left", "pay");
        stream::iter([Ok(first), Ok(counted), Ok(Delta::Restarted), Err(failed)]).boxed()
    }
}

/// Regression: the cost of a call's first reply was lost when the second failed.
#[test]
fn the_cost_of_a_failed_call_is_counted() {
    let counted = Usage { prompt_tokens: 90, reply_tokens: 5, cost_nano: 7, ..Usage::default() };
    let paid = Usage::default().with_earlier(&counted);
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread, session) =
        start(dir.path(), 1, RunConfig { actor: Arc::new(Paid(paid)), ..test_config(2, false) });
    handle.send(Command::Step);
    wait_until(&handle, |h| h.store.head().failed_call.is_some());
    let state = handle.store.head();
    assert_eq!(state.failed_call.as_ref().unwrap().1.usage, Some(paid));
    assert_eq!((state.usage.actor_counts.reported, state.usage.actor_counts.cost_nano), (95, 7));
    assert_eq!((state.usage.actor_tokens, state.episode.as_ref().unwrap().tokens), (95, 95));
    handle.quit();
    thread.join().unwrap();
    let events = read_branch(&session.trunk()).unwrap().events;
    assert_eq!(crate::journal::fold_events(events).head().usage, state.usage);
}

#[test]
fn a_recorded_reply_replaces_a_cancelled_call() {
    let dir = tempfile::tempdir().unwrap();
    let run_config = RunConfig {
        actor: Arc::new(Slow(None)),
        reply_override: Some(recorded_overrides()),
        ..test_config(9, false)
    };
    let (handle, thread, _) = start(dir.path(), 1, run_config);
    handle.send(Command::Step);
    wait_until(&handle, |h| h.store.live().calls.first().is_some_and(|c| !c.text.is_empty()));
    handle.send(Command::Cancel);
    handle.send(Command::RetryFromRecording("recorded:good".to_owned()));
    wait_until(&handle, |h| h.store.head().step_awaiting_decision().is_some());
    let state = handle.store.head();
    let step = state.step_awaiting_decision().unwrap();
    assert_eq!(
        (step.reply_source.as_deref(), step.proposed.as_deref()),
        (Some("recorded:good"), Some("count"))
    );
    assert_eq!(step.partial_replies.len(), 1);
    handle.quit();
    thread.join().unwrap();
}
