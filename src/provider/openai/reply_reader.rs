//! One answer while it comes in: reads the body piece by piece, tells reasoning from text, and decides whether the end of
//! the body is the end of the answer.

use super::chunk::{self, Chunk, TokenCounts};
use super::client;
use super::endpoint::Endpoint;
use super::error;
use super::finish::Finish;
use super::frame_parser::{Frame, FrameParser};
use super::learned_quirks::LearnedQuirks;
use super::reasoning_parser::{ReasoningParser, ReplyPart, StopMatcher};
use super::redactor::Redactor;
use super::server_data::RedactedText;
use super::stream_redactor::StreamRedactor;
use crate::provider::{Delta, FailureKind, Phase, ProviderError};
use crate::text;
use futures_util::FutureExt as _;
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;

/// The most bytes of one body.
const MAX_BODY_BYTES: usize = 64 << 20;
/// So much of a body is read without looking at anything else.
const SLICE_BYTES: usize = 8 << 10;
/// How often more is read after the answer is whole.
const MAX_LATE_READS: u32 = 16;
/// How long the usage of an answer that a stop text ended here is waited for, where the server doesn't end by itself.
const USAGE_WAIT: Duration = Duration::from_millis(250);
/// How many bytes are read meanwhile.
const MAX_USAGE_BYTES: usize = 256 << 10;
/// The most tokens that are read of a reply that was asked for without a bound.
const UNBOUNDED: u32 = 1 << 17;
/// How many such waits in a row may be in vain before only some replies are waited for.
const MAX_USAGE_MISSES: u32 = 2;
/// How many replies are then not waited for before one is again.
const USAGE_SKIPS: u32 = 7;

/// An answer under way.
#[expect(clippy::struct_excessive_bools, reason = "independent facts about an answer")]
pub(super) struct ReplyReader<'a> {
    endpoint: &'a Endpoint,
    redactor: Redactor,
    delta_sender: &'a UnboundedSender<Delta>,
    frame_parser: FrameParser,
    stream_redactors: [StreamRedactor; 2],
    reasoning_parser: ReasoningParser,
    stop_matcher: StopMatcher,
    token_counts: Option<TokenCounts>,
    impossible_counts: bool,
    finish_reason: Option<String>,
    has_done_marker: bool,
    is_recognized: bool,
    /// The first value that an answer does not have.
    first_unrecognized: String,
    bytes_read: usize,
    text: String,
    /// Characters of reasoning.
    reasoning_chars: usize,
    reasoning: String,
    max_len: usize,
    /// The most tokens it was asked for.
    bound: Option<u32>,
    /// The server knows the texts that end it.
    stops_sent: bool,
    /// Its text is a refusal.
    refused: bool,
    /// A closing mark came without its opening one.
    closed_without_opening: bool,
    /// Estimated tokens of the prompt.
    prompt_tokens: u64,
    /// Signs of life came since the last piece of an answer.
    only_keep_alives: bool,
    /// After a stop text ended the answer here: the server said how it ended its own.
    finished_after_stop: bool,
    /// After a stop text ended the answer here: the server writes on.
    continues_after_stop: bool,
    /// Its usage is waited for after a stop text ended the answer here.
    awaits_usage: bool,
    /// Bytes of text and reasoning in the frames.
    content_bytes: usize,
    /// The body is one JSON value, which is whole where it can be read.
    json_body: bool,
}

/// How an answer came out.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about an answer")]
pub(super) struct Completion {
    pub(super) text: String,
    pub(super) reasoning_chars: usize,
    pub(super) reasoning: String,
    pub(super) token_counts: Option<TokenCounts>,
    /// The server sent counts that cannot be true.
    pub(super) impossible_counts: bool,
    pub(super) finish_reason: Option<String>,
    /// The answer ended while it still reasoned.
    pub(super) ended_in_reasoning: bool,
    pub(super) closed_without_opening: bool,
    /// We ended it at a stop text.
    pub(super) stopped_locally: bool,
    /// A proxy stood in between.
    pub(super) counted_by_proxy: bool,
    /// The stop texts that ended it, there or here.
    pub(super) stop_texts: Vec<String>,
    /// They were sent to the server.
    pub(super) stops_sent: bool,
    /// The most tokens it was asked for; none: the server's own bound held.
    pub(super) max_tokens: Option<u32>,
    /// The stream said how the answer ended.
    pub(super) has_finish_reason: bool,
    /// The stream ended with `[DONE]` and did not say how the answer ended.
    pub(super) done_without_finish_reason: bool,
    /// Whether its usage came in time after a stop text had ended it here; none where that was not waited for.
    pub(super) usage_in_time: Option<bool>,
    /// The server had another request meanwhile.
    pub(super) server_was_shared: bool,
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
    pub(super) fn limit_used_up(bound: Option<u32>) -> Self {
        Self { finish_reason: Some("length".to_owned()), max_tokens: bound, ..Self::default() }
    }

