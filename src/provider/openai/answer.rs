//! One answer while it comes in: reads the body piece by piece, tells reasoning from text, and decides whether the end of
//! the body is the end of the answer.

use super::chunk::{self, Chunk, Counts};
use super::client;
use super::endpoint::Endpoint;
use super::error;
use super::finish::Finish;
use super::frames::{Frame, Framer};
use super::learned_quirks::Learnt;
use super::received::Body;
use super::redactor::Redactor;
use super::stream_redactor::StreamRedactor;
use super::think::{Part, ReasoningParser, StopMatcher};
use crate::provider::{Delta, FailureKind, Phase, ProviderError};
use crate::text;
use futures_util::FutureExt as _;
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;

/// The most bytes of one body.
const LARGEST: usize = 64 << 20;
/// So much of a body is read without looking at anything else.
const SLICE: usize = 8 << 10;
/// How often more is read after the answer is whole.
const LATE_READS: u32 = 16;
/// How long the usage of an answer that a stop text ended here is waited for, where the server doesn't end by itself.
const USAGE_WAIT: Duration = Duration::from_millis(250);
/// How many bytes are read meanwhile.
const USAGE_BYTES: usize = 256 << 10;
/// The most tokens that are read of a reply that was asked for without a bound.
const UNBOUNDED: u32 = 1 << 17;
/// How many such waits in a row may be in vain before only some replies are waited for.
const USAGE_MISSES: u32 = 2;
/// How many replies are then not waited for before one is again.
const USAGE_SKIPS: u32 = 7;

/// An answer under way.
#[expect(clippy::struct_excessive_bools, reason = "independent facts about an answer")]
pub(super) struct Answer<'a> {
    endpoint: &'a Endpoint,
    redactor: Redactor,
    tell: &'a UnboundedSender<Delta>,
    framer: Framer,
    veils: [StreamRedactor; 2],
    splitter: ReasoningParser,
    stopper: StopMatcher,
    counts: Option<Counts>,
    impossible_counts: bool,
    finish: Option<String>,
    done: bool,
    known: bool,
    /// The first value that an answer does not have.
    strange: String,
    read: usize,
    text: String,
    /// Characters of reasoning.
    reasoned: usize,
    thoughts: String,
    most: usize,
    /// The most tokens it was asked for.
    bound: Option<u32>,
    /// The server knows the texts that end it.
    stops_sent: bool,
    /// Its text is a refusal.
    refused: bool,
    /// A closing mark came without its opening one.
    unopened: bool,
    /// Estimated tokens of the prompt.
    asked: u64,
    /// Signs of life came since the last piece of an answer.
    signs: bool,
    /// After a stop text ended the answer here: the server said how it ended its own.
    finished_late: bool,
    /// After a stop text ended the answer here: the server writes on.
    writes_on: bool,
    /// Its usage is waited for after a stop text ended the answer here.
    wants_usage: bool,
    /// Bytes of text and reasoning in the frames.
    words: usize,
    /// The body is one JSON value, which is whole where it can be read.
    json_body: bool,
}

/// How an answer came out.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about an answer")]
pub(super) struct Completion {
    pub(super) text: String,
    pub(super) reasoned: usize,
    pub(super) thoughts: String,
    pub(super) counts: Option<Counts>,
    /// The server sent counts that cannot be true.
    pub(super) impossible_counts: bool,
    pub(super) finish: Option<String>,
    /// The answer ended while it still reasoned.
    pub(super) inside: bool,
    pub(super) unopened: bool,
    /// We ended it at a stop text.
    pub(super) stopped: bool,
    /// A proxy stood in between.
    pub(super) by_proxy: bool,
    /// The stop texts that ended it, there or here.
    pub(super) stops: Vec<String>,
    /// They were sent to the server.
    pub(super) stops_sent: bool,
    /// The most tokens it was asked for; none: the server's own bound held.
    pub(super) bound: Option<u32>,
    /// The stream said how the answer ended.
    pub(super) finished: bool,
    /// The stream ended with `[DONE]` and did not say how the answer ended.
    pub(super) unfinished: bool,
    /// Whether its usage came in time after a stop text had ended it here; none where that was not waited for.
    pub(super) late_usage: Option<bool>,
    /// The server had another request meanwhile.
    pub(super) shared: bool,
    /// The server marked the text as a refusal to answer.
    pub(super) refused: bool,
    /// Which request it answers, of all that this program sent to the server.
    pub(super) number: u64,
    /// It was asked for as a stream.
    pub(super) streamed: bool,
    /// Why there is no more of it, where it broke off without `[DONE]` while the server had another request.
    pub(super) broken: Option<ProviderError>,
}

