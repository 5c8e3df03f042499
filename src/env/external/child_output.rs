//! What a child process prints: its replies, and the end of everything else.
//!
//! A thread for each stream reads until it ends, because a child whose pipe is full stops for good. The end of a stream isn't
//! certain: a process that the child has started and that has left its group may keep it open. So the threads also end when
//! the output is dropped.

use rustix::event::{PollFd, PollFlags, poll};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read};
use std::os::fd::AsFd;
use std::process::{ChildStderr, ChildStdout};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How much of each stream is kept, apart from replies.
const KEPT_BYTES: usize = 64 << 10;
/// The maximum length of a request or a reply.
pub(super) const MAX_LINE_BYTES: usize = 16 << 20;
/// How many replies are kept until they are taken. More than one is an error where each answers a request.
const MAX_WAITING_REPLIES: usize = 8;
/// The maximum length of an excerpt in an error message.
const EXCERPT_BYTES: usize = 2_000;
const EXCERPT_LINES: usize = 2;
/// How the lines of a Java or JavaScript stack begin. They follow the message, which says more.
const STACK_FRAME: &str = "at ";

/// The end of a stream, and at most as much before it.
#[derive(Default)]
struct Tail(Vec<u8>);

impl Tail {
    fn extend(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(&bytes[bytes.len().saturating_sub(KEPT_BYTES)..]);
        // Not for every short line.
        if self.0.len() > 2 * KEPT_BYTES {
            self.0.drain(..self.0.len() - KEPT_BYTES);
        }
    }

    /// Returns what is kept, without control sequences.
    fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.0[self.0.len().saturating_sub(KEPT_BYTES)..]);
        crate::text::clean(&text).into_owned()
    }

    /// Returns the last lines that are neither empty nor frames of a stack, without control sequences, separated by ` | `.
    fn excerpt(&self) -> String {
        let text = self.text();
        let mut length = 0;
        let mut lines: Vec<&str> = text
            .lines()
            .rev()
            .filter(|line| !line.trim_start().starts_with(STACK_FRAME) || !line.starts_with([' ', '\t']))
            .map(|line| crate::text::prefix(line.trim(), EXCERPT_BYTES))
            .filter(|line| !line.is_empty())
            .take(EXCERPT_LINES)
            .take_while(|line| {
                length += line.len();
                length <= EXCERPT_BYTES
            })
            .collect();
        lines.reverse();
        lines.join(" | ")
    }
}

/// A reply, or why the line that should be one is none.
type Reply = Result<String, String>;

#[derive(Default)]
struct Streams {
    /// The replies that nobody has taken yet, oldest first.
    replies: VecDeque<Reply>,
    /// Whether a reply arrived before the one before it was taken.
    has_surplus: bool,
    /// Whether everything that is printed from now on is no reply.
    ignores_replies: bool,
    log: Tail,
    errors: Tail,
    /// How many of the two streams are still open.
    open: usize,
    stdout_ended: bool,
}

/// Divides standard output into replies and the rest.
struct ReplyScanner {
    prefix: &'static [u8],
    line: Vec<u8>,
    /// Whether lines may be events.
    has_events: bool,
    /// Whether the current line can't be a reply; then `line` is empty.
    is_log: bool,
}

