//! What jobs get besides their inputs: texts by hash, and services.

use super::endless;
use crate::domain::{Job, JobContext, ReflectionKind};
use crate::driver::tests::{EachTaskOnce, meta, run_to_end, spec, start, test_config, wait_until};
use crate::driver::{Driver, RunConfig};
use crate::engine::{Command, Computed, Intent, Method, State};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Sender, channel};

const HASH: &str = "0a1b";
const TEXT: &str = "A long text.";

/// Has two jobs computed one after the other once the first episode has ended, with a text of which their inputs have only
/// the hash. Its memory is the list of their results.
struct ReadsText;

impl Method for ReadsText {
    fn name(&self) -> &'static str {
        "reads"
    }

    fn next(&self, state: &State) -> Vec<Intent> {
        if state.ended_episodes.len() == 1 && results(state).len() < 2 {
            let job = Box::new(Job { name: "read".to_owned(), inputs: json!(HASH) });
            return vec![Intent::Compute { job, texts: vec![(HASH.to_owned(), TEXT.to_owned())] }];
        }
        EachTaskOnce.next(state)
    }

    fn reflect_now(&self, _: &State, _: ReflectionKind) -> Vec<Intent> {
        Vec::new()
    }

    fn on_computed(&self, state: &State, computed: &Computed<'_>) -> Vec<Intent> {
        let mut results = results(state);
        results.extend(computed.result.cloned());
        vec![Intent::SetMemory(Value::Array(results))]
    }
}

fn results(state: &State) -> Vec<Value> {
    state.memory.as_array().cloned().unwrap_or_default()
}

/// What the jobs share; tells when it is dropped.
struct Reader {
    mark: &'static str,
    dropped: Sender<()>,
}

impl Drop for Reader {
    fn drop(&mut self) {
        // A test that doesn't listen has dropped the receiver.
        let _ = self.dropped.send(());
    }
}

fn config(compute: impl Fn(&Job, &JobContext) -> Result<Value, String> + Send + Sync + 'static) -> RunConfig {
    let mut config = test_config(2, false);
    config.policy.method = Arc::new(ReadsText);
    config.compute_job = Arc::new(compute);
    config
}

/// A job that needs both the text and a service. Counts how often the service is opened; the first `failures` fail.
fn read(
    opened: &Arc<AtomicU32>,
    failures: u32,
    dropped: Sender<()>,
) -> impl Fn(&Job, &JobContext) -> Result<Value, String> + Send + Sync + use<> {
    let opened = opened.clone();
    move |job, context| {
        let reader = context.service("reader", || {
            context.report(1, 2)?;
            if opened.fetch_add(1, Ordering::SeqCst) < failures {
                return Err("no such file".to_owned());
            }
            Ok(Reader { mark: "!", dropped: dropped.clone() })
        })?;
        let text = job.inputs.as_str().and_then(|hash| context.text(hash)).ok_or("no such text")?;
        Ok(json!(format!("{text}{}", reader.mark)))
    }
}

fn expected_memory() -> Value {
    let result = format!("{TEXT}!");
    json!([result, result])
}

#[test]
fn jobs_get_a_text_by_hash_and_share_a_service() {
    let dir = tempfile::tempdir().unwrap();
    let (opened, (dropped, drops)) = (Arc::<AtomicU32>::default(), channel());
    let (handle, thread, _) = start(dir.path(), 2, config(read(&opened, 0, dropped)));
    run_to_end(&handle, thread);
    assert_eq!(handle.store.head().memory, expected_memory());
    assert_eq!(opened.load(Ordering::SeqCst), 1);
    // The driver has ended, and the service with it.
    assert_eq!(drops.try_recv(), Ok(()));
}

#[test]
fn a_job_in_flight_gets_the_text_again_after_a_resume() {
    let dir = tempfile::tempdir().unwrap();
    let (stopped, received) = channel();
    let (handle, thread, session) =
        Driver::start(dir.path(), meta("s"), spec(2), Vec::new(), config(endless(stopped))).unwrap();
    handle.send(Command::Run);
    wait_until(&handle, |h| !h.store.live().jobs.is_empty());
    handle.quit();
    thread.join().unwrap();
    received.recv().unwrap();
    let opened = Arc::<AtomicU32>::default();
    let resumed = Driver::resume(&session.dir, |_| Ok(config(read(&opened, 0, channel().0)))).unwrap();
    run_to_end(&resumed.handle, resumed.thread);
    assert_eq!(resumed.handle.store.head().memory, expected_memory());
}

#[test]
fn a_service_that_cannot_be_opened_is_a_failed_call_and_a_retry_opens_it() {
    let dir = tempfile::tempdir().unwrap();
    let opened = Arc::<AtomicU32>::default();
    let (handle, thread, _) = start(dir.path(), 2, config(read(&opened, 1, channel().0)));
    handle.send(Command::Run);
    wait_until(&handle, |h| h.store.head().failed_call.is_some());
    let (_, failure) = handle.store.head().failed_call.clone().unwrap();
    assert_eq!(failure.message, "service \"reader\" can't be opened: no such file");
    assert_eq!(
        (failure.source.as_str(), failure.hint.as_str()),
        ("read", "retry it, or continue without its result")
    );
    handle.send(Command::Retry);
    wait_until(&handle, |h| h.store.head().failed_call.is_none() && !h.store.head().is_computing());
    run_to_end(&handle, thread);
    assert_eq!(handle.store.head().memory, expected_memory());
    assert_eq!(opened.load(Ordering::SeqCst), 2);
}
