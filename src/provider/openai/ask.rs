//! A call from its first request to its last: what is sent again, what is sent otherwise, and what a person is told.

use super::answer::{Answer, Completion};
use super::call_timer::CallTimer;
use super::client::Http;
use super::endpoint::Endpoint;
use super::error;
use super::finish::Finish;
use super::gate::Probe;
use super::learned_quirks::{Bound, EMPTY_WITH_STOPS, Learnt, Memory};
use super::redactor::Redactor;
use super::rejected_param::Change;
use super::request;
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
const ERROR_BODY: usize = 256 << 10;
/// How often a request is changed for a server before it is given up.
const CHANGES: u32 = 12;
/// How often a model is asked without the stop at a newline for nothing.
const FRUITLESS: u32 = 2;
/// How often a reply that the server broke off is asked for again.
const INTERRUPTIONS: u32 = 2;

/// So many calls in a row that were answered only without a stream show that streams are of no use there.
const USELESS_STREAMS: u32 = 2;
/// How long a server may take to list its models before it gets several requests at once without that.
const MODEL_LIST: Duration = Duration::from_secs(5);

/// The bound that leaves room for a reply behind the reasoning of most models.
pub(super) const ROOM: u32 = 4096;

/// A call to an endpoint.
pub(super) struct Call {
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) memory: Arc<Memory>,
    pub(super) http: Arc<Http>,
    pub(super) redactor: Redactor,
    pub(super) request: Request,
    pub(super) tell: UnboundedSender<Delta>,
    pub(super) timer: CallTimer,
}

/// What one call sends in addition to what was learnt, until a reply shows whether it helps.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent changes of a request")]
struct Trial {
    /// No stop at a newline.
    lines: bool,
    /// No stop text: replies are cut here.
    stop_here: bool,
    /// At least this bound, because the reply was empty at a smaller one.
    room: Option<Bound>,
    doubled: Option<Doubled>,
    /// The bound as it was wanted, because a larger one that was learnt leaves too little of the context to the prompt.
    unraised: bool,
    /// No other request of ours beside it, because one may have broken the reply off.
    alone: bool,
    /// No stream, because streams did not say how the reply ended.
    without_stream: bool,
}

/// A bound of which the half cut a reply off.
#[derive(Clone, Debug)]
struct Doubled {
    bound: u32,
    /// The reply that was cut off, and what the others of the call cost: it stands where no better one comes.
    cut: Arc<Completion>,
    others: Usage,
    /// What came of the larger bound, in words.
    why: Option<String>,
}

impl Trial {
    /// What is sent: what is known of the server, with this.
    fn over(&self, mut learnt: Learnt, wanted: u32, prompt: u64) -> Learnt {
        learnt.lines |= self.lines;
        learnt.stop_here |= self.stop_here;
        learnt.without_stream |= self.without_stream;
        learnt.room = learnt.room.max(self.room);
        let raised = learnt.raised.get(&wanted).is_some_and(|bound| learnt.refuses_bound(*bound, prompt));
        if self.unraised || raised {
            learnt.raised.remove(&wanted);
        }
        if let Some(doubled) = &self.doubled {
            learnt.raised.insert(wanted, doubled.bound);
        }
        learnt
    }
}

/// Why a try failed, and whether another one is allowed.
struct Failed {
    error: ProviderError,
    /// The answer may be asked for again without a word of a person.
    again: bool,
    wait: Option<Duration>,
    change: Option<Change>,
    /// What had come of an answer: it is no answer, but it was paid for.
    received: Option<Completion>,
}

impl Failed {
    /// The server may have refused the number of tokens that was asked for.
    fn refuses_bound(&self) -> bool {
        let change = self.change.as_ref().is_some_and(Change::is_bound);
        change || matches!(self.error.kind, FailureKind::TooLong | FailureKind::BadRequest)
    }
}

impl From<ProviderError> for Failed {
    fn from(error: ProviderError) -> Self {
        Self { error, again: false, wait: None, change: None, received: None }
    }
}

impl Call {
    /// Asks until there is an answer or nothing more to try.
    pub(super) async fn run(self) -> Result<Arc<Completion>, ProviderError> {
        self.in_time().await.map_err(|error| redacted(&self.redactor, error))
    }