impl Completion {
    /// A reply that used its bound up before it began, from a server that refuses the request then.
    pub(super) fn used_up(bound: Option<u32>) -> Self {
        Self { finish: Some("length".to_owned()), bound, ..Self::default() }
    }

    /// It has no words but reasoning.
    pub(super) fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Something of its reasoning was seen.
    pub(super) fn has_reasoned(&self) -> bool {
        self.inside || self.reasoned > 0
    }

    /// How the server says that it ended; none where it says nothing, or where a stop text ended the reply here before.
    pub(super) fn ending(&self) -> Option<Finish> {
        self.finish.as_deref().filter(|_| !self.stopped).map(Finish::read)
    }

    /// The server's own words for its end.
    pub(super) fn reason(&self) -> String {
        text::truncate(self.finish.as_deref().unwrap_or("none"), 60, "…")
    }

    /// It says that it came to its end or to a stop text.
    pub(super) fn ended(&self) -> bool {
        self.finish.as_deref().map(Finish::read) == Some(Finish::Complete)
    }

    /// The bound of its tokens ended it.
    pub(super) fn hit_bound(&self) -> bool {
        self.ending() == Some(Finish::Length)
    }
}

impl<'a> Answer<'a> {
    /// An answer to a request with this bound, if any; `stops` end it, `asked` are the estimated tokens of its prompt.
    pub(super) fn new(
        endpoint: &'a Endpoint,
        redactor: &Redactor,
        learnt: &Learnt,
        stops: &[String],
        bound: Option<u32>,
        asked: u64,
        tell: &'a UnboundedSender<Delta>,
    ) -> Self {
        Self {
            endpoint,
            tell,
            framer: Framer::default(),
            veils: [StreamRedactor::new(redactor.clone()), StreamRedactor::new(redactor.clone())],
            redactor: redactor.clone(),
            splitter: ReasoningParser::new(&endpoint.reasoning, endpoint.reasoning.opened || learnt.opened),
            stopper: StopMatcher::new(stops),
            counts: None,
            impossible_counts: false,
            finish: None,
            done: false,
            known: false,
            strange: String::new(),
            read: 0,
            text: String::new(),
            reasoned: 0,
            thoughts: String::new(),
            // A token is rarely more than a word; who sends that much more does not heed its bound.
            most: (bound.unwrap_or(UNBOUNDED) as usize).saturating_mul(64).saturating_add(64 << 10),
            bound,
            stops_sent: false,
            refused: false,
            unopened: false,
            asked,
            signs: false,
            finished_late: false,
            writes_on: false,
            wants_usage: learnt.usage_misses < USAGE_MISSES || learnt.usage_skips >= USAGE_SKIPS,
            words: 0,
            json_body: false,
        }
    }

    /// Something of the answer was shown.
    pub(super) fn shown(&self) -> bool {
        !self.text.is_empty() || self.reasoned > 0
    }

