//! A call from its first request to its last: what is sent again, what is sent otherwise, and what a person is told.

use super::call_timer::CallTimer;
use super::client::HttpClients;
use super::endpoint::Endpoint;
use super::error;
use super::finish::Finish;
use super::learned_quirks::{EMPTY_WITH_STOPS, LearnedQuirks, QuirkStore, TokenLimit};
use super::redactor::Redactor;
use super::rejected_param::RequestChange;
use super::reply_reader::{Completion, ReplyReader};
use super::request;
use super::request_limiter::Probe;
use super::retry;
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

/// The most bytes of an error body.
const MAX_ERROR_BODY_BYTES: usize = 256 << 10;
/// How often a request is changed for a server before it is given up.
const MAX_REQUEST_CHANGES: u32 = 12;
/// How often a model is asked without the stop at a newline for nothing.
const MAX_FRUITLESS_RETRIES: u32 = 2;
/// How often a reply that the server broke off is asked for again.
const MAX_INTERRUPTIONS: u32 = 2;

/// So many calls in a row that were answered only without a stream show that streams are of no use there.
const USELESS_STREAMS: u32 = 2;
/// How long a server may take to list its models before it gets several requests at once without that.
const MODEL_LIST: Duration = Duration::from_secs(5);

/// The bound that leaves room for a reply behind the reasoning of most models.
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

/// What one call sends in addition to what was learnt, until a reply shows whether it helps.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent changes of a request")]
struct TentativeQuirks {
    /// No stop at a newline.
    skip_newline_stop: bool,
    /// No stop text: replies are cut here.
    match_stops_locally: bool,
    /// At least this bound, because the reply was empty at a smaller one.
    min_limit: Option<TokenLimit>,
    doubled_limit: Option<DoubledLimit>,
    /// The bound as it was wanted, because a larger one that was learnt leaves too little of the context to the prompt.
    ignore_raised_limit: bool,
    /// No other request of ours beside it, because one may have broken the reply off.
    alone: bool,
    /// No stream, because streams did not say how the reply ended.
    without_stream: bool,
}

/// A bound of which the half cut a reply off.
#[derive(Clone, Debug)]
struct DoubledLimit {
    max_tokens: u32,
    /// The reply that was cut off, and what the others of the call cost: it stands where no better one comes.
    truncated_reply: Arc<Completion>,
    others: Usage,
    /// What came of the larger bound, in words.
    why: Option<String>,
}

impl TentativeQuirks {
    /// What is sent: what is known of the server, with this.
    fn applied_to(&self, mut learnt: LearnedQuirks, wanted: u32, prompt: u64) -> LearnedQuirks {
        learnt.skip_newline_stop |= self.skip_newline_stop;
        learnt.match_stops_locally |= self.match_stops_locally;
        learnt.without_stream |= self.without_stream;
        learnt.min_limit = learnt.min_limit.max(self.min_limit);
        let raised =
            learnt.raised_limits.get(&wanted).is_some_and(|bound| learnt.refuses_bound(*bound, prompt));
        if self.ignore_raised_limit || raised {
            learnt.raised_limits.remove(&wanted);
        }
        if let Some(doubled) = &self.doubled_limit {
            learnt.raised_limits.insert(wanted, doubled.max_tokens);
        }
        learnt
    }
}

/// Why a try failed, and whether another one is allowed.
struct FailedAttempt {
    error: ProviderError,
    /// The answer may be asked for again without a word of a person.
    can_retry: bool,
    requested_wait: Option<Duration>,
    change: Option<RequestChange>,
    /// What had come of an answer: it is no answer, but it was paid for.
    received: Option<Completion>,
}

