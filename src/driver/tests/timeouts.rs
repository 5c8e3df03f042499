//! Environments that hang, panic or fail while requests wait: nothing waits forever, and nothing is done twice.

mod guarded;

use super::{Counter, past_query, start, test_config, wait_until};
use crate::domain::{
    CallPhase, EnvInfo, EpisodeRole, ListingCost, MessageRole, PromptRecord, Purpose, Question,
    ReflectionKind, SegmentLabel, SegmentOrigin, SegmentRecord, StepResult,
};
use crate::driver::{Driver, Handle, Message, PastQuery, RunConfig, Signal};
use crate::engine::{Command, Intent, Method, PromptDraft, Reply, State};
use crate::env::{EnvError, Environment, StopHandle, TimeLimits};
use crate::provider::{Delta, Provider, ProviderError, Request};
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// Long enough for an environment that answers at once, short enough for a test to wait.
const SHORT_DEADLINE: Duration = Duration::from_millis(300);

/// Blocks every caller until it is opened.
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

/// A request to the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EnvCall {
    Reset,
    /// The n-th step since the reset.
    Step(u32),
    List,
}

/// A counting environment that runs a hook before it answers.
struct HookedWorld<F> {
    inner: Counter,
    steps: u32,
    before: F,
}

impl<F: FnMut(EnvCall) -> Result<(), EnvError> + Send> Environment for HookedWorld<F> {
    fn info(&self) -> EnvInfo {
        EnvInfo { snapshots: false, deterministic: true, listing_cost: ListingCost::Free }
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

/// Returns environments that call `before` first, with the number of environments opened so far (including this one)
/// and the request; and the counter of environments.
fn hooked_worlds(
    deadline: Duration,
    before: impl Fn(u32, EnvCall) -> Result<(), EnvError> + Send + Sync + 'static,
) -> (RunConfig, Arc<AtomicU32>) {
    let (before, worlds) = (Arc::new(before), Arc::new(AtomicU32::new(0)));
    let opened = worlds.clone();
    let mut run_config = test_config(9, false);
    run_config.answer_deadlines = Arc::new(move |_| TimeLimits::uniform(deadline));
    run_config.open_world = Arc::new(move |_| {
        let number = opened.fetch_add(1, Ordering::SeqCst) + 1;
        let before = before.clone();
        let inner = Counter { count: 0, goal: 9, is_diverging: false };
        Ok(Box::new(HookedWorld { inner, steps: 0, before: move |call| before(number, call) }))
    });
    (run_config, worlds)
}

/// Returns environments of which the second one, that of the first question about the past, blocks before its first step; with
/// their counter, what opens it, and what is notified when it blocks.
fn worlds_with_blocked_past(
    deadline: Duration,
) -> (RunConfig, Arc<AtomicU32>, Arc<Gate>, Arc<tokio::sync::Notify>) {
    let (gate, reached) = (Arc::new(Gate::default()), Arc::new(tokio::sync::Notify::new()));
    let (held, blocked) = (gate.clone(), reached.clone());
    let (run_config, worlds) = hooked_worlds(deadline, move |world, call| {
        if world == 2 && call == EnvCall::Step(1) {
            blocked.notify_one();
            held.pass();
        }
        Ok(())
    });
    (run_config, worlds, gate, reached)
}

/// Asks about the past, and once more as soon as the first question blocks. Returns the answer to the second.
fn ask_again_while_blocked(handle: &Handle, reached: &tokio::sync::Notify) -> Result<Vec<String>, String> {
    let state = handle.store.head();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        tokio::select! {
            () = reached.notified() => {}
            actions = handle.past_admissible(past_query(state.clone())) => panic!("{actions:?}"),
        }
        handle.past_admissible(past_query(state)).await
    })
}

fn admissible(handle: &Handle) -> Vec<String> {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(handle.admissible())
}

/// Steps until this many steps have been answered; the next one is proposed then.
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

