//! Worlds that hang, panic or fail while others wait: nobody waits for ever, and nothing is done twice.

use super::{Counter, start, test_config, wait_until};
use crate::domain::{Enumeration, EnvInfo, EpisodeRole, Purpose, Question, ReflectionKind, StepResult};
use crate::driver::{Driver, Handle, Message, RunConfig};
use crate::engine::{Command, Intent, Method, State};
use crate::env::{EnvError, Environment};
use crate::provider::{Delta, Phase, Provider, ProviderError, Request};
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// Long enough for a world that answers at once, short enough to wait for.
const SHORT_DEADLINE: Duration = Duration::from_millis(300);

/// Holds whoever comes until it is opened.
#[derive(Default)]
struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn pass(&self) {
        let mut open = self.open.lock().unwrap();
        while !*open {
            open = self.opened.wait(open).unwrap();
        }
    }

    fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.opened.notify_all();
    }
}

/// What a world is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EnvCall {
    Reset,
    /// The n-th step since its reset.
    Step(u32),
    List,
}

/// A counting world with something that happens before it answers.
struct HookedWorld<F> {
    inner: Counter,
    steps: u32,
    before: F,
}

impl<F: FnMut(EnvCall) -> Result<(), EnvError> + Send> Environment for HookedWorld<F> {
    fn info(&self) -> EnvInfo {
        EnvInfo { snapshots: false, deterministic: true, enumeration: Enumeration::Free }
    }
    fn reset(&mut self) -> Result<StepResult, EnvError> {
        (self.before)(EnvCall::Reset)?;
        self.inner.reset()
    }
    fn step(&mut self, action: &str) -> Result<StepResult, EnvError> {
        self.steps += 1;
        (self.before)(EnvCall::Step(self.steps))?;
        self.inner.step(action)
    }
    fn admissible(&mut self) -> Result<Vec<String>, EnvError> {
        (self.before)(EnvCall::List)?;
        self.inner.admissible()
    }
}

/// Worlds in which `before` happens first: it is told how many worlds were opened (this one among them) and what is
/// asked. Also the number of worlds opened.
fn hooked_worlds(
    deadline: Duration,
    before: impl Fn(u32, EnvCall) -> Result<(), EnvError> + Send + Sync + 'static,
) -> (RunConfig, Arc<AtomicU32>) {
    let (before, worlds) = (Arc::new(before), Arc::new(AtomicU32::new(0)));
    let opened = worlds.clone();
    let mut launch = test_config(9, false);
    launch.answer_deadline = deadline;
    launch.open_world = Arc::new(move |_| {
        let number = opened.fetch_add(1, Ordering::SeqCst) + 1;
        let before = before.clone();
        let inner = Counter { count: 0, goal: 9, is_lying: false };
        Ok(Box::new(HookedWorld { inner, steps: 0, before: move |asked| before(number, asked) }))
    });
    (launch, worlds)
}

fn admissible(handle: &Handle) -> Vec<String> {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(handle.admissible())
}

/// Takes steps until this many have been answered; the next is proposed then.
fn step_to(handle: &Handle, answered: u32) {
    let done = |h: &Handle| {
        let head = h.store.head();
        head.is_waiting()
            && head
                .open_episode()
                .is_some_and(|e| e.first_observation.is_some() && e.answered_steps() >= answered)
    };
    while !done(handle) {
        let before = handle.store.head().head;
        handle.send(Command::Step);
        wait_until(handle, |h| h.store.head().head > before && h.store.head().is_waiting());
    }
}