    async fn in_time(&self) -> Result<Arc<Completion>, ProviderError> {
        let mut trial = Trial::default();
        let done = self.before_deadline(self.tries(&mut trial)).await;
        match (done, trial.doubled.take()) {
            (Err(error), Some(Doubled { bound, cut, others, why })) => {
                let why = why.unwrap_or_else(|| format!("asking again with max_tokens {bound} failed"));
                self.notice(format!("{why}; the reply stays cut off ({})", error.what));
                self.restore(&cut, &others);
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
        self.timer.deadline(self.endpoint.times.total?)
    }

    fn overdue(&self) -> ProviderError {
        let seconds = self.endpoint.times.total.unwrap_or_default().as_secs_f64();
        let what = format!("{} was not done within {seconds} s", self.endpoint.host());
        let next = "retry; total_seconds in the endpoint's profile says how long is waited";
        ProviderError::new(what, next).of_kind(FailureKind::TimedOut)
    }

    async fn tries(&self, trial: &mut Trial) -> Result<Arc<Completion>, ProviderError> {
        let policy = self.endpoint.retry;
        let (mut attempt, mut waited, mut changes) = (0, Duration::ZERO, 0);
        let (mut before, mut silent) = (Usage::default(), false);
        let mut interrupted: Vec<Arc<Completion>> = Vec::new();
        loop {
            let failed = match self.once(trial, &mut silent, &mut before).await {
                Ok(whole) if self.is_interrupted(&whole, &interrupted) => {
                    self.in_vain(&whole, &mut before, trial);
                    let whole = Arc::new(whole);
                    let count = interrupted.len() as u32;
                    interrupted.push(whole.clone());
                    let once_more = count == INTERRUPTIONS
                        && same_words(&interrupted)
                        && self.memory.learnt().finish_reasons.is_none();
                    if count >= INTERRUPTIONS && !once_more {
                        return Err(after(self.interrupted(&whole), count));
                    }
                    self.ask_interrupted_again(&interrupted, trial).await;
                    continue;
                }
                Ok(whole) => {
                    let whole = Arc::new(whole);
                    let Some(mut next) = self.next(&whole, &before, trial) else {
                        if trial.doubled.is_some() && (whole.is_empty() || whole.refused) {
                            self.in_vain(&whole, &mut before, trial);
                            self.judge(&whole, trial);
                            return Err(no_reply(&whole));
                        }
                        self.judge_streams(&whole, &interrupted);
                        self.finish(&whole, &before);
                        self.judge(&whole, trial);
                        return Ok(whole);
                    };
                    // The reply that was cut off is not among the others.
                    let doubles = trial.doubled.is_none() && next.doubled.is_some();
                    self.in_vain(&whole, &mut before, if doubles { &mut *trial } else { &mut next });
                    let _ = self.tell.send(Delta::Anew);
                    *trial = next;
                    continue;
                }
                Err(failed) => failed,
            };
            if let Some(received) = &failed.received {
                self.in_vain(received, &mut before, trial);
            }
            if trial.doubled.is_some() && failed.refuses_bound() {
                let sent = self.learn_refused_bound(&failed, trial);
                let host = self.endpoint.host();
                if let (Some(doubled), Some(bound)) = (&mut trial.doubled, sent) {
                    doubled.why = Some(format!("{host} refused max_tokens {bound}"));
                }
                return Err(failed.error);
            }
            if let Some((next, words)) = self.lower(&failed, trial) {
                self.learn_refused_bound(&failed, trial);
                self.notice(format!("{words} ({})", failed.error.what));
                *trial = next;
                continue;
            }
            if let Some(change) = failed.change.filter(|_| changes < CHANGES) {
                changes += 1;
                // Another call may have learnt the same meanwhile; it was told then.
                if self.memory.learn(|learnt| change.learn(learnt)) {
                    self.notice(change.told(&self.endpoint, &failed.error.what));
                }
                continue;
            }
            attempt += 1;
            let most = if failed.error.status == Some(500) { policy.after_500 } else { policy.times };
            if !failed.again || attempt > most {
                return Err(after(failed.error, attempt - 1));
            }
            let Some(wait) = retry::wait(&policy, self.request.seed, attempt, failed.wait, waited) else {
                let asks =
                    failed.wait.map_or_else(String::new, |w| format!("; it asks to wait {} s", w.as_secs()));
                let mut error = after(failed.error, attempt - 1);
                error.what.push_str(&asks);
                return Err(error);
            };
            waited += wait;
            self.notice(format!(
                "{}; asking again in {:.1} s ({attempt} of {most})",
                failed.error.what,
                wait.as_secs_f64()
            ));
            tokio::time::sleep(wait).await;
        }
    }

    /// One request and its answer. `silent`: it was told that the server says nothing in a stream; `before`: what was of no use.
    async fn once(
        &self,
        trial: &mut Trial,
        silent: &mut bool,
        before: &mut Usage,
    ) -> Result<Completion, Failed> {
        let learnt = self.over(trial);
        let body = request::body(&self.endpoint, &learnt, &self.request);
        match self.send(&learnt, &body, trial.alone).await {
            Err(failed) if failed.error.kind == FailureKind::EmptyReply && !learnt.without_stream => {
                if let Some(received) = &failed.received {
                    self.in_vain(received, before, trial);
                }
                let whole = self.without_stream(failed.error, &learnt, body).await?;
                if !std::mem::replace(silent, true) && !self.count_useless_stream() {
                    let host = self.endpoint.host();
                    self.notice(format!("{host} says nothing in a stream; it was asked without one"));
                }
                Ok(whole)
            }
            answered => answered,
        }
    }

    /// What is known of the server, with what this call tries.
    fn over(&self, trial: &Trial) -> Learnt {
        trial.over(self.memory.learnt(), self.wanted(), self.estimate())
    }

    async fn send(
        &self,
        learnt: &Learnt,
        body: &Map<String, Value>,
        alone: bool,
    ) -> Result<Completion, Failed> {
        let (endpoint, gate) = (&*self.endpoint, self.memory.gate());
        let mut probe = self.timer.queue(self.probe()).await;
        let admission = self.timer.queue(gate.admit(alone || endpoint.one_at_a_time)).await;
        let _ = self.tell.send(Delta::Phase(Phase::Connecting));
        let response = self.http.ask(endpoint, Value::Object(body.clone()).to_string(), &self.tell).await;
        let response = response.map_err(|error| {
            if error.kind == FailureKind::TimedOut {
                // The requests that wait for this one would time out one after the other.
                gate.decide();
            }
            Failed { again: error.kind == FailureKind::Unreachable, ..error.into() }
        })?;
        let status = response.status().as_u16();
        if status != 200 {
            let failed = self.refusal(response, body).await;
            return if status == 400 && error::bound_used_up(&failed.error.what) {
                Ok(Completion::used_up(request::sent_bound(body)))
            } else {
                Err(failed)
            };
        }
        let headers = self.redactor.headers(response.headers());
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
            .of_kind(FailureKind::InvalidResponse)
            .into());
        }
        let stops = request::stops(endpoint, learnt, &self.request);
        let bound = request::sent_bound(body);
        let counted_by_proxy = headers.keys().any(|name| name.starts_with("x-litellm-"));
        let mut answer = Answer::new(
            endpoint,
            &self.redactor,
            learnt,
            &stops,
            bound,
            learnt.scaled(self.estimate()),
            &self.tell,
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
        let (shown, shared, number) = (answer.shown(), admission.was_shared(), admission.number());
        let streamed = body.get("stream").is_some_and(|stream| *stream == Value::Bool(true));
        match read {
            Ok(whole) if whole.unfinished && whole.text.is_empty() && whole.reasoned == 0 => {
                // Nothing at all: another request interrupted it, or the server has nothing to say.
                if !shared {
                    return Err(answer.empty().into());
                }
                Ok(Completion { shared, number, streamed, ..whole })
            }
            Ok(whole) => {
                let by_proxy = counted_by_proxy;
                let whole =
                    Completion { by_proxy, stops, stops_sent, bound, shared, number, streamed, ..whole };
                self.learn_endings(&whole);
                Ok(whole)
            }
            // Another request of ours may be why it broke off.
            Err(error) if shared && streamed && broke_off(&error) => {
                let received = answer.received().unwrap_or_default();
                let (by_proxy, broken) = (counted_by_proxy, Some(error));
                Ok(Completion {
                    by_proxy,
                    bound,
                    shared,
                    number,
                    streamed,
                    unfinished: true,
                    broken,
                    ..received
                })
            }
            Err(error) => {
                // A second answer after a first one was seen is a person's choice.
                let may = error.kind == FailureKind::Unreachable
                    || error.status.is_some_and(|status| retry::may(status, &|_| None));
                let received = answer.received();
                let received = received.map(|r| Completion { by_proxy: counted_by_proxy, bound, ..r });
                Err(Failed { again: may && !shown, received, ..error.into() })
            }
        }
    }

    /// A server that says nothing in a stream may say why outside of one, or even answer there.
    async fn without_stream(
        &self,
        empty: ProviderError,
        learnt: &Learnt,
        mut body: Map<String, Value>,
    ) -> Result<Completion, Failed> {
        body.insert("stream".to_owned(), Value::Bool(false));
        body.remove("stream_options");
        let mut answered = self.send(learnt, &body, false).await;
        // Such a server has often closed the connection behind its silence.
        if answered.as_ref().is_err_and(|failed| failed.error.kind == FailureKind::Unreachable) {
            tokio::time::sleep(self.endpoint.retry.first).await;
            answered = self.send(learnt, &body, false).await;
        }
        match answered {
            Ok(whole) => Ok(whole),
            Err(Failed { error, received, .. }) => {
                let error = if error.status.is_some() { error } else { empty };
                Err(Failed { received, ..error.into() })
            }
        }
    }

    /// An answer with a status other than success.
    async fn refusal(&self, mut response: Response, sent: &Map<String, Value>) -> Failed {
        let status = response.status().as_u16();
        let headers = self.redactor.headers(response.headers());
        let header = |name: &str| headers.get(name).map(String::as_str);
        let mut body = Vec::new();
        // What can be had of its words in time; they only explain.
        let read = async {
            while let Ok(Some(piece)) = response.chunk().await {
                body.extend_from_slice(&piece);
                if body.len() > ERROR_BODY {
                    break;
                }
            }
        };
        let _ = tokio::time::timeout(self.endpoint.times.idle, read).await;
        let body = self.redactor.body(&body);
        let asked = self.memory.learnt().scaled(self.estimate());
        let mut error = error::refused(&self.endpoint, status, &body, asked);
        if let Some(place) = header("location").filter(|_| (300..400).contains(&status)) {
            // Its query may hold anything.
            let place = place.split(['?', '#']).next().unwrap_or(place);
            error.what = format!("{} sends elsewhere ({status}): {place}", self.endpoint.host());
        }
        Failed {
            again: retry::may(status, &header)
                && !matches!(error.kind, FailureKind::OutOfCredit | FailureKind::TooLong),
            wait: retry::asked(&header).or_else(|| retry::asked_in(&body)),
            change: Change::asked_by(status, &body, sent, &self.memory.learnt()),
            received: None,
            error,
        }
    }

    /// How the question is asked again where a stop text or the bound of its tokens ended the reply too early, as far as that
    /// can be told; none where the reply stands.
    fn next(&self, whole: &Arc<Completion>, before: &Usage, trial: &Trial) -> Option<Trial> {
        let learnt = self.memory.learnt();
        if whole.refused {
            return None;
        }
        if whole.is_empty() && whole.ended() && whole.stops_sent && !trial.stop_here {
            if whole.has_reasoned() {
                self.learn(&Change::StopHere);
            } else if learnt.fruitless >= FRUITLESS || !whole.stops.iter().any(|s| request::is_newline(s)) {
                return None;
            }
            // Reasoning that the server keeps to itself ends there as well.
            return Some(Trial { stop_here: true, ..trial.clone() });
        }
        if !trial.lines && self.cut(whole) {
            return Some(Trial { lines: true, ..trial.clone() });
        }
        let sent = whole.bound.filter(|_| whole.hit_bound() && self.request.wish.max_tokens.is_none())?;
        if whole.is_empty() {
            if learnt.starved >= FRUITLESS {
                return None;
            }
            let (room, how) = if sent < ROOM && !learnt.refuses_bound(ROOM, self.estimate()) {
                (Bound::Tokens(ROOM), format!("with {ROOM}"))
            } else if learnt.empty_unbounded {
                return None;
            } else {
                (Bound::Server, "without a bound".to_owned())
            };
            self.notice(format!(
                "all {sent} tokens of max_tokens were used before the reply began; asking again {how}"
            ));
            return Some(Trial { room: Some(room), ..trial.clone() });
        }
        if self.request.accept_truncated || trial.doubled.is_some() {
            return None;
        }
        if trial.lines && self.may_be_reasoning(whole) && learnt.starved < FRUITLESS {
            if trial.room.is_some() || sent >= ROOM {
                return None;
            }
            self.notice(format!(
                "all {sent} tokens of max_tokens were used for prose without an action, which may be reasoning; asking again \
                 with {ROOM}"
            ));
            return Some(Trial { room: Some(Bound::Tokens(ROOM)), ..trial.clone() });
        }
        if self.acts(whole) {
            return None;
        }
        let bound = sent.saturating_mul(2);
        if learnt.refuses_bound(bound, self.estimate()) {
            return None;
        }
        self.notice(format!("the reply was cut off at max_tokens {sent}; asking again with {bound}"));
        Some(Trial {
            doubled: Some(Doubled { bound, cut: whole.clone(), others: *before, why: None }),
            ..trial.clone()
        })
    }

    /// The bound of which the server refused a request; later calls don't send as large a one there. A context that is too
    /// small refuses it for prompts that are as long as this one.
    fn learn_refused_bound(&self, failed: &Failed, trial: &Trial) -> Option<u32> {
        let Bound::Tokens(bound) = self.over(trial).bound(self.wanted()) else { return None };
        let prompt = if failed.error.kind == FailureKind::TooLong { self.estimate() } else { 0 };
        self.memory.learn(|learnt| {
            let least = learnt.refused_bounds.entry(bound).or_insert(prompt);
            *least = prompt.min(*least);
        });
        Some(bound)
    }

    /// How the question is asked again where the server refuses a bound that is larger than what is wanted, and what is said
    /// of it; none where it is refused for something else.
    fn lower(&self, failed: &Failed, trial: &Trial) -> Option<(Trial, String)> {
        let learnt = self.over(trial);
        let Bound::Tokens(bound) = learnt.bound(self.wanted()) else { return None };
        // A smaller bound was taken before in this call, so it is the number that is refused. What was learnt in another one
        // may be refused for what a server refuses of any request.
        let refused =
            failed.error.kind == FailureKind::TooLong || (trial.room.is_some() && failed.refuses_bound());
        if !refused || bound <= self.wanted() || self.request.wish.max_tokens.is_some() {
            return None;
        }
        let host = self.endpoint.host();
        Some(if learnt.room.is_some() {
            let words = format!("{host} refused max_tokens {bound}; asking again without max_tokens");
            (Trial { room: Some(Bound::Server), ..trial.clone() }, words)
        } else {
            let wanted = self.wanted();
            let words = format!("{host} refused max_tokens {bound}; asking again with {wanted}");
            (Trial { unraised: true, ..trial.clone() }, words)
        })
    }

    /// What the end of an answer says of all that come from there.
    fn learn_endings(&self, whole: &Completion) {
        self.memory.learn(|learnt| {
            if whole.finished && whole.streamed {
                (learnt.finish_reasons, learnt.useless_streams) = (Some(true), 0);
            }
            match whole.late_usage {
                Some(true) => (learnt.usage_misses, learnt.usage_skips) = (0, 0),
                Some(false) => {
                    (learnt.usage_misses, learnt.usage_skips) = (learnt.usage_misses.saturating_add(1), 0);
                }
                None => learnt.usage_skips = learnt.usage_skips.saturating_add(u32::from(whole.stopped)),
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
        let known = self.memory.learnt().finish_reasons;
        if !whole.unfinished || (known == Some(false) && whole.broken.is_none()) {
            return false;
        }
        let last = before.last().map(|earlier| earlier.text.as_str());
        let proved = before.len() as u32 > INTERRUPTIONS && same_words(before);
        if proved && known.is_none() && !whole.shared && last == Some(whole.text.as_str()) {
            self.learn_no_finish_reasons();
            return false;
        }
        true
    }

    fn learn_no_finish_reasons(&self) {
        if self.memory.learn(|learnt| learnt.finish_reasons = Some(false)) {
            self.memory.gate().set_one_at_a_time(false);
            self.notice(format!(
                "{} never sends a finish_reason; from now on [DONE] ends its replies",
                self.endpoint.host()
            ));
        }
    }

    /// Prepares for the next request after the server broke off these replies, and changes how it is sent.
    async fn ask_interrupted_again(&self, replies: &[Arc<Completion>], trial: &mut Trial) {
        let Some(last) = replies.last() else { return };
        let (host, count) = (self.endpoint.host(), replies.len() as u32);
        let (shared, beside) = (last.shared && last.unfinished, last.broken.is_some());
        let unknown = self.memory.learnt().finish_reasons.is_none();
        trial.alone |= shared;
        // A reply that comes in one piece cannot be a half.
        trial.without_stream |=
            count >= INTERRUPTIONS && unknown && replies.iter().all(|reply| !reply.shared);
        let how = match (beside, trial.without_stream) {
            (true, _) => " alone",
            (_, true) => " without a stream",
            _ => "",
        };
        let times = if count > INTERRUPTIONS {
            "once more: it may never say how a reply ends".to_owned()
        } else {
            format!("({count} of {INTERRUPTIONS})")
        };
        let what = how_interrupted(last);
        self.notice(format!("{host} broke off the reply: {what}; asking again{how} {times}"));
        let _ = self.tell.send(Delta::Anew);
        if shared && !beside {
            // Otherwise this request would interrupt the one that interrupted it.
            self.memory.gate().set_one_at_a_time(true);
        } else if !shared
            && let Some(wait) =
                retry::wait(&self.endpoint.retry, self.request.seed, count, None, Duration::ZERO)
        {
            tokio::time::sleep(wait).await;
        }
    }

    /// What a good answer says of the streams that broke off before it.
    fn judge_streams(&self, whole: &Completion, interrupted: &[Arc<Completion>]) {
        let Some(first) = interrupted.first() else { return };
        if first.broken.is_some() {
            // It was answered when it was alone.
            self.memory.gate().count_break(first.number);
        } else if !whole.streamed && !whole.unfinished {
            let same = same_words(interrupted) && first.text.trim() == whole.text.trim();
            if same && self.memory.learnt().finish_reasons.is_none() {
                self.learn_no_finish_reasons();
            } else {
                self.count_useless_stream();
            }
        }
    }

    /// Counts a call that was answered only without a stream; whether streams are of no use from now on, which is said then.
    fn count_useless_stream(&self) -> bool {
        let count = |learnt: &mut Learnt| {
            learnt.useless_streams = learnt.useless_streams.saturating_add(1);
            learnt.without_stream |= learnt.useless_streams >= USELESS_STREAMS;
        };
        let was = self.memory.learnt().without_stream;
        self.memory.learn(count);
        let new = !was && self.memory.learnt().without_stream;
        if new {
            self.notice(format!(
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
        let gate = self.memory.gate();
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
                if body.len() > ERROR_BODY {
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

    fn interrupted(&self, whole: &Completion) -> ProviderError {
        let what = format!("{} broke off the reply: {}", self.endpoint.host(), how_interrupted(whole));
        let (what, next) = if whole.unfinished {
            let next = "retry; if other programs use this server, let it finish one request at a time";
            (format!("{what}, as where another request interrupts it"), next)
        } else {
            (what, "retry later; look at the server's own log or its status page")
        };
        ProviderError::new(what, next).of_kind(FailureKind::Interrupted)
    }

    /// A stop at a newline, the server's or ours, seems to have ended an answer before it said what to do. What a person chose as
    /// stops is theirs to change; a model that ends there by itself is not asked again at every step.
    fn cut(&self, whole: &Completion) -> bool {
        let Some(cut) = self.request.cut.filter(|_| self.request.wish.field("stop").is_none()) else {
            return false;
        };
        let ended = whole.stopped || whole.ended();
        let by_line = ended && !whole.inside && whole.stops.iter().any(|stop| request::is_newline(stop));
        by_line && (cut.short)(&whole.text) && self.memory.learnt().fruitless < FRUITLESS
    }

    /// The lines that are whole say what to do: that the bound cut the one behind them takes nothing away.
    fn acts(&self, whole: &Completion) -> bool {
        let lines = whole.text.rfind('\n').and_then(|end| whole.text.get(..end));
        self.request.cut.is_some_and(|cut| lines.is_some_and(|lines| (cut.action)(lines).is_some()))
    }

    /// The bound cut off what may be reasoning without marks: the chat template opened it, and its closing mark has not come.
    fn may_be_reasoning(&self, whole: &Completion) -> bool {
        whole.hit_bound() && self.request.cut.is_some_and(|cut| (cut.may_be_reasoning)(&whole.text))
    }

    /// Why a reply that stands ended early.
    fn truncation(&self, whole: &Completion) -> Option<Truncation> {
        if whole.refused {
            return Some(Truncation::Refusal);
        }
        match whole.ending()? {
            Finish::Complete | Finish::ToolCall => None,
            Finish::Length => (!self.acts(whole)).then_some(Truncation::Length),
            Finish::Filter => Some(Truncation::Filter),
            Finish::Interrupted | Finish::Unknown => Some(Truncation::Other),
        }
    }

    /// What the last answer says of what was tried with it; what helped is learnt.
    fn judge(&self, whole: &Completion, trial: &Trial) {
        let learnt = self.memory.learnt();
        let role = self.request.asked.name();
        if trial.stop_here && !learnt.stop_here {
            let counted = whole.counts.is_some_and(|counts| counts.reasoning > 0);
            let used_up = trial.room.is_some() || (whole.is_empty() && whole.hit_bound());
            if whole.has_reasoned() || counted || used_up {
                self.learn(&Change::StopHere);
            } else if !whole.is_empty() {
                // Once may be chance: no reasoning was seen.
                self.memory.learn(|learnt| learnt.empty_with_stops += 1);
                if self.memory.learnt().empty_with_stops >= EMPTY_WITH_STOPS {
                    self.learn(&Change::EmptyWithStops);
                }
            } else {
                self.memory.learn(|learnt| learnt.fruitless += 1);
            }
        }
        if trial.lines && !learnt.lines {
            self.judge_lines(whole);
        }
        if let Some(room) = trial.room {
            if whole.is_empty() || self.may_be_reasoning(whole) {
                let unbounded = whole.is_empty() && room == Bound::Server;
                self.memory.learn(|learnt| {
                    learnt.starved += 1;
                    learnt.empty_unbounded |= unbounded;
                });
            } else if self.memory.learn(|learnt| learnt.room = learnt.room.max(Some(room))) {
                let (now, set) = match room {
                    Bound::Tokens(n) => (format!("max_tokens is at least {n}"), n.to_string()),
                    Bound::Server => ("max_tokens is not sent".to_owned(), "off".to_owned()),
                };
                self.notice(format!(
                    "{now} for this model from now on (--set {role}.max_tokens={set} skips the first try)"
                ));
            }
        }
        let Some(Doubled { bound, .. }) = trial.doubled else { return };
        let truncated = self.truncation(whole);
        if truncated == Some(Truncation::Length) {
            self.notice(format!(
                "the reply was cut off again at max_tokens {bound}; --set {role}.max_tokens={} allows a longer one",
                bound.saturating_mul(2)
            ));
        }
        if truncated.is_some() {
            return;
        }
        let wanted = self.wanted();
        let raise = |learnt: &mut Learnt| {
            learnt.raised.insert(wanted, bound);
        };
        if self.memory.learn(raise) {
            self.notice(format!(
                "max_tokens is {bound} in place of {wanted} for this model from now on \
                 (--set {role}.max_tokens={bound} skips the first try)"
            ));
        }
    }

    /// What an answer without the stop at a newline says of that stop: it has cut something off where the action stands behind
    /// a newline, and where reasoning does.
    fn judge_lines(&self, whole: &Completion) {
        if whole.unopened {
            return self.learn(&Change::StopHere);
        }
        let (text, learnt) = (&whole.text, self.memory.learnt());
        let Some(cut) = self.request.cut else { return };
        let stops = request::stops(&self.endpoint, &learnt, &self.request);
        let ends = stops.iter().filter(|s| request::is_newline(s)).filter_map(|s| text.find(s.as_str()));
        let line = ends.min().and_then(|end| text.get(..end));
        let action = (cut.action)(text);
        // A line that looked like a sentence was the action where the whole answer has no other one.
        let cut_off = |line: &str| (cut.short)(line) && action.is_some() && (cut.action)(line) != action;
        if line.is_some_and(cut_off) && !self.may_be_reasoning(whole) {
            self.learn(&Change::Lines);
        } else {
            self.memory.learn(|learnt| learnt.fruitless += 1);
            self.notice(
                "asked again without the stop at a newline, it put no action behind one; the stop stays"
                    .to_owned(),
            );
        }
    }

    /// Learns a change, and says so where another call has not learnt the same meanwhile.
    fn learn(&self, change: &Change) {
        if self.memory.learn(|learnt| change.learn(learnt)) {
            self.notice(change.told(&self.endpoint, ""));
        }
    }

    /// Gives an answer again that was taken back for another one, which did not come, or not as a whole.
    fn restore(&self, whole: &Completion, others: &Usage) {
        let _ = self.tell.send(Delta::Anew);
        if !whole.thoughts.is_empty() {
            let _ = self.tell.send(Delta::Reasoning(whole.thoughts.clone()));
        }
        let _ = self.tell.send(Delta::Text(whole.text.clone()));
        self.finish(whole, others);
    }

    /// The bound that the request would have of a server of which nothing is known.
    fn wanted(&self) -> u32 {
        request::max_tokens(&self.endpoint, &self.request)
    }

    /// Counts an answer that is of no use, with those `before` it and with the others beside one that may be restored, and tells
    /// it: what comes next may fail.
    fn in_vain(&self, whole: &Completion, before: &mut Usage, trial: &mut Trial) {
        let usage = self.usage(whole);
        for sum in std::iter::once(&mut *before).chain(trial.doubled.as_mut().map(|d| &mut d.others)) {
            *sum = Usage::default().with_earlier(&usage.with_earlier(sum));
        }
        let _ = self.tell.send(Delta::Usage(*before));
    }

    /// Tells what a good answer has to say beside its words, and what it cost with the answers `before` it that were of no use.
    fn finish(&self, whole: &Completion, before: &Usage) {
        let truncated = self.truncation(whole);
        let _ = truncated.map(|by| self.tell.send(Delta::Truncated(by)));
        let _ = self.tell.send(Delta::Usage(self.usage(whole).with_earlier(before)));
        if whole.finished && self.memory.gate().announce() {
            self.notice(format!(
                "{} breaks off a reply when another request arrives; it gets one request at a time from now on \
                 (one_at_a_time = true in its profile says so from the start)",
                self.endpoint.host()
            ));
        }
        let host = self.endpoint.host();
        if whole.unopened {
            // A stop text would end its reasoning, and nothing would tell that from a reply.
            let stops = !whole.stops.is_empty();
            if self.memory.learn(|l| (l.opened, l.stop_here) = (true, l.stop_here || stops)) {
                self.notice(format!(
                    "{host} answers from inside of its reasoning, without an opening mark; from now on that is expected"
                ));
            }
        }
        let reason = whole.reason();
        let asked = self.memory.learnt().scaled(self.estimate());
        match (whole.ending(), whole.is_empty()) {
            _ if whole.refused => {
                self.notice(format!("the model refused to answer: {}", text::truncate(&whole.text, 200, "…")));
            }
            (Some(Finish::Length), true) => self.notice(self.starved(whole)),
            (Some(Finish::ToolCall), true) => self.notice(format!(
                "the model answered with a tool call (finish_reason {reason}), and it is offered no tools: switch tool calling \
                 off in the server or its chat template, or choose another model"
            )),
            (Some(Finish::Filter), true) => {
                self.notice(format!("the reply is empty: the filter of {host} withheld it (finish_reason {reason})"));
            }
            (_, true) if !whole.has_reasoned() => self.notice(format!(
                "the answer of {host} is empty (finish_reason {reason}); where a prompt of about {asked} tokens is longer than \
                 its context, some servers say it so"
            )),
            (_, true) => {
                self.notice(format!("the model reasoned and then said nothing (finish_reason {reason})"));
            }
            (Some(Finish::Filter), false) => {
                self.notice(format!("{host} cut the answer by its filter (finish_reason {reason})"));
            }
            (Some(Finish::Unknown), false) if self.memory.learn(|l| l.odd_ending = true) => {
                self.notice(format!(
                    "{host} ends replies with finish_reason {reason}, which is not known here: such a reply counts as cut off, \
                     and only what is complete in it is used (--set accept_truncated=true uses all of it)"
                ));
            }
            _ => {}
        }
    }

    /// Why a reply is empty whose tokens were all used.
    fn starved(&self, whole: &Completion) -> String {
        let role = self.request.asked.name();
        let counted = whole.counts.map(|counts| counts.reply);
        // A question's own bound is nobody's setting.
        let own = self.request.wish.max_tokens.is_some();
        let unbounded = self.memory.learnt().empty_unbounded;
        match (whole.bound, counted) {
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
        let estimate = self.estimate();
        if whole.impossible_counts && self.memory.learn(|learnt| learnt.impossible_counts = true) {
            self.notice(format!(
                "{} reports token counts that cannot be true; tokens are estimated in their place",
                self.endpoint.host()
            ));
        }
        let usage = if let Some(counts) = whole.counts {
            let proxy = whole.by_proxy || self.endpoint.proxy;
            if !proxy {
                self.memory.calibrate(estimate, counts.prompt);
            }
            Usage {
                prompt_tokens: counts.prompt,
                reply_tokens: counts.reply,
                reasoning_tokens: counts.reasoning.min(counts.reply),
                counted_by_proxy: proxy,
                ..Usage::default()
            }
        } else {
            let letters = whole.text.chars().count() + whole.reasoned;
            Usage {
                prompt_tokens: self.memory.learnt().scaled(estimate),
                reply_tokens: (letters as u64).div_ceil(4),
                reasoning_tokens: (whole.reasoned as u64).div_ceil(4),
                estimated: true,
                ..Usage::default()
            }
        };
        let cost = self.endpoint.prices.map_or(0, |p| p.nano(usage.prompt_tokens, usage.reply_tokens));
        Usage { cost_nano: cost, ..usage }
    }

    /// Estimated tokens of the prompt: a quarter of its characters.
    fn estimate(&self) -> u64 {
        let letters: usize = self.request.prompt.segments.iter().map(|s| s.text.chars().count()).sum();
        (letters as u64).div_ceil(4)
    }

    fn notice(&self, words: String) {
        let clean = self.redactor.clean(&words);
        let _ = self.tell.send(Delta::Notice(if clean == words { words } else { clean }));
    }
}

/// Why a reply that is empty or a refusal is not taken in place of one that was cut off.
fn no_reply(whole: &Completion) -> ProviderError {
    let what = if whole.refused {
        format!("the model refused to answer: {}", text::truncate(&whole.text, 200, "…"))
    } else {
        format!("the reply was empty, finish_reason {}", whole.reason())
    };
    ProviderError::new(what, "retry").of_kind(FailureKind::EmptyReply)
}

/// How a reply shows that the server broke it off.
fn how_interrupted(whole: &Completion) -> String {
    if whole.broken.is_some() {
        "its stream ended while the server had another request".to_owned()
    } else if whole.unfinished {
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
    !first.is_empty() && replies.iter().all(|reply| reply.unfinished && !reply.shared && reply.text == first)
}

/// The words of a server are redacted where they come in. What other libraries say of its answer, and what joining makes of
/// harmless parts, is so here.
pub(super) fn redacted(redactor: &Redactor, error: ProviderError) -> ProviderError {
    ProviderError { what: redactor.clean(&error.what), next: redactor.clean(&error.next), ..error }
}

/// A failure after so many repetitions.
fn after(mut error: ProviderError, repeated: u32) -> ProviderError {
    if repeated > 0 {
        let times = if repeated == 1 { "once".to_owned() } else { format!("{repeated} times") };
        error.what = format!("{} (asked again {times})", error.what);
    }
    error
}