/// Regression: past queries had no deadline, and each one started another environment.
#[test]
fn a_blocked_past_query_is_abandoned_and_there_is_one_at_a_time() {
    let dir = tempfile::tempdir().unwrap();
    let (run_config, worlds, gate, reached) = worlds_with_blocked_past(SHORT_DEADLINE);
    let (handle, thread, _session) = start(dir.path(), 1, run_config);
    step_to(&handle, 2);
    let state = handle.store.head();
    let query_past = || handle.past_admissible(past_query(state.clone()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let (first, second, third) = runtime.block_on(async {
        let later = async {
            // The others must be asked while the first one is blocked.
            reached.notified().await;
            assert_eq!(worlds.load(Ordering::SeqCst), 2);
            tokio::join!(query_past(), query_past())
        };
        let (first, (second, third)) = tokio::join!(query_past(), later);
        (first, second, third)
    });
    let why = first.unwrap_err();
    assert!(why.contains("did not answer within 300 ms"), "{why}");
    assert!(second.is_err(), "only the newest query is answered");
    assert_eq!(third, Ok(vec!["count".to_owned()]));
    assert_eq!(worlds.load(Ordering::SeqCst), 3, "one was opened for both");
    gate.open();
    step_to(&handle, 3);
    handle.quit();
    thread.join().unwrap();
}

/// Regression: the replay for a list that nobody waited for any more went on to its end.
#[test]
fn a_past_query_stops_when_its_progress_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let calls = Arc::new(Mutex::new(Vec::new()));
    let record = calls.clone();
    let (run_config, _) = hooked_worlds(Duration::from_secs(60), move |world, call| {
        record.lock().unwrap().extend((world > 1).then_some(call));
        Ok(())
    });
    let (handle, thread, _session) = start(dir.path(), 1, run_config);
    step_to(&handle, 3);
    let state = handle.store.head();
    // Loading is the first half of the work, and each of the three steps is a third of the second.
    let report = |done: u64, all: u64| if done * 3 > all * 2 { Err("cancelled".to_owned()) } else { Ok(()) };
    let seq = state.head;
    let query = PastQuery { seq, load_state: Box::new(|_| Ok(state)), report: Box::new(report) };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    assert_eq!(runtime.block_on(handle.past_admissible(query)), Err("cancelled".to_owned()));
    assert_eq!(*calls.lock().unwrap(), [EnvCall::Reset, EnvCall::Step(1), EnvCall::Step(2)]);
    handle.quit();
    thread.join().unwrap();
}

/// Regression: a query that nobody waited for any more held up the next one until the deadline.
#[test]
fn a_past_query_without_a_receiver_makes_room_for_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let (run_config, _, gate, reached) = worlds_with_blocked_past(Duration::from_secs(60));
    let (handle, thread, _session) = start(dir.path(), 1, run_config);
    step_to(&handle, 2);
    assert_eq!(ask_again_while_blocked(&handle, &reached), Ok(vec!["count".to_owned()]));
    gate.open();
    handle.quit();
    thread.join().unwrap();
}

/// Regression: a large program was started beside the one of a query that was about to end.
#[test]
fn a_past_query_waits_a_little_for_the_end_of_an_abandoned_one() {
    let dir = tempfile::tempdir().unwrap();
    let (run_config, worlds, gate, reached) = worlds_with_blocked_past(Duration::from_secs(60));
    let (handle, thread, _session) = start(dir.path(), 1, run_config);
    step_to(&handle, 2);
    let opening = std::thread::spawn(move || {
        // That nothing is opened can only be seen over a time. The query waits for two seconds in tests.
        std::thread::sleep(Duration::from_millis(400));
        let opened = worlds.load(Ordering::SeqCst);
        gate.open();
        opened
    });
    assert_eq!(ask_again_while_blocked(&handle, &reached), Ok(vec!["count".to_owned()]));
    assert_eq!(opening.join().unwrap(), 2, "the run's environment and the abandoned one");
    handle.quit();
    thread.join().unwrap();
}