    /// It has no words but reasoning.
    pub(super) fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Something of its reasoning was seen.
    pub(super) fn has_reasoning(&self) -> bool {
        self.ended_in_reasoning || self.reasoning_chars > 0
    }

    /// How the server says that it ended; none where it says nothing, or where a stop text ended the reply here before.
    pub(super) fn ending(&self) -> Option<Finish> {
        self.finish_reason.as_deref().filter(|_| !self.stopped_locally).map(Finish::read)
    }

    /// The server's own words for its end.
    pub(super) fn reason(&self) -> String {
        text::truncate(self.finish_reason.as_deref().unwrap_or("none"), 60, "…")
    }

    /// It says that it came to its end or to a stop text.
    pub(super) fn is_ended_by_stop(&self) -> bool {
        self.finish_reason.as_deref().map(Finish::read) == Some(Finish::Complete)
    }

    /// The bound of its tokens ended it.
    pub(super) fn has_hit_limit(&self) -> bool {
        self.ending() == Some(Finish::Length)
    }
}

impl<'a> ReplyReader<'a> {
    /// An answer to a request with this bound, if any; `stops` end it, `asked` are the estimated tokens of its prompt.
    pub(super) fn new(
        endpoint: &'a Endpoint,
        redactor: &Redactor,
        learnt: &LearnedQuirks,
        stops: &[String],
        bound: Option<u32>,
        asked: u64,
        tell: &'a UnboundedSender<Delta>,
    ) -> Self {
        Self {
            endpoint,
            delta_sender: tell,
            frame_parser: FrameParser::default(),
            stream_redactors: [StreamRedactor::new(redactor.clone()), StreamRedactor::new(redactor.clone())],
            redactor: redactor.clone(),
            reasoning_parser: ReasoningParser::new(
                &endpoint.reasoning,
                endpoint.reasoning.opened || learnt.starts_in_reasoning,
            ),
            stop_matcher: StopMatcher::new(stops),
            token_counts: None,
            impossible_counts: false,
            finish_reason: None,
            has_done_marker: false,
            is_recognized: false,
            first_unrecognized: String::new(),
            bytes_read: 0,
            text: String::new(),
            reasoning_chars: 0,
            reasoning: String::new(),
            // A token is rarely more than a word; who sends that much more does not heed its bound.
            max_len: (bound.unwrap_or(UNBOUNDED) as usize).saturating_mul(64).saturating_add(64 << 10),
            bound,
            stops_sent: false,
            refused: false,
            closed_without_opening: false,
            prompt_tokens: asked,
            only_keep_alives: false,
            finished_after_stop: false,
            continues_after_stop: false,
            awaits_usage: learnt.usage_misses < MAX_USAGE_MISSES || learnt.usage_skips >= USAGE_SKIPS,
            content_bytes: 0,
            json_body: false,
        }
    }

    /// Something of the answer was shown.
    pub(super) fn has_shown_output(&self) -> bool {
        !self.text.is_empty() || self.reasoning_chars > 0
    }

