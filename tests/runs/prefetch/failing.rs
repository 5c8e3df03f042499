//! Failed prefetches: they are not used as replies, and their cost is counted.

use super::{journaled_run, run_config, task};
use crate::run::{meta, spec, until};
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use retrospect::domain::Usage;
use retrospect::driver::Driver;
use retrospect::engine::{Command, Event, PrefetchStatus};
use retrospect::provider::{CacheMode, Delta, Provider, ProviderError, Request};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::sync::Notify;

/// Answers every call except the prefetched one (the second), which gets the beginning of a reply and then this stream.
struct FailingProvider<F>(AtomicU32, F);

type DeltaStream = BoxStream<'static, Result<Delta, ProviderError>>;

impl<F: Fn() -> DeltaStream + Send + Sync> Provider for FailingProvider<F> {
    fn name(&self) -> String {
        "failing".to_owned()
    }

    fn has_write_cache(&self) -> bool {
        true
    }

    fn stream(&self, _: Request) -> DeltaStream {
        let text = |words: &str| stream::iter([Ok(Delta::Text(words.to_owned()))]);
        if self.0.fetch_add(1, Ordering::Relaxed) != 1 {
            return text("inventory").boxed();
        }
        text("inv").chain((self.1)()).boxed()
    }
}

/// Returns a provider whose prefetched call ends with the stream that `rest` returns.
fn failing_provider(rest: impl Fn() -> DeltaStream + Send + Sync + 'static) -> Arc<dyn Provider> {
    Arc::new(FailingProvider(AtomicU32::new(0), rest))
}

/// When the prefetched call panics.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Panics {
    BeforeTheFirstWord,
    AfterTheFirstWord,
    /// Once a call has taken the prefetch.
    AfterUse,
}

/// Returns a stream that panics; if it waits for the use, until it is notified.
fn panicking_stream(panics: Panics, used: Arc<Notify>) -> DeltaStream {
    assert_ne!(panics, Panics::BeforeTheFirstWord, "broken before its first word");
    stream::once(async move {
        if panics == Panics::AfterUse {
            used.notified().await;
        }
        panic!("broken in the middle")
    })
    .boxed()
}

/// A partial reply is not a reply: whether the prefetch fails before or after it is needed, the call is made again.
#[test]
fn a_prefetch_that_panics_is_not_used_as_complete() {
    for panics in [Panics::BeforeTheFirstWord, Panics::AfterTheFirstWord, Panics::AfterUse] {
        let dir = tempfile::tempdir().unwrap();
        let spec = spec("react", vec![task("household", "easy/put/3")]);
        let mut config = run_config(&spec, &dir.path().join("cache"), CacheMode::ReadWrite, true);
        let used = Arc::new(Notify::new());
        let notified = used.clone();
        config.actor = failing_provider(move || panicking_stream(panics, notified.clone()));
        let (handle, thread, session) =
            Driver::start(dir.path(), meta("s", &spec), spec.clone(), Vec::new(), config).unwrap();
        handle.send(Command::Step);
        if panics == Panics::AfterUse {
            until(&handle, |s| s.usage.prefetch.requested == 1);
            handle.send(Command::Step);
            until(&handle, |s| s.prefetched.iter().any(|p| p.call.is_some()));
            used.notify_one();
        } else {
            until(&handle, |s| s.usage.prefetch.dropped == 1);
            handle.send(Command::Step);
        }
        until(&handle, |s| s.is_waiting() && s.last_step().is_some_and(|s| s.number == 2));
        handle.quit();
        thread.join().unwrap();
        let (stats, events) = journaled_run(&handle, &session);
        assert!(stats.requested >= 1, "{stats:?}");
        for envelope in events {
            match &envelope.event {
                Event::ReplyReceived { text, .. } => assert_eq!(text, "inventory", "{panics:?}"),
                Event::CallFailed { .. } => panic!("{panics:?}: {envelope:?}"),
                _ => {}
            }
        }
    }
}

/// Regression: a failure was journaled as a reply, with estimated tokens that were never spent.
#[test]
fn a_failed_prefetch_is_dropped_and_its_cost_counted() {
    let counted = Usage { prompt_tokens: 40, reply_tokens: 2, ..Usage::default() };
    for (usage, tokens) in [(None, 0), (Some(counted), 42)] {
        let dir = tempfile::tempdir().unwrap();
        let spec = spec("react", vec![task("household", "easy/put/3")]);
        let mut config = run_config(&spec, &dir.path().join("cache"), CacheMode::ReadWrite, true);
        config.actor = failing_provider(move || {
            let error = Err(ProviderError::new("no such model", "name another"));
            stream::iter(usage.map(|usage| Ok(Delta::Usage(usage))).into_iter().chain([error])).boxed()
        });
        let (handle, thread, session) =
            Driver::start(dir.path(), meta("s", &spec), spec.clone(), Vec::new(), config).unwrap();
        handle.send(Command::Step);
        // While the person is still reading.
        until(&handle, |s| s.usage.prefetch.dropped == 1);
        assert_eq!(handle.store.head().usage.prefetch.wasted.tokens(), tokens);
        handle.quit();
        thread.join().unwrap();
        let (stats, events) = journaled_run(&handle, &session);
        assert_eq!((stats.requested, stats.used), (1, 0), "{stats:?}");
        let statuses = events.iter().filter_map(|e| match &e.event {
            Event::PrefetchChanged(change) => Some(change.status),
            _ => None,
        });
        assert_eq!(statuses.collect::<Vec<_>>(), [PrefetchStatus::Requested, PrefetchStatus::Dropped]);
    }
}

/// Regression: a prefetch that was assigned to a call and then failed counted as used, although the call was made
/// again.
#[test]
fn a_prefetch_that_fails_after_use_is_wasted() {
    let dir = tempfile::tempdir().unwrap();
    let spec = spec("react", vec![task("household", "easy/put/3")]);
    let mut config = run_config(&spec, &dir.path().join("cache"), CacheMode::ReadWrite, true);
    let release = Arc::new(Notify::new());
    let notified = release.clone();
    config.actor = failing_provider(move || {
        let (notified, counted) =
            (notified.clone(), Usage { prompt_tokens: 40, reply_tokens: 2, ..Usage::default() });
        let delayed_failure = async move {
            notified.notified().await;
            stream::iter([Ok(Delta::Usage(counted)), Err(ProviderError::new("it is gone", "start it"))])
        };
        stream::once(delayed_failure).flatten().boxed()
    });
    let (handle, thread, session) =
        Driver::start(dir.path(), meta("s", &spec), spec.clone(), Vec::new(), config).unwrap();
    handle.send(Command::Step);
    until(&handle, |s| s.usage.prefetch.requested == 1);
    handle.send(Command::Step);
    until(&handle, |s| s.prefetched.iter().any(|e| e.call.is_some()));
    release.notify_one();
    until(&handle, |s| s.is_waiting() && s.last_step().is_some_and(|s| s.number == 2));
    let stats = handle.store.head().usage.prefetch;
    assert_eq!((stats.used, stats.dropped, stats.wasted.tokens()), (0, 1, 42), "{stats:?}");
    handle.quit();
    thread.join().unwrap();
    let (_, events) = journaled_run(&handle, &session);
    let statuses = events.iter().filter_map(|e| match &e.event {
        Event::PrefetchChanged(change) if change.number == 1 => Some(change.status),
        _ => None,
    });
    assert_eq!(
        statuses.collect::<Vec<_>>(),
        [PrefetchStatus::Requested, PrefetchStatus::Used, PrefetchStatus::Dropped]
    );
}
