//! Answers as they were given before: the same question gets the same answer, and no question gets a made-up one.

use super::{Delta, Phase, Provider, ProviderError, Request};
use crate::domain::{CallId, ModelRole, Prompt, PromptRecord, Seq, Usage};
use crate::engine::{Event, State};
use crate::timeline::Timeline;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use sha2::{Digest as _, Sha256};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Rebuilds a prompt from its record.
type RenderPrompt = fn(&State, &PromptRecord) -> Prompt;

/// The role that was asked, and the SHA-256 of its prompt's body.
type RequestKey = (ModelRole, [u8; 32]);

/// One question with its answer, by the events that hold them.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    seed: u64,
    prompt_seq: Seq,
    reply_seq: Seq,
}

/// A question as it went out last under its call's number.
struct OpenCall {
    key: (ModelRole, Option<[u8; 32]>),
    seed: u64,
    sent: Seq,
    /// The place of its exchange, once it was answered.
    exchange_index: Option<usize>,
}

/// The answers of a recorded session. The texts stay in its file; what is held is where they are.
#[derive(Clone)]
pub struct RecordedProvider {
    session_name: String,
    timeline: Arc<Timeline>,
    render: RenderPrompt,
    /// In the order of the answers.
    exchanges: Arc<HashMap<RequestKey, Vec<Exchange>>>,
}

impl RecordedProvider {
    /// Finds the answers of a session. `render` rebuilds a prompt from its record; it is asked only for words about a
    /// prompt that was not recorded.
    ///
    /// # Errors
    /// Why the session's events cannot be read.
    pub fn from_timeline(source: &str, events: Timeline, render: RenderPrompt) -> Result<Self, String> {
        let mut exchanges: HashMap<RequestKey, Vec<Exchange>> = HashMap::new();
        let mut open: HashMap<CallId, OpenCall> = HashMap::new();
        for envelope in events.iter_after(Seq(0)) {
            let envelope = envelope?;
            match &envelope.event {
                Event::PromptSent { prompt } => {
                    let key = (prompt.role, parse_digest(&prompt.sha256));
                    let (seed, sent) = (prompt.seed, envelope.seq);
                    open.insert(prompt.call, OpenCall { key, seed, sent, exchange_index: None });
                }
                Event::ReplyReceived { call, .. } => {
                    let Some(question) = open.get_mut(call) else { continue };
                    let (asked, Some(hash)) = question.key else { continue };
                    let (seed, sent, reply) = (question.seed, question.sent, envelope.seq);
                    let all = exchanges.entry((asked, hash)).or_default();
                    // A reply that could not be used was asked for again: the one that came last is the one that stood.
                    if let Some(before) = question.exchange_index.and_then(|place| all.get_mut(place)) {
                        before.reply_seq = reply;
                    } else {
                        question.exchange_index = Some(all.len());
                        all.push(Exchange { seed, prompt_seq: sent, reply_seq: reply });
                    }
                }
                _ => {}
            }
        }
        let (events, exchanges) = (Arc::new(events), Arc::new(exchanges));
        Ok(Self { session_name: source.to_owned(), timeline: events, render, exchanges })
    }

    /// How many answers there are.
    pub fn len(&self) -> usize {
        self.exchanges.values().map(Vec::len).sum()
    }

    /// There is no answer at all.
    pub fn is_empty(&self) -> bool {
        self.exchanges.is_empty()
    }

    /// The answer to a question: of those with the same words the one with the same seed, else the first. None where
    /// there is no such question.
    fn find_reply(&self, request: &Request) -> Option<Result<Vec<Delta>, ProviderError>> {
        let key = (request.role, Sha256::digest(request.prompt.body()).into());
        let found = self.exchanges.get(&key)?;
        let exact = found.iter().find(|e| e.seed == request.seed).or(found.first())?;
        let event = self.timeline.event(exact.reply_seq);
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
        let why = self.timeline.take_fetch_error().unwrap_or_else(|| "its reply is gone".to_owned());
        Some(Err(no_reply_error(format!("{}: event {}: {why}", self.session_name, exact.reply_seq))))
    }