    /// Reads the body to the end of the answer; `stops_sent`: the server knows the texts that end it.
    pub(super) async fn read(
        &mut self,
        mut response: Response,
        stops_sent: bool,
    ) -> Result<Completion, ProviderError> {
        self.stops_sent = stops_sent;
        let times = self.endpoint.timeouts;
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        self.json_body = kind.is_some_and(|kind| kind.starts_with("application/json"));
        let mut frames = Vec::new();
        let mut silence = Box::pin(tokio::time::sleep(times.first_piece));
        let (mut begun, mut late_reads, mut last) = (false, 0, 0);
        while !self.stop_matcher.has_stopped() && late_reads < MAX_LATE_READS {
            // Before the first piece a server may be silent for long; after the last only its usage is waited for, and
            // then the end of the body, so that the connection can be used again.
            let pause = match (self.is_over(), &self.finish_reason, begun) {
                (true, ..) => times.after_end / 20,
                (_, Some(_), _) => times.after_end.min(times.idle),
                (_, None, true) => times.idle,
                (_, None, false) => times.first_piece,
            };
            late_reads += u32::from(self.is_over());
            let piece = tokio::select! {
                biased;
                piece = tokio::time::timeout(pause, response.chunk()) => piece,
                () = &mut silence, if self.finish_reason.is_none() => {
                    return self.ended(Err(self.no_content_error(times.first_piece)));
                }
            };
            let piece = match piece {
                Ok(Ok(piece)) => piece,
                Ok(Err(_)) | Err(_) if self.finish_reason.is_some() || self.has_done_marker => break,
                Ok(Err(error)) => {
                    return self.ended(Err(
                        self.connection_lost_error(&super::error::root_cause(&error.without_url()))
                    ));
                }
                Err(_) if begun => return self.ended(Err(self.silence_error(pause))),
                Err(_) => return self.ended(Err(client::first_token_timeout_error(self.endpoint))),
            };
            let end = piece.is_none();
            let said = self.text.len() + self.reasoning_chars;
            let bytes = piece.unwrap_or_default();
            let mut slices = bytes.chunks(SLICE_BYTES);
            loop {
                let slice = slices.next();
                let cut = match slice {
                    Some(slice) => {
                        self.bytes_read += slice.len();
                        self.frame_parser.push(slice, &mut frames)
                    }
                    None if end => self.frame_parser.finish(&mut frames),
                    None => Ok(()),
                };
                for frame in frames.drain(..) {
                    begun = true;
                    if let Err(error) = self.take_frame(frame) {
                        return self.ended(Err(error));
                    }
                }
                if cut.is_err()
                    || self.bytes_read > MAX_BODY_BYTES
                    || self.text.len() + self.reasoning_chars > self.max_len
                {
                    return self.ended(Err(self.endless_reply_error()));
                }
                if slice.is_none() || self.is_over() {
                    break;
                }
                // Whatever a server sends, the driver's own inbox and the clocks have their turn in between.
                tokio::task::yield_now().await;
            }
            if self.content_bytes != last {
                last = self.content_bytes;
                self.only_keep_alives = false;
                silence = Box::pin(tokio::time::sleep(times.first_piece));
            } else if self.finish_reason.is_none() && !end && silence.as_mut().now_or_never().is_some() {
                // Pieces without a word that come without a pause leave no other moment to notice it.
                self.only_keep_alives = true;
                return self.ended(Err(self.no_content_error(times.first_piece)));
            }
            if !end && said == self.text.len() + self.reasoning_chars {
                self.only_keep_alives = true;
                let _ = self.delta_sender.send(Delta::KeepAlive);
            }
            if end {
                break;
            }
        }
        let mut late_usage = None;
        if self.stop_matcher.has_stopped() && self.awaits_usage {
            late_usage = Some(self.read_usage(&mut response, stops_sent).await);
        }
        self.ended(Ok(())).map(|whole| Completion { usage_in_time: late_usage, ..whole })
    }