    /// Reads the body to the end of the answer; `stops_sent`: the server knows the texts that end it.
    pub(super) async fn read(
        &mut self,
        mut response: Response,
        stops_sent: bool,
    ) -> Result<Completion, ProviderError> {
        self.stops_sent = stops_sent;
        let times = self.endpoint.times;
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        self.json_body = kind.is_some_and(|kind| kind.starts_with("application/json"));
        let mut frames = Vec::new();
        let mut silence = Box::pin(tokio::time::sleep(times.first));
        let (mut begun, mut late_reads, mut last) = (false, 0, 0);
        while !self.stopper.stopped() && late_reads < LATE_READS {
            // Before the first piece a server may be silent for long; after the last only its usage is waited for, and
            // then the end of the body, so that the connection can be used again.
            let pause = match (self.over(), &self.finish, begun) {
                (true, ..) => times.tail / 20,
                (_, Some(_), _) => times.tail.min(times.idle),
                (_, None, true) => times.idle,
                (_, None, false) => times.first,
            };
            late_reads += u32::from(self.over());
            let piece = tokio::select! {
                biased;
                piece = tokio::time::timeout(pause, response.chunk()) => piece,
                () = &mut silence, if self.finish.is_none() => {
                    return self.ended(Err(self.wordless(times.first)));
                }
            };
            let piece = match piece {
                Ok(Ok(piece)) => piece,
                Ok(Err(_)) | Err(_) if self.finish.is_some() || self.done => break,
                Ok(Err(error)) => {
                    return self.ended(Err(self.broken(&super::error::reason(&error.without_url()))));
                }
                Err(_) if begun => return self.ended(Err(self.quiet(pause))),
                Err(_) => return self.ended(Err(client::late(self.endpoint))),
            };
            let end = piece.is_none();
            let said = self.text.len() + self.reasoned;
            let bytes = piece.unwrap_or_default();
            let mut slices = bytes.chunks(SLICE);
            loop {
                let slice = slices.next();
                let cut = match slice {
                    Some(slice) => {
                        self.read += slice.len();
                        self.framer.push(slice, &mut frames)
                    }
                    None if end => self.framer.end(&mut frames),
                    None => Ok(()),
                };
                for frame in frames.drain(..) {
                    begun = true;
                    if let Err(error) = self.take(frame) {
                        return self.ended(Err(error));
                    }
                }
                if cut.is_err() || self.read > LARGEST || self.text.len() + self.reasoned > self.most {
                    return self.ended(Err(self.endless()));
                }
                if slice.is_none() || self.over() {
                    break;
                }
                // Whatever a server sends, the driver's own inbox and the clocks have their turn in between.
                tokio::task::yield_now().await;
            }
            if self.words != last {
                last = self.words;
                self.signs = false;
                silence = Box::pin(tokio::time::sleep(times.first));
            } else if self.finish.is_none() && !end && silence.as_mut().now_or_never().is_some() {
                // Pieces without a word that come without a pause leave no other moment to notice it.
                self.signs = true;
                return self.ended(Err(self.wordless(times.first)));
            }
            if !end && said == self.text.len() + self.reasoned {
                self.signs = true;
                let _ = self.tell.send(Delta::Alive);
            }
            if end {
                break;
            }
        }
        let mut late_usage = None;
        if self.stopper.stopped() && self.wants_usage {
            late_usage = Some(self.read_usage(&mut response, stops_sent).await);
        }
        self.ended(Ok(())).map(|whole| Completion { late_usage, ..whole })
    }

    /// Reads on after a stop text ended the answer here: a server that ends there too sends its usage last. Whether the server
    /// came to its end in time; one that writes on is left after a moment.
    async fn read_usage(&mut self, response: &mut Response, stops_sent: bool) -> bool {
        let times = self.endpoint.times;
        let mut moment = Box::pin(tokio::time::sleep(USAGE_WAIT.min(times.tail)));
        let mut longest = Box::pin(tokio::time::sleep(times.tail));
        let (mut frames, mut bytes, mut late_reads) = (Vec::new(), 0, 0);
        while late_reads < LATE_READS {
            // At the server's end only the end of the body is waited for, so that the connection can be used again.
            let over = self.over();
            late_reads += u32::from(over);
            let pause = if over { times.tail / 20 } else { times.tail };
            let piece = tokio::select! {
                biased;
                () = &mut moment, if !over && (self.writes_on || !stops_sent) => return false,
                () = &mut longest, if !over => return false,
                piece = tokio::time::timeout(pause, response.chunk()) => piece,
            };
            let end = !matches!(piece, Ok(Ok(Some(_))));
            let read = match &piece {
                Ok(Ok(Some(piece))) => {
                    bytes += piece.len();
                    self.framer.push(piece, &mut frames)
                }
                _ => self.framer.end(&mut frames),
            };
            frames.drain(..).for_each(|frame| self.take_late(frame));
            if end {
                return over || piece.is_ok();
            }
            if read.is_err() || bytes > USAGE_BYTES {
                return self.over();
            }
        }
        true
    }

    /// What is looked at after a stop text ended the answer: who ended it, and the usage.
    fn take_late(&mut self, frame: Frame) {
        match frame {
            Frame::Done => self.done = true,
            Frame::Json(value, _) => {
                let late = chunk::read(&self.redactor.json(value), &self.endpoint.reasoning.fields);
                self.finished_late |= late.finish.is_some();
                self.writes_on |= !late.text.is_empty() || !late.reasoning.is_empty();
                self.counts = late.counts.or(self.counts);
                self.impossible_counts |= late.impossible_counts;
            }
            Frame::Broken(_) => {}
        }
    }

    /// Nothing more is waited for.
    fn over(&self) -> bool {
        self.done || ((self.finish.is_some() || self.finished_late) && self.counts.is_some())
    }

