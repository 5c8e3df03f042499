//! Sends a request of a call and reads its reply or its rejection.

use super::super::client::RequestError;
use super::super::error;
use super::super::learned_quirks::LearnedQuirks;
use super::super::rejected_param::RequestChange;
use super::super::reply_reader::{Completion, ReplyReader};
use super::super::request;
use super::super::request_limiter::Probe;
use super::super::retry;
use super::interruption::is_interruption;
use super::next_attempt::TentativeQuirks;
use super::{Call, FailedAttempt};
use crate::domain::{CallPhase, Usage};
use crate::provider::{Delta, FailureKind, ProviderError};
use reqwest::Response;
use reqwest::header::CONTENT_ENCODING;
use serde_json::{Map, Value};
use std::time::Duration;

/// Maximum size of an error body, in bytes.
pub(super) const MAX_ERROR_BODY_BYTES: usize = 256 << 10;

/// Timeout for listing the models; after it the server is assumed to handle concurrent requests.
pub(super) const MODEL_LIST_TIMEOUT: Duration = Duration::from_secs(5);

impl Call {
    /// Sends one request and reads its reply. `notified` is set once the person was notified that streamed replies
    /// are empty; `before` sums the usage of discarded replies.
    pub(super) async fn run_attempt(
        &self,
        trial: &mut TentativeQuirks,
        notified: &mut bool,
        before: &mut Usage,
    ) -> Result<Completion, FailedAttempt> {
        let learned = self.effective_quirks(trial);
        let body = request::build_body(&self.endpoint, &learned, &self.request);
        match self.send(&learned, &body, trial.alone).await {
            Err(failed) if failed.error.kind == FailureKind::EmptyReply && !learned.without_stream => {
                if let Some(received) = &failed.received {
                    self.count_discarded_reply(received, before, trial);
                }
                let completion = self.send_without_stream(failed.error, &learned, body).await?;
                if !std::mem::replace(notified, true) && !self.count_useless_stream() {
                    let host = self.endpoint.host();
                    self.send_notice(format!("{host} streams empty replies; retried without streaming"));
                }
                Ok(completion)
            }
            answered => answered,
        }
    }

