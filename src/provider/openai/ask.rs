//! A call from its first request to its last: what is sent again, what is sent otherwise, and what a person is told.

use super::answer::{Answer, Whole};
use super::client::Http;
use super::endpoint::Endpoint;
use super::error;
use super::memory::{Learnt, Memory};
use super::objection::Change;
use super::redactor::Redactor;
use super::request;
use super::retry;
use crate::domain::Usage;
use crate::provider::{Delta, FailureKind, Phase, ProviderError, Request};
use reqwest::Response;
use reqwest::header::CONTENT_ENCODING;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;

/// The most bytes of an error body.
const ERROR_BODY: usize = 256 << 10;
/// How often a request is changed for a server before it is given up.
const CHANGES: u32 = 12;
/// How often a model is asked without the stop at a newline for nothing.
const FRUITLESS: u32 = 2;

/// A call to an endpoint.
pub(super) struct Call {
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) memory: Arc<Memory>,
    pub(super) http: Arc<Http>,
    pub(super) request: Request,
    pub(super) tell: UnboundedSender<Delta>,
}

/// Why a try failed, and whether another one is allowed.
struct Failed {
    error: ProviderError,
    /// The answer may be asked for again without a word of a person.
    again: bool,
    wait: Option<Duration>,
    change: Option<Change>,
}

impl From<ProviderError> for Failed {
    fn from(error: ProviderError) -> Self {
        Self { error, again: false, wait: None, change: None }
    }
}

impl Call {
    /// Asks until there is an answer or nothing more to try.
    pub(super) async fn run(self) -> Result<Whole, ProviderError> {
        let Some(total) = self.endpoint.times.total else { return self.tries().await };
        tokio::time::timeout(total, self.tries()).await.unwrap_or_else(|_| {
            let what = format!("{} was not done within {} s", self.endpoint.host(), total.as_secs_f64());
            let next = "retry; total_seconds in the endpoint's profile says how long is waited";
            Err(ProviderError::new(what, next).of_kind(FailureKind::TimedOut))
        })
    }