/// Regression: an environment that couldn't be opened counted as one that answers differently. That was journaled, and every later
/// resume stopped at it.
#[test]
fn an_environment_that_cannot_be_opened_is_a_failure_that_a_later_resume_clears() {
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread, session) = start(dir.path(), 1, test_config(9, false));
    step_to(&handle, 2);
    handle.quit();
    thread.join().unwrap();
    let (run_config, _) = hooked_worlds(Duration::from_secs(60), |_, call| match call {
        EnvCall::Reset => Err(EnvError::NotStarted { what: "its program is not installed".to_owned() }),
        _ => Ok(()),
    });
    let resumed = Driver::resume(&session.dir, |_| Ok(run_config)).unwrap();
    resumed.handle.send(Command::Step);
    wait_until(&resumed.handle, |h| h.store.head().failed_call.is_some());
    let state = resumed.handle.store.head();
    let (_, failure) = state.failed_call.as_ref().unwrap();
    assert!(failure.message.contains("its program is not installed"), "{}", failure.message);
    assert!(failure.hint.starts_with("install or correct the program"), "{}", failure.hint);
    assert!(state.divergence.is_none());
    resumed.handle.quit();
    resumed.thread.join().unwrap();
    let resumed = Driver::resume(&session.dir, |_| Ok(test_config(9, false))).unwrap();
    resumed.handle.send(Command::Retry);
    step_to(&resumed.handle, 4);
    resumed.handle.quit();
    resumed.thread.join().unwrap();
}

/// Regression: earlier versions journaled an environment that could not be opened as a difference, at which every later resume
/// stopped, also when it could be opened again.
#[test]
fn a_journaled_difference_is_settled_once_the_environment_answers_as_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread, session) = start(dir.path(), 1, test_config(9, false));
    step_to(&handle, 2);
    let difference = Reply::Diverged {
        episode: 1,
        step: 0,
        recorded: "Your task is to: count.".to_owned(),
        actual: "the environment could not be opened: its program is not installed".to_owned(),
    };
    handle.inbox().send(Message::Reply(0, difference)).ok().unwrap();
    wait_until(&handle, |h| h.store.head().divergence.is_some());
    let undoable = handle.store.head().undo_stack.len();
    handle.quit();
    thread.join().unwrap();
    let resumed = Driver::resume(&session.dir, |_| Ok(test_config(9, false))).unwrap();
    wait_until(&resumed.handle, |h| h.store.head().divergence.is_none());
    assert_eq!(resumed.handle.store.head().undo_stack.len(), undoable, "no person has accepted anything");
    step_to(&resumed.handle, 4);
    resumed.handle.quit();
    resumed.thread.join().unwrap();
}

/// Regression: a person who asked for the actions then was told that no episode had begun.
#[test]
fn a_list_without_an_environment_says_that_it_is_not_open() {
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread, session) = start(dir.path(), 1, test_config(9, false));
    step_to(&handle, 2);
    handle.quit();
    thread.join().unwrap();
    let (run_config, _) = hooked_worlds(Duration::from_secs(60), |world, call| match (world, call) {
        (1, EnvCall::Reset) => Err(EnvError::Died { what: "it broke".to_owned() }),
        _ => Ok(()),
    });
    let resumed = Driver::resume(&session.dir, |_| Ok(run_config)).unwrap();
    let handle = resumed.handle;
    assert_eq!(admissible(&handle), Vec::<String>::new());
    let expected = format!("the actions can't be listed: {}", crate::driver::env_requests::NOT_OPEN);
    assert_eq!(notices(&handle).last(), Some(&expected));
    step_to(&handle, 3);
    assert_eq!(admissible(&handle), ["count"]);
    handle.quit();
    resumed.thread.join().unwrap();
}

/// Regression: a rebuild had no deadline, and everything that waited for it waited forever.
#[test]
fn an_environment_blocked_in_a_rebuild_is_abandoned() {
    for blocks in [EnvCall::Reset, EnvCall::Step(2)] {
        let dir = tempfile::tempdir().unwrap();
        let (handle, thread, session) = start(dir.path(), 1, test_config(9, false));
        step_to(&handle, 2);
        handle.quit();
        thread.join().unwrap();
        let gate = Arc::new(Gate::default());
        let held = gate.clone();
        let (run_config, worlds) = hooked_worlds(SHORT_DEADLINE, move |world, call| {
            if world == 1 && call == blocks {
                held.pass();
            }
            Ok(())
        });
        let resumed = Driver::resume(&session.dir, |_| Ok(run_config)).unwrap();
        let handle = resumed.handle;
        assert_eq!(admissible(&handle), Vec::<String>::new(), "a list behind it is answered as empty");
        let reported = notices(&handle).concat();
        assert!(reported.contains("did not answer within 300 ms"), "{reported}");
        assert!(handle.store.head().divergence.is_none(), "there was nothing to compare");
        gate.open();
        // The next action restores it.
        step_to(&handle, 3);
        assert_eq!(worlds.load(Ordering::SeqCst), 2);
        handle.quit();
        resumed.thread.join().unwrap();
    }
}

