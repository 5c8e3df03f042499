//! Samples: other replies to the prompt of a step, beside the run.

use super::*;
use crate::domain::{BranchId, CallId, LessonId, ModelRole, SampleStatus, Usage, count_proposals};
use crate::driver::{Fork, SampleOrder};
use crate::engine::{Cause, CommandError, request_seed};
use crate::provider::{Delta, Provider, Request};
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn ask(handle: &Handle, step: u32, count: u32) -> Result<(), CommandError> {
    block_on(handle.sample(SampleOrder { step, count, lesson: None }))
}

/// Replies to the sample with the given numbers of retries: a third of them fails, the others propose two actions. The
/// step's own reply is `count`.
fn actor_by_seed() -> Arc<dyn Provider> {
    Arc::new(ScriptedProvider::new(|request| {
        let retry = (0..20).find(|retry| request_seed(0, 1, 1, ModelRole::Actor, *retry) == request.seed);
        match retry {
            Some(0) => Ok("count".to_owned()),
            Some(retry) if retry % 3 == 0 => {
                Err(ProviderError::new("the server is on fire", "call for help"))
            }
            Some(retry) if retry % 3 == 1 => Ok("wait".to_owned()),
            Some(_) => Ok("count".to_owned()),
            None => Err(ProviderError::new("an unexpected seed", "check the seeds")),
        }
    }))
}

fn at_a_proposal(dir: &Path, actor: Arc<dyn Provider>) -> (Handle, JoinHandle<()>, Session) {
    let (handle, thread, session) = start(dir, 1, RunConfig { actor, ..test_config(9, false) });
    block_on(handle.send_and_wait(Command::Step)).unwrap();
    wait_until(&handle, |h| h.store.head().step_awaiting_decision().is_some());
    (handle, thread, session)
}

fn all_samples_ended(handle: &Handle) -> bool {
    handle.store.head().open_samples.is_empty()
}

fn quit(handle: &Handle, thread: JoinHandle<()>) {
    handle.quit();
    thread.join().unwrap();
}

#[test]
fn samples_have_their_own_seeds_and_execute_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread, session) = at_a_proposal(dir.path(), actor_by_seed());
    let before = handle.store.head();
    // The second request continues where the first one ended.
    for (count, expected) in [(2, [1, 0]), (3, [2, 1])] {
        ask(&handle, 1, count).unwrap();
        wait_until(&handle, all_samples_ended);
        let state = handle.store.head();
        let step = state.step_awaiting_decision().unwrap();
        let samples: Vec<_> = step.samples.iter().flat_map(|group| &group.samples).collect();
        let failed = samples.iter().filter(|s| s.status == SampleStatus::Failed).count();
        let wait = count_proposals(samples.iter().map(|s| &***s)).into_iter().find(|p| p.proposal == "wait");
        assert_eq!([wait.map_or(0, |p| p.count), failed], expected);
        assert_eq!(step.proposed.as_deref(), Some("count"), "the proposal still waits");
        assert!(handle.store.live().samples.is_empty());
    }
    let after = handle.store.head();
    let samples: Vec<_> =
        after.last_step().unwrap().samples.iter().flat_map(|group| group.samples.clone()).collect();
    let mut seeds: Vec<u64> = samples.iter().map(|sample| sample.seed).collect();
    seeds.sort_unstable();
    let mut expected: Vec<u64> =
        (1..=5).map(|retry| request_seed(0, 1, 1, ModelRole::Actor, retry)).collect();
    expected.sort_unstable();
    assert_eq!(seeds, expected);
    let failed = samples.iter().find(|s| s.status == SampleStatus::Failed).unwrap();
    assert_eq!(failed.error.as_deref(), Some("the server is on fire; call for help"));
    assert_eq!((&after.calls, after.next_call), (&before.calls, before.next_call));
    assert_eq!(after.usage.actor_calls, before.usage.actor_calls);
    let episodes = [&before, &after].map(|state| {
        let episode = state.open_episode().unwrap();
        (episode.calls, episode.tokens, episode.moves, episode.assisted)
    });
    assert_eq!(episodes[0], episodes[1]);
    quit(&handle, thread);
    let events = read_branch(&session.trunk()).unwrap().events;
    let causes = events.iter().filter_map(|e| match e.event {
        Event::SamplesRequested { .. } | Event::Sampled { .. } => Some(e.cause),
        _ => None,
    });
    let person = causes.filter(|cause| *cause == Cause::Person).count();
    assert_eq!(person, 2, "a person asked, the model answered");
}

#[test]
fn what_cannot_be_sampled_is_refused_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread, _) = at_a_proposal(dir.path(), actor_by_seed());
    let other = SampleOrder { step: 1, count: 1, lesson: Some(LessonId("none".into())) };
    let refused = [
        (ask(&handle, 2, 5), "step 2 is not in the present episode"),
        (ask(&handle, 1, 0), "0 samples can't be requested at once"),
        (ask(&handle, 1, 1000), "1000 samples can't be requested at once"),
        (block_on(handle.sample(other)), "there is no such lesson any more"),
    ];
    for (result, expected) in refused {
        let error = result.unwrap_err();
        assert_eq!(error.message, expected);
        assert!(!error.hint.is_empty());
    }
    assert_eq!(handle.store.head().last_sample_group, 0);
    quit(&handle, thread);
}

