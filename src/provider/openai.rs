//! A model behind an OpenAI-compatible server: chat completions or completions, streamed.
//!
//! Responsibilities: one question in, its answer piece by piece; what is known of servers that answer otherwise than their
//! documents say (see the tests, which hold a server for each of them). Every failure is a [`ProviderError`] in plain words;
//! a key is in none of them, nor in anything else that leaves this module.
//! Not here: what a prompt holds, what an answer means, what is done about a failure.
//!
//! `endpoint` describes a server as data, `profile` reads such a description; `ask` is a call with its retries, `answer` one
//! answer coming in; `gate` admits requests to a server, and `call_timer` leaves the wait for that out of a call's time;
//! `frames` and `chunk` read the answer, `think` tells reasoning from text; `rejected_param` and `learned_quirks` learn what a
//! server refuses; `received` is what came from a server with its secrets taken out (`redactor`, `secrets`, `key`); `tls` says
//! whom https believes; `check` is what `doctor` asks.

mod call;
mod call_timer;
mod check;
mod chunk;
mod client;
mod endpoint;
mod error;
mod finish;
mod frame_parser;
mod learned_quirks;
mod profile;
mod proxy;
mod reasoning_parser;
mod redactor;
mod rejected_param;
mod reply_reader;
mod request;
mod request_limiter;
mod retry;
mod secret;
mod secret_parts;
mod server_data;
mod stream_redactor;
#[cfg(feature = "tls")]
mod tls;

pub use check::{Finding, Verdict, check_server, list_models};
pub use endpoint::{Api, Auth, Endpoint, MaxTokensField, Prices, Reasoning, Retry, Sampling, Timeouts};
pub use learned_quirks::{LearnedQuirks, QuirkStore, TokenLimit};
pub use profile::{PROFILE_KEYS, Profile, ProfileError};
pub use secret::{KeySource, Secret};

use super::{Delta, Provider, ProviderError, Request};
use call::Call;
use call_timer::CallTimer;
use client::HttpClients;
use futures_util::future::BoxFuture;
use futures_util::stream::{BoxStream, Stream};
use redactor::Redactor;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// A model behind a server.
#[derive(Clone, Debug)]
pub struct OpenAi {
    endpoint: Arc<Endpoint>,
    quirks: Arc<QuirkStore>,
    http: Arc<HttpClients>,
    redactor: Redactor,
}

impl OpenAi {
    /// Speaks to this endpoint; what was learnt about it in this process is known already.
    pub fn new(endpoint: Endpoint) -> Self {
        let memory = QuirkStore::for_endpoint(&endpoint);
        Self::with_quirks(endpoint, memory)
    }

    /// Speaks to this endpoint with a memory of its own.
    pub fn with_quirks(endpoint: Endpoint, memory: Arc<QuirkStore>) -> Self {
        let redactor = endpoint.redactor();
        Self { endpoint: Arc::new(endpoint), quirks: memory, http: Arc::default(), redactor }
    }

    /// The endpoint.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// What was learnt about it.
    pub fn learned(&self) -> LearnedQuirks {
        self.quirks.learned()
    }

    /// The model and its server, for what holds of no other.
    fn model_and_url(&self) -> String {
        format!("{} at {}", self.endpoint.model, self.endpoint.display_url())
    }

    /// What is told of a model whose answers take more than a line.
    fn newline_stop_note(&self) -> String {
        format!("stop at a newline: it cut off the action of {}", self.model_and_url())
    }
}

impl Provider for OpenAi {
    fn name(&self) -> String {
        format!("{} at {}", self.endpoint.model, self.endpoint.host())
    }

    fn unsent_settings(&self) -> Vec<String> {
        let mut unsent = self.endpoint.unsent_settings();
        let learnt = self.quirks.learned();
        unsent.extend(learnt.dropped_fields.iter().map(|field| format!("{field}: the server refused it")));
        if learnt.uses_other_max_field && self.endpoint.api == Api::Chat {
            let own = self.endpoint.effective_max_tokens_field();
            let (own, other) = (own.name(), own.other().name());
            unsent.push(format!("{own}: sent as {other}, as the server wants it"));
        }
        if learnt.one_message && self.endpoint.api == Api::Chat && !self.endpoint.one_message {
            unsent.push(
                "roles: the prompt is sent as one message of the user, as the server wants it".to_owned(),
            );
        }
        unsent.extend(learnt.skip_newline_stop.then(|| self.newline_stop_note()));
        unsent.extend(learnt.describe(&self.model_and_url()));
        unsent
    }

    fn restore_quirks(&self, unsent: &[String]) {
        // Fields that were refused are learnt again by a refusal, which costs nothing.
        let lines = unsent.contains(&self.newline_stop_note());
        self.quirks.update(|learnt| {
            learnt.skip_newline_stop |= lines;
            learnt.restore(&self.model_and_url(), unsent);
        });
    }

    fn contains_secret(&self, text: &str) -> bool {
        self.redactor.redact(text) != text
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Delta, ProviderError>> {
        let (tell, told) = unbounded_channel();
        let call = Call {
            endpoint: self.endpoint.clone(),
            quirks: self.quirks.clone(),
            http: self.http.clone(),
            redactor: self.redactor.clone(),
            request,
            delta_sender: tell,
            timer: CallTimer::start(),
        };
        let work = async move { call.run().await.map(drop) };
        Box::pin(CallStream {
            work: Some(Box::pin(work)),
            deltas: told,
            error: None,
            partial_reply: String::new(),
        })
    }
}

/// A stream that does its work while it is asked for pieces. There is no task behind it: dropping it drops the
/// connection in the same moment, and nothing runs ahead of its reader.
struct CallStream {
    work: Option<BoxFuture<'static, Result<(), ProviderError>>>,
    deltas: UnboundedReceiver<Delta>,
    error: Option<ProviderError>,
    /// The answer so far, which a failure keeps.
    partial_reply: String,
}

impl CallStream {
    fn collect_partial_reply(&mut self, delta: &Delta) {
        match delta {
            Delta::Text(words) => self.partial_reply.push_str(words),
            Delta::WasReasoning | Delta::Restarted => self.partial_reply.clear(),
            _ => {}
        }
    }
}

impl Stream for CallStream {
    type Item = Result<Delta, ProviderError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(work) = self.work.as_mut() {
            match work.as_mut().poll(context) {
                Poll::Ready(outcome) => {
                    self.work = None;
                    self.error = outcome.err();
                }
                // The connection tells something too, without waking the work.
                Poll::Pending => {
                    let told = std::task::ready!(self.deltas.poll_recv(context));
                    return Poll::Ready(told.inspect(|delta| self.collect_partial_reply(delta)).map(Ok));
                }
            }
        }
        // What was told before a failure comes before it.
        if let Ok(delta) = self.deltas.try_recv() {
            self.collect_partial_reply(&delta);
            return Poll::Ready(Some(Ok(delta)));
        }
        let failed = self.error.take();
        Poll::Ready(failed.map(|error| {
            Err(ProviderError { partial_reply: std::mem::take(&mut self.partial_reply), ..error })
        }))
    }
}
