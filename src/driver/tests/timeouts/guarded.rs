//! Environments that hang while the session ends, and those of callers that wait for each answer.

use super::{EnvCall, Gate, SHORT_DEADLINE, hooked_worlds, step_to};
use crate::domain::Task;
use crate::driver::RunConfig;
use crate::driver::guarded_world::GuardedWorld;
use crate::driver::tests::{past_query, spec, start, wait_until};
use crate::engine::Command;
use crate::env::{EnvError, Environment, StopHandle, TimeLimits};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

const LONG_DEADLINE: Duration = Duration::from_secs(60);

/// Blocks until the environment is stopped, as one whose process hangs; counts both.
fn hang(hanging: &AtomicU32, stopped: &Arc<AtomicU32>) {
    let (gate, count) = (Arc::new(Gate::default()), stopped.clone());
    let opened = gate.clone();
    let _registration = StopHandle::current().unwrap().register(move || {
        count.fetch_add(1, Ordering::SeqCst);
        opened.open();
    });
    hanging.fetch_add(1, Ordering::SeqCst);
    gate.pass();
}

/// Regression: the process of an environment that hung when a session was closed went on until its own time limit.
#[test]
fn quitting_while_an_environment_hangs_stops_what_it_has_started() {
    let dir = tempfile::tempdir().unwrap();
    let (hanging, stopped) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let counts = (hanging.clone(), stopped.clone());
    // The run's own hangs at its second step, that of a question about the past at its first.
    let (run_config, _) = hooked_worlds(LONG_DEADLINE, move |world, call| {
        if (world, call) == (1, EnvCall::Step(2)) || (world, call) == (2, EnvCall::Step(1)) {
            hang(&counts.0, &counts.1);
        }
        Ok(())
    });
    let (handle, thread, _session) = start(dir.path(), 1, run_config);
    step_to(&handle, 1);
    let query = past_query(handle.store.head());
    let asking = handle.clone();
    let asked = std::thread::spawn(move || {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(asking.past_admissible(query))
    });
    handle.send(Command::Step);
    wait_until(&handle, |_| hanging.load(Ordering::SeqCst) == 2);
    handle.quit();
    thread.join().unwrap();
    let start = Instant::now();
    while stopped.load(Ordering::SeqCst) < 2 {
        assert!(start.elapsed() < LONG_DEADLINE, "{stopped:?} of 2 are stopped");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(asked.join().unwrap().is_err());
}

/// An environment that answers is closed by its own thread, in its own time.
#[test]
fn quitting_leaves_an_environment_that_answers_alone() {
    let dir = tempfile::tempdir().unwrap();
    let handles = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = handles.clone();
    let (run_config, _) = hooked_worlds(LONG_DEADLINE, move |_, _| {
        seen.lock().unwrap().push(StopHandle::current().unwrap());
        Ok(())
    });
    let (handle, thread, _session) = start(dir.path(), 1, run_config);
    step_to(&handle, 1);
    handle.quit();
    thread.join().unwrap();
    let handles = handles.lock().unwrap();
    assert!(!handles.is_empty() && handles.iter().all(|handle| !handle.is_stopped()));
}

fn task() -> Task {
    spec(1).tasks.remove(0)
}

fn open_guarded(run_config: &RunConfig, limits: TimeLimits) -> Result<GuardedWorld, EnvError> {
    let (open, task) = (run_config.open_world.clone(), task());
    GuardedWorld::open(limits, move || open(&task))
}

/// Regression: `play`, `verify` and the copy for `run --json` waited for ever for an environment that hung.
#[test]
fn a_guarded_environment_that_hangs_fails_in_time_and_stays_lost() {
    let uniform = TimeLimits::uniform(LONG_DEADLINE);
    let cases = [
        (EnvCall::Reset, TimeLimits { open: SHORT_DEADLINE, ..uniform }),
        (EnvCall::Step(1), TimeLimits { step: SHORT_DEADLINE, ..uniform }),
        (EnvCall::List, TimeLimits { list: SHORT_DEADLINE, ..uniform }),
    ];
    for (hangs, limits) in cases {
        let (hanging, stopped) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let counts = (hanging.clone(), stopped.clone());
        let (run_config, _) = hooked_worlds(LONG_DEADLINE, move |_, call| {
            if call == hangs {
                hang(&counts.0, &counts.1);
            }
            Ok(())
        });
        let mut world = open_guarded(&run_config, limits).unwrap();
        let answers = world.reset().and_then(|_| world.step("up")).and_then(|_| world.admissible());
        let timeout = EnvError::timed_out(Duration::from_millis(300));
        assert_eq!(answers, Err(timeout.clone()), "{hangs:?}");
        assert_eq!(stopped.load(Ordering::SeqCst), 1, "{hangs:?}");
        assert_eq!(world.step("up").map(drop), Err(timeout), "{hangs:?}: it isn't asked again");
        drop(world);
        assert_eq!((hanging.load(Ordering::SeqCst), stopped.load(Ordering::SeqCst)), (1, 1), "{hangs:?}");
    }
}

#[test]
fn a_guarded_environment_answers_like_its_own_and_is_closed_when_dropped() {
    struct Counted(Box<dyn Environment>, Arc<AtomicU32>);
    impl Drop for Counted {
        fn drop(&mut self) {
            std::thread::sleep(Duration::from_millis(20));
            self.1.fetch_add(1, Ordering::SeqCst);
        }
    }
    impl Environment for Counted {
        fn info(&self) -> crate::domain::EnvInfo {
            self.0.info()
        }
        fn reset(&mut self) -> Result<crate::domain::StepResult, EnvError> {
            self.0.reset()
        }
        fn step(&mut self, action: &str) -> Result<crate::domain::StepResult, EnvError> {
            self.0.step(action)
        }
        fn admissible(&mut self) -> Result<Vec<String>, EnvError> {
            self.0.admissible()
        }
        fn world_summary(&self) -> serde_json::Value {
            serde_json::json!({ "kept": true })
        }
    }
    let (run_config, _) = hooked_worlds(LONG_DEADLINE, |_, _| Ok(()));
    let mut own = (run_config.open_world)(&task()).unwrap();
    let (inner, closed) = ((run_config.open_world)(&task()).unwrap(), Arc::new(AtomicU32::new(0)));
    let counted = Counted(inner, closed.clone());
    let mut world =
        GuardedWorld::open(TimeLimits::uniform(LONG_DEADLINE), move || Ok(Box::new(counted))).unwrap();
    assert_eq!(world.info(), own.info());
    assert_eq!(world.reset(), own.reset());
    assert_eq!(world.step("up"), own.step("up"));
    assert_eq!(world.admissible(), own.admissible());
    assert_eq!(world.world_summary(), serde_json::json!({ "kept": true }));
    drop(world);
    assert_eq!(closed.load(Ordering::SeqCst), 1);
    let (run_config, _) = hooked_worlds(LONG_DEADLINE, |_, _| panic!("a mistake in an environment"));
    let mut world = open_guarded(&run_config, TimeLimits::uniform(LONG_DEADLINE)).unwrap();
    assert_eq!(world.reset().map(drop), Err(EnvError::Died { what: "its program panicked".to_owned() }));
}