    /// Reads on after a stop text ended the answer here: a server that ends there too sends its usage last. Whether the server
    /// came to its end in time; one that writes on is left after a moment.
    async fn read_usage(&mut self, response: &mut Response, stops_sent: bool) -> bool {
        let times = self.endpoint.timeouts;
        let mut moment = Box::pin(tokio::time::sleep(USAGE_WAIT.min(times.after_end)));
        let mut longest = Box::pin(tokio::time::sleep(times.after_end));
        let (mut frames, mut bytes, mut late_reads) = (Vec::new(), 0, 0);
        while late_reads < MAX_LATE_READS {
            // At the server's end only the end of the body is waited for, so that the connection can be used again.
            let over = self.is_over();
            late_reads += u32::from(over);
            let pause = if over { times.after_end / 20 } else { times.after_end };
            let piece = tokio::select! {
                biased;
                () = &mut moment, if !over && (self.continues_after_stop || !stops_sent) => return false,
                () = &mut longest, if !over => return false,
                piece = tokio::time::timeout(pause, response.chunk()) => piece,
            };
            let end = !matches!(piece, Ok(Ok(Some(_))));
            let read = match &piece {
                Ok(Ok(Some(piece))) => {
                    bytes += piece.len();
                    self.frame_parser.push(piece, &mut frames)
                }
                _ => self.frame_parser.finish(&mut frames),
            };
            frames.drain(..).for_each(|frame| self.take_late_frame(frame));
            if end {
                return over || piece.is_ok();
            }
            if read.is_err() || bytes > MAX_USAGE_BYTES {
                return self.is_over();
            }
        }
        true
    }

    /// What is looked at after a stop text ended the answer: who ended it, and the usage.
    fn take_late_frame(&mut self, frame: Frame) {
        match frame {
            Frame::Done => self.has_done_marker = true,
            Frame::Json(value, _) => {
                let late =
                    chunk::parse_chunk(&self.redactor.redact_json(value), &self.endpoint.reasoning.fields);
                self.finished_after_stop |= late.finish_reason.is_some();
                self.continues_after_stop |= !late.text.is_empty() || !late.reasoning.is_empty();
                self.token_counts = late.token_counts.or(self.token_counts);
                self.impossible_counts |= late.impossible_counts;
            }
            Frame::InvalidJson(_) => {}
        }
    }

    /// Nothing more is waited for.
    fn is_over(&self) -> bool {
        self.has_done_marker
            || ((self.finish_reason.is_some() || self.finished_after_stop) && self.token_counts.is_some())
    }

    fn take_frame(&mut self, frame: Frame) -> Result<(), ProviderError> {
        let (value, error) = match frame {
            // What comes after the end is not looked at.
            _ if self.is_over() => return Ok(()),
            frame if self.stop_matcher.has_stopped() => {
                self.take_late_frame(frame);
                return Ok(());
            }
            Frame::Done => {
                self.has_done_marker = true;
                return Ok(());
            }
            Frame::InvalidJson(_) if self.finish_reason.is_some() => return Ok(()),
            Frame::InvalidJson(text) => {
                let text = self.redactor.redact(&text);
                return Err(self.unexpected_data_error(&format!(
                    "a piece of the stream is no whole JSON: {}",
                    excerpt(&text)
                )));
            }
            Frame::Json(value, error) => (self.redactor.redact_json(value), error),
        };
        let Chunk {
            text,
            reasoning,
            finish_reason: finish,
            token_counts: counts,
            impossible_counts,
            error: trouble,
            refused,
            is_recognized: known,
        } = chunk::parse_chunk(&value, &self.endpoint.reasoning.fields);
        self.token_counts = counts.or(self.token_counts);
        self.impossible_counts |= impossible_counts;
        if let Some((words, status)) =
            trouble.or_else(|| error.then(|| (error::json_error_message(&value), None)))
        {
            return Err(self.server_error(&words, status));
        }
        self.content_bytes += text.len() + reasoning.len();
        self.is_recognized |= known;
        self.refused |= refused;
        if !known && self.first_unrecognized.is_empty() {
            self.first_unrecognized = error::json_error_message(&value);
        }
        let reasoning = self.stream_redactors[0].push(&reasoning);
        self.push_reasoning(reasoning);
        let text = self.stream_redactors[1].push(&text);
        let parts = self.reasoning_parser.push(&text);
        self.push_parts(parts);
        self.finish_reason = finish.or(self.finish_reason.take());
        Ok(())
    }

    fn push_parts(&mut self, parts: Vec<ReplyPart>) {
        for part in parts {
            match part {
                ReplyPart::Reasoning(words) => self.push_reasoning(words),
                ReplyPart::Text(words) => self.push_text(&words),
                ReplyPart::WasReasoning => {
                    self.closed_without_opening = true;
                    self.reasoning_chars += self.text.chars().count();
                    self.reasoning.push_str(&std::mem::take(&mut self.text));
                    let _ = self.delta_sender.send(Delta::WasReasoning);
                }
            }
        }
    }

