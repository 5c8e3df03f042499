//! Jobs on threads of their own.

mod context;

use super::{EachTaskOnce, meta, run_to_end, spec, start, test_config, wait_until};
use crate::domain::{Job, JobContext, ReflectionKind};
use crate::driver::{Driver, RunConfig};
use crate::engine::{Command, Computed, Event, Intent, Method, State};
use crate::journal::read_branch;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

/// Has a job computed before the first episode.
struct ComputesFirst;

impl Method for ComputesFirst {
    fn name(&self) -> &'static str {
        "computes"
    }

    fn next(&self, state: &State) -> Vec<Intent> {
        if state.memory.is_null() {
            return vec![Intent::Compute {
                job: Box::new(Job { name: "double".to_owned(), inputs: json!(21) }),
                texts: Vec::new(),
            }];
        }
        EachTaskOnce.next(state)
    }

    fn reflect_now(&self, _: &State, _: ReflectionKind) -> Vec<Intent> {
        Vec::new()
    }

    fn on_computed(&self, _: &State, computed: &Computed<'_>) -> Vec<Intent> {
        vec![Intent::SetMemory(json!([computed.result]))]
    }
}

fn config(compute: impl Fn(&Job, &JobContext) -> Result<Value, String> + Send + Sync + 'static) -> RunConfig {
    let mut config = test_config(2, false);
    config.policy.method = Arc::new(ComputesFirst);
    config.compute_job = Arc::new(compute);
    config
}

fn double(job: &Job, context: &JobContext) -> Result<Value, String> {
    context.report(1, 2)?;
    Ok(json!(job.inputs.as_u64().unwrap_or(0) * 2))
}

/// A job that goes on until it is cancelled, and then says so.
fn endless(stopped: Sender<()>) -> impl Fn(&Job, &JobContext) -> Result<Value, String> + Send + Sync {
    let stopped = std::sync::Mutex::new(stopped);
    move |_, context| {
        // It may have been cancelled already.
        let _ = context.report(1, 4);
        while !context.progress.is_cancelled() {
            std::thread::yield_now();
        }
        stopped.lock().unwrap().send(()).unwrap();
        Err("cancelled".to_owned())
    }
}

#[test]
fn the_result_is_journaled_and_the_run_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread, session) = start(dir.path(), 1, config(double));
    run_to_end(&handle, thread);
    assert_eq!(handle.store.head().memory, json!([42]));
    assert!(handle.store.live().jobs.is_empty());
    let events = read_branch(&session.trunk()).unwrap().events;
    assert!(
        events.iter().any(|e| matches!(&e.event, Event::Computed { result, .. } if *result == json!(42)))
    );
}

/// A job computes for seconds, so it lets the screen and the streams go first.
#[cfg(target_os = "linux")]
#[test]
fn jobs_run_at_a_lower_priority() {
    let priority = || rustix::process::getpriority_process(None).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let compute = move |_: &Job, _: &JobContext| Ok(json!(priority()));
    let (handle, thread, _) = start(dir.path(), 1, config(compute));
    run_to_end(&handle, thread);
    assert_eq!(handle.store.head().memory, json!([(priority() + 10).min(19)]));
}

#[test]
fn a_cancelled_job_stops() {
    let dir = tempfile::tempdir().unwrap();
    let (stopped, received) = channel();
    let (handle, thread, _) = start(dir.path(), 1, config(endless(stopped)));
    handle.send(Command::Run);
    wait_until(&handle, |h| h.store.live().jobs.iter().any(|job| job.progress.percent() == 25));
    handle.send(Command::Cancel);
    received.recv().unwrap();
    wait_until(&handle, |h| h.store.live().jobs.is_empty() && !h.store.head().is_computing());
    handle.quit();
    thread.join().unwrap();
}

#[test]
fn a_job_that_panics_is_a_failed_call() {
    let dir = tempfile::tempdir().unwrap();
    let (handle, thread, _) = start(dir.path(), 1, config(|_, _| panic!("on purpose")));
    handle.send(Command::Run);
    wait_until(&handle, |h| h.store.head().failed_call.is_some());
    let (_, failure) = handle.store.head().failed_call.clone().unwrap();
    assert_eq!(failure.source, "double");
    assert!(failure.message.contains("crashed"), "{}", failure.message);
    handle.quit();
    thread.join().unwrap();
}

#[test]
fn a_job_that_was_in_flight_is_computed_after_a_resume() {
    let dir = tempfile::tempdir().unwrap();
    let (stopped, received) = channel();
    let (handle, thread, session) =
        Driver::start(dir.path(), meta("s"), spec(1), Vec::new(), config(endless(stopped))).unwrap();
    handle.send(Command::Run);
    wait_until(&handle, |h| !h.store.live().jobs.is_empty());
    handle.quit();
    thread.join().unwrap();
    received.recv().unwrap();
    let resumed = Driver::resume(&session.dir, |_| Ok(config(double))).unwrap();
    run_to_end(&resumed.handle, resumed.thread);
    assert_eq!(resumed.handle.store.head().memory, json!([42]));
}
