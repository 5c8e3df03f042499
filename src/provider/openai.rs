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

mod answer;
mod ask;
mod call_timer;
mod check;
mod chunk;
mod client;
mod endpoint;
mod error;
mod finish;
mod frames;
mod gate;
mod key;
mod learned_quirks;
mod profile;
mod proxy;
mod received;
mod redactor;
mod rejected_param;
mod request;
mod retry;
mod secrets;
mod stream_redactor;
mod think;
#[cfg(feature = "tls")]
mod tls;

pub use check::{Finding, Verdict, check, list_models};
pub use endpoint::{Api, Auth, Endpoint, MaxTokensField, Prices, Reasoning, Retry, Sampling, Times};
pub use key::{Key, KeySource};
pub use learned_quirks::{Bound, Learnt, Memory};
pub use profile::{KEYS, Profile, ProfileError};

use super::{Delta, Provider, ProviderError, Request};
use ask::Call;
use call_timer::CallTimer;
use client::Http;
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
    memory: Arc<Memory>,
    http: Arc<Http>,
    redactor: Redactor,
}

impl OpenAi {
    /// Speaks to this endpoint; what was learnt about it in this process is known already.
    pub fn new(endpoint: Endpoint) -> Self {
        let memory = Memory::of(&endpoint);
        Self::with_memory(endpoint, memory)
    }

    /// Speaks to this endpoint with a memory of its own.
    pub fn with_memory(endpoint: Endpoint, memory: Arc<Memory>) -> Self {
        let redactor = endpoint.redactor();
        Self { endpoint: Arc::new(endpoint), memory, http: Arc::default(), redactor }
    }

    /// The endpoint.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// What was learnt about it.
    pub fn learnt(&self) -> Learnt {
        self.memory.learnt()
    }

    /// The model and its server, for what holds of no other.
    fn place(&self) -> String {
        format!("{} at {}", self.endpoint.model, self.endpoint.shown_url())
    }

    /// What is told of a model whose answers take more than a line.
    fn no_lines(&self) -> String {
        format!("stop at a newline: it cut off the action of {}", self.place())
    }
}

impl Provider for OpenAi {
    fn name(&self) -> String {
        format!("{} at {}", self.endpoint.model, self.endpoint.host())
    }

    fn unsent(&self) -> Vec<String> {
        let mut unsent = self.endpoint.unsent();
        let learnt = self.memory.learnt();
        unsent.extend(learnt.dropped.iter().map(|field| format!("{field}: the server refused it")));
        if learnt.other_max_field && self.endpoint.api == Api::Chat {
            let own = self.endpoint.bound();
            let (own, other) = (own.name(), own.other().name());
            unsent.push(format!("{own}: sent as {other}, as the server wants it"));
        }
        if learnt.one_message && self.endpoint.api == Api::Chat && !self.endpoint.one_message {
            unsent.push(
                "roles: the prompt is sent as one message of the user, as the server wants it".to_owned(),
            );
        }
        unsent.extend(learnt.lines.then(|| self.no_lines()));
        unsent.extend(learnt.told(&self.place()));
        unsent
    }

    fn recall(&self, unsent: &[String]) {
        // Fields that were refused are learnt again by a refusal, which costs nothing.
        let lines = unsent.contains(&self.no_lines());
        self.memory.learn(|learnt| {
            learnt.lines |= lines;
            learnt.recall(&self.place(), unsent);
        });
    }

    fn holds_secret(&self, text: &str) -> bool {
        self.redactor.clean(text) != text
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Delta, ProviderError>> {
        let (tell, told) = unbounded_channel();
        let call = Call {
            endpoint: self.endpoint.clone(),
            memory: self.memory.clone(),
            http: self.http.clone(),
            redactor: self.redactor.clone(),
            request,
            tell,
            timer: CallTimer::start(),
        };
        let work = async move { call.run().await.map(drop) };
        Box::pin(Driven { work: Some(Box::pin(work)), told, failed: None, said: String::new() })
    }
}

/// A stream that does its work while it is asked for pieces. There is no task behind it: dropping it drops the
/// connection in the same moment, and nothing runs ahead of its reader.
struct Driven {
    work: Option<BoxFuture<'static, Result<(), ProviderError>>>,
    told: UnboundedReceiver<Delta>,
    failed: Option<ProviderError>,
    /// The answer so far, which a failure keeps.
    said: String,
}

impl Driven {
    fn gather(&mut self, delta: &Delta) {
        match delta {
            Delta::Text(words) => self.said.push_str(words),
            Delta::WasReasoning | Delta::Anew => self.said.clear(),
            _ => {}
        }
    }
}

impl Stream for Driven {
    type Item = Result<Delta, ProviderError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(work) = self.work.as_mut() {
            match work.as_mut().poll(context) {
                Poll::Ready(outcome) => {
                    self.work = None;
                    self.failed = outcome.err();
                }
                // The connection tells something too, without waking the work.
                Poll::Pending => {
                    let told = std::task::ready!(self.told.poll_recv(context));
                    return Poll::Ready(told.inspect(|delta| self.gather(delta)).map(Ok));
                }
            }
        }
        // What was told before a failure comes before it.
        if let Ok(delta) = self.told.try_recv() {
            self.gather(&delta);
            return Poll::Ready(Some(Ok(delta)));
        }
        let failed = self.failed.take();
        Poll::Ready(
            failed.map(|error| Err(ProviderError { partial: std::mem::take(&mut self.said), ..error })),
        )
    }
}
