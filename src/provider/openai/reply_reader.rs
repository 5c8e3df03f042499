//! Reads a single reply as it arrives: separates reasoning from text, and decides whether the end of the body is the
//! end of the reply.

use super::chunk::{self, Chunk, TokenCounts, ToolCallPiece};
use super::client;
use super::endpoint::Endpoint;
use super::error;
use super::finish::Finish;
use super::frame_parser::{Frame, FrameParser};
use super::learned_quirks::LearnedQuirks;
use super::reasoning_parser::{ReasoningParser, ReplyPart, StopMatcher};
use super::redactor::Redactor;
use super::server_data::{RedactedText, UnredactedText};
use super::stream_redactor::StreamRedactor;
use crate::domain::{CallPhase, ToolCall};
use crate::provider::{Delta, FailureKind, ProviderError};
use crate::text;
use futures_util::FutureExt as _;
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;

/// Maximum size of a body, in bytes.
const MAX_BODY_BYTES: usize = 64 << 20;
/// Number of bytes processed before yielding to other tasks.
const SLICE_BYTES: usize = 8 << 10;
/// Maximum number of reads after the reply is complete.
const MAX_LATE_READS: u32 = 16;
/// How long to wait for usage after a local stop, if the server keeps sending text.
const USAGE_WAIT: Duration = Duration::from_millis(250);
/// Maximum number of bytes read while waiting for usage.
const MAX_USAGE_BYTES: usize = 256 << 10;
/// Assumed token limit of a reply that was requested without one.
const ASSUMED_MAX_TOKENS: u32 = 1 << 17;
/// After this many consecutive waits for usage in vain, usage is awaited only once in a while.
const MAX_USAGE_MISSES: u32 = 2;
/// Number of replies without such a wait before the next wait.
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
    /// The first JSON value that is not part of any known reply format.
    first_unrecognized: String,
    bytes_read: usize,
    text: String,
    /// Number of characters in the reasoning.
    reasoning_chars: usize,
    reasoning: String,
    /// The tool calls so far, by their numbers.
    tool_calls: BTreeMap<u64, ToolCallPiece>,
    /// Number of bytes in them.
    tool_call_bytes: usize,
    /// Maximum length of text, reasoning and tool calls together; a longer reply is an error.
    max_len: usize,
    /// The token limit that was sent.
    max_tokens: Option<u32>,
    /// The stop sequences were sent to the server.
    stops_sent: bool,
    /// The text is a refusal.
    refused: bool,
    /// A closing tag arrived without its opening one.
    has_unopened_closing_tag: bool,
    /// Estimated number of tokens in the prompt.
    prompt_tokens: u64,
    /// Since the last piece of text or reasoning, only data without either arrived.
    only_keep_alives: bool,
    /// After a local stop, the server sent its own finish reason.
    finished_after_stop: bool,
    /// After a local stop, the server sent more text.
    continues_after_stop: bool,
    /// Usage is awaited after a local stop.
    awaits_usage: bool,
    /// Bytes of text and reasoning in the frames so far.
    content_bytes: usize,
    /// The body is a single JSON value instead of a stream, so the reply is complete if the value parses.
    json_body: bool,
}

/// A finished reply, or the part of an unfinished one that arrived.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a reply")]
pub(super) struct Completion {
    pub(super) text: String,
    pub(super) reasoning_chars: usize,
    pub(super) reasoning: String,
    pub(super) tool_calls: Vec<ToolCall>,
    pub(super) token_counts: Option<TokenCounts>,
    /// The server sent impossible token counts.
    pub(super) impossible_counts: bool,
    pub(super) finish_reason: Option<String>,
    /// The reply ended inside its reasoning.
    pub(super) ended_in_reasoning: bool,
    pub(super) has_unopened_closing_tag: bool,
    /// The reply was truncated at a stop sequence by this program, not by the server (a local stop).
    pub(super) stopped_locally: bool,
    /// The token counts come from a proxy.
    pub(super) counted_by_proxy: bool,
    /// The stop sequences of the request, applied by the server or by this program.
    pub(super) stop_sequences: Vec<String>,
    /// The stop sequences were sent to the server.
    pub(super) stops_sent: bool,
    /// The token limit that was sent, or `None` if the server's default applied.
    pub(super) max_tokens: Option<u32>,
    /// The stream contained a finish reason.
    pub(super) has_finish_reason: bool,
    /// The stream ended with `[DONE]` but without a finish reason.
    pub(super) done_without_finish_reason: bool,
    /// Whether usage arrived in time after a local stop; `None` if it was not awaited.
    pub(super) usage_in_time: Option<bool>,
    /// Another request of this program was in flight to the same server at the same time.
    pub(super) server_was_shared: bool,
    /// The server marked the text as a refusal.
    pub(super) refused: bool,
    /// The request's number among all requests that this program sent to the server.
    pub(super) request_number: u64,
    /// The request asked for a stream.
    pub(super) streamed: bool,
    /// The error that ended the stream, if there was no `[DONE]` and another request was in flight.
    pub(super) stream_error: Option<ProviderError>,
}

