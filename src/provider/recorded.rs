//! Replays the replies of a recorded session: the same prompt gets the same reply, and a prompt without one gets none.

use super::{Delta, Provider, ProviderError, Request};
use crate::domain::{CallId, CallPhase, ModelRole, Prompt, PromptRecord, Seq, Usage};
use crate::engine::{Event, State};
use crate::timeline::Timeline;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use sha2::{Digest as _, Sha256};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Rebuilds a prompt from its record.
type RenderPrompt = fn(&State, &PromptRecord) -> Prompt;

/// The role that was called, and the SHA-256 of the prompt's body.
type RequestKey = (ModelRole, [u8; 32]);

/// A recorded request and its reply, as the sequence numbers of their events.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    seed: u64,
    prompt_seq: Seq,
    reply_seq: Seq,
}

/// The latest request of a call.
struct OpenCall {
    key: (ModelRole, Option<[u8; 32]>),
    seed: u64,
    prompt_seq: Seq,
    /// Index of its exchange, once there is a reply.
    exchange_index: Option<usize>,
}

/// A provider that replays a recorded session. It holds only the positions of the replies; their texts stay in the
/// session's file.
#[derive(Clone)]
pub struct RecordedProvider {
    session_name: String,
    timeline: Arc<Timeline>,
    render: RenderPrompt,
    /// In the order of the replies.
    exchanges: Arc<HashMap<RequestKey, Vec<Exchange>>>,
}

impl RecordedProvider {
    /// Indexes the replies of a session. `render` rebuilds a prompt from its record; it is called only to explain how a
    /// prompt without a recorded reply differs.
    ///
    /// # Errors
    /// Returns why the session's events cannot be read.
    pub fn from_timeline(
        session_name: &str,
        timeline: Timeline,
        render: RenderPrompt,
    ) -> Result<Self, String> {
        let mut exchanges: HashMap<RequestKey, Vec<Exchange>> = HashMap::new();
        let mut open: HashMap<CallId, OpenCall> = HashMap::new();
        for envelope in timeline.iter_after(Seq(0)) {
            let envelope = envelope?;
            match &envelope.event {
                Event::PromptSent { prompt } => {
                    let key = (prompt.role, parse_digest(&prompt.sha256));
                    let (seed, prompt_seq) = (prompt.seed, envelope.seq);
                    open.insert(prompt.call, OpenCall { key, seed, prompt_seq, exchange_index: None });
                }
                Event::ReplyReceived { call, .. } => {
                    let Some(request) = open.get_mut(call) else { continue };
                    let (role, Some(hash)) = request.key else { continue };
                    let (seed, prompt_seq, reply_seq) = (request.seed, request.prompt_seq, envelope.seq);
                    let all = exchanges.entry((role, hash)).or_default();
                    // An unusable reply was requested again: the last reply is the one that was used.
                    if let Some(before) = request.exchange_index.and_then(|index| all.get_mut(index)) {
                        before.reply_seq = reply_seq;
                    } else {
                        request.exchange_index = Some(all.len());
                        all.push(Exchange { seed, prompt_seq, reply_seq });
                    }
                }
                _ => {}
            }
        }
        let (timeline, exchanges) = (Arc::new(timeline), Arc::new(exchanges));
        Ok(Self { session_name: session_name.to_owned(), timeline, render, exchanges })
    }

    /// Returns the number of replies.
    pub fn len(&self) -> usize {
        self.exchanges.values().map(Vec::len).sum()
    }

    /// Returns whether there are no replies.
    pub fn is_empty(&self) -> bool {
        self.exchanges.is_empty()
    }

    /// Returns the reply to a request: among the recorded requests with the same prompt the one with the same seed,
    /// else the first. Returns `None` if the prompt was not recorded.
    fn find_reply(&self, request: &Request) -> Option<Result<Vec<Delta>, ProviderError>> {
        let key = (request.role, Sha256::digest(request.prompt.body()).into());
        let found = self.exchanges.get(&key)?;
        let exchange = found.iter().find(|e| e.seed == request.seed).or(found.first())?;
        let event = self.timeline.event(exchange.reply_seq);
        if let Some(Event::ReplyReceived { text, truncated, usage, .. }) = event.as_ref().map(|e| &e.event) {
            let mut pieces = vec![Delta::Text(text.clone())];
            pieces.extend(truncated.map(Delta::Truncated));
            pieces.push(Delta::Usage(Usage {
                prompt_tokens: usage.prompt_tokens,
                reply_tokens: usage.reply_tokens,
                reasoning_tokens: usage.reasoning_tokens,
                recorded: true,
                ..Usage::default()
            }));
            return Some(Ok(pieces));
        }
        let why = self.timeline.take_fetch_error().unwrap_or_else(|| "the reply is missing".to_owned());
        Some(Err(no_reply_error(format!("{}: event {}: {why}", self.session_name, exchange.reply_seq))))
    }

