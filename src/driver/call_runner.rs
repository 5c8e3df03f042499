//! Calls to models as tasks. Dropping a task breaks its call off.

use super::call_thread::CallThread;
use super::prefetch::PrefetchCall;
use super::{Message, Store};
use crate::domain::{CallId, FailureKind, PromptRecord, Truncation, Usage};
use crate::driver::LiveCall;
use crate::engine::{Failure, Reply};
use crate::provider::{Delta, Phase, Provider, ProviderError, Request};
use futures_util::{FutureExt as _, StreamExt as _};
use std::collections::HashMap;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;

/// Pieces of a call that may wait in the inbox: a person's command does not stand behind more than these.
const BACKLOG: usize = 256;

/// The calls to models under way.
#[derive(Default)]
pub(super) struct CallRunner {
    thread: CallThread,
    calls: HashMap<CallId, JoinHandle<()>>,
    /// The line they are made on: answers to calls of another one are stale, whatever their numbers.
    epoch: u64,
}

impl CallRunner {
    /// Asks a provider; its pieces and its answer come into the inbox. A call that is under way is not made twice. Where the
    /// question was asked ahead, its answer is taken as it comes in, or has come in, there.
    pub(super) fn start_call(
        &mut self,
        provider: Arc<dyn Provider>,
        record: &PromptRecord,
        request: Request,
        early: Option<PrefetchCall>,
        store: &Store,
        inbox: UnboundedSender<Message>,
    ) {
        let call = record.call;
        if self.calls.contains_key(&call) {
            return;
        }
        let began = Instant::now();
        store.edit_live(|live| {
            live.calls.push(LiveCall {
                call,
                role: record.role,
                phase: Phase::Connecting,
                reasoning: String::new(),
                text: String::new(),
                pieces: 0,
                started: began,
                last_progress: began,
                only_keep_alives: false,
                usage: None,
            });
        });
        let estimate = u64::from(record.tokens);
        let line = self.epoch;
        let task = self.thread.spawn(async move {
            let backlog = Arc::new(Semaphore::new(BACKLOG));
            let tell = |delta, room| drop(inbox.send(Message::Delta(line, call, delta, room)));
            let told = (&backlog, &tell as &(dyn Fn(_, _) + Sync));
            let answered = AssertUnwindSafe(collect_reply(provider.as_ref(), request, early, told, estimate));
            let reply = match answered.catch_unwind().await {
                Ok(Ok(CollectedReply { text, reasoning, mut usage, truncated })) => {
                    usage.millis = began.elapsed().as_millis() as u64;
                    Reply::Model { call, text, reasoning, usage, truncated }
                }
                Ok(Err((error, usage))) => {
                    Reply::Failed { call, failure: to_failure(&error, usage, provider_name(&provider)) }
                }
                // Whoever panicked is asked no more; the call must not wait for it for ever.
                Err(_) => Reply::Failed { call, failure: panic_failure(provider_name(&provider)) },
            };
            // A driver that has ended wants no reply.
            let what =
                panic::catch_unwind(AssertUnwindSafe(|| provider.unsent_settings())).unwrap_or_default();
            let _ = inbox.send(Message::Reply(line, Reply::UnsentSettings { call, settings: what }));
            let _ = inbox.send(Message::Reply(line, reply));
        });
        self.calls.insert(call, task);
    }

    /// The thread for calls that are made ahead of time.
    pub(super) fn thread(&self) -> &CallThread {
        &self.thread
    }

    /// Breaks a call off.
    pub(super) fn cancel(&mut self, call: CallId) {
        if let Some(task) = self.calls.remove(&call) {
            task.abort();
        }
    }

    /// Breaks everything off; calls from now on are of another line.
    pub(super) fn begin_epoch(&mut self, line: u64) {
        self.cancel_all();
        self.epoch = line;
    }

    /// Breaks everything off.
    pub(super) fn cancel_all(&mut self) {
        for (_, task) in self.calls.drain() {
            task.abort();
        }
    }

    /// Forgets a call that has answered.
    pub(super) fn forget_call(&mut self, call: CallId) {
        self.calls.remove(&call);
    }
}