impl Completion {
    /// Returns an empty reply that reached its token limit, for a server that rejects such a request instead.
    pub(super) fn at_token_limit(max_tokens: Option<u32>) -> Self {
        Self { finish_reason: Some("length".to_owned()), max_tokens, ..Self::default() }
    }

    /// Returns whether the reply has no text apart from reasoning.
    pub(super) fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Returns whether any reasoning was seen.
    pub(super) fn has_reasoning(&self) -> bool {
        self.ended_in_reasoning || self.reasoning_chars > 0
    }

    /// Returns the server's reason why the reply ended. Returns `None` if the server gave none, or after a local stop.
    pub(super) fn server_finish(&self) -> Option<Finish> {
        self.finish_reason.as_deref().filter(|_| !self.stopped_locally).map(Finish::parse)
    }

    /// Returns the server's finish reason as sent, truncated, or `none`.
    pub(super) fn finish_reason_text(&self) -> String {
        text::truncate(self.finish_reason.as_deref().unwrap_or("none"), 60, "…")
    }

    /// Returns whether the server says that the reply is complete or ended at a stop sequence.
    pub(super) fn is_complete_per_server(&self) -> bool {
        self.finish_reason.as_deref().map(Finish::parse) == Some(Finish::Complete)
    }

    /// Returns whether the token limit ended the reply.
    pub(super) fn has_hit_limit(&self) -> bool {
        self.server_finish() == Some(Finish::Length)
    }
}

