//! A model behind an OpenAI-compatible server: chat completions or completions, streamed.
//!
//! Takes one request and streams its reply, working around servers that deviate from their documentation (the tests
//! simulate each of them). Every failure is a [`ProviderError`] in plain words. No key ever appears in a failure or in
//! anything else that leaves this module.
//! Not part of this module: the content of prompts, the meaning of replies, the reaction to failures.
//!
//! - `endpoint` describes a server as data; `profile` reads such descriptions.
//! - `call` performs a call with its retries; `reply_reader` reads one reply.
//! - `request_limiter` admits requests to a server; `call_timer` excludes the wait for admission from a call's
//!   duration.
//! - `frame_parser` and `chunk` parse the body; `reasoning_parser` separates reasoning from text.
//! - `rejected_param` and `learned_quirks` learn what a server rejects.
//! - `server_data` holds data from a server with secrets redacted (`redactor`, `secret_parts`, `secret`).
//! - `tls` decides which certificates https trusts.
//! - `check` implements the server checks of `doctor`.

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

use super::request_preview::{pretty, variable_name};
use super::{Delta, Provider, ProviderError, Request, RequestPreview};
use call::Call;
use call_timer::CallTimer;
use client::HttpClients;
use futures_util::future::BoxFuture;
use futures_util::stream::{BoxStream, Stream};
use redactor::Redactor;
use serde_json::Value;
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
    /// Creates a provider for an endpoint, using what this process has learned about it so far.
    pub fn new(endpoint: Endpoint) -> Self {
        let quirks = QuirkStore::for_endpoint(&endpoint);
        Self::with_quirks(endpoint, quirks)
    }

    /// Creates a provider for an endpoint with the given store of learned quirks.
    pub fn with_quirks(endpoint: Endpoint, quirks: Arc<QuirkStore>) -> Self {
        let redactor = endpoint.redactor();
        Self { endpoint: Arc::new(endpoint), quirks, http: Arc::default(), redactor }
    }

    /// Returns the endpoint.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Returns what was learned about the endpoint.
    pub fn learned(&self) -> LearnedQuirks {
        self.quirks.learned()
    }

    /// Returns the model and its URL, which scope the notes about learned quirks.
    fn model_and_url(&self) -> String {
        format!("{} at {}", self.endpoint.model, self.endpoint.display_url())
    }

    /// Returns the note about a model whose replies span several lines. `restore_quirks` compares it with recorded
    /// notes, so its text must not change.
    fn newline_stop_note(&self) -> String {
        format!("stop at a newline: it cut off the action of {}", self.model_and_url())
    }
}

impl Provider for OpenAi {
    fn name(&self) -> String {
        format!("{} at {}", self.endpoint.model, self.endpoint.host())
    }

    fn setting_deviations(&self) -> Vec<String> {
        let mut unsent = self.endpoint.unsent_settings();
        let learned = self.quirks.learned();
        unsent.extend(learned.dropped_fields.iter().map(|field| format!("{field}: rejected by the server")));
        if learned.uses_other_max_field && self.endpoint.api == Api::Chat {
            let own = self.endpoint.effective_max_tokens_field();
            let (own, other) = (own.name(), own.other().name());
            unsent.push(format!("{own}: sent as {other}, as the server requires"));
        }
        if learned.one_message && self.endpoint.api == Api::Chat && !self.endpoint.one_message {
            unsent.push("roles: the prompt is sent as one user message, as the server requires".to_owned());
        }
        unsent.extend(learned.skip_newline_stop.then(|| self.newline_stop_note()));
        unsent.extend(learned.describe(&self.model_and_url()));
        unsent
    }

    fn call_price_nano(&self, prompt_tokens: u64, reply_tokens: u64) -> u64 {
        self.endpoint.prices.map_or(0, |prices| prices.cost_nano(prompt_tokens, reply_tokens))
    }

    fn restore_quirks(&self, unsent: &[String]) {
        // Rejected fields are not restored: learning them again costs one rejected request, which is free.
        let skip_newline_stop = unsent.contains(&self.newline_stop_note());
        self.quirks.update(|learned| {
            learned.skip_newline_stop |= skip_newline_stop;
            learned.restore(&self.model_and_url(), unsent);
        });
    }

    fn contains_secret(&self, text: &str) -> bool {
        self.redactor.redact(text) != text
    }

    fn preview_request(&self, request: &Request) -> RequestPreview {
        let endpoint = &*self.endpoint;
        let body = Value::Object(request::build_body(endpoint, &self.quirks.learned(), request));
        let path = match endpoint.api {
            Api::Chat => "chat/completions",
            Api::Completions => "completions",
        };
        let value = |name: &str| format!("{name}=${}", variable_name(name));
        let query: Vec<String> = endpoint.query.iter().map(|(name, _)| value(name)).collect();
        let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
        let mut headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
        headers.retain(|(name, _)| !endpoint.has_header(&name.to_ascii_lowercase()));
        let key = match &endpoint.key_source {
            KeySource::Variable(name) => name.as_str(),
            KeySource::File(_) | KeySource::Unknown => "OPENAI_API_KEY",
        };
        match &endpoint.auth {
            Auth::Bearer if !endpoint.has_header("authorization") => {
                headers.push(("Authorization".to_owned(), format!("Bearer ${key}")));
            }
            Auth::Header(name) if !endpoint.has_header(name) => {
                headers.push((name.clone(), format!("${key}")));
            }
            Auth::Bearer | Auth::Header(_) | Auth::None => {}
        }
        headers.extend(
            endpoint.headers.iter().map(|(name, _)| (name.clone(), format!("${}", variable_name(name)))),
        );
        RequestPreview {
            url: Some(format!("{}/{path}{query}", endpoint.display_url())),
            headers,
            body: self.redactor.redact(&pretty(&body)),
        }
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Delta, ProviderError>> {
        // Unbounded, but nearly empty: the call runs only while the stream is polled, which empties it.
        let (delta_sender, deltas) = unbounded_channel();
        let call = Call {
            endpoint: self.endpoint.clone(),
            quirks: self.quirks.clone(),
            http: self.http.clone(),
            redactor: self.redactor.clone(),
            request,
            delta_sender,
            timer: CallTimer::start(),
        };
        let work = async move { call.run().await.map(drop) };
        Box::pin(CallStream { work: Some(Box::pin(work)), deltas, error: None, partial_reply: String::new() })
    }
}

/// The stream of a call. It runs the call only while it is polled, without a task of its own: dropping the stream
/// closes the connection at once, and nothing runs ahead of the reader.
struct CallStream {
    work: Option<BoxFuture<'static, Result<(), ProviderError>>>,
    deltas: UnboundedReceiver<Delta>,
    error: Option<ProviderError>,
    /// The text so far, attached to a failure.
    partial_reply: String,
}

impl CallStream {
    fn collect_partial_reply(&mut self, delta: &Delta) {
        match delta {
            Delta::Text(text) => self.partial_reply.push_str(text),
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
                // Deltas also arrive from the connection's own task, which does not wake `work`.
                Poll::Pending => {
                    let delta = std::task::ready!(self.deltas.poll_recv(context));
                    return Poll::Ready(delta.inspect(|delta| self.collect_partial_reply(delta)).map(Ok));
                }
            }
        }
        // Deliver the deltas that were sent before the failure first.
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