/// Regression: a list that never arrived was awaited forever, and so was everything behind it.
#[test]
fn an_environment_blocked_in_a_list_answers_nothing_and_is_rebuilt() {
    let dir = tempfile::tempdir().unwrap();
    let gate = Arc::new(Gate::default());
    let held = gate.clone();
    let (run_config, worlds) = hooked_worlds(SHORT_DEADLINE, move |world, call| {
        if world == 1 && call == EnvCall::List {
            held.pass();
        }
        Ok(())
    });
    let (handle, thread, _session) = start(dir.path(), 1, run_config);
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

fn notices(handle: &Handle) -> Vec<String> {
    let signals = handle.store.live().signals;
    let notices = signals.into_iter().filter_map(|(_, signal)| match signal {
        Signal::Notice(text) => Some(text),
        Signal::CommandFailed(_) => None,
    });
    notices.collect()
}

/// Regression: the next step failed because no environment was open.
#[test]
fn an_environment_that_dies_while_listing_is_rebuilt_and_the_person_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let (run_config, worlds) = hooked_worlds(Duration::from_secs(60), |world, call| {
        let dies = world == 1 && call == EnvCall::List;
        if dies { Err(EnvError::Died { what: "it broke".to_owned() }) } else { Ok(()) }
    });
    let (handle, thread, _session) = start(dir.path(), 1, run_config);
    step_to(&handle, 2);
    assert_eq!(admissible(&handle), Vec::<String>::new());
    assert_eq!(notices(&handle), ["the actions can't be listed: the environment crashed: it broke"]);
    assert_eq!(admissible(&handle), ["count"]);
    step_to(&handle, 3);
    let state = handle.store.head();
    assert!(state.failed_call.is_none() && state.divergence.is_none());
    assert_eq!(worlds.load(Ordering::SeqCst), 2);
    handle.quit();
    thread.join().unwrap();
}

/// A step that was sent while the list was awaited is made again in the new environment.
#[test]
fn a_step_behind_a_list_that_fails_waits_for_the_rebuild() {
    let dir = tempfile::tempdir().unwrap();
    let (gate, is_listing) = (Arc::new(Gate::default()), Arc::new(Gate::default()));
    let (held, reached) = (gate.clone(), is_listing.clone());
    let (run_config, worlds) = hooked_worlds(Duration::from_secs(60), move |world, call| {
        if world == 1 && call == EnvCall::List {
            reached.open();
            held.pass();
            return Err(EnvError::Died { what: "it broke".to_owned() });
        }
        Ok(())
    });
    let (handle, thread, _session) = start(dir.path(), 1, run_config);
    step_to(&handle, 2);
    let asking = handle.clone();
    let list = std::thread::spawn(move || admissible(&asking));
    is_listing.pass();
    handle.send(Command::Step);
    wait_until(&handle, |h| h.store.head().is_world_busy());
    gate.open();
    assert_eq!(list.join().unwrap(), Vec::<String>::new());
    wait_until(&handle, |h| h.store.head().open_episode().unwrap().answered_steps() == 3);
    assert!(handle.store.head().failed_call.is_none());
    assert_eq!(worlds.load(Ordering::SeqCst), 2);
    handle.quit();
    thread.join().unwrap();
}