    fn take(&mut self, frame: Frame) -> Result<(), ProviderError> {
        let (value, error) = match frame {
            // What comes after the end is not looked at.
            _ if self.over() => return Ok(()),
            frame if self.stopper.stopped() => {
                self.take_late(frame);
                return Ok(());
            }
            Frame::Done => {
                self.done = true;
                return Ok(());
            }
            Frame::Broken(_) if self.finish.is_some() => return Ok(()),
            Frame::Broken(text) => {
                let text = self.redactor.clean(&text);
                return Err(self.odd(&format!("a piece of the stream is no whole JSON: {}", cut(&text))));
            }
            Frame::Json(value, error) => (self.redactor.json(value), error),
        };
        let Chunk { text, reasoning, finish, counts, impossible_counts, error: trouble, refused, known } =
            chunk::read(&value, &self.endpoint.reasoning.fields);
        self.counts = counts.or(self.counts);
        self.impossible_counts |= impossible_counts;
        if let Some((words, status)) = trouble.or_else(|| error.then(|| (error::words_of(&value), None))) {
            return Err(self.trouble(&words, status));
        }
        self.words += text.len() + reasoning.len();
        self.known |= known;
        self.refused |= refused;
        if !known && self.strange.is_empty() {
            self.strange = error::words_of(&value);
        }
        let reasoning = self.veils[0].push(&reasoning);
        self.reason(reasoning);
        let text = self.veils[1].push(&text);
        let parts = self.splitter.push(&text);
        self.parts(parts);
        self.finish = finish.or(self.finish.take());
        Ok(())
    }

    fn parts(&mut self, parts: Vec<Part>) {
        for part in parts {
            match part {
                Part::Reasoning(words) => self.reason(words),
                Part::Text(words) => self.say(&words),
                Part::WasReasoning => {
                    self.unopened = true;
                    self.reasoned += self.text.chars().count();
                    self.thoughts.push_str(&std::mem::take(&mut self.text));
                    let _ = self.tell.send(Delta::WasReasoning);
                }
            }
        }
    }

    fn reason(&mut self, words: String) {
        if words.is_empty() {
            return;
        }
        if self.reasoned == 0 {
            let _ = self.tell.send(Delta::Phase(Phase::Reasoning));
        }
        self.reasoned += words.chars().count();
        self.thoughts.push_str(&words);
        let _ = self.tell.send(Delta::Reasoning(words));
    }

    fn say(&mut self, words: &str) {
        // White space before the first word is no answer, and no stop text either.
        let words = if self.text.is_empty() { words.trim_start() } else { words };
        let words = self.stopper.push(words);
        self.show(words);
    }

    fn show(&mut self, words: String) {
        if words.is_empty() {
            return;
        }
        if self.text.is_empty() {
            let _ = self.tell.send(Delta::Phase(Phase::Answering));
        }
        self.text.push_str(&words);
        let _ = self.tell.send(Delta::Text(words));
    }

    /// Lets go of what was held back, and judges the end.
    pub(super) fn ended(&mut self, how: Result<(), ProviderError>) -> Result<Completion, ProviderError> {
        let inside = self.splitter.inside();
        let whole = self.finish.as_deref().is_none_or(|reason| Finish::read(reason).is_whole());
        if !self.stopper.stopped() {
            let [mut reasoning, mut text] = std::mem::take(&mut self.veils);
            self.reason(reasoning.end());
            let mut parts = self.splitter.push(&text.end());
            parts.extend(self.splitter.end(how.is_ok() && whole));
            self.parts(parts);
            let rest = self.stopper.end();
            self.show(rest);
        }
        let unfinished = self.done && self.known && self.finish.is_none() && !self.stopper.stopped();
        let whole = self.json_body && self.known && self.shown();
        let good = self.finish.is_some() || self.stopper.stopped() || unfinished || whole;
        let judged = match how {
            Ok(()) if good => Ok(()),
            Ok(()) if self.shown() => {
                Err(self.broken("the stream ended without saying that the answer is whole"))
            }
            Ok(()) if !self.known && !self.strange.is_empty() => Err(self.odd(&self.strange)),
            Ok(()) if !self.known && !self.framer.loose().trim().is_empty() => {
                Err(self.odd(&error::words(&self.redactor.body(self.framer.loose().as_bytes()))))
            }
            Ok(()) => Err(self.empty()),
            Err(error) => Err(error),
        };
        judged?;
        Ok(Completion {
            text: std::mem::take(&mut self.text),
            reasoned: self.reasoned,
            thoughts: std::mem::take(&mut self.thoughts),
            counts: self.counts,
            impossible_counts: self.impossible_counts,
            finish: self.finish.clone(),
            inside,
            unopened: self.unopened,
            stopped: self.stopper.stopped(),
            by_proxy: false,
            stops: Vec::new(),
            stops_sent: false,
            bound: None,
            finished: self.finish.is_some() || self.finished_late,
            unfinished,
            late_usage: None,
            shared: false,
            refused: self.refused,
            number: 0,
            streamed: false,
            broken: None,
        })
    }

