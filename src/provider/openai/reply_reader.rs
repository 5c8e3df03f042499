//! Reads a single reply as it arrives: separates reasoning from text, and decides whether the end of the body is the
//! end of the reply.

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

/// Maximum size of a body, in bytes.
const MAX_BODY_BYTES: usize = 64 << 20;
/// How many bytes are processed before other tasks get a turn.
const SLICE_BYTES: usize = 8 << 10;
/// How many pieces are read after the reply is complete.
const MAX_LATE_READS: u32 = 16;
/// How long to wait for the usage of a reply that was cut here at a stop text, if the server keeps writing.
const USAGE_WAIT: Duration = Duration::from_millis(250);
/// How many bytes are read during that wait.
const MAX_USAGE_BYTES: usize = 256 << 10;
/// How many tokens are read of a reply that was requested without a limit.
const ASSUMED_MAX_TOKENS: u32 = 1 << 17;
/// After this many consecutive waits for usage without success, only some replies are waited for.
const MAX_USAGE_MISSES: u32 = 2;
/// How many replies are then skipped before the next wait.
const USAGE_SKIPS: u32 = 7;

/// The state of a reply that is being read.
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a reply")]
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
    /// The first value that is not part of any known reply format.
    first_unrecognized: String,
    bytes_read: usize,
    text: String,
    /// Number of characters of reasoning.
    reasoning_chars: usize,
    reasoning: String,
    /// Maximum size of text and reasoning together.
    max_len: usize,
    /// The token limit that was sent.
    max_tokens: Option<u32>,
    /// The stop texts were sent to the server.
    stops_sent: bool,
    /// The text is a refusal.
    refused: bool,
    /// A closing tag arrived without its opening one.
    has_unopened_closing_tag: bool,
    /// Estimated number of tokens in the prompt.
    prompt_tokens: u64,
    /// Only data without content arrived since the last piece of the reply.
    only_keep_alives: bool,
    /// After the reply was cut here at a stop text, the server sent its own finish reason.
    finished_after_stop: bool,
    /// After the reply was cut here at a stop text, the server keeps writing.
    continues_after_stop: bool,
    /// Wait for usage after the reply was cut here at a stop text.
    awaits_usage: bool,
    /// Bytes of text and reasoning in the frames so far.
    content_bytes: usize,
    /// The body is a single JSON value, which is complete if it parses.
    json_body: bool,
}

/// A finished reply, or what arrived of one.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a reply")]
pub(super) struct Completion {
    pub(super) text: String,
    pub(super) reasoning_chars: usize,
    pub(super) reasoning: String,
    pub(super) token_counts: Option<TokenCounts>,
    /// The server sent impossible token counts.
    pub(super) impossible_counts: bool,
    pub(super) finish_reason: Option<String>,
    /// The reply ended inside its reasoning.
    pub(super) ended_in_reasoning: bool,
    pub(super) closed_without_opening: bool,
    /// The reply was cut here at a stop text.
    pub(super) stopped_locally: bool,
    /// The token counts come from a proxy.
    pub(super) counted_by_proxy: bool,
    /// The stop texts of the request, applied by the server or here.
    pub(super) stop_texts: Vec<String>,
    /// The stop texts were sent to the server.
    pub(super) stops_sent: bool,
    /// The token limit that was sent. None: the server's default applied.
    pub(super) max_tokens: Option<u32>,
    /// The stream contained a finish reason.
    pub(super) has_finish_reason: bool,
    /// The stream ended with `[DONE]` but without a finish reason.
    pub(super) done_without_finish_reason: bool,
    /// Whether usage arrived in time after the reply was cut here at a stop text; none if it was not waited for.
    pub(super) usage_in_time: Option<bool>,
    /// The server had another request of ours at the same time.
    pub(super) server_was_shared: bool,
    /// The server marked the text as a refusal.
    pub(super) refused: bool,
    /// Number of the request, counting all that this program sent to the server.
    pub(super) request_number: u64,
    /// The request asked for a stream.
    pub(super) streamed: bool,
    /// The error that ended the stream, if that happened without `[DONE]` while the server had another request.
    pub(super) stream_error: Option<ProviderError>,
}

impl Completion {
    /// Returns the reply that stands for a rejection because reasoning used up the token limit.
    pub(super) fn at_token_limit(bound: Option<u32>) -> Self {
        Self { finish_reason: Some("length".to_owned()), max_tokens: bound, ..Self::default() }
    }

    /// Returns whether there is no text besides reasoning.
    pub(super) fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Returns whether any reasoning was seen.
    pub(super) fn has_reasoning(&self) -> bool {
        self.ended_in_reasoning || self.reasoning_chars > 0
    }