/// Regression: after a refused action, a retry opened another environment and replayed every action.
#[test]
fn an_environment_that_refuses_a_request_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let calls = Arc::new(Mutex::new(Vec::new()));
    let record = calls.clone();
    let (run_config, worlds) = hooked_worlds(Duration::from_secs(60), move |_, call| {
        record.lock().unwrap().push(call);
        let refuses = call == EnvCall::Step(2);
        if refuses { Err(EnvError::Refused { what: "not now".to_owned() }) } else { Ok(()) }
    });
    let (handle, thread, _session) = start(dir.path(), 1, run_config);
    handle.send(Command::Run);
    wait_until(&handle, |h| h.store.head().failed_call.is_some());
    handle.send(Command::Retry);
    wait_until(&handle, |h| h.store.head().episode.as_ref().is_some_and(|e| e.answered_steps() >= 2));
    assert_eq!(worlds.load(Ordering::SeqCst), 1);
    let expected = [EnvCall::Reset, EnvCall::Step(1), EnvCall::Step(2), EnvCall::Step(3)];
    assert_eq!(calls.lock().unwrap()[..4], expected);
    handle.quit();
    thread.join().unwrap();
}

/// What an environment has registered is stopped when its deadline passes, and not when it answers: that of the run in a
/// step, and that of a past query.
#[test]
fn an_abandoned_environment_is_stopped() {
    let dir = tempfile::tempdir().unwrap();
    // Nothing but the stop opens the gate of an environment that blocks.
    let stopped = Arc::new(AtomicU32::new(0));
    let count = stopped.clone();
    let (run_config, worlds) = hooked_worlds(SHORT_DEADLINE, move |world, call| {
        if call != EnvCall::Step(2) {
            return Ok(());
        }
        let (gate, count) = (Arc::new(Gate::default()), count.clone());
        let opened = gate.clone();
        let handle = StopHandle::current().unwrap();
        let _registration = handle.register(move || {
            count.fetch_add(1, Ordering::SeqCst);
            opened.open();
        });
        if world != 2 {
            gate.pass();
        }
        Ok(())
    });
    let (handle, thread, _session) = start(dir.path(), 1, run_config);
    step_to(&handle, 1);
    handle.send(Command::Step);
    wait_until(&handle, |h| h.store.head().failed_call.is_some());
    wait_until(&handle, |_| stopped.load(Ordering::SeqCst) == 1);
    handle.send(Command::Retry);
    wait_until(&handle, |h| h.store.head().open_episode().unwrap().answered_steps() == 2);
    step_to(&handle, 2);
    let state = handle.store.head();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let why = runtime.block_on(handle.past_admissible(past_query(state))).unwrap_err();
    assert!(why.contains("did not answer within 300 ms"), "{why}");
    wait_until(&handle, |_| stopped.load(Ordering::SeqCst) == 2);
    assert_eq!(worlds.load(Ordering::SeqCst), 3);
    handle.quit();
    thread.join().unwrap();
}

/// Each request has its own deadline; in a rebuild, opening and each replayed step have theirs.
#[test]
fn requests_have_the_deadlines_of_their_kind() {
    let (long, short) = (Duration::from_secs(60), SHORT_DEADLINE);
    let uniform = TimeLimits::uniform(long);
    let cases = [
        (EnvCall::Reset, TimeLimits { open: short, ..uniform }),
        (EnvCall::Step(1), TimeLimits { step: short, ..uniform }),
        (EnvCall::List, TimeLimits { list: short, ..uniform }),
    ];
    for (blocks, limits) in cases {
        let dir = tempfile::tempdir().unwrap();
        let gate = Arc::new(Gate::default());
        let held = gate.clone();
        // The second environment blocks while it is rebuilt or asked for a list.
        let (mut run_config, worlds) = hooked_worlds(long, move |world, call| {
            match (world, call) {
                (1, EnvCall::List) => return Err(EnvError::Died { what: "it broke".to_owned() }),
                (2, call) if call == blocks => held.pass(),
                _ => {}
            }
            Ok(())
        });
        run_config.answer_deadlines = Arc::new(move |_| limits);
        let (handle, thread, _session) = start(dir.path(), 1, run_config);
        step_to(&handle, 1);
        assert_eq!(admissible(&handle), Vec::<String>::new());
        // Waits for the rebuild, or blocks itself.
        assert_eq!(admissible(&handle), Vec::<String>::new(), "{blocks:?}");
        let reported = notices(&handle).concat();
        assert!(reported.contains("did not answer within 300 ms"), "{blocks:?}: {reported}");
        assert!(worlds.load(Ordering::SeqCst) >= 2);
        gate.open();
        handle.quit();
        thread.join().unwrap();
    }
}