impl<'a> ReplyReader<'a> {
    /// Creates a reader for the reply to a request. `stops` are the texts that end the reply, `max_tokens` is its token
    /// limit, and `prompt_tokens` the estimated size of the prompt.
    pub(super) fn new(
        endpoint: &'a Endpoint,
        redactor: &Redactor,
        learned: &LearnedQuirks,
        stops: &[String],
        max_tokens: Option<u32>,
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
                endpoint.reasoning.opened || learned.starts_in_reasoning,
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
            tool_calls: BTreeMap::new(),
            tool_call_bytes: 0,
            // A token is rarely longer than a word, so a server that sends far more ignores the limit.
            max_len: (max_tokens.unwrap_or(ASSUMED_MAX_TOKENS) as usize)
                .saturating_mul(64)
                .saturating_add(64 << 10),
            max_tokens,
            stops_sent: false,
            refused: false,
            has_unopened_closing_tag: false,
            prompt_tokens,
            only_keep_alives: false,
            finished_after_stop: false,
            continues_after_stop: false,
            awaits_usage: learned.usage_misses < MAX_USAGE_MISSES || learned.usage_skips >= USAGE_SKIPS,
            content_bytes: 0,
            json_body: false,
        }
    }

    /// Returns whether any text or reasoning was emitted.
    pub(super) fn has_shown_output(&self) -> bool {
        !self.text.is_empty() || self.reasoning_chars > 0
    }

    /// Reads the body until the reply ends. `stops_sent` is whether the stop sequences were sent to the server.
    pub(super) async fn read(
        &mut self,
        mut response: Response,
        stops_sent: bool,
    ) -> Result<Completion, ProviderError> {
        self.stops_sent = stops_sent;
        let timeouts = self.endpoint.timeouts;
        let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        self.json_body = content_type.is_some_and(|value| value.starts_with("application/json"));
        let mut frames = Vec::new();
        let mut silence = Box::pin(tokio::time::sleep(timeouts.first_piece));
        let (mut has_begun, mut late_reads, mut content_bytes_before) = (false, 0, 0);
        while !self.stop_matcher.has_stopped() && late_reads < MAX_LATE_READS {
            // A server may need long before its first piece. After the last piece, only usage and the end of the body
            // are awaited, so that the connection can be reused.
            let pause = match (self.is_finished(), &self.finish_reason, has_begun) {
                (true, ..) => timeouts.tail / 20,
                (_, Some(_), _) => timeouts.tail.min(timeouts.idle),
                (_, None, true) => timeouts.idle,
                (_, None, false) => timeouts.first_piece,
            };
            late_reads += u32::from(self.is_finished());
            let piece = tokio::select! {
                biased;
                piece = tokio::time::timeout(pause, response.chunk()) => piece,
                () = &mut silence, if self.finish_reason.is_none() => {
                    return self.finish(Err(self.no_content_error(timeouts.first_piece)));
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
                Err(_) if has_begun => return self.finish(Err(self.silence_error(pause))),
                Err(_) => return self.finish(Err(client::first_piece_timeout_error(self.endpoint))),
            };
            let is_end = piece.is_none();
            let length_before = self.text.len() + self.reasoning_chars;
            let bytes = piece.unwrap_or_default();
            let mut slices = bytes.chunks(SLICE_BYTES);
            loop {
                let slice = slices.next();
                let pushed = match slice {
                    Some(slice) => {
                        self.bytes_read += slice.len();
                        self.frame_parser.push(slice, &mut frames)
                    }
                    None if is_end => self.frame_parser.finish(&mut frames),
                    None => Ok(()),
                };
                for frame in frames.drain(..) {
                    has_begun = true;
                    if let Err(error) = self.process_frame(frame) {
                        return self.finish(Err(error));
                    }
                }
                if pushed.is_err()
                    || self.bytes_read > MAX_BODY_BYTES
                    || self.text.len() + self.reasoning_chars + self.tool_call_bytes > self.max_len
                {
                    return self.finish(Err(self.endless_reply_error()));
                }
                if slice.is_none() || self.is_finished() {
                    break;
                }
                // Other tasks and timers must run even if data arrives without a pause.
                tokio::task::yield_now().await;
            }
            if self.content_bytes != content_bytes_before {
                content_bytes_before = self.content_bytes;
                self.only_keep_alives = false;
                silence = Box::pin(tokio::time::sleep(timeouts.first_piece));
            } else if self.finish_reason.is_none() && !is_end && silence.as_mut().now_or_never().is_some() {
                // The `select!` above never polls this timer if pieces without content arrive without a pause.
                self.only_keep_alives = true;
                return self.finish(Err(self.no_content_error(timeouts.first_piece)));
            }
            if !is_end && length_before == self.text.len() + self.reasoning_chars {
                self.only_keep_alives = true;
                let _ = self.delta_sender.send(Delta::KeepAlive);
            }
            if is_end {
                break;
            }
        }
        let mut usage_in_time = None;
        if self.stop_matcher.has_stopped() && self.awaits_usage {
            usage_in_time = Some(self.read_usage(&mut response, stops_sent).await);
        }
        self.finish(Ok(())).map(|completion| Completion { usage_in_time, ..completion })
    }

    /// Reads the rest of the body after a local stop, because a server that stops there too sends usage last. Returns
    /// whether the server finished in time. If it sends more text instead, the wait ends after [`USAGE_WAIT`].
    async fn read_usage(&mut self, response: &mut Response, stops_sent: bool) -> bool {
        let timeouts = self.endpoint.timeouts;
        let mut usage_wait = Box::pin(tokio::time::sleep(USAGE_WAIT.min(timeouts.tail)));
        let mut total_wait = Box::pin(tokio::time::sleep(timeouts.tail));
        let (mut frames, mut bytes, mut late_reads) = (Vec::new(), 0, 0);
        while late_reads < MAX_LATE_READS {
            // After usage, only the end of the body is awaited, so that the connection can be reused.
            let is_finished = self.is_finished();
            late_reads += u32::from(is_finished);
            let pause = if is_finished { timeouts.tail / 20 } else { timeouts.tail };
            let piece = tokio::select! {
                biased;
                () = &mut usage_wait, if !is_finished && (self.continues_after_stop || !stops_sent) => return false,
                () = &mut total_wait, if !is_finished => return false,
                piece = tokio::time::timeout(pause, response.chunk()) => piece,
            };
            let is_end = !matches!(piece, Ok(Ok(Some(_))));
            let pushed = match &piece {
                Ok(Ok(Some(piece))) => {
                    bytes += piece.len();
                    self.frame_parser.push(piece, &mut frames)
                }
                _ => self.frame_parser.finish(&mut frames),
            };
            frames.drain(..).for_each(|frame| self.process_late_frame(frame));
            if is_end {
                return is_finished || piece.is_ok();
            }
            if pushed.is_err() || bytes > MAX_USAGE_BYTES {
                return self.is_finished();
            }
        }
        true
    }

    /// Processes a frame after a local stop: only finish reason, usage, and whether there is more text matter.
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

    /// Returns whether neither more of the reply nor its usage is expected.
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
            tool_calls,
            is_recognized,
        } = chunk::parse_chunk(&value, &self.endpoint.reasoning.fields);
        self.token_counts = counts.or(self.token_counts);
        self.impossible_counts |= impossible_counts;
        if let Some((message, status)) =
            server_error.or_else(|| error.then(|| (error::json_error_message(&value), None)))
        {
            return Err(self.server_error(&message, status));
        }
        let tool_call_bytes: usize = tool_calls.iter().map(|(_, piece)| piece.len()).sum();
        self.content_bytes += text.len() + reasoning.len() + tool_call_bytes;
        self.tool_call_bytes += tool_call_bytes;
        for (number, piece) in tool_calls {
            self.tool_calls.entry(number).or_default().push(&piece);
        }
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
            let _ = self.delta_sender.send(Delta::Phase(CallPhase::Reasoning));
        }
        self.reasoning_chars += text.chars().count();
        self.reasoning.push_str(&text);
        let _ = self.delta_sender.send(Delta::Reasoning(text));
    }

    fn push_text(&mut self, text: &str) {
        // White space before the first word is not part of the reply and must not match a stop sequence.
        let text = if self.text.is_empty() { text.trim_start() } else { text };
        let text = self.stop_matcher.push(text);
        self.send_text(text);
    }

    fn send_text(&mut self, text: String) {
        if text.is_empty() {
            return;
        }
        if self.text.is_empty() {
            let _ = self.delta_sender.send(Delta::Phase(CallPhase::Answering));
        }
        self.text.push_str(&text);
        let _ = self.delta_sender.send(Delta::Text(text));
    }

    /// Emits the text that was still held back, and decides whether the reply is complete. `result` is the error that
    /// ended reading, if any.
    pub(super) fn finish(&mut self, result: Result<(), ProviderError>) -> Result<Completion, ProviderError> {
        let ended_in_reasoning = self.reasoning_parser.is_inside();
        let is_whole = self.finish_reason.as_deref().is_none_or(|reason| Finish::parse(reason).is_complete());
        if !self.stop_matcher.has_stopped() {
            let [mut reasoning, mut text] = std::mem::take(&mut self.stream_redactors);
            self.push_reasoning(reasoning.finish());
            let mut parts = self.reasoning_parser.push(&text.finish());
            parts.extend(self.reasoning_parser.finish(result.is_ok() && is_whole));
            self.push_parts(parts);
            let rest = self.stop_matcher.finish();
            self.send_text(rest);
        }
        let done_without_finish_reason = self.has_done_marker
            && self.is_recognized
            && self.finish_reason.is_none()
            && !self.stop_matcher.has_stopped();
        let is_whole_json = self.json_body && self.is_recognized && self.has_shown_output();
        let is_complete = self.finish_reason.is_some()
            || self.stop_matcher.has_stopped()
            || done_without_finish_reason
            || is_whole_json;
        let checked = match result {
            Ok(()) if is_complete => Ok(()),
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
        checked?;
        Ok(Completion {
            text: std::mem::take(&mut self.text),
            reasoning_chars: self.reasoning_chars,
            reasoning: std::mem::take(&mut self.reasoning),
            tool_calls: self.redacted_tool_calls(),
            token_counts: self.token_counts,
            impossible_counts: self.impossible_counts,
            finish_reason: self.finish_reason.clone(),
            ended_in_reasoning,
            has_unopened_closing_tag: self.has_unopened_closing_tag,
            stopped_locally: self.stop_matcher.has_stopped(),
            counted_by_proxy: false,
            stop_sequences: Vec::new(),
            stops_sent: false,
            max_tokens: None,
            has_finish_reason: self.finish_reason.is_some() || self.finished_after_stop,
            done_without_finish_reason,
            usage_in_time: None,
            server_was_shared: false,
            refused: self.refused,
            request_number: 0,
            streamed: false,
            stream_error: None,
        })
    }

    /// Returns the tool calls with a name or arguments.
    fn redacted_tool_calls(&self) -> Vec<ToolCall> {
        let redacted = |text: &UnredactedText| {
            let mut redactor = StreamRedactor::new(self.redactor.clone());
            let shown = redactor.push(text);
            shown + &redactor.finish()
        };
        let calls = self.tool_calls.values().filter(|piece| piece.len() > 0);
        calls
            .map(|piece| ToolCall { name: redacted(&piece.name), arguments: redacted(&piece.arguments) })
            .collect()
    }

    /// Returns the partial reply of a failed call, so that its usage is counted. Returns `None` if nothing arrived.
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
            format!("{} sent an empty reply; most likely the prompt exceeds its context", self.host()),
            error::too_long_advice(self.prompt_tokens),
        )
        .with_kind(FailureKind::EmptyReply)
    }

    /// Returns the error for a connection that ended before the reply did.
    fn connection_lost_error(&self, why: &str) -> ProviderError {
        if self.has_shown_output() {
            let what = format!("the reply from {} was cut off: {why}", self.host());
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

    /// Returns the error for a server that sent no text or reasoning for the duration `pause`.
    fn no_content_error(&self, pause: Duration) -> ProviderError {
        if !self.only_keep_alives {
            return self.silence_error(pause);
        }
        let seconds = pause.as_secs_f64();
        let what = format!("{} is alive but has sent no text for {seconds} s", self.host());
        let next = "retry, perhaps with a smaller max_tokens: some servers hold back text with incomplete characters; \
                    first_seconds in the server's profile sets this limit";
        ProviderError::new(what, next).with_kind(FailureKind::TimedOut)
    }

    fn endless_reply_error(&self) -> ProviderError {
        let what =
            format!("the reply from {} does not end ({} so far)", self.host(), format_size(self.bytes_read));
        let next = match (self.max_tokens, self.stops_sent) {
            (None, _) => "set max_tokens in the server's profile, or choose another server".to_owned(),
            (Some(limit), stops) => format!(
                "it ignores max_tokens {limit}{}; choose another server or model",
                if stops { " and the stop sequence" } else { "" }
            ),
        };
        ProviderError::new(what, next).with_kind(FailureKind::InvalidResponse)
    }

    fn unexpected_data_error(&self, problem: &str) -> ProviderError {
        let what = format!("{} did not reply like a model server: {problem}", self.host());
        ProviderError::new(what, "check the base URL; `retrospect doctor` checks the server")
            .with_kind(FailureKind::InvalidResponse)
    }

    /// Converts an error inside the stream. Its code, if any, is classified like an HTTP status.
    fn server_error(&self, message: &str, status: Option<u16>) -> ProviderError {
        let body = RedactedText::from_error_message(message);
        let mut error =
            error::http_status_error(self.endpoint, status.unwrap_or(500), &body, self.prompt_tokens);
        error.status = status;
        error.message = format!("{} sent an error: {message}", self.host());
        error
    }
}

/// Formats a number of bytes in the largest suitable unit: bytes, kB or MB.
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