    /// Describes where the prompt first differs from the most similar recorded one. Reads the whole session.
    fn explain_mismatch(&self, request: &Request) -> String {
        let requested = &request.prompt.segments;
        let exchanges = self.exchanges.iter().filter(|((role, _), _)| *role == request.role);
        let answered: HashSet<Seq> =
            exchanges.flat_map(|(_, all)| all.iter().map(|e| e.prompt_seq)).collect();
        let mut state = State::default();
        let mut nearest: Option<(usize, Prompt)> = None;
        for envelope in self.timeline.iter_after(Seq(0)) {
            let envelope = match envelope {
                Ok(envelope) => envelope,
                Err(why) => return format!("{}: {why}", self.session_name),
            };
            state.apply(&envelope);
            if let Event::PromptSent { prompt } = &envelope.event
                && answered.contains(&envelope.seq)
            {
                let recorded = (self.render)(&state, prompt);
                let same = recorded.segments.iter().zip(requested);
                let shared = same.take_while(|(a, b)| a.label == b.label && a.text == b.text).count();
                if nearest.as_ref().is_none_or(|(best, _)| shared >= *best) {
                    nearest = Some((shared, recorded));
                }
            }
        }
        let Some((first_difference, nearest)) = nearest else {
            return format!("{} has no replies for the {} role", self.session_name, request.role.name());
        };
        let describe = |prompt: &Prompt| {
            prompt.segments.get(first_difference).map_or_else(
                || "end of prompt".to_owned(),
                |s| format!("[{}] {:?}", s.label.name(), s.text.chars().take(80).collect::<String>()),
            )
        };
        format!(
            "{} has no reply to this prompt; the first difference is in segment {}: recorded {}, now {}",
            self.session_name,
            first_difference + 1,
            describe(&nearest),
            describe(&request.prompt)
        )
    }
}

fn no_reply_error(what: String) -> ProviderError {
    ProviderError::new(what, "choose another actor with --actor, or enter the action yourself")
}

/// Parses a hexadecimal SHA-256 digest.
fn parse_digest(hexadecimal: &str) -> Option<[u8; 32]> {
    let mut digest = [0; 32];
    if hexadecimal.len() != 64 {
        return None;
    }
    for (n, byte) in digest.iter_mut().enumerate() {
        *byte = u8::from_str_radix(hexadecimal.get(2 * n..2 * n + 2)?, 16).ok()?;
    }
    Some(digest)
}

impl Provider for RecordedProvider {
    fn name(&self) -> String {
        format!("recording of {}", self.session_name)
    }

