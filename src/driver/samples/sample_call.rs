//! The calls of samples in progress.

use crate::domain::{SAMPLES_AT_ONCE, Sample, SampleStatus};
use crate::driver::LiveSample;
use crate::driver::call_runner::collect_reply;
use crate::driver::call_thread::CallThread;
use crate::provider::{Delta, Provider, Request};
use futures_util::FutureExt as _;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

/// The calls of samples in progress.
pub(in crate::driver) struct SampleCalls {
    calls: Vec<SampleCall>,
    /// Limits how many are made at the same time.
    permits: Arc<Semaphore>,
}

struct SampleCall {
    live: LiveSample,
    seed: u64,
    prompt_tokens: u64,
    task: JoinHandle<()>,
}

impl Default for SampleCalls {
    fn default() -> Self {
        Self { calls: Vec::new(), permits: new_permits() }
    }
}

impl SampleCalls {
    /// Starts a call, or lets it wait until one in progress has ended. At its end, `on_done` gets the sample with the
    /// reply or the reason why there is none.
    pub(super) fn start(
        &mut self,
        thread: &CallThread,
        provider: Arc<dyn Provider>,
        request: Request,
        prompt_tokens: u64,
        sample: Sample,
        on_done: impl FnOnce(Sample) + Send + 'static,
    ) -> LiveSample {
        let live = LiveSample::waiting(sample.group, sample.number);
        let (seed, permits, shared) = (sample.seed, self.permits.clone(), live.clone());
        let task = thread.spawn(async move {
            // It is closed when all samples are cancelled.
            let Ok(_permit) = permits.acquire_owned().await else { return };
            let began = Instant::now();
            shared.start(began);
            let backlog = Arc::new(Semaphore::new(1));
            let record = |delta: Delta, _| shared.record(&delta);
            let call = collect_reply(provider.as_ref(), request, None, (&backlog, &record), prompt_tokens);
            let mut sample = match AssertUnwindSafe(call).catch_unwind().await {
                Ok(Ok(reply)) => Sample {
                    status: SampleStatus::Replied,
                    text: reply.text,
                    reasoning: reply.reasoning,
                    tool_calls: reply.tool_calls,
                    truncated: reply.truncated,
                    usage: reply.usage,
                    ..sample
                },
                Ok(Err((error, usage))) => Sample {
                    status: SampleStatus::Failed,
                    error: Some(format!("{}; {}", error.message, error.hint)),
                    usage: usage.unwrap_or_default(),
                    ..sample
                },
                Err(_) => Sample {
                    status: SampleStatus::Failed,
                    error: Some(
                        "the part of this program that calls the model panicked; report the bug".to_owned(),
                    ),
                    ..sample
                },
            };
            sample.usage.millis = began.elapsed().as_millis() as u64;
            on_done(sample);
        });
        self.calls.push(SampleCall { live: live.clone(), seed, prompt_tokens, task });
        live
    }

    /// Removes a call that has ended.
    pub(super) fn forget(&mut self, group: u32, number: u32) {
        self.calls.retain(|call| (call.live.group, call.live.number) != (group, number));
    }

    /// Cancels all calls. Returns them as cancelled samples, each with what it has cost so far.
    pub(super) fn cancel_all(&mut self) -> Vec<Sample> {
        // First those that wait, so that the end of another one lets none of them begin.
        std::mem::replace(&mut self.permits, new_permits()).close();
        let cancelled = self.calls.drain(..).map(|call| {
            call.task.abort();
            Sample {
                group: call.live.group,
                number: call.live.number,
                status: SampleStatus::Cancelled,
                seed: call.seed,
                usage: call.live.usage(call.prompt_tokens),
                ..Sample::default()
            }
        });
        cancelled.collect()
    }
}

impl Drop for SampleCalls {
    fn drop(&mut self) {
        for call in &self.calls {
            call.task.abort();
        }
    }
}

fn new_permits() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(SAMPLES_AT_ONCE as usize))
}
