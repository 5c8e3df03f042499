//! A call from its first request to its last: retries, changes to the request, and notices for the person.

use super::call_timer::CallTimer;
use super::client::HttpClients;
use super::endpoint::Endpoint;
use super::error;
use super::finish::Finish;
use super::learned_quirks::{EMPTY_REPLIES_TO_BLAME_STOPS, LearnedQuirks, QuirkStore, TokenLimit};
use super::redactor::Redactor;
use super::rejected_param::RequestChange;
use super::reply_reader::{Completion, ReplyReader};
use super::request;
use super::request_limiter::Probe;
use super::retry;
use crate::domain::common_settings::SUMMARY_TOKENS;
use crate::domain::{Truncation, Usage};
use crate::provider::{Delta, FailureKind, Phase, ProviderError, Request};
use crate::text;
use reqwest::Response;
use reqwest::header::CONTENT_ENCODING;
use serde_json::{Map, Value};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::Instant;

/// Maximum size of an error body, in bytes.
const MAX_ERROR_BODY_BYTES: usize = 256 << 10;
/// How often a request is changed for a server before the call fails.
const MAX_REQUEST_CHANGES: u32 = 12;
/// After this many retries of one kind (such as without newline stops) that didn't help, no more of that kind are made.
const MAX_FRUITLESS_RETRIES: u32 = 2;
/// How often a reply that the server interrupted is requested again.
const MAX_INTERRUPTIONS: u32 = 2;

/// After this many consecutive calls that got a reply only without streaming, streaming is turned off.
const MAX_USELESS_STREAMS: u32 = 2;
/// Timeout for listing the models; after it the server is assumed to handle concurrent requests.
const MODEL_LIST_TIMEOUT: Duration = Duration::from_secs(5);

/// A token limit that leaves room for a reply after the reasoning of most models.
pub(super) const REASONING_MAX_TOKENS: u32 = 4096;

/// A call to an endpoint.
pub(super) struct Call {
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) quirks: Arc<QuirkStore>,
    pub(super) http: Arc<HttpClients>,
    pub(super) redactor: Redactor,
    pub(super) request: Request,
    pub(super) delta_sender: UnboundedSender<Delta>,
    pub(super) timer: CallTimer,
}

/// Changes to the request that a call tries, in addition to the learned quirks, until a reply shows whether they help.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent changes of a request")]
struct TentativeQuirks {
    skip_newline_stop: bool,
    /// Sends no stop sequences, and truncates replies locally.
    match_stops_locally: bool,
    /// At least this limit, because the reply was empty with a smaller one.
    min_limit: Option<TokenLimit>,
    doubled_limit: Option<DoubledLimit>,
    /// Sends the configured limit, because a larger learned one leaves too little of the context for the prompt.
    ignore_raised_limit: bool,
    /// Sends no other request at the same time, because one may have interrupted the reply.
    alone: bool,
    /// Does not stream, because streams ended without a finish reason.
    without_stream: bool,
}

/// A limit that was doubled because it cut a reply off.
#[derive(Clone, Debug)]
struct DoubledLimit {
    max_tokens: u32,
    /// The truncated reply, which is used if no better one arrives.
    truncated_reply: Arc<Completion>,
    /// Usage of the call's other replies.
    other_usage: Usage,
    /// Why the larger limit failed, if known.
    failure: Option<String>,
}

impl TentativeQuirks {
    /// Returns the learned quirks with these changes applied. `long` is the limit of a reply that needs more room.
    fn applied_to(
        &self,
        mut learned: LearnedQuirks,
        wanted: u32,
        long: Option<u32>,
        prompt: u64,
    ) -> LearnedQuirks {
        if let Some(long) = long.filter(|long| *long > wanted) {
            let raised = learned.raised_limits.entry(wanted).or_insert(long);
            *raised = long.max(*raised);
        }
        learned.skip_newline_stop |= self.skip_newline_stop;
        learned.match_stops_locally |= self.match_stops_locally;
        learned.without_stream |= self.without_stream;
        learned.min_limit = learned.min_limit.max(self.min_limit);
        let is_rejected =
            learned.raised_limits.get(&wanted).is_some_and(|limit| learned.rejects_limit(*limit, prompt));
        if self.ignore_raised_limit || is_rejected {
            learned.raised_limits.remove(&wanted);
        }
        if let Some(doubled) = &self.doubled_limit {
            learned.raised_limits.insert(wanted, doubled.max_tokens);
        }
        learned
    }
}

/// Why an attempt failed, and whether another one is allowed.
struct FailedAttempt {
    error: ProviderError,
    /// The request may be retried without asking the person.
    can_retry: bool,
    requested_wait: Option<Duration>,
    change: Option<RequestChange>,
    /// The part of the reply that had arrived. It is not used, but it was paid for.
    received: Option<Completion>,
}

impl FailedAttempt {
    /// Returns whether the server may have rejected the token limit.
    fn may_concern_limit(&self) -> bool {
        let change = self.change.as_ref().is_some_and(RequestChange::is_about_limit);
        change || matches!(self.error.kind, FailureKind::TooLong | FailureKind::BadRequest)
    }
}