    fn push_reasoning(&mut self, words: String) {
        if words.is_empty() {
            return;
        }
        if self.reasoning_chars == 0 {
            let _ = self.delta_sender.send(Delta::Phase(Phase::Reasoning));
        }
        self.reasoning_chars += words.chars().count();
        self.reasoning.push_str(&words);
        let _ = self.delta_sender.send(Delta::Reasoning(words));
    }

    fn push_text(&mut self, words: &str) {
        // White space before the first word is no answer, and no stop text either.
        let words = if self.text.is_empty() { words.trim_start() } else { words };
        let words = self.stop_matcher.push(words);
        self.send_text(words);
    }

    fn send_text(&mut self, words: String) {
        if words.is_empty() {
            return;
        }
        if self.text.is_empty() {
            let _ = self.delta_sender.send(Delta::Phase(Phase::Answering));
        }
        self.text.push_str(&words);
        let _ = self.delta_sender.send(Delta::Text(words));
    }

    /// Lets go of what was held back, and judges the end.
    pub(super) fn ended(&mut self, how: Result<(), ProviderError>) -> Result<Completion, ProviderError> {
        let inside = self.reasoning_parser.is_inside();
        let whole = self.finish_reason.as_deref().is_none_or(|reason| Finish::read(reason).is_whole());
        if !self.stop_matcher.has_stopped() {
            let [mut reasoning, mut text] = std::mem::take(&mut self.stream_redactors);
            self.push_reasoning(reasoning.finish());
            let mut parts = self.reasoning_parser.push(&text.finish());
            parts.extend(self.reasoning_parser.finish(how.is_ok() && whole));
            self.push_parts(parts);
            let rest = self.stop_matcher.end();
            self.send_text(rest);
        }
        let unfinished = self.has_done_marker
            && self.is_recognized
            && self.finish_reason.is_none()
            && !self.stop_matcher.has_stopped();
        let whole = self.json_body && self.is_recognized && self.has_shown_output();
        let good = self.finish_reason.is_some() || self.stop_matcher.has_stopped() || unfinished || whole;
        let judged = match how {
            Ok(()) if good => Ok(()),
            Ok(()) if self.has_shown_output() => {
                Err(self.connection_lost_error("the stream ended without saying that the answer is whole"))
            }
            Ok(()) if !self.is_recognized && !self.first_unrecognized.is_empty() => {
                Err(self.unexpected_data_error(&self.first_unrecognized))
            }
            Ok(()) if !self.is_recognized && !self.frame_parser.other_text().trim().is_empty() => Err(self
                .unexpected_data_error(&error::error_message(
                    &self.redactor.redact_body(self.frame_parser.other_text().as_bytes()),
                ))),
            Ok(()) => Err(self.empty_reply_error()),
            Err(error) => Err(error),
        };
        judged?;
        Ok(Completion {
            text: std::mem::take(&mut self.text),
            reasoning_chars: self.reasoning_chars,
            reasoning: std::mem::take(&mut self.reasoning),
            token_counts: self.token_counts,
            impossible_counts: self.impossible_counts,
            finish_reason: self.finish_reason.clone(),
            ended_in_reasoning: inside,
            closed_without_opening: self.closed_without_opening,
            stopped_locally: self.stop_matcher.has_stopped(),
            counted_by_proxy: false,
            stop_texts: Vec::new(),
            stops_sent: false,
            max_tokens: None,
            has_finish_reason: self.finish_reason.is_some() || self.finished_after_stop,
            done_without_finish_reason: unfinished,
            usage_in_time: None,
            server_was_shared: false,
            refused: self.refused,
            number: 0,
            streamed: false,
            broken: None,
        })
    }

    /// What had come of an answer that failed, to be counted; none where nothing had.
    pub(super) fn received(&self) -> Option<Completion> {
        (self.has_shown_output() || self.token_counts.is_some()).then(|| Completion {
            text: self.text.clone(),
            reasoning_chars: self.reasoning_chars,
            reasoning: self.reasoning.clone(),
            token_counts: self.token_counts,
            impossible_counts: self.impossible_counts,
            ..Completion::default()
        })
    }

