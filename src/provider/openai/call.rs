//! A call from its first request to its last: retries, changes to the request, and notices for the person.

mod interruption;
mod next_attempt;
mod reply_report;
mod send;

use super::call_timer::CallTimer;
use super::client::HttpClients;
use super::endpoint::Endpoint;
use super::learned_quirks::QuirkStore;
use super::redactor::Redactor;
use super::rejected_param::RequestChange;
use super::reply_reader::Completion;
use super::retry;
use crate::domain::{CallPhase, Usage};
use crate::provider::{Delta, FailureKind, ProviderError, Request};
use crate::text;
use interruption::{MAX_INTERRUPTIONS, have_same_text};
use next_attempt::{DoubledLimit, TentativeQuirks};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::Instant;

/// A token limit that leaves room for a reply after the reasoning of most models.
pub(super) const REASONING_MAX_TOKENS: u32 = 4096;
/// How often a request is changed for a server before the call fails.
const MAX_REQUEST_CHANGES: u32 = 12;

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

/// Why an attempt failed, and whether another one is allowed.
struct FailedAttempt {
    error: ProviderError,
    /// The request may be retried without asking the person.
    can_retry: bool,
    requested_wait: Option<Duration>,
    /// The connection ended before a response.
    was_closed: bool,
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
        Self {
            error,
            can_retry: false,
            requested_wait: None,
            was_closed: false,
            change: None,
            received: None,
        }
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
        let mut was_closed = false;
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
            // Most likely a kept connection that the server was about to close; another one tells whether it is there.
            if failed.was_closed && !std::mem::replace(&mut was_closed, true) {
                continue;
            }
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
            // The screen counts the seconds down.
            self.send_notice(format!("{}; retry {attempt} of {max_retries}", failed.error.message));
            let _ = self.delta_sender.send(Delta::Phase(CallPhase::Retrying(wait)));
            tokio::time::sleep(wait).await;
        }
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