    async fn tries(&self) -> Result<Whole, ProviderError> {
        let policy = self.endpoint.retry;
        let (mut attempt, mut waited, mut changes) = (0, Duration::ZERO, 0);
        let (mut before, mut lines, mut silent) = (Usage::default(), false, false);
        loop {
            let failed = match self.once(lines, &mut silent).await {
                Ok(whole) => match misled(&whole) {
                    // What it reasoned before a stop text ended that is reasoning still.
                    Some(change) if changes < CHANGES => {
                        before = self.in_vain(&whole, &before);
                        Failed { change: Some(change), ..cut_by_stop().into() }
                    }
                    _ if self.cut(&whole) => {
                        before = self.in_vain(&whole, &before);
                        let _ = self.tell.send(Delta::Anew);
                        lines = true;
                        continue;
                    }
                    _ => {
                        self.finish(&whole, &before);
                        if lines {
                            self.judge(&whole.text);
                        }
                        return Ok(whole);
                    }
                },
                Err(failed) => failed,
            };
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

    /// One request and its answer; with `lines` no stop at a newline ends it. `silent`: it was told that the server says nothing
    /// in a stream.
    async fn once(&self, lines: bool, silent: &mut bool) -> Result<Whole, Failed> {
        let mut learnt = self.memory.learnt();
        learnt.lines |= lines;
        let body = request::body(&self.endpoint, &learnt, &self.request);
        match self.send(&learnt, &body).await {
            Err(failed) if failed.error.kind == FailureKind::Empty => {
                let whole = self.without_stream(failed.error, &learnt, body).await?;
                if !std::mem::replace(silent, true) {
                    let host = self.endpoint.host();
                    self.notice(format!("{host} says nothing in a stream; it was asked without one"));
                }
                Ok(whole)
            }
            answered => answered,
        }
    }

    async fn send(&self, learnt: &Learnt, body: &Map<String, Value>) -> Result<Whole, Failed> {
        let endpoint = &*self.endpoint;
        let _ = self.tell.send(Delta::Phase(Phase::Connecting));
        let response = self.http.ask(endpoint, Value::Object(body.clone()).to_string(), &self.tell).await;
        let response = response
            .map_err(|error| Failed { again: error.kind == FailureKind::Unreachable, ..error.into() })?;
        let status = response.status().as_u16();
        if status != 200 {
            return Err(self.refusal(response, body).await);
        }
        if let Some(how) = response.headers().get(CONTENT_ENCODING).filter(|h| *h != "identity") {
            let what = format!("{} answers packed ({how:?}), which was not asked for", endpoint.host());
            return Err(ProviderError::new(
                what,
                "take the compression out of the server or the proxy before it",
            )
            .of_kind(FailureKind::Odd)
            .into());
        }
        let stops = request::stops(endpoint, learnt, &self.request);
        let most = request::max_tokens(endpoint, &self.request);
        let counted_by_proxy = response.headers().keys().any(|name| name.as_str().starts_with("x-litellm-"));
        let mut answer =
            Answer::new(endpoint, learnt, &stops, most, learnt.scaled(self.estimate()), &self.tell);
        let read = answer.read(response).await;
        let shown = answer.shown();
        match read {
            Ok(whole) => {
                let stops_sent = body.contains_key("stop") && !stops.is_empty();
                Ok(Whole { by_proxy: counted_by_proxy, stops, stops_sent, ..whole })
            }
            Err(error) => {
                // A second answer after a first one was seen is a person's choice.
                let may = error.kind == FailureKind::Unreachable
                    || error.status.is_some_and(|status| retry::may(status, &|_| None));
                Err(Failed { again: may && !shown, ..error.into() })
            }
        }
    }

    /// A server that says nothing in a stream may say why outside of one, or even answer there.
    async fn without_stream(
        &self,
        empty: ProviderError,
        learnt: &Learnt,
        mut body: Map<String, Value>,
    ) -> Result<Whole, ProviderError> {
        body.insert("stream".to_owned(), Value::Bool(false));
        body.remove("stream_options");
        let mut answered = self.send(learnt, &body).await;
        // Such a server has often closed the connection behind its silence.
        if answered.as_ref().is_err_and(|failed| failed.error.kind == FailureKind::Unreachable) {
            tokio::time::sleep(self.endpoint.retry.first).await;
            answered = self.send(learnt, &body).await;
        }
        match answered {
            Ok(whole) => Ok(whole),
            Err(failed) if failed.error.status.is_some() => Err(failed.error),
            Err(_) => Err(empty),
        }
    }

    /// An answer with a status other than success.
    async fn refusal(&self, mut response: Response, sent: &Map<String, Value>) -> Failed {
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let header = |name: &str| headers.get(name).and_then(|v| v.to_str().ok());
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
        let redactor = self.endpoint.redactor();
        let body = clean(&redactor, &body);
        let asked = self.memory.learnt().scaled(self.estimate());
        let mut error = error::refused(&self.endpoint, status, &body, asked);
        if let Some(place) = header("location").filter(|_| (300..400).contains(&status)) {
            // Its query may hold anything.
            let place = redactor.clean(place.split(['?', '#']).next().unwrap_or(place));
            error.what = format!("{} sends elsewhere ({status}): {place}", self.endpoint.host());
        }
        // Its words are out of their JSON now, and a secret in them may have been escaped there.
        error.what = redactor.clean(&error.what);
        Failed {
            again: retry::may(status, &header)
                && !matches!(error.kind, FailureKind::Credit | FailureKind::TooLong),
            wait: retry::asked(&header),
            change: Change::asked_by(status, &body, sent, &self.memory.learnt()),
            error,
        }
    }

    /// A stop at a newline, the server's or ours, seems to have ended an answer before it said what to do. What a person chose as
    /// stops is theirs to change; a model that ends there by itself is not asked again at every step.
    fn cut(&self, whole: &Whole) -> bool {
        let Some(cut) = self.request.cut.filter(|_| self.request.wish.field("stop").is_none()) else {
            return false;
        };
        let ended = whole.stopped || whole.finish.as_deref() == Some("stop");
        let by_line = ended && !whole.inside && whole.stops.iter().any(|stop| request::is_newline(stop));
        by_line && (cut.short)(&whole.text) && self.memory.learnt().fruitless < FRUITLESS
    }

    /// What an answer without the stop at a newline says of that stop: it has cut something off where the action stands behind
    /// a newline.
    fn judge(&self, text: &str) {
        let learnt = self.memory.learnt();
        let Some(cut) = self.request.cut.filter(|_| !learnt.lines) else { return };
        let stops = request::stops(&self.endpoint, &learnt, &self.request);
        let ends = stops.iter().filter(|s| request::is_newline(s)).filter_map(|s| text.find(s.as_str()));
        let line = ends.min().and_then(|end| text.get(..end));
        if line.is_some_and(cut.short) && (cut.acts)(text) {
            // Another call may have learnt the same meanwhile; it was told then.
            if self.memory.learn(|learnt| Change::Lines.learn(learnt)) {
                self.notice(Change::Lines.told(&self.endpoint, ""));
            }
        } else {
            self.memory.learn(|learnt| learnt.fruitless += 1);
            self.notice(
                "asked again without the stop at a newline, it put no action behind one; the stop stays"
                    .to_owned(),
            );
        }
    }

    /// Counts an answer that is of no use, with those before it, and tells it: what comes next may fail.
    fn in_vain(&self, whole: &Whole, before: &Usage) -> Usage {
        let before = Usage::default().after(&self.usage(whole).after(before));
        let _ = self.tell.send(Delta::Usage(before));
        before
    }

    /// Tells what a good answer has to say beside its words, and what it cost with the answers `before` it that were of no use.
    fn finish(&self, whole: &Whole, before: &Usage) {
        let _ = self.tell.send(Delta::Usage(self.usage(whole).after(before)));
        if whole.unopened && self.memory.learn(|l| l.opened = true) {
            self.notice(format!(
                "{} answers from inside of its reasoning, without an opening mark; from now on that is expected",
                self.endpoint.host()
            ));
        }
        let finish = whole.finish.as_deref().unwrap_or("none");
        let asked = self.memory.learnt().scaled(self.estimate());
        if whole.text.trim().is_empty() && whole.reasoned == 0 {
            self.notice(format!(
                "the answer of {} is empty (finish_reason {finish}); where a prompt of about {asked} tokens is longer than \
                 its context, some servers say it so",
                self.endpoint.host()
            ));
        } else if whole.text.trim().is_empty() {
            self.notice(format!(
                "the model reasoned and then said nothing (finish_reason {finish}); a larger max_tokens may help"
            ));
        } else if finish == "content_filter" {
            self.notice(format!("{} cut the answer by its filter", self.endpoint.host()));
        }
    }

    /// What it cost, and whose count that is.
    fn usage(&self, whole: &Whole) -> Usage {
        let estimate = self.estimate();
        let usage = if let Some(counts) = whole.counts {
            let proxy = whole.by_proxy || self.endpoint.proxy;
            if !proxy {
                self.memory.calibrate(estimate, counts.prompt);
            }
            Usage {
                prompt_tokens: counts.prompt,
                reply_tokens: counts.reply,
                reasoning_tokens: counts.reasoning.min(counts.reply),
                proxy,
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
        let _ = self.tell.send(Delta::Notice(words));
    }
}

fn clean(redactor: &Redactor, body: &[u8]) -> Vec<u8> {
    redactor.clean(&String::from_utf8_lossy(body)).into_bytes()
}

/// A stop text that was meant for the answer has ended its reasoning: the server must not get it.
fn misled(whole: &Whole) -> Option<Change> {
    let stop = || Change::Drop("stop".to_owned());
    let thought = whole.inside || whole.reasoned > 0;
    let ended = whole.finish.as_deref() == Some("stop") && !whole.stopped;
    (whole.stops_sent && thought && ended && whole.text.trim().is_empty()).then(stop)
}

/// A failure after so many repetitions.
fn after(mut error: ProviderError, repeated: u32) -> ProviderError {
    if repeated > 0 {
        let times = if repeated == 1 { "once".to_owned() } else { format!("{repeated} times") };
        error.what = format!("{} (asked again {times})", error.what);
    }
    error
}

fn cut_by_stop() -> ProviderError {
    ProviderError::new("the stop text ended its reasoning; the answer is cut here instead", "")
}