    fn host(&self) -> &str {
        self.endpoint.host()
    }

    pub(super) fn empty_reply_error(&self) -> ProviderError {
        ProviderError::new(
            format!(
                "{} ended the stream without a word; most often the prompt is longer than its context",
                self.host()
            ),
            error::too_long_advice(self.prompt_tokens),
        )
        .with_kind(FailureKind::EmptyReply)
    }

    /// The connection ended before the answer did.
    fn connection_lost_error(&self, why: &str) -> ProviderError {
        if self.has_shown_output() {
            let what = format!("the answer of {} broke off: {why}", self.host());
            let next = "retry; what had come is no whole answer. Some servers break off like this at the end of their context: \
                        there a smaller context_tokens or max_tokens helps";
            ProviderError::new(what, next).with_kind(FailureKind::Interrupted)
        } else {
            let what = format!("{} broke the connection before it answered: {why}", self.host());
            ProviderError::new(what, "retry; look at the server's own log")
                .with_kind(FailureKind::Unreachable)
        }
    }

    fn silence_error(&self, pause: Duration) -> ProviderError {
        let what = format!("nothing came from {} for {} s", self.host(), pause.as_secs_f64());
        ProviderError::new(what, "retry; idle_seconds in the endpoint's profile says how long is waited")
            .with_kind(FailureKind::TimedOut)
    }

    /// Only signs of life came in so long a time.
    fn no_content_error(&self, pause: Duration) -> ProviderError {
        if !self.only_keep_alives {
            return self.silence_error(pause);
        }
        let seconds = pause.as_secs_f64();
        let what = format!("{} is alive but has written nothing for {seconds} s", self.host());
        let next = "retry, perhaps with a smaller max_tokens: some servers hold back an answer whose letters are broken; \
                    first_seconds in the endpoint's profile says how long is waited";
        ProviderError::new(what, next).with_kind(FailureKind::TimedOut)
    }

    fn endless_reply_error(&self) -> ProviderError {
        let what = format!("{} sends without an end ({} so far)", self.host(), format_size(self.bytes_read));
        let next = match (self.bound, self.stops_sent) {
            (None, _) => "set max_tokens in the endpoint's profile, or choose another server".to_owned(),
            (Some(bound), stops) => format!(
                "it was sent max_tokens {bound}{} and ignores {}; choose another server or model",
                if stops { " and a stop text" } else { "" },
                if stops { "both" } else { "it" }
            ),
        };
        ProviderError::new(what, next).with_kind(FailureKind::InvalidResponse)
    }

    fn unexpected_data_error(&self, words: &str) -> ProviderError {
        let what = format!("what {} sends is no answer of a model server: {words}", self.host());
        ProviderError::new(what, "check the base URL; `retrospect doctor` checks the server")
            .with_kind(FailureKind::InvalidResponse)
    }

    /// An error in the stream: its number decides as a status would.
    fn server_error(&self, words: &str, status: Option<u16>) -> ProviderError {
        let body = RedactedText::from_error_message(words);
        let mut error =
            error::http_status_error(self.endpoint, status.unwrap_or(500), &body, self.prompt_tokens);
        error.status = status;
        error.message = format!("{} broke off with an error: {words}", self.host());
        error
    }
}

/// A number of bytes in a unit that leaves something before its dot.
fn format_size(bytes: usize) -> String {
    match bytes {
        0..1000 => format!("{bytes} bytes"),
        1000..1_000_000 => format!("{} kB", bytes / 1000),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

#[cfg(test)]
#[test]
fn a_size_has_a_unit_that_fits_it() {
    let sizes = [0, 999, 1000, 82_300, 999_999, 1_000_000, 64 << 20].map(format_size);
    assert_eq!(sizes, ["0 bytes", "999 bytes", "1 kB", "82 kB", "999 kB", "1.0 MB", "67.1 MB"]);
}

fn excerpt(text: &str) -> String {
    text.chars().take(80).collect()
}