    fn answers_at_once(&self) -> bool {
        true
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Delta, ProviderError>> {
        let recorded = self.clone();
        let reply = async move {
            if let Some(reply) = recorded.find_reply(&request) {
                return reply;
            }
            // Reading a long session must not block the other tasks of this runtime.
            let provider = recorded.clone();
            let searched = tokio::task::spawn_blocking(move || provider.explain_mismatch(&request)).await;
            let what =
                searched.unwrap_or_else(|_| format!("{} has no reply to this prompt", recorded.session_name));
            Err(no_reply_error(what))
        };
        let pieces = stream::once(reply).flat_map(|reply| {
            let pieces = match reply {
                Ok(pieces) => pieces.into_iter().map(Ok).collect(),
                Err(error) => vec![Err(error)],
            };
            stream::iter(pieces)
        });
        stream::iter([Ok(Delta::Phase(CallPhase::Answering))]).chain(pieces).boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{MessageRole, Segment, SegmentLabel, SegmentOrigin};
    use crate::engine::{Cause, Envelope};
    use crate::journal::fold_events;

    fn prompt(words: &[&str]) -> Prompt {
        let segment = |text: &&str| Segment {
            label: SegmentLabel::Observation,
            origin: SegmentOrigin::Task,
            message_role: MessageRole::User,
            text: Arc::from(*text),
        };
        Prompt { segments: words.iter().map(segment).collect() }
    }

    /// Builds a session from prompts, seeds and replies; the memory event before each prompt holds its segments. Where
    /// a reply contains `|`, each part but the last was unusable and the call was made again.
    fn recorded_session(exchanges: &[(&[&str], u64, &str)]) -> RecordedProvider {
        let mut events = Vec::new();
        let mut write = |event| {
            let (seq, at) = (Seq(events.len() as u64 + 1), jiff::Timestamp::UNIX_EPOCH);
            events.push(Arc::new(Envelope {
                seq,
                timestamp: at,
                cause: Cause::Policy,
                batch_continues: false,
                event,
            }));
        };
        for (n, (words, seed, reply)) in exchanges.iter().enumerate() {
            let call = CallId(n as u64);
            write(Event::MemorySet { value: serde_json::json!(words) });
            let hash = Sha256::digest(prompt(words).body());
            let sha256 = hash.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
            let record = PromptRecord { call, seed: *seed, sha256, ..PromptRecord::default() };
            write(Event::PromptSent { prompt: Arc::new(record) });
            for (n, text) in reply.split('|').enumerate() {
                if n > 0 {
                    let failure = crate::engine::Failure {
                        message: "the model answered nothing".to_owned(),
                        source: "actor".to_owned(),
                        hint: String::new(),
                        kind: Some(crate::domain::FailureKind::Unusable),
                        partial_text: String::new(),
                        usage: None,
                    };
                    write(Event::CallFailed { call, failure });
                    write(Event::Retried { call: Some(call), reply_source: None });
                }
                let usage = Usage { prompt_tokens: 90, reply_tokens: 3, cost_nano: 7, ..Usage::default() };
                let (text, reasoning) = (text.to_owned(), String::new());
                write(Event::ReplyReceived {
                    tool_calls: Vec::new(),
                    truncated: None,
                    call,
                    text,
                    reasoning,
                    usage,
                    reply_source: None,
                });
            }
        }
        let render = |state: &State, _: &PromptRecord| {
            let words: Vec<String> = serde_json::from_value(state.memory.clone()).unwrap();
            prompt(&words.iter().map(String::as_str).collect::<Vec<_>>())
        };
        RecordedProvider::from_timeline("s1", fold_events(events), render).unwrap()
    }

    fn ask(recorded: &RecordedProvider, words: &[&str], seed: u64) -> Result<String, String> {
        let request = Request {
            call: CallId(1),
            role: ModelRole::Actor,
            prompt: Arc::new(prompt(words)),
            seed,
            ..Request::default()
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let deltas: Vec<_> = runtime.block_on(recorded.stream(request).collect());
        let mut reply = Err("no text".to_owned());
        for delta in deltas {
            match delta {
                Ok(Delta::Text(text)) => reply = Ok(text),
                Ok(Delta::Usage(usage)) => {
                    // Regression: usage was estimated again and counted as spent.
                    assert!(usage.recorded && !usage.estimated && usage.cost_nano == 0, "{usage:?}");
                    assert_eq!((usage.prompt_tokens, usage.reply_tokens), (90, 3));
                }
                Ok(_) => {}
                Err(error) => reply = Err(error.message),
            }
        }
        reply
    }

    #[test]
    fn same_prompt_gets_the_recorded_reply() {
        let recorded =
            recorded_session(&[(&["a", "b"], 1, "one"), (&["a", "b"], 2, "two"), (&["a", "c"], 1, "three")]);
        assert_eq!(ask(&recorded, &["a", "b"], 1).unwrap(), "one");
        assert_eq!(ask(&recorded, &["a", "b"], 2).unwrap(), "two");
        assert_eq!(ask(&recorded, &["a", "b"], 9).unwrap(), "one");
        assert_eq!(ask(&recorded, &["a", "c"], 9).unwrap(), "three");
    }

    /// Regression: only the first reply was indexed, so an unusable reply was replayed in place of its retry.
    #[test]
    fn last_reply_of_a_repeated_call_is_replayed() {
        let recorded =
            recorded_session(&[(&["a"], 1, "|Hm.|one"), (&["a"], 2, "two"), (&["b"], 1, "|three")]);
        assert_eq!(recorded.len(), 3);
        for (words, seed, answer) in [("a", 1, "one"), ("a", 2, "two"), ("a", 9, "one"), ("b", 1, "three")] {
            assert_eq!(ask(&recorded, &[words], seed).unwrap(), answer, "{words} {seed}");
        }
    }

    #[test]
    fn unrecorded_prompt_reports_the_first_difference() {
        let recorded = recorded_session(&[(&["x"], 1, "no"), (&["a", "b", "c"], 1, "yes")]);
        let error = ask(&recorded, &["a", "B", "c"], 1).unwrap_err();
        assert!(
            error.contains(
                "first difference is in segment 2: recorded [observation] \"b\", now [observation] \"B\""
            ),
            "{error}"
        );
        let error = ask(&recorded, &["a", "b"], 1).unwrap_err();
        assert!(error.contains("segment 3") && error.contains("now end of prompt"), "{error}");
    }
}