    /// Returns why the reply ended according to the server. Returns `None` if the server did not say, or if the reply
    /// was cut here first.
    pub(super) fn server_finish(&self) -> Option<Finish> {
        self.finish_reason.as_deref().filter(|_| !self.stopped_locally).map(Finish::parse)
    }

    /// Returns the server's finish reason as sent, truncated, or `none`.
    pub(super) fn finish_reason_text(&self) -> String {
        text::truncate(self.finish_reason.as_deref().unwrap_or("none"), 60, "…")
    }

    /// Returns whether the server says that the reply is complete or ended at a stop text.
    pub(super) fn is_complete_per_server(&self) -> bool {
        self.finish_reason.as_deref().map(Finish::parse) == Some(Finish::Complete)
    }

    /// Returns whether the token limit ended the reply.
    pub(super) fn has_hit_limit(&self) -> bool {
        self.server_finish() == Some(Finish::Length)
    }
}

impl<'a> ReplyReader<'a> {
    /// Creates a reader for the reply to a request with the given token limit. `stops` end the reply; `prompt_tokens`
    /// is the estimated size of the prompt.
    pub(super) fn new(
        endpoint: &'a Endpoint,
        redactor: &Redactor,
        learnt: &LearnedQuirks,
        stops: &[String],
        bound: Option<u32>,
        prompt_tokens: u64,
        delta_sender: &'a UnboundedSender<Delta>,
    ) -> Self {
        Self {
            endpoint,
            delta_sender,
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
            // A token is rarely longer than a word; a server that sends far more ignores the limit.
            max_len: (bound.unwrap_or(ASSUMED_MAX_TOKENS) as usize)
                .saturating_mul(64)
                .saturating_add(64 << 10),
            max_tokens: bound,
            stops_sent: false,
            refused: false,
            has_unopened_closing_tag: false,
            prompt_tokens,
            only_keep_alives: false,
            finished_after_stop: false,
            continues_after_stop: false,
            awaits_usage: learnt.usage_misses < MAX_USAGE_MISSES || learnt.usage_skips >= USAGE_SKIPS,
            content_bytes: 0,
            json_body: false,
        }
    }

    /// Returns whether any part of the reply was shown.
    pub(super) fn has_shown_output(&self) -> bool {
        !self.text.is_empty() || self.reasoning_chars > 0
    }