impl Drop for CallRunner {
    fn drop(&mut self) {
        self.cancel_all();
    }
}

/// A provider's whole answer.
struct CollectedReply {
    text: String,
    reasoning: String,
    usage: Usage,
    truncated: Option<Truncation>,
}

/// The answer; else why there is none, and what was counted until then.
async fn collect_reply(
    provider: &dyn Provider,
    request: Request,
    early: Option<PrefetchCall>,
    (backlog, tell): (&Arc<Semaphore>, &(dyn Fn(Delta, Option<OwnedSemaphorePermit>) + Sync)),
    estimate: u64,
) -> Result<CollectedReply, (ProviderError, Option<Usage>)> {
    let mut ahead = early.is_some();
    let mut stream = match early {
        Some(early) => early.into_stream(),
        None => provider.stream(request.clone()),
    };
    let (mut text, mut reasoning, mut usage, mut truncated) = (String::new(), String::new(), None, None);
    while let Some(delta) = stream.next().await {
        let delta = match delta {
            // As if it had never been asked ahead: what had come of it is no part of the answer.
            Err(error) if ahead => {
                ahead = false;
                tell(Delta::Restarted, None);
                let words = format!("what was asked ahead failed ({}); it is asked anew", error.message);
                tell(Delta::Notice(words), None);
                (text, reasoning, usage, truncated) = (String::new(), String::new(), None, None);
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
            // Nothing that was only reasoned is ever taken for an answer.
            Delta::WasReasoning => reasoning.push_str(&std::mem::take(&mut text)),
            Delta::Restarted => {
                text.clear();
                reasoning.clear();
                truncated = None;
            }
            Delta::Truncated(by) => truncated = Some(*by),
            Delta::Phase(_) | Delta::Notice(_) | Delta::KeepAlive => {}
        }
        // The semaphore is never closed.
        tell(delta, backlog.clone().acquire_owned().await.ok());
    }
    let usage = usage.unwrap_or(Usage {
        prompt_tokens: estimate,
        reply_tokens: (text.len() as u64).div_ceil(4),
        estimated: true,
        ..Usage::default()
    });
    Ok(CollectedReply { text, reasoning, usage, truncated })
}

/// The name of a provider, or a word for it where even that breaks.
fn provider_name(provider: &Arc<dyn Provider>) -> String {
    panic::catch_unwind(AssertUnwindSafe(|| provider.name())).unwrap_or_else(|_| "the model".to_owned())
}

/// A provider that panicked, in words.
fn panic_failure(place: String) -> Failure {
    Failure {
        message: "the part of this program that asks it broke (a panic)".to_owned(),
        source: place,
        hint: "retry; if it breaks again, act by hand or switch the model, and report what was asked"
            .to_owned(),
        kind: Some(FailureKind::Panicked),
        partial_text: String::new(),
        usage: None,
    }
}

/// What a person is told, with the beginning of what had come of the answer: it is no answer, but it is not lost.
fn to_failure(error: &ProviderError, usage: Option<Usage>, place: String) -> Failure {
    /// Characters that are told; more of them, where they are not many, stand with the prompt.
    const MAX_SHOWN_CHARS: usize = 200;
    const EXCERPT_CHARS: usize = 80;
    let came = error.partial_reply.trim();
    let letters = came.chars().count();
    let what = match letters {
        0 => error.message.clone(),
        1..=MAX_SHOWN_CHARS => format!("{}; it had said: {came}", error.message),
        _ => {
            let head: String = came.chars().take(EXCERPT_CHARS).collect();
            format!("{}; it had said {letters} characters, beginning: {head}...", error.message)
        }
    };
    let came = Failure::shorten(came);
    // A line is made of both: the server is named in it once.
    let place = match place.rsplit_once(" at ") {
        Some((model, host)) if error.message.contains(host) => model.to_owned(),
        _ => place,
    };
    Failure {
        message: what,
        source: place,
        hint: error.hint.clone(),
        kind: Some(error.kind),
        partial_text: came,
        usage,
    }
}
