//! Model calls as tasks. Dropping a task cancels its call.

use super::call_thread::CallThread;
use super::prefetch::PrefetchCall;
use super::{Message, Store};
use crate::domain::{CallId, CallPhase, FailureKind, ModelRole, PromptRecord, ToolCall, Truncation, Usage};
use crate::driver::{LiveCall, StreamedText};
use crate::engine::{Failure, Reply, RunStatus};
use crate::provider::{Delta, Provider, ProviderError, Request};
use futures_util::{FutureExt as _, StreamExt as _};
use std::collections::HashMap;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;

/// The maximum number of deltas of a call in the inbox, so that a person's command never waits behind more than
/// these.
const BACKLOG: usize = 256;

/// The model calls in flight.
#[derive(Default)]
pub(super) struct CallRunner {
    thread: CallThread,
    calls: HashMap<CallId, JoinHandle<()>>,
    /// The epoch in which they are made. Replies to calls of another epoch are stale, whatever their ids.
    epoch: u64,
}

impl CallRunner {
    /// Calls a provider. Its deltas and its reply are sent to the inbox. Does nothing if the call is already in flight.
    /// If the request was prefetched, the prefetched reply is used instead, even if it is still arriving.
    pub(super) fn start_call(
        &mut self,
        provider: Arc<dyn Provider>,
        record: &PromptRecord,
        request: Request,
        prefetched: Option<PrefetchCall>,
        store: &Store,
        inbox: UnboundedSender<Message>,
    ) {
        let call = record.call;
        if self.calls.contains_key(&call) {
            return;
        }
        // A single step is never delayed: a person waits for it.
        let is_paced = record.role == ModelRole::Actor
            && provider.answers_at_once()
            && store.head().run_status == RunStatus::Running;
        let pace = is_paced.then(|| store.step_delay.wait());
        let began = Instant::now();
        store.edit_live(|live| {
            live.calls.push(LiveCall {
                call,
                role: record.role,
                phase: CallPhase::Connecting,
                reasoning: StreamedText::default(),
                text: StreamedText::default(),
                delta_count: 0,
                started: began,
                last_progress: began,
                only_keep_alives: false,
                usage: None,
                notice: None,
            });
        });
        let estimate = u64::from(record.tokens);
        let epoch = self.epoch;
        let task = self.thread.spawn(async move {
            if let Some(pace) = pace {
                pace.await;
            }
            let backlog = Arc::new(Semaphore::new(BACKLOG));
            let send = |delta, permit| drop(inbox.send(Message::Delta(epoch, call, delta, permit)));
            let sink = (&backlog, &send as &(dyn Fn(_, _) + Sync));
            let reply = reply_of(&provider, call, request, prefetched, sink, estimate).await;
            // If the driver has ended, nobody receives the reply.
            let settings =
                panic::catch_unwind(AssertUnwindSafe(|| provider.setting_deviations())).unwrap_or_default();
            let _ = inbox.send(Message::Reply(epoch, Reply::SettingDeviations { call, settings }));
            let _ = inbox.send(Message::Reply(epoch, reply));
        });
        self.calls.insert(call, task);
    }

    /// Returns the thread for calls beside the run: prefetches and samples.
    pub(super) fn thread(&self) -> &CallThread {
        &self.thread
    }

    /// Cancels a call.
    pub(super) fn cancel(&mut self, call: CallId) {
        if let Some(task) = self.calls.remove(&call) {
            task.abort();
        }
    }

    /// Cancels all calls; later calls belong to the new epoch.
    pub(super) fn begin_epoch(&mut self, epoch: u64) {
        self.cancel_all();
        self.epoch = epoch;
    }

    /// Cancels all calls.
    pub(super) fn cancel_all(&mut self) {
        for (_, task) in self.calls.drain() {
            task.abort();
        }
    }

    /// Removes a call that has been answered.
    pub(super) fn forget_call(&mut self, call: CallId) {
        self.calls.remove(&call);
    }
}

impl Drop for CallRunner {
    fn drop(&mut self) {
        self.cancel_all();
    }
}

/// Calls a provider for a caller that waits for the whole reply. `estimate` is the estimated number of tokens of the
/// prompt, which counts if the provider reports no usage.
pub(super) async fn call_provider(provider: &Arc<dyn Provider>, request: Request, estimate: u64) -> Reply {
    let ignore = |_, _| {};
    let backlog = Arc::new(Semaphore::new(BACKLOG));
    let sink = (&backlog, &ignore as &(dyn Fn(_, _) + Sync));
    reply_of(provider, request.call, request, None, sink, estimate).await
}