    /// Reads the body to the end of the reply. `stops_sent` says whether the stop texts were sent to the server.
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
            // A server may be silent for long before the first piece. After the last piece, only usage and then the end
            // of the body are awaited, so that the connection can be reused.
            let pause = match (self.is_finished(), &self.finish_reason, begun) {
                (true, ..) => times.after_end / 20,
                (_, Some(_), _) => times.after_end.min(times.idle),
                (_, None, true) => times.idle,
                (_, None, false) => times.first_piece,
            };
            late_reads += u32::from(self.is_finished());
            let piece = tokio::select! {
                biased;
                piece = tokio::time::timeout(pause, response.chunk()) => piece,
                () = &mut silence, if self.finish_reason.is_none() => {
                    return self.finish(Err(self.no_content_error(times.first_piece)));
                }
            };
            let piece = match piece {
                Ok(Ok(piece)) => piece,
                Ok(Err(_)) | Err(_) if self.finish_reason.is_some() || self.has_done_marker => break,
                Ok(Err(error)) => {
                    return self.finish(Err(
                        self.connection_lost_error(&super::error::root_cause(&error.without_url()))
                    ));
                }
                Err(_) if begun => return self.finish(Err(self.silence_error(pause))),
                Err(_) => return self.finish(Err(client::first_token_timeout_error(self.endpoint))),
            };
            let end = piece.is_none();
            let length_before = self.text.len() + self.reasoning_chars;
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
                    if let Err(error) = self.process_frame(frame) {
                        return self.finish(Err(error));
                    }
                }
                if cut.is_err()
                    || self.bytes_read > MAX_BODY_BYTES
                    || self.text.len() + self.reasoning_chars > self.max_len
                {
                    return self.finish(Err(self.endless_reply_error()));
                }
                if slice.is_none() || self.is_finished() {
                    break;
                }
                // Let other tasks and timers run, however much the server sends.
                tokio::task::yield_now().await;
            }
            if self.content_bytes != last {
                last = self.content_bytes;
                self.only_keep_alives = false;
                silence = Box::pin(tokio::time::sleep(times.first_piece));
            } else if self.finish_reason.is_none() && !end && silence.as_mut().now_or_never().is_some() {
                // The timer above never gets its turn if pieces without content arrive without a pause.
                self.only_keep_alives = true;
                return self.finish(Err(self.no_content_error(times.first_piece)));
            }
            if !end && length_before == self.text.len() + self.reasoning_chars {
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
        self.finish(Ok(())).map(|whole| Completion { usage_in_time: late_usage, ..whole })
    }

    /// Reads on after the reply was cut here at a stop text: a server that stops there too sends its usage last.
    /// Returns whether the server finished in time; one that keeps writing gets only [`USAGE_WAIT`].
    async fn read_usage(&mut self, response: &mut Response, stops_sent: bool) -> bool {
        let times = self.endpoint.timeouts;
        let mut moment = Box::pin(tokio::time::sleep(USAGE_WAIT.min(times.after_end)));
        let mut longest = Box::pin(tokio::time::sleep(times.after_end));
        let (mut frames, mut bytes, mut late_reads) = (Vec::new(), 0, 0);
        while late_reads < MAX_LATE_READS {
            // After usage, only the end of the body is awaited, so that the connection can be reused.
            let over = self.is_finished();
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
            frames.drain(..).for_each(|frame| self.process_late_frame(frame));
            if end {
                return over || piece.is_ok();
            }
            if read.is_err() || bytes > MAX_USAGE_BYTES {
                return self.is_finished();
            }
        }
        true
    }

    /// Processes a frame after the reply was cut at a stop text: only finish reason, further text and usage matter.
    fn process_late_frame(&mut self, frame: Frame) {
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

    /// Returns whether nothing more is expected.
    fn is_finished(&self) -> bool {
        self.has_done_marker
            || ((self.finish_reason.is_some() || self.finished_after_stop) && self.token_counts.is_some())
    }

    fn process_frame(&mut self, frame: Frame) -> Result<(), ProviderError> {
        let (value, error) = match frame {
            // Data after the end is ignored.
            _ if self.is_finished() => return Ok(()),
            frame if self.stop_matcher.has_stopped() => {
                self.process_late_frame(frame);
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
                    "a piece of the stream is not valid JSON: {}",
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
            error: server_error,
            refused,
            is_recognized,
        } = chunk::parse_chunk(&value, &self.endpoint.reasoning.fields);
        self.token_counts = counts.or(self.token_counts);
        self.impossible_counts |= impossible_counts;
        if let Some((message, status)) =
            server_error.or_else(|| error.then(|| (error::json_error_message(&value), None)))
        {
            return Err(self.server_error(&message, status));
        }
        self.content_bytes += text.len() + reasoning.len();
        self.is_recognized |= is_recognized;
        self.refused |= refused;
        if !is_recognized && self.first_unrecognized.is_empty() {
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
                ReplyPart::Reasoning(text) => self.push_reasoning(text),
                ReplyPart::Text(text) => self.push_text(&text),
                ReplyPart::WasReasoning => {
                    self.has_unopened_closing_tag = true;
                    self.reasoning_chars += self.text.chars().count();
                    self.reasoning.push_str(&std::mem::take(&mut self.text));
                    let _ = self.delta_sender.send(Delta::WasReasoning);
                }
            }
        }
    }

    fn push_reasoning(&mut self, text: String) {
        if text.is_empty() {
            return;
        }
        if self.reasoning_chars == 0 {
            let _ = self.delta_sender.send(Delta::Phase(Phase::Reasoning));
        }
        self.reasoning_chars += text.chars().count();
        self.reasoning.push_str(&text);
        let _ = self.delta_sender.send(Delta::Reasoning(text));
    }

    fn push_text(&mut self, text: &str) {
        // White space before the first word is not part of the reply, and must not match a stop text.
        let text = if self.text.is_empty() { text.trim_start() } else { text };
        let text = self.stop_matcher.push(text);
        self.send_text(text);
    }

    fn send_text(&mut self, text: String) {
        if text.is_empty() {
            return;
        }
        if self.text.is_empty() {
            let _ = self.delta_sender.send(Delta::Phase(Phase::Answering));
        }
        self.text.push_str(&text);
        let _ = self.delta_sender.send(Delta::Text(text));
    }

    /// Releases text that was held back, and decides whether the reply is complete. `how` is how reading ended.
    pub(super) fn finish(&mut self, how: Result<(), ProviderError>) -> Result<Completion, ProviderError> {
        let inside = self.reasoning_parser.is_inside();
        let whole = self.finish_reason.as_deref().is_none_or(|reason| Finish::parse(reason).is_complete());
        if !self.stop_matcher.has_stopped() {
            let [mut reasoning, mut text] = std::mem::take(&mut self.stream_redactors);
            self.push_reasoning(reasoning.finish());
            let mut parts = self.reasoning_parser.push(&text.finish());
            parts.extend(self.reasoning_parser.finish(how.is_ok() && whole));
            self.push_parts(parts);
            let rest = self.stop_matcher.finish();
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
                Err(self.connection_lost_error("the stream ended without a finish_reason or [DONE]"))
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
            closed_without_opening: self.has_unopened_closing_tag,
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
            request_number: 0,
            streamed: false,
            stream_error: None,
        })
    }

    /// Returns the part of a failed reply that arrived, so that its usage is counted. Returns `None` if nothing
    /// arrived.
    pub(super) fn partial_completion(&self) -> Option<Completion> {
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
            format!("{} sent an empty reply; most often the prompt exceeds its context", self.host()),
            error::too_long_advice(self.prompt_tokens),
        )
        .with_kind(FailureKind::EmptyReply)
    }

    /// Returns the error for a connection that ended before the reply did.
    fn connection_lost_error(&self, why: &str) -> ProviderError {
        if self.has_shown_output() {
            let what = format!("the reply of {} was cut off: {why}", self.host());
            let next = "retry; the partial reply is not used. Some servers cut replies off like this when their context is \
                        full: lower context_tokens or max_tokens for those";
            ProviderError::new(what, next).with_kind(FailureKind::Interrupted)
        } else {
            let what = format!("{} closed the connection before it replied: {why}", self.host());
            ProviderError::new(what, "retry; check the server's log").with_kind(FailureKind::Unreachable)
        }
    }

    fn silence_error(&self, pause: Duration) -> ProviderError {
        let what = format!("{} sent nothing for {} s", self.host(), pause.as_secs_f64());
        ProviderError::new(what, "retry; idle_seconds in the server's profile sets this limit")
            .with_kind(FailureKind::TimedOut)
    }

    /// Returns the error for a time of `pause` without content.
    fn no_content_error(&self, pause: Duration) -> ProviderError {
        if !self.only_keep_alives {
            return self.silence_error(pause);
        }
        let seconds = pause.as_secs_f64();
        let what = format!("{} keeps the connection alive but sent no text for {seconds} s", self.host());
        let next = "retry, perhaps with a smaller max_tokens: some servers hold back text with incomplete characters; \
                    first_seconds in the server's profile sets this limit";
        ProviderError::new(what, next).with_kind(FailureKind::TimedOut)
    }

    fn endless_reply_error(&self) -> ProviderError {
        let what =
            format!("the reply of {} does not end ({} so far)", self.host(), format_size(self.bytes_read));
        let next = match (self.max_tokens, self.stops_sent) {
            (None, _) => "set max_tokens in the server's profile, or choose another server".to_owned(),
            (Some(bound), stops) => format!(
                "it ignores max_tokens {bound}{}; choose another server or model",
                if stops { " and the stop text" } else { "" }
            ),
        };
        ProviderError::new(what, next).with_kind(FailureKind::InvalidResponse)
    }

    fn unexpected_data_error(&self, problem: &str) -> ProviderError {
        let what = format!("{} did not reply like a model server: {problem}", self.host());
        ProviderError::new(what, "check the base URL; `retrospect doctor` checks the server")
            .with_kind(FailureKind::InvalidResponse)
    }

    /// Returns the error for an error inside the stream. Its code, if any, is classified like an HTTP status.
    fn server_error(&self, message: &str, status: Option<u16>) -> ProviderError {
        let body = RedactedText::from_error_message(message);
        let mut error =
            error::http_status_error(self.endpoint, status.unwrap_or(500), &body, self.prompt_tokens);
        error.status = status;
        error.message = format!("{} sent an error: {message}", self.host());
        error
    }
}

/// Formats a number of bytes in the largest unit that gives at least 1.
fn format_size(bytes: usize) -> String {
    match bytes {
        0..1000 => format!("{bytes} bytes"),
        1000..1_000_000 => format!("{} kB", bytes / 1000),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

#[cfg(test)]
#[test]
fn sizes_use_a_suitable_unit() {
    let sizes = [0, 999, 1000, 82_300, 999_999, 1_000_000, 64 << 20].map(format_size);
    assert_eq!(sizes, ["0 bytes", "999 bytes", "1 kB", "82 kB", "999 kB", "1.0 MB", "67.1 MB"]);
}

fn excerpt(text: &str) -> String {
    text.chars().take(80).collect()
}