impl From<ProviderError> for FailedAttempt {
    fn from(error: ProviderError) -> Self {
        Self { error, can_retry: false, requested_wait: None, change: None, received: None }
    }
}

impl Call {
    /// Sends requests until there is a reply or nothing more to try.
    pub(super) async fn run(self) -> Result<Arc<Completion>, ProviderError> {
        self.run_with_timeout().await.map_err(|error| redact_error(&self.redactor, error))
    }

    async fn run_with_timeout(&self) -> Result<Arc<Completion>, ProviderError> {
        let mut trial = TentativeQuirks::default();
        let done = self.before_deadline(self.run_attempts(&mut trial)).await;
        match (done, trial.doubled_limit.take()) {
            (Err(error), Some(DoubledLimit { max_tokens: limit, truncated_reply, other_usage, failure })) => {
                let failure = failure.unwrap_or_else(|| format!("the retry with max_tokens {limit} failed"));
                self.send_notice(format!("{failure}; using the truncated reply ({})", error.message));
                self.resend_reply(&truncated_reply, &other_usage);
                Ok(truncated_reply)
            }
            (done, _) => done,
        }
    }

    async fn before_deadline<T>(
        &self,
        work: impl Future<Output = Result<T, ProviderError>>,
    ) -> Result<T, ProviderError> {
        let mut work = pin!(work);
        loop {
            let Some(deadline) = self.deadline() else { return work.await };
            // The deadline moves while the call waits in this program's own queue.
            let next_check = deadline.max(Instant::now() + Duration::from_millis(5));
            tokio::select! {
                biased;
                done = &mut work => return done,
                () = tokio::time::sleep_until(next_check) => {}
            }
            if self.deadline().is_some_and(|deadline| deadline <= Instant::now()) {
                return Err(self.timeout_error());
            }
        }
    }

    /// Returns the call's current deadline, which moves while the call waits in the queue.
    fn deadline(&self) -> Option<Instant> {
        self.timer.deadline(self.endpoint.timeouts.total?)
    }

    fn timeout_error(&self) -> ProviderError {
        let seconds = self.endpoint.timeouts.total.unwrap_or_default().as_secs_f64();
        let what = format!("the reply from {} was not complete after {seconds} s", self.endpoint.host());
        let next = "retry; total_seconds in the server's profile sets this limit";
        ProviderError::new(what, next).with_kind(FailureKind::TimedOut)
    }

    async fn run_attempts(&self, trial: &mut TentativeQuirks) -> Result<Arc<Completion>, ProviderError> {
        let policy = self.endpoint.retry;
        let (mut attempt, mut waited, mut changes) = (0, Duration::ZERO, 0);
        let (mut before, mut notified) = (Usage::default(), false);
        let mut interrupted: Vec<Arc<Completion>> = Vec::new();
        loop {
            let failed = match self.run_attempt(trial, &mut notified, &mut before).await {
                Ok(completion) if self.is_interrupted(&completion, &interrupted) => {
                    self.count_discarded_reply(&completion, &mut before, trial);
                    let completion = Arc::new(completion);
                    let count = interrupted.len() as u32;
                    interrupted.push(completion.clone());
                    let once_more = count == MAX_INTERRUPTIONS
                        && have_same_text(&interrupted)
                        && self.quirks.learned().sends_finish_reason.is_none();
                    if count >= MAX_INTERRUPTIONS && !once_more {
                        return Err(with_retry_count(self.interruption_error(&completion), count));
                    }
                    self.prepare_retry_after_interruption(&interrupted, trial).await;
                    continue;
                }
                Ok(completion) => {
                    let completion = Arc::new(completion);
                    let Some(mut next) = self.plan_next_attempt(&completion, &before, trial) else {
                        if trial.doubled_limit.is_some() && (completion.is_empty() || completion.refused) {
                            self.count_discarded_reply(&completion, &mut before, trial);
                            self.learn_from_attempt(&completion, trial);
                            return Err(no_reply_error(&completion));
                        }
                        self.learn_from_interruptions(&completion, &interrupted);
                        self.report_reply(&completion, &before);
                        self.learn_from_attempt(&completion, trial);
                        return Ok(completion);
                    };
                    // The truncated reply itself is not counted in `other_usage`.
                    let doubles = trial.doubled_limit.is_none() && next.doubled_limit.is_some();
                    self.count_discarded_reply(
                        &completion,
                        &mut before,
                        if doubles { &mut *trial } else { &mut next },
                    );
                    let _ = self.delta_sender.send(Delta::Restarted);
                    *trial = next;
                    continue;
                }
                Err(failed) => failed,
            };
            if let Some(received) = &failed.received {
                self.count_discarded_reply(received, &mut before, trial);
            }
            if trial.doubled_limit.is_some() && failed.may_concern_limit() {
                let sent = self.learn_rejected_limit(&failed, trial);
                let host = self.endpoint.host();
                if let (Some(doubled), Some(limit)) = (&mut trial.doubled_limit, sent) {
                    doubled.failure = Some(format!("{host} rejected max_tokens {limit}"));
                }
                return Err(failed.error);
            }
            if let Some((next, notice)) = self.plan_lower_limit(&failed, trial) {
                self.learn_rejected_limit(&failed, trial);
                self.send_notice(format!("{notice} ({})", failed.error.message));
                *trial = next;
                continue;
            }
            if let Some(change) = failed.change.filter(|_| changes < MAX_REQUEST_CHANGES) {
                changes += 1;
                // Another call may have learned the same in the meantime, and then already sent this notice.
                if self.quirks.update(|learned| change.apply(learned)) {
                    self.send_notice(change.describe(&self.endpoint, &failed.error.message));
                }
                continue;
            }
            attempt += 1;
            let max_retries = if failed.error.status == Some(500) {
                policy.max_retries_after_500
            } else {
                policy.max_retries
            };
            if !failed.can_retry || attempt > max_retries {
                return Err(with_retry_count(failed.error, attempt - 1));
            }
            let Some(wait) =
                retry::next_wait(&policy, self.request.seed, attempt, failed.requested_wait, waited)
            else {
                let server_wait = failed.requested_wait.map_or_else(String::new, |w| {
                    format!("; the server says to retry after {} s", w.as_secs())
                });
                let mut error = with_retry_count(failed.error, attempt - 1);
                error.message.push_str(&server_wait);
                return Err(error);
            };
            waited += wait;
            self.send_notice(format!(
                "{}; retrying in {:.1} s ({attempt} of {max_retries})",
                failed.error.message,
                wait.as_secs_f64()
            ));
            tokio::time::sleep(wait).await;
        }
    }