/// Replies to the first request, and begins a reply to every other one that never ends.
struct NeverEnding(std::sync::atomic::AtomicU32);

impl Provider for NeverEnding {
    fn name(&self) -> String {
        "never ending".to_owned()
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Delta, ProviderError>> {
        let text = Ok(Delta::Text("count".to_owned()));
        // The step's own reply, and the first sample.
        let ends = (0..2).any(|retry| request_seed(0, 1, 1, ModelRole::Actor, retry) == request.seed);
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if ends {
            stream::iter([text]).boxed()
        } else {
            stream::iter([text]).chain(stream::pending()).boxed()
        }
    }
}

/// How a session is left while samples are in progress.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Leaving {
    CancelSamples,
    CancelCalls,
    Quit,
    Fork,
}

#[test]
fn cancelling_keeps_what_has_arrived_and_counts_what_was_sent() {
    for leaving in [Leaving::CancelSamples, Leaving::CancelCalls, Leaving::Quit, Leaving::Fork] {
        let dir = tempfile::tempdir().unwrap();
        let actor = Arc::new(NeverEnding(0.into()));
        let (handle, thread, session) = at_a_proposal(dir.path(), actor.clone());
        ask(&handle, 1, 9).unwrap();
        // One has ended; four are in progress at a time, the others wait.
        wait_until(&handle, |h| {
            let live = h.store.live().samples;
            live.len() == 8 && live.iter().filter(|sample| sample.received() > 0).count() == 4
        });
        match leaving {
            Leaving::CancelSamples => handle.cancel_samples(),
            Leaving::CancelCalls => drop(block_on(handle.send_and_wait(Command::Cancel)).unwrap()),
            Leaving::Quit => handle.quit(),
            Leaving::Fork => {
                let fork = Fork { at_seq: handle.store.head().head, ..Fork::default() };
                drop(block_on(handle.fork(fork)).unwrap());
            }
        }
        if leaving != Leaving::Quit {
            wait_until(&handle, |h| h.store.live().samples.is_empty());
        }
        quit(&handle, thread);
        let events = read_branch(&session.branch_file(&BranchId::trunk())).unwrap().events;
        let mut state = State::default();
        for envelope in &events {
            state.apply(envelope);
        }
        let stats = state.usage.samples;
        assert_eq!((stats.requested, stats.replied, stats.cancelled), (9, 1, 8), "{leaving:?}");
        let sampled = events.iter().filter_map(|e| match &e.event {
            Event::Sampled { sample } if sample.status == SampleStatus::Cancelled => Some(sample.usage),
            _ => None,
        });
        let sent = sampled.filter(|usage| *usage != Usage { estimated: true, ..Usage::default() });
        assert_eq!(sent.count(), 4, "{leaving:?}: those that wait cost nothing");
        let step = state.last_step().unwrap();
        let kept: Vec<_> = step.samples[0].samples.iter().map(|sample| sample.proposal()).collect();
        assert_eq!(kept, [Some("count".to_owned())], "{leaving:?}");
        assert_eq!(actor.0.load(std::sync::atomic::Ordering::Relaxed), 6, "{leaving:?}: no other was sent");
    }
}

/// A past step has the prompt that it had then, and a panic in the provider fails only its sample.
#[test]
fn past_steps_can_be_sampled_while_the_run_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let actor = Arc::new(ScriptedProvider::new(|request| {
        assert_ne!(request.seed, request_seed(0, 1, 1, ModelRole::Actor, 2), "as the test wants");
        Ok("count".to_owned())
    }));
    let (handle, thread, _) = at_a_proposal(dir.path(), actor);
    for _ in 0..2 {
        let steps = handle.store.head().open_episode().unwrap().steps.len();
        block_on(handle.send_and_wait(Command::Step)).unwrap();
        wait_until(&handle, |h| {
            let head = h.store.head();
            head.step_awaiting_decision().is_some() && head.open_episode().unwrap().steps.len() > steps
        });
    }
    let proposal = handle.store.head().step_awaiting_decision().unwrap().number;
    assert_eq!(proposal, 3);
    ask(&handle, 1, 2).unwrap();
    wait_until(&handle, all_samples_ended);
    let state = handle.store.head();
    let step = state.open_episode().unwrap().step(1).unwrap();
    let mut ended: Vec<_> = step.samples[0].samples.iter().map(|s| (s.number, s.status)).collect();
    ended.sort_unstable_by_key(|(number, _)| *number);
    assert_eq!(ended, [(1, SampleStatus::Replied), (2, SampleStatus::Failed)]);
    assert_eq!(step.call, Some(CallId(1)));
    quit(&handle, thread);
}
