//! Services of jobs, asked for by several jobs.

use crate::domain::{JobContext, JobProgress};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{JoinHandle, spawn};

/// Starts a job that reports that it has begun to open `model`, and opens it with what it is sent.
fn open_when_told(context: &JobContext) -> (Receiver<()>, Sender<Result<u32, String>>, JoinHandle<Opened>) {
    let ((began, beginning), (result, results)) = (channel(), channel());
    let context = context.clone();
    let job = spawn(move || {
        context.service("model", || {
            began.send(()).unwrap();
            results.recv().unwrap()
        })
    });
    (beginning, result, job)
}

type Opened = Result<Arc<u32>, String>;

/// Starts a job that asks for `model` and would open it as 2.
fn ask(context: &JobContext) -> JoinHandle<Opened> {
    let context = context.clone();
    spawn(move || context.service("model", || Ok(2)))
}

#[test]
fn two_jobs_that_ask_at_once_share_one_service() {
    let context = JobContext::default();
    let (beginning, result, first) = open_when_told(&context);
    beginning.recv().unwrap();
    let second = ask(&context);
    result.send(Ok(1)).unwrap();
    let (first, second) = (first.join().unwrap().unwrap(), second.join().unwrap().unwrap());
    assert_eq!(*first, 1);
    assert!(Arc::ptr_eq(&first, &second));
}

#[test]
fn a_failed_opening_is_tried_again_by_the_job_that_waits() {
    let context = JobContext::default();
    let (beginning, result, first) = open_when_told(&context);
    beginning.recv().unwrap();
    let second = ask(&context);
    result.send(Err("no such file".to_owned())).unwrap();
    let error = first.join().unwrap().unwrap_err();
    assert_eq!(error, "service \"model\" can't be opened: no such file");
    assert_eq!(second.join().unwrap(), Ok(Arc::new(2)));
}

#[test]
fn a_panicking_opening_is_tried_again() {
    let context = JobContext::default();
    let panicking = || context.service::<u32>("model", || panic!("on purpose"));
    assert!(panic::catch_unwind(AssertUnwindSafe(panicking)).is_err());
    assert_eq!(context.service("model", || Ok(2)), Ok(Arc::new(2)));
}

#[test]
fn a_job_that_waits_for_an_opening_can_be_cancelled() {
    let context = JobContext::default();
    let (beginning, result, first) = open_when_told(&context);
    beginning.recv().unwrap();
    let second_progress = Arc::<JobProgress>::default();
    let second = ask(&JobContext { progress: second_progress.clone(), ..context });
    second_progress.cancel();
    assert_eq!(second.join().unwrap(), Err("cancelled".to_owned()));
    result.send(Ok(1)).unwrap();
    assert_eq!(first.join().unwrap(), Ok(Arc::new(1)));
}

#[test]
fn a_service_of_another_type_is_an_error() {
    let context = JobContext::default();
    context.service("model", || Ok(1_u32)).unwrap();
    let error = context.service("model", || Ok("one")).unwrap_err();
    assert!(error.contains("another type"), "{error}");
}