    /// Sends one request and reads its reply. `notified` is set once the person was notified that streamed replies
    /// are empty; `before` sums the usage of discarded replies.
    async fn run_attempt(
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

    /// Returns the learned quirks with the changes that this call tries.
    fn effective_quirks(&self, trial: &TentativeQuirks) -> LearnedQuirks {
        let (wanted, long) = (self.wanted_max_tokens(), self.request.long_reply_tokens);
        trial.applied_to(self.quirks.learned(), wanted, long, self.estimate_prompt_tokens())
    }

    async fn send(
        &self,
        learned: &LearnedQuirks,
        body: &Map<String, Value>,
        alone: bool,
    ) -> Result<Completion, FailedAttempt> {
        let (endpoint, limiter) = (&*self.endpoint, self.quirks.limiter());
        let mut probe = self.timer.await_uncounted(self.probe()).await;
        let admission = self.timer.await_uncounted(limiter.acquire(alone || endpoint.one_at_a_time)).await;
        let _ = self.delta_sender.send(Delta::Phase(Phase::Connecting));
        let response = self
            .http
            .post_completion(endpoint, Value::Object(body.clone()).to_string(), &self.delta_sender)
            .await;
        let response = response.map_err(|error| {
            if error.kind == FailureKind::TimedOut {
                // Otherwise the requests that wait for this probe would time out one after the other.
                limiter.decide();
            }
            FailedAttempt { can_retry: error.kind == FailureKind::Unreachable, ..error.into() }
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
    async fn send_without_stream(
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
    async fn read_rejection(&self, mut response: Response, sent: &Map<String, Value>) -> FailedAttempt {
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
            error,
        }
    }

    /// Returns how to repeat the request if a stop sequence or the token limit seems to have ended the reply too early, or
    /// `None` to keep the reply.
    fn plan_next_attempt(
        &self,
        completion: &Arc<Completion>,
        before: &Usage,
        trial: &TentativeQuirks,
    ) -> Option<TentativeQuirks> {
        let learned = self.quirks.learned();
        if completion.refused {
            return None;
        }
        if completion.is_empty()
            && completion.is_complete_per_server()
            && completion.stops_sent
            && !trial.match_stops_locally
        {
            if completion.has_reasoning() {
                self.apply_change(&RequestChange::MatchStopsLocally);
            } else if learned.fruitless_retries >= MAX_FRUITLESS_RETRIES
                || !completion.stop_sequences.iter().any(|s| request::is_newline_stop(s))
            {
                return None;
            }
            // The stop sequence may also have ended reasoning that the server does not send.
            return Some(TentativeQuirks { match_stops_locally: true, ..trial.clone() });
        }
        if !trial.skip_newline_stop && self.is_cut_at_newline(completion) {
            return Some(TentativeQuirks { skip_newline_stop: true, ..trial.clone() });
        }
        let sent = completion
            .max_tokens
            .filter(|_| completion.has_hit_limit() && self.request.sampling.max_tokens.is_none())?;
        if completion.is_empty() {
            if learned.empty_despite_limit >= MAX_FRUITLESS_RETRIES {
                return None;
            }
            let (min_limit, how) = if sent < REASONING_MAX_TOKENS
                && !learned.rejects_limit(REASONING_MAX_TOKENS, self.estimate_prompt_tokens())
            {
                (TokenLimit::Tokens(REASONING_MAX_TOKENS), format!("with {REASONING_MAX_TOKENS}"))
            } else if learned.empty_without_limit {
                return None;
            } else {
                (TokenLimit::ServerDefault, "without a limit".to_owned())
            };
            self.send_notice(format!(
                "all {sent} tokens of max_tokens were used before the reply began; retrying {how}"
            ));
            return Some(TentativeQuirks { min_limit: Some(min_limit), ..trial.clone() });
        }
        if self.request.accept_truncated || trial.doubled_limit.is_some() {
            return None;
        }
        if trial.skip_newline_stop
            && self.may_be_reasoning(completion)
            && learned.empty_despite_limit < MAX_FRUITLESS_RETRIES
        {
            if trial.min_limit.is_some() || sent >= REASONING_MAX_TOKENS {
                return None;
            }
            self.send_notice(format!(
                "all {sent} tokens of max_tokens were used for text without an action, which may be reasoning; retrying \
                 with {REASONING_MAX_TOKENS}"
            ));
            return Some(TentativeQuirks {
                min_limit: Some(TokenLimit::Tokens(REASONING_MAX_TOKENS)),
                ..trial.clone()
            });
        }
        if self.has_complete_action(completion) {
            return None;
        }
        let limit = sent.saturating_mul(2);
        if learned.rejects_limit(limit, self.estimate_prompt_tokens()) {
            return None;
        }
        self.send_notice(format!("the reply was cut off at max_tokens {sent}; retrying with {limit}"));
        Some(TentativeQuirks {
            doubled_limit: Some(DoubledLimit {
                max_tokens: limit,
                truncated_reply: completion.clone(),
                other_usage: *before,
                failure: None,
            }),
            ..trial.clone()
        })
    }

    /// Records the limit that the server rejected and returns it; later calls send a smaller one. If the context was
    /// too small, this applies only to prompts at least as long as this one.
    fn learn_rejected_limit(&self, failed: &FailedAttempt, trial: &TentativeQuirks) -> Option<u32> {
        let TokenLimit::Tokens(limit) = self.effective_quirks(trial).token_limit(self.wanted_max_tokens())
        else {
            return None;
        };
        let prompt =
            if failed.error.kind == FailureKind::TooLong { self.estimate_prompt_tokens() } else { 0 };
        self.quirks.update(|learned| {
            let least = learned.rejected_limits.entry(limit).or_insert(prompt);
            *least = prompt.min(*least);
        });
        Some(limit)
    }

    /// Returns how to repeat the request after the server rejected a limit larger than the configured one, with a
    /// notice. Returns `None` if the request was rejected for another reason.
    fn plan_lower_limit(
        &self,
        failed: &FailedAttempt,
        trial: &TentativeQuirks,
    ) -> Option<(TentativeQuirks, String)> {
        let learned = self.effective_quirks(trial);
        let TokenLimit::Tokens(limit) = learned.token_limit(self.wanted_max_tokens()) else { return None };
        // With `min_limit` set, the server accepted a smaller limit earlier in this call, so the rejection concerns the
        // limit. A limit learned in another call proves nothing: the request may be rejected for any reason.
        let refused = failed.error.kind == FailureKind::TooLong
            || (trial.min_limit.is_some() && failed.may_concern_limit());
        if !refused || limit <= self.wanted_max_tokens() || self.request.sampling.max_tokens.is_some() {
            return None;
        }
        let host = self.endpoint.host();
        Some(if learned.min_limit.is_some() {
            let notice = format!("{host} rejected max_tokens {limit}; retrying without max_tokens");
            (TentativeQuirks { min_limit: Some(TokenLimit::ServerDefault), ..trial.clone() }, notice)
        } else {
            let wanted = self.wanted_max_tokens();
            let notice = format!("{host} rejected max_tokens {limit}; retrying with {wanted}");
            (TentativeQuirks { ignore_raised_limit: true, ..trial.clone() }, notice)
        })
    }

    /// Learns from how a reply ended: whether the server sends finish reasons, and whether its usage still arrives soon
    /// enough after a local stop (`usage_in_time`; `None` if it wasn't awaited).
    fn learn_from_ending(&self, completion: &Completion) {
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

    /// Returns whether the server interrupted the reply: its `finish_reason` says so; its stream ended with `[DONE]`
    /// but no `finish_reason`; or its stream just ended while another request of this program was in flight. Servers end
    /// streams in the latter two ways when another request arrives.
    ///
    /// A few servers never send a `finish_reason`. That is assumed if a request without streaming returns the same
    /// text, or, if the server streams regardless, when the same text has arrived `MAX_INTERRUPTIONS + 2` times.
    fn is_interrupted(&self, completion: &Completion, interrupted: &[Arc<Completion>]) -> bool {
        if completion.server_finish() == Some(Finish::Interrupted) {
            return true;
        }
        let known = self.quirks.learned().sends_finish_reason;
        if !completion.done_without_finish_reason
            || (known == Some(false) && completion.stream_error.is_none())
        {
            return false;
        }
        let last = interrupted.last().map(|earlier| earlier.text.as_str());
        let is_repeated = interrupted.len() as u32 > MAX_INTERRUPTIONS && have_same_text(interrupted);
        if is_repeated
            && known.is_none()
            && !completion.server_was_shared
            && last == Some(completion.text.as_str())
        {
            self.learn_no_finish_reasons();
            return false;
        }
        true
    }

    fn learn_no_finish_reasons(&self) {
        if self.quirks.update(|learned| learned.sends_finish_reason = Some(false)) {
            self.quirks.limiter().set_one_at_a_time(false);
            self.send_notice(format!(
                "{} never sends a finish_reason; from now on [DONE] ends its replies",
                self.endpoint.host()
            ));
        }
    }

    /// Prepares the next request after the server interrupted these replies: changes how it is sent, and waits if
    /// needed.
    async fn prepare_retry_after_interruption(
        &self,
        replies: &[Arc<Completion>],
        trial: &mut TentativeQuirks,
    ) {
        let Some(last) = replies.last() else { return };
        let (host, count) = (self.endpoint.host(), replies.len() as u32);
        let (shared, stream_broke) =
            (last.server_was_shared && last.done_without_finish_reason, last.stream_error.is_some());
        let unknown = self.quirks.learned().sends_finish_reason.is_none();
        trial.alone |= shared;
        // A reply in one piece cannot be partial.
        trial.without_stream |=
            count >= MAX_INTERRUPTIONS && unknown && replies.iter().all(|reply| !reply.server_was_shared);
        let how = match (stream_broke, trial.without_stream) {
            (true, _) => " with no other request",
            (_, true) => " without streaming",
            _ => "",
        };
        let times = if count > MAX_INTERRUPTIONS {
            "once more, as it may never send a finish_reason".to_owned()
        } else {
            format!("({count} of {MAX_INTERRUPTIONS})")
        };
        let what = describe_interruption(last);
        self.send_notice(format!("{host} interrupted the reply: {what}; retrying{how} {times}"));
        let _ = self.delta_sender.send(Delta::Restarted);
        if shared && !stream_broke {
            // Otherwise this request would interrupt the one that interrupted it.
            self.quirks.limiter().set_one_at_a_time(true);
        } else if !shared
            && let Some(wait) =
                retry::next_wait(&self.endpoint.retry, self.request.seed, count, None, Duration::ZERO)
        {
            tokio::time::sleep(wait).await;
        }
    }

    /// Learns about interrupted streams from the complete reply that followed them.
    fn learn_from_interruptions(&self, completion: &Completion, interrupted: &[Arc<Completion>]) {
        let Some(first) = interrupted.first() else { return };
        if first.stream_error.is_some() {
            // The same request succeeded without another one beside it.
            self.quirks.limiter().count_interruption(first.request_number);
        } else if !completion.streamed && !completion.done_without_finish_reason {
            let same = have_same_text(interrupted) && first.text.trim() == completion.text.trim();
            if same && self.quirks.learned().sends_finish_reason.is_none() {
                self.learn_no_finish_reasons();
            } else {
                self.count_useless_stream();
            }
        }
    }

    /// Counts a call that got a reply only without streaming. Returns whether this turned streaming off, after a
    /// notice.
    fn count_useless_stream(&self) -> bool {
        let count = |learned: &mut LearnedQuirks| {
            learned.failed_streams = learned.failed_streams.saturating_add(1);
            learned.without_stream |= learned.failed_streams >= MAX_USELESS_STREAMS;
        };
        let was = self.quirks.learned().without_stream;
        self.quirks.update(count);
        let new = !was && self.quirks.learned().without_stream;
        if new {
            self.send_notice(format!(
                "{} replies only without streaming; streaming is off for it from now on",
                self.endpoint.host()
            ));
        }
        new
    }

    /// Waits until it is known whether the server handles concurrent requests. Returns a probe if this request is the
    /// one that finds out.
    async fn probe(&self) -> Option<Probe<'_>> {
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
    async fn is_llama_cpp_python(&self) -> bool {
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

    fn interruption_error(&self, completion: &Completion) -> ProviderError {
        let what =
            format!("{} interrupted the reply: {}", self.endpoint.host(), describe_interruption(completion));
        let (what, next) = if completion.done_without_finish_reason {
            let next = "retry; if other programs use this server, let it finish one request at a time";
            (format!("{what}; another request may have interrupted it"), next)
        } else {
            (what, "retry later; check the server's log or status page")
        };
        ProviderError::new(what, next).with_kind(FailureKind::Interrupted)
    }

    /// Returns whether a newline stop, sent or applied here, seems to have ended the reply before it named an action.
    /// Stops that a person set are respected. After [`MAX_FRUITLESS_RETRIES`] the model seems to end its replies there
    /// by itself.
    fn is_cut_at_newline(&self, completion: &Completion) -> bool {
        let Some(check) =
            self.request.newline_stop_check.filter(|_| self.request.sampling.user_field("stop").is_none())
        else {
            return false;
        };
        let ended = completion.stopped_locally || completion.is_complete_per_server();
        let may_be_cut = ended
            && !completion.ended_in_reasoning
            && completion.stop_sequences.iter().any(|stop| request::is_newline_stop(stop));
        may_be_cut
            && (check.is_cut_short)(&completion.text)
            && self.quirks.learned().fruitless_retries < MAX_FRUITLESS_RETRIES
    }

    /// Returns whether the reply's complete lines name an action; cutting off the line after them then loses nothing.
    fn has_complete_action(&self, completion: &Completion) -> bool {
        let lines = completion.text.rfind('\n').and_then(|end| completion.text.get(..end));
        self.request
            .newline_stop_check
            .is_some_and(|check| lines.is_some_and(|lines| (check.action)(lines).is_some()))
    }

    /// Returns whether the token limit may have cut off untagged reasoning: the chat template opened it, and the
    /// closing tag never arrived.
    fn may_be_reasoning(&self, completion: &Completion) -> bool {
        completion.has_hit_limit()
            && self.request.newline_stop_check.is_some_and(|check| (check.may_be_reasoning)(&completion.text))
    }

    /// Returns why an accepted reply ended early, or `None` if it is complete.
    fn truncation(&self, completion: &Completion) -> Option<Truncation> {
        if completion.refused {
            return Some(Truncation::Refusal);
        }
        match completion.server_finish()? {
            Finish::Complete | Finish::ToolCall => None,
            Finish::Length => (!self.has_complete_action(completion)).then_some(Truncation::Length),
            Finish::Filter => Some(Truncation::Filter),
            Finish::Interrupted | Finish::Unknown => Some(Truncation::Other),
        }
    }

    /// Learns from the last reply which of the tried changes helped.
    fn learn_from_attempt(&self, completion: &Completion, trial: &TentativeQuirks) {
        let learned = self.quirks.learned();
        let role = self.request.role.name();
        if trial.match_stops_locally && !learned.match_stops_locally {
            let counted = completion.token_counts.is_some_and(|counts| counts.reasoning > 0);
            let used_up = trial.min_limit.is_some() || (completion.is_empty() && completion.has_hit_limit());
            if completion.has_reasoning() || counted || used_up {
                self.apply_change(&RequestChange::MatchStopsLocally);
            } else if !completion.is_empty() {
                // A single case may be coincidence, because no reasoning was seen.
                self.quirks.update(|learned| learned.empty_with_stops += 1);
                if self.quirks.learned().empty_with_stops >= EMPTY_REPLIES_TO_BLAME_STOPS {
                    self.apply_change(&RequestChange::EmptyWithStops);
                }
            } else {
                self.quirks.update(|learned| learned.fruitless_retries += 1);
            }
        }
        if trial.skip_newline_stop && !learned.skip_newline_stop {
            self.learn_about_newline_stop(completion);
        }
        if let Some(min_limit) = trial.min_limit {
            if completion.is_empty() || self.may_be_reasoning(completion) {
                let unbounded = completion.is_empty() && min_limit == TokenLimit::ServerDefault;
                self.quirks.update(|learned| {
                    learned.empty_despite_limit += 1;
                    learned.empty_without_limit |= unbounded;
                });
            } else if self.quirks.update(|learned| learned.min_limit = learned.min_limit.max(Some(min_limit)))
            {
                let (change, value) = match min_limit {
                    TokenLimit::Tokens(n) => (format!("max_tokens is at least {n}"), n.to_string()),
                    TokenLimit::ServerDefault => ("max_tokens is not sent".to_owned(), "off".to_owned()),
                };
                self.send_notice(format!(
                    "{change} for this model from now on (--set {role}.max_tokens={value} skips the first attempt)"
                ));
            }
        }
        let Some(DoubledLimit { max_tokens: limit, .. }) = trial.doubled_limit else { return };
        let truncated = self.truncation(completion);
        if truncated == Some(Truncation::Length) {
            self.send_notice(format!(
                "the reply was cut off again at max_tokens {limit}; --set {}={} allows a longer one",
                self.token_limit_setting(),
                limit.saturating_mul(2)
            ));
        }
        // What a long reply needs says nothing about the others.
        if truncated.is_some() || self.request.long_reply_tokens.is_some() {
            return;
        }
        let wanted = self.wanted_max_tokens();
        let raise = |learned: &mut LearnedQuirks| {
            learned.raised_limits.insert(wanted, limit);
        };
        if self.quirks.update(raise) {
            self.send_notice(format!(
                "max_tokens is {limit} instead of {wanted} for this model from now on \
                 (--set {role}.max_tokens={limit} skips the first attempt)"
            ));
        }
    }

    /// Learns about the newline stop from a reply without it: the stop cut something off if an action or reasoning
    /// follows a newline.
    fn learn_about_newline_stop(&self, completion: &Completion) {
        if completion.has_unopened_closing_tag {
            return self.apply_change(&RequestChange::MatchStopsLocally);
        }
        let (text, learned) = (&completion.text, self.quirks.learned());
        let Some(check) = self.request.newline_stop_check else { return };
        let stops = request::stop_sequences(&self.endpoint, &learned, &self.request);
        let ends = stops.iter().filter(|s| request::is_newline_stop(s)).filter_map(|s| text.find(s.as_str()));
        let line = ends.min().and_then(|end| text.get(..end));
        let action = (check.action)(text);
        // If the rest of the reply contains no other action, the line that looked like a sentence was the action.
        let cut_off =
            |line: &str| (check.is_cut_short)(line) && action.is_some() && (check.action)(line) != action;
        if line.is_some_and(cut_off) && !self.may_be_reasoning(completion) {
            self.apply_change(&RequestChange::SkipNewlineStop);
        } else {
            self.quirks.update(|learned| learned.fruitless_retries += 1);
            self.send_notice(
                "retrying without the newline stop produced no action after the first line; keeping the stop"
                    .to_owned(),
            );
        }
    }

    /// Learns a change and sends a notice, unless another call has learned the same in the meantime.
    fn apply_change(&self, change: &RequestChange) {
        if self.quirks.update(|learned| change.apply(learned)) {
            self.send_notice(change.describe(&self.endpoint, ""));
        }
    }

    /// Sends a discarded reply again, because the one that should replace it did not arrive or is incomplete.
    fn resend_reply(&self, completion: &Completion, other_usage: &Usage) {
        let _ = self.delta_sender.send(Delta::Restarted);
        if !completion.reasoning.is_empty() {
            let _ = self.delta_sender.send(Delta::Reasoning(completion.reasoning.clone()));
        }
        let _ = self.delta_sender.send(Delta::Text(completion.text.clone()));
        self.report_reply(completion, other_usage);
    }

    /// Returns the limit that the request would have if nothing had been learned.
    fn wanted_max_tokens(&self) -> u32 {
        request::wanted_max_tokens(&self.endpoint, &self.request)
    }

    /// Adds the usage of a discarded reply to `before`, and to the `other_usage` of a reply that may be restored. Sends
    /// the sum now, because the next request may fail.
    fn count_discarded_reply(
        &self,
        completion: &Completion,
        before: &mut Usage,
        trial: &mut TentativeQuirks,
    ) {
        let usage = self.usage(completion);
        for sum in
            std::iter::once(&mut *before).chain(trial.doubled_limit.as_mut().map(|d| &mut d.other_usage))
        {
            *sum = Usage::default().with_earlier(&usage.with_earlier(sum));
        }
        let _ = self.delta_sender.send(Delta::Usage(*before));
    }

    /// Sends everything about a reply besides its text: truncation, notices, and usage including `before`, that of
    /// the discarded replies.
    fn report_reply(&self, completion: &Completion, before: &Usage) {
        if !completion.tool_calls.is_empty() {
            let _ = self.delta_sender.send(Delta::ToolCalls(completion.tool_calls.clone()));
        }
        let truncated = self.truncation(completion);
        let _ = truncated.map(|by| self.delta_sender.send(Delta::Truncated(by)));
        let _ = self.delta_sender.send(Delta::Usage(self.usage(completion).with_earlier(before)));
        if completion.has_finish_reason && self.quirks.limiter().should_announce() {
            self.send_notice(format!(
                "{} interrupts a reply when another request arrives; from now on it gets one request at a time \
                 (one_at_a_time = true in its profile sets this from the start)",
                self.endpoint.host()
            ));
        }
        let host = self.endpoint.host();
        if completion.has_unopened_closing_tag {
            // A stop sequence would end its reasoning, which would then look like a reply.
            let stops = !completion.stop_sequences.is_empty();
            if self.quirks.update(|l| {
                (l.starts_in_reasoning, l.match_stops_locally) = (true, l.match_stops_locally || stops);
            }) {
                self.send_notice(format!(
                    "replies from {host} start inside their reasoning, without an opening tag; from now on this is expected"
                ));
            }
        }
        let reason = completion.finish_reason_text();
        let estimate = self.quirks.learned().scale_estimate(self.estimate_prompt_tokens());
        match (completion.server_finish(), completion.is_empty()) {
            _ if completion.refused => {
                self.send_notice(format!("the model refused to answer: {}", text::truncate(&completion.text, 200, "…")));
            }
            (Some(Finish::Length), true) => self.send_notice(self.empty_reply_notice(completion)),
            (finish, true) if finish == Some(Finish::ToolCall) || !completion.tool_calls.is_empty() => self.send_notice(format!(
                "the model replied with a tool call (finish_reason {reason}), but no tools are offered: turn off tool calling \
                 in the server or its chat template, or choose another model"
            )),
            (Some(Finish::Filter), true) => {
                self.send_notice(format!("the reply is empty: the content filter of {host} blocked it (finish_reason {reason})"));
            }
            (_, true) if !completion.has_reasoning() => self.send_notice(format!(
                "the reply from {host} is empty (finish_reason {reason}); some servers reply like this if the prompt (about \
                 {estimate} tokens) exceeds their context"
            )),
            (_, true) => {
                self.send_notice(format!("the model reasoned but wrote no reply (finish_reason {reason})"));
            }
            (Some(Finish::Filter), false) => {
                self.send_notice(format!("the content filter of {host} cut the reply off (finish_reason {reason})"));
            }
            (Some(Finish::Unknown), false) if self.quirks.update(|l| l.has_unknown_finish_reason = true) => {
                self.send_notice(format!(
                    "{host} sends an unknown finish_reason {reason}: such a reply counts as cut off, and only its complete \
                     part is used (--set accept_truncated=true uses all of it)"
                ));
            }
            _ => {}
        }
    }

    /// Returns the name of the setting that limits this reply. A summary has one of its own, which doesn't lengthen other
    /// replies.
    fn token_limit_setting(&self) -> String {
        match self.request.long_reply_tokens {
            Some(_) => SUMMARY_TOKENS.spec.name.to_owned(),
            None => format!("{}.max_tokens", self.request.role.name()),
        }
    }

    /// Explains an empty reply that reached its token limit.
    fn empty_reply_notice(&self, completion: &Completion) -> String {
        let setting = self.token_limit_setting();
        let counted = completion.token_counts.map(|counts| counts.reply);
        // A limit set by the request itself is not a setting that a person could change.
        let own = self.request.sampling.max_tokens.is_some();
        let unbounded = self.quirks.learned().empty_without_limit;
        match (completion.max_tokens, counted) {
            (Some(limit), Some(reply)) if reply < u64::from(limit) / 2 => format!(
                "the reply is empty: it ended after {reply} tokens, before max_tokens ({limit}), because the model's context \
                 is full (finish_reason length)"
            ),
            (Some(limit), _) if own => format!(
                "the reply is empty: it reached its limit of {limit} token{} before it began (finish_reason length)",
                if limit == 1 { "" } else { "s" }
            ),
            (Some(limit), _) if unbounded => format!(
                "the reply is empty: all {limit} tokens of max_tokens were used before it began (finish_reason length), and \
                 there was no reply without max_tokens either; turn off the model's reasoning, or choose another model"
            ),
            (Some(limit), _) => format!(
                "the reply is empty: all {limit} tokens of max_tokens were used before it began (finish_reason length); \
                 --set {setting}=N allows more; turning off the model's reasoning also helps"
            ),
            (None, _) => "the reply is empty: all tokens that the server allows were used before it began (finish_reason \
                          length); turn off the model's reasoning, or choose another model"
                .to_owned(),
        }
    }

    /// Returns the usage of a reply: the server's counts, or else estimates.
    fn usage(&self, completion: &Completion) -> Usage {
        let estimate = self.estimate_prompt_tokens();
        if completion.impossible_counts && self.quirks.update(|learned| learned.impossible_counts = true) {
            self.send_notice(format!(
                "{} reports impossible token counts; they are replaced by estimates",
                self.endpoint.host()
            ));
        }
        let usage = if let Some(counts) = completion.token_counts {
            let proxy = completion.counted_by_proxy || self.endpoint.counted_by_proxy;
            if !proxy {
                self.quirks.calibrate(estimate, counts.prompt);
            }
            Usage {
                prompt_tokens: counts.prompt,
                reply_tokens: counts.reply,
                reasoning_tokens: counts.reasoning.min(counts.reply),
                counted_by_proxy: proxy,
                ..Usage::default()
            }
        } else {
            let chars = completion.text.chars().count() + completion.reasoning_chars;
            Usage {
                prompt_tokens: self.quirks.learned().scale_estimate(estimate),
                reply_tokens: (chars as u64).div_ceil(4),
                reasoning_tokens: (completion.reasoning_chars as u64).div_ceil(4),
                estimated: true,
                ..Usage::default()
            }
        };
        let cost = self.endpoint.prices.map_or(0, |p| p.cost_nano(usage.prompt_tokens, usage.reply_tokens));
        Usage { cost_nano: cost, ..usage }
    }

    /// Returns the estimated number of tokens in the prompt: a quarter of its characters.
    fn estimate_prompt_tokens(&self) -> u64 {
        let chars: usize = self.request.prompt.segments.iter().map(|s| s.text.chars().count()).sum();
        (chars as u64).div_ceil(4)
    }

    fn send_notice(&self, notice: String) {
        let clean = self.redactor.redact(&notice);
        let _ = self.delta_sender.send(Delta::Notice(if clean == notice { notice } else { clean }));
    }
}

/// Returns why an empty reply or a refusal does not replace a truncated one.
fn no_reply_error(completion: &Completion) -> ProviderError {
    let what = if completion.refused {
        format!("the model refused to answer: {}", text::truncate(&completion.text, 200, "…"))
    } else {
        format!("the reply was empty (finish_reason {})", completion.finish_reason_text())
    };
    ProviderError::new(what, "retry").with_kind(FailureKind::EmptyReply)
}

/// Describes how a reply shows that the server interrupted it.
fn describe_interruption(completion: &Completion) -> String {
    if completion.stream_error.is_some() {
        "the stream ended while the server had another request".to_owned()
    } else if completion.done_without_finish_reason {
        "[DONE] without a finish_reason".to_owned()
    } else {
        format!("finish_reason {}", completion.finish_reason_text())
    }
}

/// Returns whether the connection or the stream ended before the reply did.
fn is_interruption(error: &ProviderError) -> bool {
    use FailureKind::{EmptyReply, Interrupted, Unreachable};
    error.status.is_none() && matches!(error.kind, EmptyReply | Interrupted | Unreachable)
}

/// Returns whether all replies have the same text and none ran while another request of this program was in flight.
fn have_same_text(replies: &[Arc<Completion>]) -> bool {
    let first = replies.first().map_or("", |first| first.text.as_str());
    !first.is_empty()
        && replies
            .iter()
            .all(|reply| reply.done_without_finish_reason && !reply.server_was_shared && reply.text == first)
}

/// Redacts the texts of an error. Data from a server is redacted on arrival; this covers messages of other libraries,
/// and secrets that appear when harmless parts are joined.
pub(super) fn redact_error(redactor: &Redactor, error: ProviderError) -> ProviderError {
    ProviderError { message: redactor.redact(&error.message), hint: redactor.redact(&error.hint), ..error }
}

/// Adds the number of retries to an error's message.
fn with_retry_count(mut error: ProviderError, retries: u32) -> ProviderError {
    if retries > 0 {
        let times = if retries == 1 { "once".to_owned() } else { format!("{retries} times") };
        error.message = format!("{} (retried {times})", error.message);
    }
    error
}