    pub(super) async fn send(
        &self,
        learned: &LearnedQuirks,
        body: &Map<String, Value>,
        alone: bool,
    ) -> Result<Completion, FailedAttempt> {
        let (endpoint, limiter) = (&*self.endpoint, self.quirks.limiter());
        let mut probe = self.timer.await_uncounted(self.probe()).await;
        let admission = self.timer.await_uncounted(limiter.acquire(alone || endpoint.one_at_a_time)).await;
        let _ = self.delta_sender.send(Delta::Phase(CallPhase::Connecting));
        let response = self
            .http
            .post_completion(endpoint, Value::Object(body.clone()).to_string(), &self.delta_sender)
            .await;
        let response = response.map_err(|RequestError { error, was_closed }| {
            if error.kind == FailureKind::TimedOut {
                // Otherwise the requests that wait for this probe would time out one after the other.
                limiter.decide();
            }
            FailedAttempt { can_retry: error.kind == FailureKind::Unreachable, was_closed, ..error.into() }
        })?;
        let status = response.status().as_u16();
        if status != 200 {
            let failed = self.read_rejection(response, body).await;
            return if status == 400 && error::is_limit_used_up(&failed.error.message) {
                Ok(Completion::at_token_limit(request::sent_max_tokens(body)))
            } else {
                Err(failed)
            };
        }
        let headers = self.redactor.redact_headers(response.headers());
        if probe.is_some() {
            // llama-cpp-python interrupts a stream when another request arrives. It runs on uvicorn, as other servers
            // do.
            if headers.get("server").is_some_and(|name| name == "uvicorn") {
                limiter.suspect_single();
            } else {
                limiter.decide();
                probe = None;
            }
        }
        if let Some(how) = headers.get(CONTENT_ENCODING.as_str()).filter(|h| *h != "identity") {
            let what = format!(
                "{} sent a compressed reply (content-encoding {how:?}) that was not requested",
                endpoint.host()
            );
            return Err(ProviderError::new(
                what,
                "turn off compression in the server or in the proxy in front of it",
            )
            .with_kind(FailureKind::InvalidResponse)
            .into());
        }
        let stops = request::stop_sequences(endpoint, learned, &self.request);
        let limit = request::sent_max_tokens(body);
        let counted_by_proxy = headers.keys().any(|name| name.starts_with("x-litellm-"));
        let mut reader = ReplyReader::new(
            endpoint,
            &self.redactor,
            learned,
            &stops,
            limit,
            learned.scale_estimate(self.estimate_prompt_tokens()),
            &self.delta_sender,
        );
        let stops_sent = body.contains_key("stop") && !stops.is_empty();
        let read = reader.read(response, stops_sent);
        let read = match self.deadline() {
            // The part that has arrived by then counts towards usage.
            Some(deadline) => match tokio::time::timeout_at(deadline, read).await {
                Ok(read) => read,
                Err(_) => reader.finish(Err(self.timeout_error())),
            },
            None => read.await,
        };
        // The next request may then find out what kind of server this is.
        drop(probe);
        let (shown, shared, number) = (reader.has_shown_output(), admission.was_shared(), admission.number());
        let streamed = body.get("stream").is_some_and(|stream| *stream == Value::Bool(true));
        match read {
            Ok(completion)
                if completion.done_without_finish_reason
                    && completion.text.is_empty()
                    && completion.reasoning_chars == 0 =>
            {
                // Nothing arrived: either another request interrupted the stream, or the server has no reply.
                if !shared {
                    return Err(reader.empty_reply_error().into());
                }
                Ok(Completion { server_was_shared: shared, request_number: number, streamed, ..completion })
            }
            Ok(completion) => {
                let by_proxy = counted_by_proxy;
                let completion = Completion {
                    counted_by_proxy: by_proxy,
                    stop_sequences: stops,
                    stops_sent,
                    max_tokens: limit,
                    server_was_shared: shared,
                    request_number: number,
                    streamed,
                    ..completion
                };
                self.learn_from_ending(&completion);
                Ok(completion)
            }
            // Another request of this program may have interrupted it.
            Err(error) if shared && streamed && is_interruption(&error) => {
                let received = reader.partial_completion().unwrap_or_default();
                let (by_proxy, broken) = (counted_by_proxy, Some(error));
                Ok(Completion {
                    counted_by_proxy: by_proxy,
                    max_tokens: limit,
                    server_was_shared: shared,
                    request_number: number,
                    streamed,
                    done_without_finish_reason: true,
                    stream_error: broken,
                    ..received
                })
            }
            Err(error) => {
                // Once part of a reply was shown, only the person may request another.
                let retryable = error.kind == FailureKind::Unreachable
                    || error.status.is_some_and(|status| retry::is_retryable(status, &|_| None));
                let received = reader.partial_completion();
                let received = received.map(|r| Completion { counted_by_proxy, max_tokens: limit, ..r });
                Err(FailedAttempt { can_retry: retryable && !shown, received, ..error.into() })
            }
        }
    }

    /// Repeats a request whose stream was empty without streaming: the server may then reply or report an error.
    pub(super) async fn send_without_stream(
        &self,
        empty: ProviderError,
        learned: &LearnedQuirks,
        mut body: Map<String, Value>,
    ) -> Result<Completion, FailedAttempt> {
        body.insert("stream".to_owned(), Value::Bool(false));
        body.remove("stream_options");
        let mut result = self.send(learned, &body, false).await;
        // Such a server often closes the connection after the empty stream.
        if result.as_ref().is_err_and(|failed| failed.error.kind == FailureKind::Unreachable) {
            tokio::time::sleep(self.endpoint.retry.first_wait).await;
            result = self.send(learned, &body, false).await;
        }
        match result {
            Ok(completion) => Ok(completion),
            Err(FailedAttempt { error, received, .. }) => {
                let error = if error.status.is_some() { error } else { empty };
                Err(FailedAttempt { received, ..error.into() })
            }
        }
    }