    /// Where the question leaves the recorded one that is most like it. Goes through the whole session.
    fn explain_mismatch(&self, request: &Request) -> String {
        let now = &request.prompt.segments;
        let of_role = self.exchanges.iter().filter(|((asked, _), _)| *asked == request.role);
        let answered: HashSet<Seq> = of_role.flat_map(|(_, all)| all.iter().map(|e| e.prompt_seq)).collect();
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
                let words = (self.render)(&state, prompt);
                let same = words.segments.iter().zip(now);
                let shared = same.take_while(|(a, b)| a.label == b.label && a.text == b.text).count();
                if nearest.as_ref().is_none_or(|(most, _)| shared >= *most) {
                    nearest = Some((shared, words));
                }
            }
        }
        let Some((at, nearest)) = nearest else {
            return format!("{} has no answers of this role", self.session_name);
        };
        let words = |prompt: &Prompt| {
            prompt.segments.get(at).map_or_else(
                || "nothing more".to_owned(),
                |s| format!("[{}] {:?}", s.label.name(), s.text.chars().take(80).collect::<String>()),
            )
        };
        format!(
            "{} has no answer to this prompt; segment {} differs first: recorded {}, now {}",
            self.session_name,
            at + 1,
            words(&nearest),
            words(&request.prompt)
        )
    }
}

fn no_reply_error(what: String) -> ProviderError {
    ProviderError::new(what, "choose another actor with --actor, or take the action yourself")
}

/// The bytes of a hash in hexadecimal.
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

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Delta, ProviderError>> {
        let recorded = self.clone();
        let answer = async move {
            if let Some(answer) = recorded.find_reply(&request) {
                return answer;
            }
            // Whoever waits for other things must not wait for a long session to be read.
            let (own, asked) = (recorded.clone(), request);
            let searched = tokio::task::spawn_blocking(move || own.explain_mismatch(&asked)).await;
            let what = searched
                .unwrap_or_else(|_| format!("{} has no answer to this prompt", recorded.session_name));
            Err(no_reply_error(what))
        };
        let pieces = stream::once(answer).flat_map(|answer| {
            let pieces = match answer {
                Ok(pieces) => pieces.into_iter().map(Ok).collect(),
                Err(error) => vec![Err(error)],
            };
            stream::iter(pieces)
        });
        stream::iter([Ok(Delta::Phase(Phase::Answering))]).chain(pieces).boxed()
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

    /// A session with these questions, seeds and answers; the words of a question are in the text its record is about. Where
    /// answers are parted by `|` each but the last could not be used, and the call was made again.
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
        let mut told = Err("no text".to_owned());
        for delta in deltas {
            match delta {
                Ok(Delta::Text(text)) => told = Ok(text),
                Ok(Delta::Usage(usage)) => {
                    // It was estimated anew, and counted as spent.
                    assert!(usage.recorded && !usage.estimated && usage.cost_nano == 0, "{usage:?}");
                    assert_eq!((usage.prompt_tokens, usage.reply_tokens), (90, 3));
                }
                Ok(_) => {}
                Err(error) => told = Err(error.message),
            }
        }
        told
    }

    #[test]
    fn the_same_question_gets_the_same_answer() {
        let recorded =
            recorded_session(&[(&["a", "b"], 1, "one"), (&["a", "b"], 2, "two"), (&["a", "c"], 1, "three")]);
        assert_eq!(ask(&recorded, &["a", "b"], 1).unwrap(), "one");
        assert_eq!(ask(&recorded, &["a", "b"], 2).unwrap(), "two");
        assert_eq!(ask(&recorded, &["a", "b"], 9).unwrap(), "one");
        assert_eq!(ask(&recorded, &["a", "c"], 9).unwrap(), "three");
    }

    /// The first reply was paired alone: a session whose reply could not be used and was asked for again was played with that.
    #[test]
    fn of_a_call_that_was_answered_again_the_last_answer_stands() {
        let recorded =
            recorded_session(&[(&["a"], 1, "|Hm.|one"), (&["a"], 2, "two"), (&["b"], 1, "|three")]);
        assert_eq!(recorded.len(), 3);
        for (words, seed, answer) in [("a", 1, "one"), ("a", 2, "two"), ("a", 9, "one"), ("b", 1, "three")] {
            assert_eq!(ask(&recorded, &[words], seed).unwrap(), answer, "{words} {seed}");
        }
    }

    #[test]
    fn another_question_is_told_where_it_differs() {
        let recorded = recorded_session(&[(&["x"], 1, "no"), (&["a", "b", "c"], 1, "yes")]);
        let told = ask(&recorded, &["a", "B", "c"], 1).unwrap_err();
        assert!(
            told.contains("segment 2 differs first: recorded [observation] \"b\", now [observation] \"B\""),
            "{told}"
        );
        let told = ask(&recorded, &["a", "b"], 1).unwrap_err();
        assert!(told.contains("segment 3") && told.contains("now nothing more"), "{told}");
    }
}
