//! Jobs of the method, each on a thread of its own.

use super::{ComputeJob, LiveJob, Message, Store, lower_thread_priority};
use crate::domain::{CallId, Job, JobContext, JobProgress, JobServices};
use crate::engine::{Failure, Reply, State};
use std::collections::HashMap;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc::UnboundedSender;

/// The jobs in progress, and what they share. Dropping it cancels them and closes the services once no job uses them.
#[derive(Default)]
pub(super) struct JobRunner {
    in_progress: HashMap<CallId, Arc<JobProgress>>,
    services: Arc<JobServices>,
}

impl JobRunner {
    /// Starts a job, which sees the texts of this state. Its result is sent to the inbox as a reply of this epoch. Does
    /// nothing if the job is already in progress.
    pub(super) fn start(
        &mut self,
        (call, epoch): (CallId, u64),
        job: &Arc<Job>,
        state: &State,
        compute: &ComputeJob,
        store: &Store,
        inbox: &UnboundedSender<Message>,
    ) {
        if self.in_progress.contains_key(&call) {
            return;
        }
        let (started, progress) = (Instant::now(), Arc::<JobProgress>::default());
        store.edit_live(|live| {
            live.jobs.push(LiveJob { call, job: job.clone(), started, progress: progress.clone() });
        });
        self.in_progress.insert(call, progress.clone());
        let context = JobContext { progress, texts: state.texts.clone(), services: self.services.clone() };
        let work = (job.clone(), compute.clone(), inbox.clone());
        let thread = std::thread::Builder::new().name("job".to_owned());
        let spawned = thread.spawn(move || {
            lower_thread_priority();
            let (job, compute, inbox) = work;
            let computed = panic::catch_unwind(AssertUnwindSafe(|| compute(&job, &context)));
            // The thread may outlive the driver after its reply; the services must not.
            drop(context);
            let millis = started.elapsed().as_millis() as u64;
            let reply = match computed {
                Ok(Ok(result)) => Reply::Computed { call, result, millis },
                Ok(Err(message)) => Reply::Failed { call, failure: job_failure(&job, message) },
                Err(_) => {
                    let message = "it crashed; this is a fault of this program".to_owned();
                    Reply::Failed { call, failure: job_failure(&job, message) }
                }
            };
            // If the driver has ended, nobody receives the reply.
            let _ = inbox.send(Message::Reply(epoch, reply));
        });
        if let Err(error) = spawned {
            let failure = job_failure(job, format!("no thread could be started: {error}"));
            let _ = inbox.send(Message::Reply(epoch, Reply::Failed { call, failure }));
        }
    }

    /// Cancels a job; its reply is stale.
    pub(super) fn cancel(&mut self, call: CallId) {
        if let Some(progress) = self.in_progress.remove(&call) {
            progress.cancel();
        }
    }

    /// Cancels all jobs.
    pub(super) fn cancel_all(&mut self) {
        for (_, progress) in self.in_progress.drain() {
            progress.cancel();
        }
    }
}

impl Drop for JobRunner {
    fn drop(&mut self) {
        self.cancel_all();
    }
}

fn job_failure(job: &Job, message: String) -> Failure {
    Failure {
        message,
        source: job.name.clone(),
        hint: "retry it, or continue without its result".to_owned(),
        ..Failure::default()
    }
}