impl ReplyScanner {
    fn scan(&mut self, mut bytes: &[u8], streams: &mut Streams) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.extend_line(&bytes[..end], streams);
            self.end_line(streams);
            bytes = &bytes[end + 1..];
        }
        self.extend_line(bytes, streams);
    }

    fn extend_line(&mut self, part: &[u8], streams: &mut Streams) {
        if self.is_log {
            return streams.log.extend(part);
        }
        let taken = part.len().min(MAX_LINE_BYTES - self.line.len());
        self.line.extend_from_slice(&part[..taken]);
        if taken < part.len() {
            // Reported at once, because the line may never end.
            streams.set_reply(Err(format!("a reply is longer than {} MiB", MAX_LINE_BYTES >> 20)));
            self.is_log = true;
            self.line = Vec::new();
            return;
        }
        let known = self.line.len().min(self.prefix.len());
        if self.line[..known] != self.prefix[..known] {
            self.is_log = true;
            streams.log.extend(&std::mem::take(&mut self.line));
        }
    }

    fn end_line(&mut self, streams: &mut Streams) {
        let line = std::mem::take(&mut self.line);
        let is_log = std::mem::take(&mut self.is_log) || line.len() < self.prefix.len();
        let event = if is_log || !self.has_events { None } else { event_text(&line) };
        if is_log || event.is_some() {
            streams.log.extend(event.as_ref().map_or(&line, |text| text.as_bytes()));
            streams.log.extend(b"\n");
            return;
        }
        streams.set_reply(String::from_utf8(line).map_err(|_| "a reply is not UTF-8".to_owned()));
    }
}

impl Streams {
    fn set_reply(&mut self, reply: Reply) {
        if self.replies.is_empty() && !self.ignores_replies {
            self.replies.push_back(reply);
            return;
        }
        let text = reply.as_ref().unwrap_or_else(|what| what);
        self.log.extend(text.as_bytes());
        self.log.extend(b"\n");
        if !self.ignores_replies {
            self.has_surplus = true;
            if self.replies.len() < MAX_WAITING_REPLIES {
                self.replies.push_back(reply);
            }
        }
    }
}

/// An event: a JSON object with `event` and without `id`.
#[derive(Deserialize)]
struct Event {
    #[serde(rename = "event")]
    _event: IgnoredAny,
    id: Option<IgnoredAny>,
    text: Option<Value>,
}

/// Returns the text of an event, or the whole line if it has none. `None` if the line is no event.
fn event_text(line: &[u8]) -> Option<String> {
    const NAME: &[u8] = b"\"event\"";
    if !line.windows(NAME.len()).any(|part| part == NAME) {
        return None;
    }
    let event: Event = serde_json::from_slice(line).ok().filter(|event: &Event| event.id.is_none())?;
    Some(match event.text {
        Some(Value::String(text)) => text,
        _ => String::from_utf8_lossy(line).into_owned(),
    })
}

/// What was waited for.
pub(super) enum Awaited {
    Reply(Reply),
    /// Standard output is closed, so there will be no reply.
    Closed,
    TimedOut,
}

/// What the reading threads and the output share.
#[derive(Clone)]
struct SharedStreams(Arc<(Mutex<Streams>, Condvar)>);

impl SharedStreams {
    fn lock(&self) -> MutexGuard<'_, Streams> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn notify(&self) {
        self.0.1.notify_all();
    }

    fn printed_text(&self) -> String {
        let streams = self.lock();
        let texts = [&streams.log, &streams.errors].map(Tail::text);
        let texts: Vec<&str> = texts.iter().map(|text| text.trim()).filter(|text| !text.is_empty()).collect();
        texts.join("\n")
    }
}

/// The output of a child process, read as it arrives.
pub(super) struct ChildOutput {
    shared: SharedStreams,
    /// Nothing is written here. The reading threads end when it is closed.
    _open: PipeWriter,
}