/// Calls a provider, or waits for the prefetched reply. A failure or a panic becomes a failed call.
async fn reply_of(
    provider: &Arc<dyn Provider>,
    call: CallId,
    request: Request,
    prefetched: Option<PrefetchCall>,
    sink: (&Arc<Semaphore>, &(dyn Fn(Delta, Option<OwnedSemaphorePermit>) + Sync)),
    estimate: u64,
) -> Reply {
    let began = Instant::now();
    let collecting = AssertUnwindSafe(collect_reply(provider.as_ref(), request, prefetched, sink, estimate));
    match collecting.catch_unwind().await {
        Ok(Ok(CollectedReply { text, reasoning, tool_calls, mut usage, truncated })) => {
            usage.millis = began.elapsed().as_millis() as u64;
            Reply::Model { call, text, reasoning, tool_calls, usage, truncated }
        }
        Ok(Err((error, usage))) => {
            Reply::Failed { call, failure: to_failure(&error, usage, provider_name(provider)) }
        }
        // After a panic the provider is not called again. The call must not wait for it forever.
        Err(_) => Reply::Failed { call, failure: panic_failure(provider_name(provider)) },
    }
}

/// The complete reply of a provider.
pub(super) struct CollectedReply {
    pub(super) text: String,
    pub(super) reasoning: String,
    pub(super) tool_calls: Vec<ToolCall>,
    pub(super) usage: Usage,
    pub(super) truncated: Option<Truncation>,
}

/// Collects the deltas of a call. On failure returns the error, and the usage reported until then.
pub(super) async fn collect_reply(
    provider: &dyn Provider,
    request: Request,
    prefetched: Option<PrefetchCall>,
    (backlog, send): (&Arc<Semaphore>, &(dyn Fn(Delta, Option<OwnedSemaphorePermit>) + Sync)),
    estimate: u64,
) -> Result<CollectedReply, (ProviderError, Option<Usage>)> {
    let mut is_prefetched = prefetched.is_some();
    let mut stream = match prefetched {
        Some(prefetched) => prefetched.into_stream(),
        None => provider.stream(request.clone()),
    };
    let (mut text, mut reasoning, mut usage, mut truncated) = (String::new(), String::new(), None, None);
    let mut tool_calls = Vec::new();
    while let Some(delta) = stream.next().await {
        let delta = match delta {
            // Starts over as if nothing had been prefetched: the partial reply is discarded.
            Err(error) if is_prefetched => {
                is_prefetched = false;
                send(Delta::Restarted, None);
                let notice = format!("the prefetch failed ({}); retrying", error.message);
                send(Delta::Notice(notice), None);
                (text, reasoning, usage, truncated) = (String::new(), String::new(), None, None);
                tool_calls.clear();
                stream = provider.stream(request.clone());
                continue;
            }
            Err(error) => return Err((error, usage)),
            Ok(delta) => delta,
        };
        match &delta {
            Delta::Text(piece) => text.push_str(piece),
            Delta::Reasoning(piece) => reasoning.push_str(piece),
            Delta::Usage(reported) => usage = Some(*reported),
            // Reasoning is never used as the reply.
            Delta::WasReasoning => reasoning.push_str(&std::mem::take(&mut text)),
            Delta::Restarted => {
                text.clear();
                reasoning.clear();
                tool_calls.clear();
                truncated = None;
            }
            Delta::ToolCalls(calls) => tool_calls.clone_from(calls),
            Delta::Truncated(reason) => truncated = Some(*reason),
            Delta::Phase(_) | Delta::Notice(_) | Delta::KeepAlive => {}
        }
        // The semaphore is never closed.
        send(delta, backlog.clone().acquire_owned().await.ok());
    }
    let usage = usage.unwrap_or(Usage {
        prompt_tokens: estimate,
        reply_tokens: (text.len() as u64).div_ceil(4),
        estimated: true,
        ..Usage::default()
    });
    Ok(CollectedReply { text, reasoning, tool_calls, usage, truncated })
}

/// Returns the name of a provider, or a placeholder if even that panics.
fn provider_name(provider: &Arc<dyn Provider>) -> String {
    panic::catch_unwind(AssertUnwindSafe(|| provider.name())).unwrap_or_else(|_| "the model".to_owned())
}

/// Describes the panic of a provider.
fn panic_failure(source: String) -> Failure {
    Failure {
        message: "the part of this program that calls it panicked".to_owned(),
        source,
        hint: "retry; if it panics again, act yourself or switch the model, and report the bug".to_owned(),
        kind: Some(FailureKind::Panicked),
        partial_text: String::new(),
        usage: None,
    }
}

/// Describes an error for a person, with the beginning of the partial reply.
fn to_failure(error: &ProviderError, usage: Option<Usage>, source: String) -> Failure {
    /// Longer partial replies are shown shortened here; the prompt view shows more of them.
    const MAX_SHOWN_CHARS: usize = 200;
    const EXCERPT_CHARS: usize = 80;
    let partial_text = error.partial_reply.trim();
    let chars = partial_text.chars().count();
    let message = match chars {
        0 => error.message.clone(),
        1..=MAX_SHOWN_CHARS => format!("{}; partial reply: {partial_text}", error.message),
        _ => {
            let head: String = partial_text.chars().take(EXCERPT_CHARS).collect();
            format!("{}; partial reply of {chars} characters: {head}...", error.message)
        }
    };
    let partial_text = Failure::shorten(partial_text);
    // Message and source are shown in one line, which should name the server only once.
    let source = match source.rsplit_once(" at ") {
        Some((model, host)) if error.message.contains(host) => model.to_owned(),
        _ => source,
    };
    Failure { message, source, hint: error.hint.clone(), kind: Some(error.kind), partial_text, usage }
}