impl FailedAttempt {
    /// The server may have refused the number of tokens that was asked for.
    fn may_reject_limit(&self) -> bool {
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
    /// Asks until there is an answer or nothing more to try.
    pub(super) async fn run(self) -> Result<Arc<Completion>, ProviderError> {
        self.run_with_timeout().await.map_err(|error| redact_error(&self.redactor, error))
    }

    async fn run_with_timeout(&self) -> Result<Arc<Completion>, ProviderError> {
        let mut trial = TentativeQuirks::default();
        let done = self.before_deadline(self.run_attempts(&mut trial)).await;
        match (done, trial.doubled_limit.take()) {
            (Err(error), Some(DoubledLimit { max_tokens: bound, truncated_reply: cut, others, why })) => {
                let why = why.unwrap_or_else(|| format!("asking again with max_tokens {bound} failed"));
                self.send_notice(format!("{why}; the reply stays cut off ({})", error.message));
                self.send_again(&cut, &others);
                Ok(cut)
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
            // While the call waits in our own queue, its deadline moves.
            let look = deadline.max(Instant::now() + Duration::from_millis(5));
            tokio::select! {
                biased;
                done = &mut work => return done,
                () = tokio::time::sleep_until(look) => {}
            }
            if self.deadline().is_some_and(|deadline| deadline <= Instant::now()) {
                return Err(self.overdue());
            }
        }
    }

    /// When the whole call has to be done, as far as that is known now.
    fn deadline(&self) -> Option<Instant> {
        self.timer.deadline(self.endpoint.timeouts.total?)
    }

    fn overdue(&self) -> ProviderError {
        let seconds = self.endpoint.timeouts.total.unwrap_or_default().as_secs_f64();
        let what = format!("{} was not done within {seconds} s", self.endpoint.host());
        let next = "retry; total_seconds in the endpoint's profile says how long is waited";
        ProviderError::new(what, next).with_kind(FailureKind::TimedOut)
    }

    async fn run_attempts(&self, trial: &mut TentativeQuirks) -> Result<Arc<Completion>, ProviderError> {
        let policy = self.endpoint.retry;
        let (mut attempt, mut waited, mut changes) = (0, Duration::ZERO, 0);
        let (mut before, mut silent) = (Usage::default(), false);
        let mut interrupted: Vec<Arc<Completion>> = Vec::new();
        loop {
            let failed = match self.run_attempt(trial, &mut silent, &mut before).await {
                Ok(whole) if self.is_interrupted(&whole, &interrupted) => {
                    self.count_discarded_reply(&whole, &mut before, trial);
                    let whole = Arc::new(whole);
                    let count = interrupted.len() as u32;
                    interrupted.push(whole.clone());
                    let once_more = count == MAX_INTERRUPTIONS
                        && same_words(&interrupted)
                        && self.quirks.learned().sends_finish_reason.is_none();
                    if count >= MAX_INTERRUPTIONS && !once_more {
                        return Err(with_retry_count(self.interruption_error(&whole), count));
                    }
                    self.prepare_retry_after_interruption(&interrupted, trial).await;
                    continue;
                }
                Ok(whole) => {
                    let whole = Arc::new(whole);
                    let Some(mut next) = self.plan_next_attempt(&whole, &before, trial) else {
                        if trial.doubled_limit.is_some() && (whole.is_empty() || whole.refused) {
                            self.count_discarded_reply(&whole, &mut before, trial);
                            self.learn_from_attempt(&whole, trial);
                            return Err(no_reply(&whole));
                        }
                        self.judge_streams(&whole, &interrupted);
                        self.report_reply(&whole, &before);
                        self.learn_from_attempt(&whole, trial);
                        return Ok(whole);
                    };
                    // The reply that was cut off is not among the others.
                    let doubles = trial.doubled_limit.is_none() && next.doubled_limit.is_some();
                    self.count_discarded_reply(
                        &whole,
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
            if trial.doubled_limit.is_some() && failed.may_reject_limit() {
                let sent = self.learn_refused_bound(&failed, trial);
                let host = self.endpoint.host();
                if let (Some(doubled), Some(bound)) = (&mut trial.doubled_limit, sent) {
                    doubled.why = Some(format!("{host} refused max_tokens {bound}"));
                }
                return Err(failed.error);
            }
            if let Some((next, words)) = self.plan_lower_limit(&failed, trial) {
                self.learn_refused_bound(&failed, trial);
                self.send_notice(format!("{words} ({})", failed.error.message));
                *trial = next;
                continue;
            }
            if let Some(change) = failed.change.filter(|_| changes < MAX_REQUEST_CHANGES) {
                changes += 1;
                // Another call may have learnt the same meanwhile; it was told then.
                if self.quirks.update(|learnt| change.apply(learnt)) {
                    self.send_notice(change.describe(&self.endpoint, &failed.error.message));
                }
                continue;
            }
            attempt += 1;
            let most = if failed.error.status == Some(500) {
                policy.max_retries_after_500
            } else {
                policy.max_retries
            };
            if !failed.can_retry || attempt > most {
                return Err(with_retry_count(failed.error, attempt - 1));
            }
            let Some(wait) =
                retry::next_wait(&policy, self.request.seed, attempt, failed.requested_wait, waited)
            else {
                let asks = failed
                    .requested_wait
                    .map_or_else(String::new, |w| format!("; it asks to wait {} s", w.as_secs()));
                let mut error = with_retry_count(failed.error, attempt - 1);
                error.message.push_str(&asks);
                return Err(error);
            };
            waited += wait;
            self.send_notice(format!(
                "{}; asking again in {:.1} s ({attempt} of {most})",
                failed.error.message,
                wait.as_secs_f64()
            ));
            tokio::time::sleep(wait).await;
        }
    }

    /// One request and its answer. `silent`: it was told that the server says nothing in a stream; `before`: what was of no use.
    async fn run_attempt(
        &self,
        trial: &mut TentativeQuirks,
        silent: &mut bool,
        before: &mut Usage,
    ) -> Result<Completion, FailedAttempt> {
        let learnt = self.over(trial);
        let body = request::build_body(&self.endpoint, &learnt, &self.request);
        match self.send(&learnt, &body, trial.alone).await {
            Err(failed) if failed.error.kind == FailureKind::EmptyReply && !learnt.without_stream => {
                if let Some(received) = &failed.received {
                    self.count_discarded_reply(received, before, trial);
                }
                let whole = self.send_without_stream(failed.error, &learnt, body).await?;
                if !std::mem::replace(silent, true) && !self.count_useless_stream() {
                    let host = self.endpoint.host();
                    self.send_notice(format!("{host} says nothing in a stream; it was asked without one"));
                }
                Ok(whole)
            }
            answered => answered,
        }
    }

    /// What is known of the server, with what this call tries.
    fn over(&self, trial: &TentativeQuirks) -> LearnedQuirks {
        trial.applied_to(self.quirks.learned(), self.wanted_max_tokens(), self.estimate_prompt_tokens())
    }

    async fn send(
        &self,
        learnt: &LearnedQuirks,
        body: &Map<String, Value>,
        alone: bool,
    ) -> Result<Completion, FailedAttempt> {
        let (endpoint, gate) = (&*self.endpoint, self.quirks.limiter());
        let mut probe = self.timer.queue(self.probe()).await;
        let admission = self.timer.queue(gate.acquire(alone || endpoint.one_at_a_time)).await;
        let _ = self.delta_sender.send(Delta::Phase(Phase::Connecting));
        let response = self
            .http
            .post_completion(endpoint, Value::Object(body.clone()).to_string(), &self.delta_sender)
            .await;
        let response = response.map_err(|error| {
            if error.kind == FailureKind::TimedOut {
                // The requests that wait for this one would time out one after the other.
                gate.decide();
            }
            FailedAttempt { can_retry: error.kind == FailureKind::Unreachable, ..error.into() }
        })?;
        let status = response.status().as_u16();
        if status != 200 {
            let failed = self.read_rejection(response, body).await;
            return if status == 400 && error::is_limit_used_up(&failed.error.message) {
                Ok(Completion::limit_used_up(request::sent_max_tokens(body)))
            } else {
                Err(failed)
            };
        }
        let headers = self.redactor.redact_headers(response.headers());
        if probe.is_some() {
            // llama-cpp-python, which breaks a stream off when another request arrives, answers by uvicorn, as others do too.
            if headers.get("server").is_some_and(|name| name == "uvicorn") {
                gate.suspect();
            } else {
                gate.decide();
                probe = None;
            }
        }
        if let Some(how) = headers.get(CONTENT_ENCODING.as_str()).filter(|h| *h != "identity") {
            let what = format!("{} answers packed ({how:?}), which was not asked for", endpoint.host());
            return Err(ProviderError::new(
                what,
                "take the compression out of the server or the proxy before it",
            )
            .with_kind(FailureKind::InvalidResponse)
            .into());
        }
        let stops = request::stop_texts(endpoint, learnt, &self.request);
        let bound = request::sent_max_tokens(body);
        let counted_by_proxy = headers.keys().any(|name| name.starts_with("x-litellm-"));
        let mut answer = ReplyReader::new(
            endpoint,
            &self.redactor,
            learnt,
            &stops,
            bound,
            learnt.scale_estimate(self.estimate_prompt_tokens()),
            &self.delta_sender,
        );
        let stops_sent = body.contains_key("stop") && !stops.is_empty();
        let read = answer.read(response, stops_sent);
        let read = match self.deadline() {
            // What has come by then is counted.
            Some(deadline) => match tokio::time::timeout_at(deadline, read).await {
                Ok(read) => read,
                Err(_) => answer.ended(Err(self.overdue())),
            },
            None => read.await,
        };
        // The next request may be the one that looks at what the server is.
        drop(probe);
        let (shown, shared, number) = (answer.has_shown_output(), admission.was_shared(), admission.number());
        let streamed = body.get("stream").is_some_and(|stream| *stream == Value::Bool(true));
        match read {
            Ok(whole)
                if whole.done_without_finish_reason
                    && whole.text.is_empty()
                    && whole.reasoning_chars == 0 =>
            {
                // Nothing at all: another request interrupted it, or the server has nothing to say.
                if !shared {
                    return Err(answer.empty_reply_error().into());
                }
                Ok(Completion { server_was_shared: shared, number, streamed, ..whole })
            }
            Ok(whole) => {
                let by_proxy = counted_by_proxy;
                let whole = Completion {
                    counted_by_proxy: by_proxy,
                    stop_texts: stops,
                    stops_sent,
                    max_tokens: bound,
                    server_was_shared: shared,
                    number,
                    streamed,
                    ..whole
                };
                self.learn_from_ending(&whole);
                Ok(whole)
            }
            // Another request of ours may be why it broke off.
            Err(error) if shared && streamed && broke_off(&error) => {
                let received = answer.received().unwrap_or_default();
                let (by_proxy, broken) = (counted_by_proxy, Some(error));
                Ok(Completion {
                    counted_by_proxy: by_proxy,
                    max_tokens: bound,
                    server_was_shared: shared,
                    number,
                    streamed,
                    done_without_finish_reason: true,
                    broken,
                    ..received
                })
            }
            Err(error) => {
                // A second answer after a first one was seen is a person's choice.
                let may = error.kind == FailureKind::Unreachable
                    || error.status.is_some_and(|status| retry::is_retryable(status, &|_| None));
                let received = answer.received();
                let received = received.map(|r| Completion { counted_by_proxy, max_tokens: bound, ..r });
                Err(FailedAttempt { can_retry: may && !shown, received, ..error.into() })
            }
        }
    }

    /// A server that says nothing in a stream may say why outside of one, or even answer there.
    async fn send_without_stream(
        &self,
        empty: ProviderError,
        learnt: &LearnedQuirks,
        mut body: Map<String, Value>,
    ) -> Result<Completion, FailedAttempt> {
        body.insert("stream".to_owned(), Value::Bool(false));
        body.remove("stream_options");
        let mut answered = self.send(learnt, &body, false).await;
        // Such a server has often closed the connection behind its silence.
        if answered.as_ref().is_err_and(|failed| failed.error.kind == FailureKind::Unreachable) {
            tokio::time::sleep(self.endpoint.retry.first_wait).await;
            answered = self.send(learnt, &body, false).await;
        }
        match answered {
            Ok(whole) => Ok(whole),
            Err(FailedAttempt { error, received, .. }) => {
                let error = if error.status.is_some() { error } else { empty };
                Err(FailedAttempt { received, ..error.into() })
            }
        }
    }

    /// An answer with a status other than success.
    async fn read_rejection(&self, mut response: Response, sent: &Map<String, Value>) -> FailedAttempt {
        let status = response.status().as_u16();
        let headers = self.redactor.redact_headers(response.headers());
        let header = |name: &str| headers.get(name).map(String::as_str);
        let mut body = Vec::new();
        // What can be had of its words in time; they only explain.
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
        let asked = self.quirks.learned().scale_estimate(self.estimate_prompt_tokens());
        let mut error = error::http_status_error(&self.endpoint, status, &body, asked);
        if let Some(place) = header("location").filter(|_| (300..400).contains(&status)) {
            // Its query may hold anything.
            let place = place.split(['?', '#']).next().unwrap_or(place);
            error.message = format!("{} sends elsewhere ({status}): {place}", self.endpoint.host());
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

    /// How the question is asked again where a stop text or the bound of its tokens ended the reply too early, as far as that
    /// can be told; none where the reply stands.
    fn plan_next_attempt(
        &self,
        whole: &Arc<Completion>,
        before: &Usage,
        trial: &TentativeQuirks,
    ) -> Option<TentativeQuirks> {
        let learnt = self.quirks.learned();
        if whole.refused {
            return None;
        }
        if whole.is_empty() && whole.is_ended_by_stop() && whole.stops_sent && !trial.match_stops_locally {
            if whole.has_reasoning() {
                self.apply_change(&RequestChange::MatchStopsLocally);
            } else if learnt.fruitless_retries >= MAX_FRUITLESS_RETRIES
                || !whole.stop_texts.iter().any(|s| request::is_newline_stop(s))
            {
                return None;
            }
            // Reasoning that the server keeps to itself ends there as well.
            return Some(TentativeQuirks { match_stops_locally: true, ..trial.clone() });
        }
        if !trial.skip_newline_stop && self.is_cut_at_newline(whole) {
            return Some(TentativeQuirks { skip_newline_stop: true, ..trial.clone() });
        }
        let sent = whole
            .max_tokens
            .filter(|_| whole.has_hit_limit() && self.request.sampling.max_tokens.is_none())?;
        if whole.is_empty() {
            if learnt.empty_despite_limit >= MAX_FRUITLESS_RETRIES {
                return None;
            }
            let (room, how) = if sent < REASONING_MAX_TOKENS
                && !learnt.refuses_bound(REASONING_MAX_TOKENS, self.estimate_prompt_tokens())
            {
                (TokenLimit::Tokens(REASONING_MAX_TOKENS), format!("with {REASONING_MAX_TOKENS}"))
            } else if learnt.empty_unbounded {
                return None;
            } else {
                (TokenLimit::ServerDefault, "without a bound".to_owned())
            };
            self.send_notice(format!(
                "all {sent} tokens of max_tokens were used before the reply began; asking again {how}"
            ));
            return Some(TentativeQuirks { min_limit: Some(room), ..trial.clone() });
        }
        if self.request.accept_truncated || trial.doubled_limit.is_some() {
            return None;
        }
        if trial.skip_newline_stop
            && self.may_be_reasoning(whole)
            && learnt.empty_despite_limit < MAX_FRUITLESS_RETRIES
        {
            if trial.min_limit.is_some() || sent >= REASONING_MAX_TOKENS {
                return None;
            }
            self.send_notice(format!(
                "all {sent} tokens of max_tokens were used for prose without an action, which may be reasoning; asking again \
                 with {REASONING_MAX_TOKENS}"
            ));
            return Some(TentativeQuirks {
                min_limit: Some(TokenLimit::Tokens(REASONING_MAX_TOKENS)),
                ..trial.clone()
            });
        }
        if self.has_complete_action(whole) {
            return None;
        }
        let bound = sent.saturating_mul(2);
        if learnt.refuses_bound(bound, self.estimate_prompt_tokens()) {
            return None;
        }
        self.send_notice(format!("the reply was cut off at max_tokens {sent}; asking again with {bound}"));
        Some(TentativeQuirks {
            doubled_limit: Some(DoubledLimit {
                max_tokens: bound,
                truncated_reply: whole.clone(),
                others: *before,
                why: None,
            }),
            ..trial.clone()
        })
    }

    /// The bound of which the server refused a request; later calls don't send as large a one there. A context that is too
    /// small refuses it for prompts that are as long as this one.
    fn learn_refused_bound(&self, failed: &FailedAttempt, trial: &TentativeQuirks) -> Option<u32> {
        let TokenLimit::Tokens(bound) = self.over(trial).token_limit(self.wanted_max_tokens()) else {
            return None;
        };
        let prompt =
            if failed.error.kind == FailureKind::TooLong { self.estimate_prompt_tokens() } else { 0 };
        self.quirks.update(|learnt| {
            let least = learnt.refused_bounds.entry(bound).or_insert(prompt);
            *least = prompt.min(*least);
        });
        Some(bound)
    }

    /// How the question is asked again where the server refuses a bound that is larger than what is wanted, and what is said
    /// of it; none where it is refused for something else.
    fn plan_lower_limit(
        &self,
        failed: &FailedAttempt,
        trial: &TentativeQuirks,
    ) -> Option<(TentativeQuirks, String)> {
        let learnt = self.over(trial);
        let TokenLimit::Tokens(bound) = learnt.token_limit(self.wanted_max_tokens()) else { return None };
        // A smaller bound was taken before in this call, so it is the number that is refused. What was learnt in another one
        // may be refused for what a server refuses of any request.
        let refused = failed.error.kind == FailureKind::TooLong
            || (trial.min_limit.is_some() && failed.may_reject_limit());
        if !refused || bound <= self.wanted_max_tokens() || self.request.sampling.max_tokens.is_some() {
            return None;
        }
        let host = self.endpoint.host();
        Some(if learnt.min_limit.is_some() {
            let words = format!("{host} refused max_tokens {bound}; asking again without max_tokens");
            (TentativeQuirks { min_limit: Some(TokenLimit::ServerDefault), ..trial.clone() }, words)
        } else {
            let wanted = self.wanted_max_tokens();
            let words = format!("{host} refused max_tokens {bound}; asking again with {wanted}");
            (TentativeQuirks { ignore_raised_limit: true, ..trial.clone() }, words)
        })
    }

    /// What the end of an answer says of all that come from there.
    fn learn_from_ending(&self, whole: &Completion) {
        self.quirks.update(|learnt| {
            if whole.has_finish_reason && whole.streamed {
                (learnt.sends_finish_reason, learnt.useless_streams) = (Some(true), 0);
            }
            match whole.usage_in_time {
                Some(true) => (learnt.usage_misses, learnt.usage_skips) = (0, 0),
                Some(false) => {
                    (learnt.usage_misses, learnt.usage_skips) = (learnt.usage_misses.saturating_add(1), 0);
                }
                None => {
                    learnt.usage_skips = learnt.usage_skips.saturating_add(u32::from(whole.stopped_locally));
                }
            }
        });
    }

    /// The server broke the reply off: it says so (`finish_reason`), its stream ended with `[DONE]` and did not say how the reply
    /// ended, or ended without a word while the server had another request of ours. Servers do the latter two to a stream when
    /// another request arrives. A few never say how a reply ended: that is believed where a server that was asked without a stream
    /// says the same words, and where it streams all the same, where the same words came once more than any other reply is asked
    /// for.
    fn is_interrupted(&self, whole: &Completion, before: &[Arc<Completion>]) -> bool {
        if whole.ending() == Some(Finish::Interrupted) {
            return true;
        }
        let known = self.quirks.learned().sends_finish_reason;
        if !whole.done_without_finish_reason || (known == Some(false) && whole.broken.is_none()) {
            return false;
        }
        let last = before.last().map(|earlier| earlier.text.as_str());
        let proved = before.len() as u32 > MAX_INTERRUPTIONS && same_words(before);
        if proved && known.is_none() && !whole.server_was_shared && last == Some(whole.text.as_str()) {
            self.learn_no_finish_reasons();
            return false;
        }
        true
    }

    fn learn_no_finish_reasons(&self) {
        if self.quirks.update(|learnt| learnt.sends_finish_reason = Some(false)) {
            self.quirks.limiter().set_one_at_a_time(false);
            self.send_notice(format!(
                "{} never sends a finish_reason; from now on [DONE] ends its replies",
                self.endpoint.host()
            ));
        }
    }

    /// Prepares for the next request after the server broke off these replies, and changes how it is sent.
    async fn prepare_retry_after_interruption(
        &self,
        replies: &[Arc<Completion>],
        trial: &mut TentativeQuirks,
    ) {
        let Some(last) = replies.last() else { return };
        let (host, count) = (self.endpoint.host(), replies.len() as u32);
        let (shared, beside) =
            (last.server_was_shared && last.done_without_finish_reason, last.broken.is_some());
        let unknown = self.quirks.learned().sends_finish_reason.is_none();
        trial.alone |= shared;
        // A reply that comes in one piece cannot be a half.
        trial.without_stream |=
            count >= MAX_INTERRUPTIONS && unknown && replies.iter().all(|reply| !reply.server_was_shared);
        let how = match (beside, trial.without_stream) {
            (true, _) => " alone",
            (_, true) => " without a stream",
            _ => "",
        };
        let times = if count > MAX_INTERRUPTIONS {
            "once more: it may never say how a reply ends".to_owned()
        } else {
            format!("({count} of {MAX_INTERRUPTIONS})")
        };
        let what = how_interrupted(last);
        self.send_notice(format!("{host} broke off the reply: {what}; asking again{how} {times}"));
        let _ = self.delta_sender.send(Delta::Restarted);
        if shared && !beside {
            // Otherwise this request would interrupt the one that interrupted it.
            self.quirks.limiter().set_one_at_a_time(true);
        } else if !shared
            && let Some(wait) =
                retry::next_wait(&self.endpoint.retry, self.request.seed, count, None, Duration::ZERO)
        {
            tokio::time::sleep(wait).await;
        }
    }

    /// What a good answer says of the streams that broke off before it.
    fn judge_streams(&self, whole: &Completion, interrupted: &[Arc<Completion>]) {
        let Some(first) = interrupted.first() else { return };
        if first.broken.is_some() {
            // It was answered when it was alone.
            self.quirks.limiter().count_break(first.number);
        } else if !whole.streamed && !whole.done_without_finish_reason {
            let same = same_words(interrupted) && first.text.trim() == whole.text.trim();
            if same && self.quirks.learned().sends_finish_reason.is_none() {
                self.learn_no_finish_reasons();
            } else {
                self.count_useless_stream();
            }
        }
    }

    /// Counts a call that was answered only without a stream; whether streams are of no use from now on, which is said then.
    fn count_useless_stream(&self) -> bool {
        let count = |learnt: &mut LearnedQuirks| {
            learnt.useless_streams = learnt.useless_streams.saturating_add(1);
            learnt.without_stream |= learnt.useless_streams >= USELESS_STREAMS;
        };
        let was = self.quirks.learned().without_stream;
        self.quirks.update(count);
        let new = !was && self.quirks.learned().without_stream;
        if new {
            self.send_notice(format!(
                "{} answers only without a stream; from now on it is asked without one",
                self.endpoint.host()
            ));
        }
        new
    }

    /// Waits until it is known whether the server takes several requests at once; else this is the only request.
    async fn probe(&self) -> Option<Probe<'_>> {
        if self.endpoint.one_at_a_time {
            return None;
        }
        let gate = self.quirks.limiter();
        let probe = gate.probe().await?;
        if !probe.waited || !gate.is_suspect() {
            return Some(probe);
        }
        // No request is under way, so looking breaks none off.
        if self.is_llama_cpp_python().await {
            gate.set_one_at_a_time(true);
        }
        gate.decide();
        None
    }

    /// The server is llama-cpp-python's, as its list of models shows: each is owned by "me".
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
        let Ok(Some(list)) = tokio::time::timeout(MODEL_LIST, read).await else { return false };
        let models = list.get("data").and_then(Value::as_array);
        models.is_some_and(|models| {
            let own = |model: &Value| model.get("owned_by").is_some_and(|owner| owner == "me");
            !models.is_empty() && models.iter().all(own)
        })
    }

    fn interruption_error(&self, whole: &Completion) -> ProviderError {
        let what = format!("{} broke off the reply: {}", self.endpoint.host(), how_interrupted(whole));
        let (what, next) = if whole.done_without_finish_reason {
            let next = "retry; if other programs use this server, let it finish one request at a time";
            (format!("{what}, as where another request interrupts it"), next)
        } else {
            (what, "retry later; look at the server's own log or its status page")
        };
        ProviderError::new(what, next).with_kind(FailureKind::Interrupted)
    }

    /// A stop at a newline, the server's or ours, seems to have ended an answer before it said what to do. What a person chose as
    /// stops is theirs to change; a model that ends there by itself is not asked again at every step.
    fn is_cut_at_newline(&self, whole: &Completion) -> bool {
        let Some(cut) =
            self.request.newline_stop_check.filter(|_| self.request.sampling.user_field("stop").is_none())
        else {
            return false;
        };
        let ended = whole.stopped_locally || whole.is_ended_by_stop();
        let by_line = ended
            && !whole.ended_in_reasoning
            && whole.stop_texts.iter().any(|stop| request::is_newline_stop(stop));
        by_line
            && (cut.is_cut_short)(&whole.text)
            && self.quirks.learned().fruitless_retries < MAX_FRUITLESS_RETRIES
    }

    /// The lines that are whole say what to do: that the bound cut the one behind them takes nothing away.
    fn has_complete_action(&self, whole: &Completion) -> bool {
        let lines = whole.text.rfind('\n').and_then(|end| whole.text.get(..end));
        self.request
            .newline_stop_check
            .is_some_and(|cut| lines.is_some_and(|lines| (cut.action)(lines).is_some()))
    }

    /// The bound cut off what may be reasoning without marks: the chat template opened it, and its closing mark has not come.
    fn may_be_reasoning(&self, whole: &Completion) -> bool {
        whole.has_hit_limit()
            && self.request.newline_stop_check.is_some_and(|cut| (cut.may_be_reasoning)(&whole.text))
    }

    /// Why a reply that stands ended early.
    fn truncation(&self, whole: &Completion) -> Option<Truncation> {
        if whole.refused {
            return Some(Truncation::Refusal);
        }
        match whole.ending()? {
            Finish::Complete | Finish::ToolCall => None,
            Finish::Length => (!self.has_complete_action(whole)).then_some(Truncation::Length),
            Finish::Filter => Some(Truncation::Filter),
            Finish::Interrupted | Finish::Unknown => Some(Truncation::Other),
        }
    }

    /// What the last answer says of what was tried with it; what helped is learnt.
    fn learn_from_attempt(&self, whole: &Completion, trial: &TentativeQuirks) {
        let learnt = self.quirks.learned();
        let role = self.request.role.name();
        if trial.match_stops_locally && !learnt.match_stops_locally {
            let counted = whole.token_counts.is_some_and(|counts| counts.reasoning > 0);
            let used_up = trial.min_limit.is_some() || (whole.is_empty() && whole.has_hit_limit());
            if whole.has_reasoning() || counted || used_up {
                self.apply_change(&RequestChange::MatchStopsLocally);
            } else if !whole.is_empty() {
                // Once may be chance: no reasoning was seen.
                self.quirks.update(|learnt| learnt.empty_with_stops += 1);
                if self.quirks.learned().empty_with_stops >= EMPTY_WITH_STOPS {
                    self.apply_change(&RequestChange::EmptyWithStops);
                }
            } else {
                self.quirks.update(|learnt| learnt.fruitless_retries += 1);
            }
        }
        if trial.skip_newline_stop && !learnt.skip_newline_stop {
            self.learn_about_newline_stop(whole);
        }
        if let Some(room) = trial.min_limit {
            if whole.is_empty() || self.may_be_reasoning(whole) {
                let unbounded = whole.is_empty() && room == TokenLimit::ServerDefault;
                self.quirks.update(|learnt| {
                    learnt.empty_despite_limit += 1;
                    learnt.empty_unbounded |= unbounded;
                });
            } else if self.quirks.update(|learnt| learnt.min_limit = learnt.min_limit.max(Some(room))) {
                let (now, set) = match room {
                    TokenLimit::Tokens(n) => (format!("max_tokens is at least {n}"), n.to_string()),
                    TokenLimit::ServerDefault => ("max_tokens is not sent".to_owned(), "off".to_owned()),
                };
                self.send_notice(format!(
                    "{now} for this model from now on (--set {role}.max_tokens={set} skips the first try)"
                ));
            }
        }
        let Some(DoubledLimit { max_tokens: bound, .. }) = trial.doubled_limit else { return };
        let truncated = self.truncation(whole);
        if truncated == Some(Truncation::Length) {
            self.send_notice(format!(
                "the reply was cut off again at max_tokens {bound}; --set {role}.max_tokens={} allows a longer one",
                bound.saturating_mul(2)
            ));
        }
        if truncated.is_some() {
            return;
        }
        let wanted = self.wanted_max_tokens();
        let raise = |learnt: &mut LearnedQuirks| {
            learnt.raised_limits.insert(wanted, bound);
        };
        if self.quirks.update(raise) {
            self.send_notice(format!(
                "max_tokens is {bound} in place of {wanted} for this model from now on \
                 (--set {role}.max_tokens={bound} skips the first try)"
            ));
        }
    }

    /// What an answer without the stop at a newline says of that stop: it has cut something off where the action stands behind
    /// a newline, and where reasoning does.
    fn learn_about_newline_stop(&self, whole: &Completion) {
        if whole.closed_without_opening {
            return self.apply_change(&RequestChange::MatchStopsLocally);
        }
        let (text, learnt) = (&whole.text, self.quirks.learned());
        let Some(cut) = self.request.newline_stop_check else { return };
        let stops = request::stop_texts(&self.endpoint, &learnt, &self.request);
        let ends = stops.iter().filter(|s| request::is_newline_stop(s)).filter_map(|s| text.find(s.as_str()));
        let line = ends.min().and_then(|end| text.get(..end));
        let action = (cut.action)(text);
        // A line that looked like a sentence was the action where the whole answer has no other one.
        let cut_off =
            |line: &str| (cut.is_cut_short)(line) && action.is_some() && (cut.action)(line) != action;
        if line.is_some_and(cut_off) && !self.may_be_reasoning(whole) {
            self.apply_change(&RequestChange::SkipNewlineStop);
        } else {
            self.quirks.update(|learnt| learnt.fruitless_retries += 1);
            self.send_notice(
                "asked again without the stop at a newline, it put no action behind one; the stop stays"
                    .to_owned(),
            );
        }
    }

    /// Learns a change, and says so where another call has not learnt the same meanwhile.
    fn apply_change(&self, change: &RequestChange) {
        if self.quirks.update(|learnt| change.apply(learnt)) {
            self.send_notice(change.describe(&self.endpoint, ""));
        }
    }

    /// Gives an answer again that was taken back for another one, which did not come, or not as a whole.
    fn send_again(&self, whole: &Completion, others: &Usage) {
        let _ = self.delta_sender.send(Delta::Restarted);
        if !whole.reasoning.is_empty() {
            let _ = self.delta_sender.send(Delta::Reasoning(whole.reasoning.clone()));
        }
        let _ = self.delta_sender.send(Delta::Text(whole.text.clone()));
        self.report_reply(whole, others);
    }

    /// The bound that the request would have of a server of which nothing is known.
    fn wanted_max_tokens(&self) -> u32 {
        request::wanted_max_tokens(&self.endpoint, &self.request)
    }

    /// Counts an answer that is of no use, with those `before` it and with the others beside one that may be restored, and tells
    /// it: what comes next may fail.
    fn count_discarded_reply(&self, whole: &Completion, before: &mut Usage, trial: &mut TentativeQuirks) {
        let usage = self.usage(whole);
        for sum in std::iter::once(&mut *before).chain(trial.doubled_limit.as_mut().map(|d| &mut d.others)) {
            *sum = Usage::default().with_earlier(&usage.with_earlier(sum));
        }
        let _ = self.delta_sender.send(Delta::Usage(*before));
    }

    /// Tells what a good answer has to say beside its words, and what it cost with the answers `before` it that were of no use.
    fn report_reply(&self, whole: &Completion, before: &Usage) {
        let truncated = self.truncation(whole);
        let _ = truncated.map(|by| self.delta_sender.send(Delta::Truncated(by)));
        let _ = self.delta_sender.send(Delta::Usage(self.usage(whole).with_earlier(before)));
        if whole.has_finish_reason && self.quirks.limiter().should_announce() {
            self.send_notice(format!(
                "{} breaks off a reply when another request arrives; it gets one request at a time from now on \
                 (one_at_a_time = true in its profile says so from the start)",
                self.endpoint.host()
            ));
        }
        let host = self.endpoint.host();
        if whole.closed_without_opening {
            // A stop text would end its reasoning, and nothing would tell that from a reply.
            let stops = !whole.stop_texts.is_empty();
            if self.quirks.update(|l| {
                (l.starts_in_reasoning, l.match_stops_locally) = (true, l.match_stops_locally || stops);
            }) {
                self.send_notice(format!(
                    "{host} answers from inside of its reasoning, without an opening mark; from now on that is expected"
                ));
            }
        }
        let reason = whole.reason();
        let asked = self.quirks.learned().scale_estimate(self.estimate_prompt_tokens());
        match (whole.ending(), whole.is_empty()) {
            _ if whole.refused => {
                self.send_notice(format!("the model refused to answer: {}", text::truncate(&whole.text, 200, "…")));
            }
            (Some(Finish::Length), true) => self.send_notice(self.empty_reply_notice(whole)),
            (Some(Finish::ToolCall), true) => self.send_notice(format!(
                "the model answered with a tool call (finish_reason {reason}), and it is offered no tools: switch tool calling \
                 off in the server or its chat template, or choose another model"
            )),
            (Some(Finish::Filter), true) => {
                self.send_notice(format!("the reply is empty: the filter of {host} withheld it (finish_reason {reason})"));
            }
            (_, true) if !whole.has_reasoning() => self.send_notice(format!(
                "the answer of {host} is empty (finish_reason {reason}); where a prompt of about {asked} tokens is longer than \
                 its context, some servers say it so"
            )),
            (_, true) => {
                self.send_notice(format!("the model reasoned and then said nothing (finish_reason {reason})"));
            }
            (Some(Finish::Filter), false) => {
                self.send_notice(format!("{host} cut the answer by its filter (finish_reason {reason})"));
            }
            (Some(Finish::Unknown), false) if self.quirks.update(|l| l.odd_ending = true) => {
                self.send_notice(format!(
                    "{host} ends replies with finish_reason {reason}, which is not known here: such a reply counts as cut off, \
                     and only what is complete in it is used (--set accept_truncated=true uses all of it)"
                ));
            }
            _ => {}
        }
    }

    /// Why a reply is empty whose tokens were all used.
    fn empty_reply_notice(&self, whole: &Completion) -> String {
        let role = self.request.role.name();
        let counted = whole.token_counts.map(|counts| counts.reply);
        // A question's own bound is nobody's setting.
        let own = self.request.sampling.max_tokens.is_some();
        let unbounded = self.quirks.learned().empty_unbounded;
        match (whole.max_tokens, counted) {
            (Some(bound), Some(reply)) if reply < u64::from(bound) / 2 => format!(
                "the reply is empty: it ended after {reply} tokens, before max_tokens ({bound}); the context of the model is \
                 full (finish_reason length)"
            ),
            (Some(bound), _) if own => format!(
                "the reply is empty: it reached its limit of {bound} token{} before it began (finish_reason length)",
                if bound == 1 { "" } else { "s" }
            ),
            (Some(bound), _) if unbounded => format!(
                "the reply is empty: all {bound} tokens of max_tokens were used before it began (finish_reason length), and \
                 without max_tokens no reply came either; switch the model's reasoning off, or choose another model"
            ),
            (Some(bound), _) => format!(
                "the reply is empty: all {bound} tokens of max_tokens were used before it began (finish_reason length); \
                 --set {role}.max_tokens=N allows more, or switch the model's reasoning off"
            ),
            (None, _) => "the reply is empty: all tokens that the server allows were used before it began (finish_reason \
                          length); switch the model's reasoning off, or choose another model"
                .to_owned(),
        }
    }

    /// What it cost, and whose count that is.
    fn usage(&self, whole: &Completion) -> Usage {
        let estimate = self.estimate_prompt_tokens();
        if whole.impossible_counts && self.quirks.update(|learnt| learnt.impossible_counts = true) {
            self.send_notice(format!(
                "{} reports token counts that cannot be true; tokens are estimated in their place",
                self.endpoint.host()
            ));
        }
        let usage = if let Some(counts) = whole.token_counts {
            let proxy = whole.counted_by_proxy || self.endpoint.counted_by_proxy;
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
            let letters = whole.text.chars().count() + whole.reasoning_chars;
            Usage {
                prompt_tokens: self.quirks.learned().scale_estimate(estimate),
                reply_tokens: (letters as u64).div_ceil(4),
                reasoning_tokens: (whole.reasoning_chars as u64).div_ceil(4),
                estimated: true,
                ..Usage::default()
            }
        };
        let cost = self.endpoint.prices.map_or(0, |p| p.cost_nano(usage.prompt_tokens, usage.reply_tokens));
        Usage { cost_nano: cost, ..usage }
    }

    /// Estimated tokens of the prompt: a quarter of its characters.
    fn estimate_prompt_tokens(&self) -> u64 {
        let letters: usize = self.request.prompt.segments.iter().map(|s| s.text.chars().count()).sum();
        (letters as u64).div_ceil(4)
    }

    fn send_notice(&self, words: String) {
        let clean = self.redactor.redact(&words);
        let _ = self.delta_sender.send(Delta::Notice(if clean == words { words } else { clean }));
    }
}

/// Why a reply that is empty or a refusal is not taken in place of one that was cut off.
fn no_reply(whole: &Completion) -> ProviderError {
    let what = if whole.refused {
        format!("the model refused to answer: {}", text::truncate(&whole.text, 200, "…"))
    } else {
        format!("the reply was empty, finish_reason {}", whole.reason())
    };
    ProviderError::new(what, "retry").with_kind(FailureKind::EmptyReply)
}

/// How a reply shows that the server broke it off.
fn how_interrupted(whole: &Completion) -> String {
    if whole.broken.is_some() {
        "its stream ended while the server had another request".to_owned()
    } else if whole.done_without_finish_reason {
        "[DONE] without a finish_reason".to_owned()
    } else {
        format!("finish_reason {}", whole.reason())
    }
}

/// The answer ended before it said so: the connection or the stream did.
fn broke_off(error: &ProviderError) -> bool {
    use FailureKind::{EmptyReply, Interrupted, Unreachable};
    error.status.is_none() && matches!(error.kind, EmptyReply | Interrupted | Unreachable)
}

/// All these replies are of the same words, and no other request of ours was in their way.
fn same_words(replies: &[Arc<Completion>]) -> bool {
    let first = replies.first().map_or("", |first| first.text.as_str());
    !first.is_empty()
        && replies
            .iter()
            .all(|reply| reply.done_without_finish_reason && !reply.server_was_shared && reply.text == first)
}

/// The words of a server are redacted where they come in. What other libraries say of its answer, and what joining makes of
/// harmless parts, is so here.
pub(super) fn redact_error(redactor: &Redactor, error: ProviderError) -> ProviderError {
    ProviderError { message: redactor.redact(&error.message), hint: redactor.redact(&error.hint), ..error }
}

/// A failure after so many repetitions.
fn with_retry_count(mut error: ProviderError, repeated: u32) -> ProviderError {
    if repeated > 0 {
        let times = if repeated == 1 { "once".to_owned() } else { format!("{repeated} times") };
        error.message = format!("{} (asked again {times})", error.message);
    }
    error
}