/// Regression: a late answer of an abandoned environment stopped the timer of the repeated call, and was taken for
/// its answer.
#[test]
fn an_abandoned_environment_is_ignored() {
    let dir = tempfile::tempdir().unwrap();
    let gates = [Arc::new(Gate::default()), Arc::new(Gate::default())];
    let held = gates.clone();
    let (run_config, _) = hooked_worlds(SHORT_DEADLINE, move |world, call| {
        if call == EnvCall::Step(1) && world <= 2 {
            held[world as usize - 1].pass();
        }
        Ok(())
    });
    let (handle, thread, _session) = start(dir.path(), 1, run_config);
    handle.send(Command::Run);
    wait_until(&handle, |h| h.store.head().failed_call.is_some());
    handle.send(Command::Retry);
    wait_until(&handle, |h| h.store.head().failed_call.is_none());
    // The first environment answers the call that is in flight again in the second.
    gates[0].open();
    wait_until(&handle, |h| h.store.head().failed_call.is_some());
    assert_eq!(handle.store.head().open_episode().unwrap().answered_steps(), 0);
    handle.send(Command::Retry);
    // Readers are notified once for several events, so it may have advanced already.
    wait_until(&handle, |h| h.store.head().episode.as_ref().is_some_and(|e| e.answered_steps() >= 1));
    gates[1].open();
    handle.quit();
    thread.join().unwrap();
}

/// Regression: a failed step left its timer running; it fired during the rebuild, whose environment was then
/// replaced.
#[test]
fn the_timer_of_an_answered_request_is_ignored() {
    let dir = tempfile::tempdir().unwrap();
    let gate = Arc::new(Gate::default());
    let held = gate.clone();
    let (run_config, worlds) =
        hooked_worlds(Duration::from_secs(60), move |world, call| match (world, call) {
            (1, EnvCall::Step(1)) => Err(EnvError::Died { what: "it broke".to_owned() }),
            (2, EnvCall::Reset) => {
                held.pass();
                Ok(())
            }
            _ => Ok(()),
        });
    let (handle, thread, _session) = start(dir.path(), 1, run_config);
    handle.send(Command::Run);
    wait_until(&handle, |h| h.store.head().failed_call.is_some());
    handle.send(Command::Retry);
    // The timers of the reset and the step, but not that of the rebuild.
    for tick in 0..4 {
        handle.inbox().send(Message::TimedOut(tick)).unwrap();
    }
    handle.send(Command::Remark { episode: None, step: 1, text: "after the timers".to_owned() });
    wait_until(&handle, |h| !h.store.head().last_step().unwrap().remarks.is_empty());
    gate.open();
    handle.send(Command::Run);
    // Readers are notified once for several events, so it may have advanced already.
    wait_until(&handle, |h| h.store.head().episode.as_ref().is_some_and(|e| e.answered_steps() >= 1));
    assert_eq!(worlds.load(Ordering::SeqCst), 2);
    handle.quit();
    thread.join().unwrap();
}

/// Reflects when told to by a command.
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

/// Counts its calls and never replies.
struct Silent(Arc<AtomicU32>);

impl Provider for Silent {
    fn name(&self) -> String {
        "silent".to_owned()
    }
    fn stream(&self, _: Request) -> BoxStream<'static, Result<Delta, ProviderError>> {
        self.0.fetch_add(1, Ordering::SeqCst);
        // A delta wakes the test that waits for the call.
        stream::iter([Ok(Delta::Phase(CallPhase::Waiting))]).chain(stream::pending()).boxed()
    }
}