    /// Reads a response with a status other than success.
    pub(super) async fn read_rejection(
        &self,
        mut response: Response,
        sent: &Map<String, Value>,
    ) -> FailedAttempt {
        let status = response.status().as_u16();
        let headers = self.redactor.redact_headers(response.headers());
        let header = |name: &str| headers.get(name).map(String::as_str);
        let mut body = Vec::new();
        // The body only explains the status, so a partial one will do.
        let read = async {
            while let Ok(Some(piece)) = response.chunk().await {
                body.extend_from_slice(&piece);
                if body.len() > MAX_ERROR_BODY_BYTES {
                    break;
                }
            }
        };
        let _ = tokio::time::timeout(self.endpoint.timeouts.idle, read).await;
        let body = self.redactor.redact_body(&body);
        let estimate = self.quirks.learned().scale_estimate(self.estimate_prompt_tokens());
        let mut error = error::http_status_error(&self.endpoint, status, &body, estimate);
        if let Some(location) = header("location").filter(|_| (300..400).contains(&status)) {
            // The query may contain a secret.
            let location = location.split(['?', '#']).next().unwrap_or(location);
            error.message = format!("{} redirects to {location} (HTTP {status})", self.endpoint.host());
        }
        FailedAttempt {
            can_retry: retry::is_retryable(status, &header)
                && !matches!(error.kind, FailureKind::OutOfCredit | FailureKind::TooLong),
            requested_wait: retry::requested_wait(&header).or_else(|| retry::requested_wait_in_body(&body)),
            change: RequestChange::from_rejection(status, &body, sent, &self.quirks.learned()),
            received: None,
            was_closed: false,
            error,
        }
    }

    /// Learns from how a reply ended: whether the server sends finish reasons, and whether its usage still arrives soon
    /// enough after a local stop (`usage_in_time`; `None` if it wasn't awaited).
    pub(super) fn learn_from_ending(&self, completion: &Completion) {
        self.quirks.update(|learned| {
            if completion.has_finish_reason && completion.streamed {
                (learned.sends_finish_reason, learned.failed_streams) = (Some(true), 0);
            }
            match completion.usage_in_time {
                Some(true) => (learned.usage_misses, learned.usage_skips) = (0, 0),
                Some(false) => {
                    (learned.usage_misses, learned.usage_skips) = (learned.usage_misses.saturating_add(1), 0);
                }
                None => {
                    learned.usage_skips =
                        learned.usage_skips.saturating_add(u32::from(completion.stopped_locally));
                }
            }
        });
    }

    /// Waits until it is known whether the server handles concurrent requests. Returns a probe if this request is the
    /// one that finds out.
    pub(super) async fn probe(&self) -> Option<Probe<'_>> {
        if self.endpoint.one_at_a_time {
            return None;
        }
        let limiter = self.quirks.limiter();
        let probe = limiter.probe().await?;
        // The first request probes. If it made the server suspect, the next one asks for the server's kind.
        if !probe.waited || !limiter.is_suspect() {
            return Some(probe);
        }
        // No request is in flight, so this one interrupts none.
        if self.is_llama_cpp_python().await {
            limiter.set_one_at_a_time(true);
        }
        limiter.decide();
        None
    }

    /// Returns whether the server is llama-cpp-python, which lists every model as owned by "me".
    pub(super) async fn is_llama_cpp_python(&self) -> bool {
        let read = async {
            let mut response = self.http.get(&self.endpoint, &self.endpoint.base_url, "models").await.ok()?;
            let mut body = Vec::new();
            while let Some(piece) = response.chunk().await.ok()? {
                body.extend_from_slice(&piece);
                if body.len() > MAX_ERROR_BODY_BYTES {
                    return None;
                }
            }
            serde_json::from_slice::<Value>(&body).ok()
        };
        let Ok(Some(list)) = tokio::time::timeout(MODEL_LIST_TIMEOUT, read).await else { return false };
        let models = list.get("data").and_then(Value::as_array);
        models.is_some_and(|models| {
            let owned_by_me = |model: &Value| model.get("owned_by").is_some_and(|owner| owner == "me");
            !models.is_empty() && models.iter().all(owned_by_me)
        })
    }
}