impl ChildOutput {
    /// Starts to read. Lines of standard output that begin with `reply_prefix` are replies, unless they may be events and
    /// are.
    ///
    /// # Errors
    /// Returns the system's error if a thread or a pipe can't be created.
    pub(super) fn read(
        mut stdout: ChildStdout,
        mut stderr: ChildStderr,
        reply_prefix: &'static str,
        has_events: bool,
    ) -> io::Result<Self> {
        let streams = Mutex::new(Streams { open: 2, ..Streams::default() });
        let shared = SharedStreams(Arc::new((streams, Condvar::new())));
        let (stdout_stop, open) = io::pipe()?;
        let stderr_stop = stdout_stop.try_clone()?;
        let streams = shared.clone();
        thread::Builder::new().name("child-stdout".to_owned()).spawn(move || {
            let mut scanner =
                ReplyScanner { prefix: reply_prefix.as_bytes(), line: Vec::new(), has_events, is_log: false };
            drain(&mut stdout, &stdout_stop, |bytes| {
                scanner.scan(bytes, &mut streams.lock());
                streams.notify();
            });
            let mut end = streams.lock();
            end.log.extend(&scanner.line);
            (end.stdout_ended, end.open) = (true, end.open - 1);
            streams.notify();
        })?;
        let streams = shared.clone();
        thread::Builder::new().name("child-stderr".to_owned()).spawn(move || {
            drain(&mut stderr, &stderr_stop, |bytes| streams.lock().errors.extend(bytes));
            streams.lock().open -= 1;
            streams.notify();
        })?;
        Ok(Self { shared, _open: open })
    }

    fn lock(&self) -> MutexGuard<'_, Streams> {
        self.shared.lock()
    }

    /// Returns whether there was a reply that nobody has asked for. Called while no reply is awaited.
    pub(super) fn has_unasked_reply(&self) -> bool {
        let streams = self.lock();
        !streams.replies.is_empty() || streams.has_surplus
    }

    /// Treats what was printed and not taken, and everything printed from now on, as no replies.
    pub(super) fn ignore_replies(&self) {
        let mut streams = self.lock();
        streams.replies.clear();
        (streams.has_surplus, streams.ignores_replies) = (false, true);
    }

    /// Waits for a reply and takes it.
    pub(super) fn wait_for_reply(&self, limit: Duration) -> Awaited {
        let waits = |streams: &mut Streams| streams.replies.is_empty() && !streams.stdout_ended;
        let waited = self.shared.0.1.wait_timeout_while(self.lock(), limit, waits);
        let (mut streams, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match streams.replies.pop_front() {
            Some(reply) => Awaited::Reply(reply),
            None if streams.stdout_ended => Awaited::Closed,
            None => Awaited::TimedOut,
        }
    }

    /// Forgets what was printed so far and is no reply.
    pub(super) fn clear(&self) {
        let mut streams = self.lock();
        (streams.log, streams.errors) = (Tail::default(), Tail::default());
    }

    /// Waits until both streams are closed, so that the excerpt is complete.
    pub(super) fn wait_for_end(&self, limit: Duration) {
        let _ = self.shared.0.1.wait_timeout_while(self.lock(), limit, |streams| streams.open > 0);
    }

    /// Returns a function that returns the end of both streams without control sequences: what isn't a reply, then standard error.
    pub(super) fn printed_text(&self) -> impl Fn() -> String + Send + use<> {
        let shared = self.shared.clone();
        move || shared.printed_text()
    }

    /// Returns the last lines on standard error, or else those on standard output that are no replies, in one line.
    pub(super) fn excerpt(&self) -> String {
        let streams = self.lock();
        let errors = streams.errors.excerpt();
        if errors.is_empty() { streams.log.excerpt() } else { errors }
    }
}

/// Reads a stream to its end, or until the other end of `stop` is closed.
fn drain(stream: &mut (impl Read + AsFd), stop: &PipeReader, mut on_bytes: impl FnMut(&[u8])) {
    let mut buffer = vec![0; 64 << 10];
    loop {
        let mut ready = [PollFd::new(&*stream, PollFlags::IN), PollFd::new(stop, PollFlags::IN)];
        let polled = poll(&mut ready, None);
        if !ready[1].revents().is_empty() {
            return;
        }
        match polled {
            // Reading blocks no longer: there are bytes, or the stream has ended.
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return,
        }
        match stream.read(&mut buffer) {
            Ok(0) => return,
            Ok(length) => on_bytes(&buffer[..length]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}