/// The world of then had no deadline, and each asking started another one.
#[test]
fn a_world_of_then_that_blocks_is_left_behind_and_there_is_one_at_a_time() {
    let dir = tempfile::tempdir().unwrap();
    let gate = Arc::new(Gate::default());
    let held = gate.clone();
    // The first world is the run's own; the second hangs before its first step, and the others do not.
    let (launch, worlds) = hooked_worlds(SHORT_DEADLINE, move |world, asked| {
        if world == 2 && asked == EnvCall::Step(1) {
            held.pass();
        }
        Ok(())
    });
    let (handle, thread, _session) = start(dir.path(), 1, launch);
    step_to(&handle, 2);
    let state = handle.store.head();
    let then = || {
        handle.past_admissible({
            let state = state.clone();
            move || state
        })
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let (first, second, third) = runtime.block_on(async {
        let later = async {
            tokio::time::sleep(SHORT_DEADLINE / 4).await;
            assert_eq!(worlds.load(Ordering::SeqCst), 2);
            tokio::join!(then(), then())
        };
        let (first, (second, third)) = tokio::join!(then(), later);
        (first, second, third)
    });
    let why = first.unwrap_err();
    assert!(why.contains("did not answer within 300 ms"), "{why}");
    assert!(second.is_err(), "the last who asks is answered, not everybody before");
    assert_eq!(third, Ok(vec!["count".to_owned()]));
    assert_eq!(worlds.load(Ordering::SeqCst), 3, "one was opened for both");
    gate.open();
    step_to(&handle, 3);
    handle.quit();
    thread.join().unwrap();
}

/// The rebuild had no deadline: everybody who waited for it waited for ever.
#[test]
fn a_world_that_blocks_while_it_is_rebuilt_is_left_behind() {
    let cases = [(EnvCall::Reset, 0, "Your task is to: count."), (EnvCall::Step(2), 2, "It is 2.")];
    for (blocks, step, recorded) in cases {
        let dir = tempfile::tempdir().unwrap();
        let (handle, thread, session) = start(dir.path(), 1, test_config(9, false));
        step_to(&handle, 2);
        handle.quit();
        thread.join().unwrap();
        let gate = Arc::new(Gate::default());
        let held = gate.clone();
        let (launch, worlds) = hooked_worlds(SHORT_DEADLINE, move |world, asked| {
            if world == 1 && asked == blocks {
                held.pass();
            }
            Ok(())
        });
        let resumed = Driver::resume(&session.dir, |_| Ok(launch)).unwrap();
        let handle = resumed.handle;
        handle.send(Command::Run);
        assert_eq!(admissible(&handle), Vec::<String>::new(), "a list behind it is answered, with nothing");
        let found = handle.store.head().divergence.clone().unwrap();
        assert_eq!((found.1, found.2.as_str()), (step, recorded));
        assert!(found.3.contains("did not answer within 300 ms"), "{}", found.3);
        gate.open();
        // There is no world that could be accepted: the retry brings it back once more.
        handle.send(Command::Retry);
        assert_eq!(admissible(&handle), ["count"]);
        assert!(handle.store.head().divergence.is_none());
        step_to(&handle, 3);
        assert_eq!(worlds.load(Ordering::SeqCst), 2);
        handle.quit();
        resumed.thread.join().unwrap();
    }
}

/// A list that never came was waited for without end, and everything behind it.
#[test]
fn a_world_that_blocks_while_it_lists_answers_nothing_and_is_brought_back() {
    let dir = tempfile::tempdir().unwrap();
    let gate = Arc::new(Gate::default());
    let held = gate.clone();
    let (launch, worlds) = hooked_worlds(SHORT_DEADLINE, move |world, asked| {
        if world == 1 && asked == EnvCall::List {
            held.pass();
        }
        Ok(())
    });
    let (handle, thread, _session) = start(dir.path(), 1, launch);
    step_to(&handle, 1);
    assert_eq!(admissible(&handle), Vec::<String>::new());
    step_to(&handle, 2);
    assert_eq!(admissible(&handle), ["count"]);
    let state = handle.store.head();
    assert!(state.failed_call.is_none() && state.divergence.is_none());
    assert_eq!(worlds.load(Ordering::SeqCst), 2);
    gate.open();
    handle.quit();
    thread.join().unwrap();
}

/// The answer of a world that was left behind stopped the clock of the call made again, and was taken for its answer.
#[test]
fn a_world_that_was_left_behind_is_heard_no_more() {
    let dir = tempfile::tempdir().unwrap();
    let gates = [Arc::new(Gate::default()), Arc::new(Gate::default())];
    let held = gates.clone();
    let (launch, _) = hooked_worlds(SHORT_DEADLINE, move |world, asked| {
        if asked == EnvCall::Step(1) && world <= 2 {
            held[world as usize - 1].pass();
        }
        Ok(())
    });
    let (handle, thread, _session) = start(dir.path(), 1, launch);
    handle.send(Command::Run);
    wait_until(&handle, |h| h.store.head().failed_call.is_some());
    handle.send(Command::Retry);
    wait_until(&handle, |h| h.store.head().failed_call.is_none());
    // The first world answers the call that is under way again in the second.
    gates[0].open();
    wait_until(&handle, |h| h.store.head().failed_call.is_some());
    assert_eq!(handle.store.head().open_episode().unwrap().answered_steps(), 0);
    handle.send(Command::Retry);
    // The readers are told once of several events: it may be further already.
    wait_until(&handle, |h| h.store.head().episode.as_ref().is_some_and(|e| e.answered_steps() >= 1));
    gates[1].open();
    handle.quit();
    thread.join().unwrap();
}

/// A failed step left its clock running; it ran out while the world was brought back, and that world was replaced.
#[test]
fn a_clock_of_an_order_that_was_answered_means_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let gate = Arc::new(Gate::default());
    let held = gate.clone();
    let (launch, worlds) = hooked_worlds(Duration::from_secs(60), move |world, asked| match (world, asked) {
        (1, EnvCall::Step(1)) => Err(EnvError::Died { what: "it broke".to_owned() }),
        (2, EnvCall::Reset) => {
            held.pass();
            Ok(())
        }
        _ => Ok(()),
    });
    let (handle, thread, _session) = start(dir.path(), 1, launch);
    handle.send(Command::Run);
    wait_until(&handle, |h| h.store.head().failed_call.is_some());
    handle.send(Command::Retry);
    // The clocks of the reset and the step, and none.
    for tick in 0..4 {
        handle.inbox().send(Message::TimedOut(tick)).unwrap();
    }
    handle.send(Command::Remark { step: 1, text: "taken after the clocks".to_owned() });
    wait_until(&handle, |h| !h.store.head().last_step().unwrap().remarks.is_empty());
    gate.open();
    handle.send(Command::Run);
    // The readers are told once of several events: it may be further already.
    wait_until(&handle, |h| h.store.head().episode.as_ref().is_some_and(|e| e.answered_steps() >= 1));
    assert_eq!(worlds.load(Ordering::SeqCst), 2);
    handle.quit();
    thread.join().unwrap();
}