/// Regression: after a rebuild, a mentor call that was in flight was made a second time.
#[test]
fn a_mentor_call_in_flight_is_not_repeated_after_a_rebuild() {
    let dir = tempfile::tempdir().unwrap();
    let gate = Arc::new(Gate::default());
    let held = gate.clone();
    let (mut run_config, _) = hooked_worlds(Duration::from_secs(60), move |world, call| {
        if (world, call) == (1, EnvCall::Step(1)) {
            held.pass();
            return Err(EnvError::Died { what: "it broke".to_owned() });
        }
        Ok(())
    });
    let calls = Arc::new(AtomicU32::new(0));
    run_config.policy.method = Arc::new(ReflectsOnRequest);
    // Without a segment there is nothing to ask, and the reflection is refused.
    run_config.policy.draft_prompt = Arc::new(|_, _| {
        let segment = SegmentRecord {
            label: SegmentLabel::Task,
            origin: SegmentOrigin::Task,
            message_role: MessageRole::User,
            tokens: 1,
        };
        let record = PromptRecord { segments: vec![segment], ..PromptRecord::default() };
        PromptDraft { record, ..PromptDraft::default() }
    });
    run_config.mentor = Some(Arc::new(Silent(calls.clone())));
    let (handle, thread, _session) = start(dir.path(), 1, run_config);
    handle.send(Command::Run);
    wait_until(&handle, |h| h.store.head().is_world_busy() && h.store.head().last_step().is_some());
    handle.send(Command::Reflect(ReflectionKind::Error));
    wait_until(&handle, |_| calls.load(Ordering::SeqCst) == 1);
    gate.open();
    wait_until(&handle, |h| h.store.head().failed_call.is_some());
    handle.send(Command::Retry);
    wait_until(&handle, |h| h.store.head().open_episode().unwrap().answered_steps() == 1);
    assert_eq!(handle.store.live().calls.len(), 1);
    handle.quit();
    thread.join().unwrap();
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

/// Regression: after a panic of an environment everything waited forever.
#[test]
fn a_panicked_environment_has_died_and_nothing_waits_for_it() {
    struct Panics;
    impl Environment for Panics {
        fn info(&self) -> EnvInfo {
            EnvInfo { snapshots: false, deterministic: true, listing_cost: ListingCost::Free }
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
    let mut run_config = test_config(4, false);
    run_config.open_world = Arc::new(|_| Ok(Box::new(Panics)));
    let (handle, thread, _session) = start(dir.path(), 1, run_config);
    handle.send(Command::Run);
    wait_until(&handle, |h| h.store.head().failed_call.is_some());
    assert!(handle.store.head().failed_call.as_ref().unwrap().1.message.contains("panic"));
    handle.quit();
    thread.join().unwrap();
}

/// Regression: `run` opened and reset the first task on its own thread before anything else, so an environment that never
/// answered made it hang without a message.
#[test]
fn a_first_reset_that_hangs_panics_or_fails_is_reported() {
    let (gate, stops) = (Arc::new(Gate::default()), Arc::new(AtomicU32::new(0)));
    let (closed, counted) = (gate.clone(), stops.clone());
    let (run_config, worlds) = hooked_worlds(SHORT_DEADLINE, move |number, call| {
        assert_eq!(call, EnvCall::Reset);
        match number {
            1 => {
                let counted = counted.clone();
                let stop = move || {
                    counted.fetch_add(1, Ordering::SeqCst);
                };
                let _registration = StopHandle::current().unwrap().register(stop);
                closed.pass();
                Ok(())
            }
            2 => panic!("a mistake in an environment"),
            3 => Err(EnvError::Refused { what: "no such task".to_owned() }),
            _ => Ok(()),
        }
    });
    let task = crate::domain::Task {
        env: "counter".to_owned(),
        id: "9".to_owned(),
        goal: String::new(),
        task_type: None,
        difficulty: None,
        seed: 0,
    };
    assert_eq!(run_config.try_reset(&task), Err(EnvError::timed_out(Duration::from_millis(300))));
    assert_eq!(stops.load(Ordering::SeqCst), 1, "what the environment has started is ended");
    gate.open();
    assert_eq!(run_config.try_reset(&task), Err(EnvError::Died { what: "its program panicked".to_owned() }));
    assert_eq!(run_config.try_reset(&task), Err(EnvError::Refused { what: "no such task".to_owned() }));
    assert_eq!(run_config.try_reset(&task), Ok(()));
    assert_eq!(worlds.load(Ordering::SeqCst), 4);
}