    /// What had come of an answer that failed, to be counted; none where nothing had.
    pub(super) fn received(&self) -> Option<Completion> {
        (self.shown() || self.counts.is_some()).then(|| Completion {
            text: self.text.clone(),
            reasoned: self.reasoned,
            thoughts: self.thoughts.clone(),
            counts: self.counts,
            impossible_counts: self.impossible_counts,
            ..Completion::default()
        })
    }

    fn host(&self) -> &str {
        self.endpoint.host()
    }

    pub(super) fn empty(&self) -> ProviderError {
        ProviderError::new(
            format!(
                "{} ended the stream without a word; most often the prompt is longer than its context",
                self.host()
            ),
            error::too_long_advice(self.asked),
        )
        .of_kind(FailureKind::EmptyReply)
    }

    /// The connection ended before the answer did.
    fn broken(&self, why: &str) -> ProviderError {
        if self.shown() {
            let what = format!("the answer of {} broke off: {why}", self.host());
            let next = "retry; what had come is no whole answer. Some servers break off like this at the end of their context: \
                        there a smaller context_tokens or max_tokens helps";
            ProviderError::new(what, next).of_kind(FailureKind::Interrupted)
        } else {
            let what = format!("{} broke the connection before it answered: {why}", self.host());
            ProviderError::new(what, "retry; look at the server's own log").of_kind(FailureKind::Unreachable)
        }
    }

    fn quiet(&self, pause: Duration) -> ProviderError {
        let what = format!("nothing came from {} for {} s", self.host(), pause.as_secs_f64());
        ProviderError::new(what, "retry; idle_seconds in the endpoint's profile says how long is waited")
            .of_kind(FailureKind::TimedOut)
    }

    /// Only signs of life came in so long a time.
    fn wordless(&self, pause: Duration) -> ProviderError {
        if !self.signs {
            return self.quiet(pause);
        }
        let seconds = pause.as_secs_f64();
        let what = format!("{} is alive but has written nothing for {seconds} s", self.host());
        let next = "retry, perhaps with a smaller max_tokens: some servers hold back an answer whose letters are broken; \
                    first_seconds in the endpoint's profile says how long is waited";
        ProviderError::new(what, next).of_kind(FailureKind::TimedOut)
    }

    fn endless(&self) -> ProviderError {
        let what = format!("{} sends without an end ({} so far)", self.host(), size(self.read));
        let next = match (self.bound, self.stops_sent) {
            (None, _) => "set max_tokens in the endpoint's profile, or choose another server".to_owned(),
            (Some(bound), stops) => format!(
                "it was sent max_tokens {bound}{} and ignores {}; choose another server or model",
                if stops { " and a stop text" } else { "" },
                if stops { "both" } else { "it" }
            ),
        };
        ProviderError::new(what, next).of_kind(FailureKind::InvalidResponse)
    }

    fn odd(&self, words: &str) -> ProviderError {
        let what = format!("what {} sends is no answer of a model server: {words}", self.host());
        ProviderError::new(what, "check the base URL; `retrospect doctor` checks the server")
            .of_kind(FailureKind::InvalidResponse)
    }

    /// An error in the stream: its number decides as a status would.
    fn trouble(&self, words: &str, status: Option<u16>) -> ProviderError {
        let body = Body::of_words(words);
        let mut error = error::refused(self.endpoint, status.unwrap_or(500), &body, self.asked);
        error.status = status;
        error.what = format!("{} broke off with an error: {words}", self.host());
        error
    }
}

/// A number of bytes in a unit that leaves something before its dot.
fn size(bytes: usize) -> String {
    match bytes {
        0..1000 => format!("{bytes} bytes"),
        1000..1_000_000 => format!("{} kB", bytes / 1000),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

#[cfg(test)]
#[test]
fn a_size_has_a_unit_that_fits_it() {
    let sizes = [0, 999, 1000, 82_300, 999_999, 1_000_000, 64 << 20].map(size);
    assert_eq!(sizes, ["0 bytes", "999 bytes", "1 kB", "82 kB", "999 kB", "1.0 MB", "67.1 MB"]);
}

fn cut(text: &str) -> String {
    text.chars().take(80).collect()
}