/// Reflects when it is asked to.
struct ReflectsOnRequest;

impl Method for ReflectsOnRequest {
    fn name(&self) -> &'static str {
        "asks"
    }
    fn next(&self, state: &State) -> Vec<Intent> {
        if state.open_episode().is_some() {
            return vec![Intent::AskActor];
        }
        let task = state.run.as_ref().unwrap().tasks[0].clone();
        vec![Intent::StartEpisode { task: Box::new(task), trial: 1, role: EpisodeRole::Test }]
    }
    fn reflect_now(&self, _: &State, kind: ReflectionKind) -> Vec<Intent> {
        vec![Intent::AskMentor(Question { kind, purpose: Purpose::Reflect })]
    }
}

/// Counts how often it is asked, and never answers.
struct Silent(Arc<AtomicU32>);

impl Provider for Silent {
    fn name(&self) -> String {
        "silent".to_owned()
    }
    fn stream(&self, _: Request) -> BoxStream<'static, Result<Delta, ProviderError>> {
        self.0.fetch_add(1, Ordering::SeqCst);
        // A sign of life wakes whoever waits for the question to be asked.
        stream::iter([Ok(Delta::Phase(Phase::Waiting))]).chain(stream::pending()).boxed()
    }
}

/// When a world had been brought back, a mentor who was still at work was asked the same a second time.
#[test]
fn a_mentor_at_work_is_not_asked_again_after_a_rebuild() {
    let dir = tempfile::tempdir().unwrap();
    let gate = Arc::new(Gate::default());
    let held = gate.clone();
    let (mut launch, _) = hooked_worlds(Duration::from_secs(60), move |world, asked| {
        if (world, asked) == (1, EnvCall::Step(1)) {
            held.pass();
            return Err(EnvError::Died { what: "it broke".to_owned() });
        }
        Ok(())
    });
    let asked = Arc::new(AtomicU32::new(0));
    launch.policy.method = Arc::new(ReflectsOnRequest);
    launch.mentor = Some(Arc::new(Silent(asked.clone())));
    let (handle, thread, _session) = start(dir.path(), 1, launch);
    handle.send(Command::Run);
    wait_until(&handle, |h| h.store.head().is_world_busy() && h.store.head().last_step().is_some());
    handle.send(Command::Reflect(ReflectionKind::Error));
    wait_until(&handle, |_| asked.load(Ordering::SeqCst) == 1);
    gate.open();
    wait_until(&handle, |h| h.store.head().failed_call.is_some());
    handle.send(Command::Retry);
    wait_until(&handle, |h| h.store.head().open_episode().unwrap().answered_steps() == 1);
    assert_eq!(handle.store.live().calls.len(), 1);
    handle.quit();
    thread.join().unwrap();
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

/// Found by review: a panic of a world left everybody waiting for ever.
#[test]
fn a_world_that_panics_has_died_and_nobody_waits_for_it() {
    struct Panics;
    impl Environment for Panics {
        fn info(&self) -> EnvInfo {
            EnvInfo { snapshots: false, deterministic: true, enumeration: Enumeration::Free }
        }
        fn reset(&mut self) -> Result<StepResult, EnvError> {
            Ok(StepResult::default())
        }
        fn step(&mut self, _: &str) -> Result<StepResult, EnvError> {
            panic!("a bug in a world")
        }
        fn admissible(&mut self) -> Result<Vec<String>, EnvError> {
            Ok(Vec::new())
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let mut launch = test_config(4, false);
    launch.open_world = Arc::new(|_| Ok(Box::new(Panics)));
    let (handle, thread, _session) = start(dir.path(), 1, launch);
    handle.send(Command::Run);
    wait_until(&handle, |h| h.store.head().failed_call.is_some());
    assert!(handle.store.head().failed_call.as_ref().unwrap().1.message.contains("panic"));
    handle.quit();
    thread.join().unwrap();
}
