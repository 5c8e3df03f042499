//! Answers as they were given before: the same question gets the same answer, and no question gets a made-up one.

use super::{Delta, Phase, Provider, ProviderError, Request};
use crate::domain::{Asked, CallId, Prompt};
use crate::engine::{Envelope, Event, State};
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use std::collections::HashMap;
use std::sync::Arc;

/// One question with its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Exchange {
    asked: Asked,
    seed: u64,
    prompt: Prompt,
    reply: String,
}

/// The answers of a recorded session.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    source: String,
    exchanges: Vec<Exchange>,
    /// Places of the exchanges with a body.
    bodies: HashMap<(Asked, String), Vec<usize>>,
}

impl Recorded {
    /// Takes the answers out of a session's events. `render` rebuilds a prompt from its record.
    pub fn of(
        source: &str,
        events: &[Arc<Envelope>],
        render: fn(&State, &crate::domain::PromptRecord) -> Prompt,
    ) -> Self {
        let mut recorded = Self { source: source.to_owned(), ..Self::default() };
        let mut state = State::default();
        let mut open: HashMap<CallId, Exchange> = HashMap::new();
        for envelope in events {
            state.apply(envelope);
            match &envelope.event {
                Event::PromptSent { prompt } => {
                    let words = render(&state, prompt);
                    let (asked, seed) = (prompt.asked, prompt.seed);
                    open.insert(prompt.call, Exchange { asked, seed, prompt: words, reply: String::new() });
                }
                Event::ReplyReceived { call, text, .. } => {
                    if let Some(mut exchange) = open.remove(call) {
                        exchange.reply.clone_from(text);
                        let key = (exchange.asked, exchange.prompt.body());
                        recorded.bodies.entry(key).or_default().push(recorded.exchanges.len());
                        recorded.exchanges.push(exchange);
                    }
                }
                _ => {}
            }
        }
        recorded
    }

    /// How many answers there are.
    pub fn len(&self) -> usize {
        self.exchanges.len()
    }

    /// There is no answer at all.
    pub fn is_empty(&self) -> bool {
        self.exchanges.is_empty()
    }

    /// The answer to a question: of those with the same words the one with the same seed, else the first.
    fn answer(&self, request: &Request) -> Result<String, ProviderError> {
        let key = (request.asked, request.prompt.body());
        let found = self.bodies.get(&key).map_or(&[][..], Vec::as_slice);
        let exact = found.iter().find(|n| self.exchanges[**n].seed == request.seed).or(found.first());
        match exact {
            Some(place) => Ok(self.exchanges[*place].reply.clone()),
            None => Err(ProviderError::new(
                self.difference(request),
                "choose another actor with --actor, or take the action yourself",
            )),
        }
    }

    /// Where the question leaves the recorded one that is most like it.
    fn difference(&self, request: &Request) -> String {
        let now = &request.prompt.segments;
        let shared = |e: &Exchange| {
            e.prompt
                .segments
                .iter()
                .zip(now)
                .take_while(|(a, b)| a.label == b.label && a.text == b.text)
                .count()
        };
        let nearest = self.exchanges.iter().filter(|e| e.asked == request.asked).max_by_key(|e| shared(e));
        let Some(nearest) = nearest else {
            return format!("{} has no answers of this role", self.source);
        };
        let at = shared(nearest);
        let words = |prompt: &Prompt| {
            prompt.segments.get(at).map_or_else(
                || "nothing more".to_owned(),
                |s| format!("[{}] {:?}", s.label.name(), s.text.chars().take(80).collect::<String>()),
            )
        };
        format!(
            "{} has no answer to this prompt; segment {} differs first: recorded {}, now {}",
            self.source,
            at + 1,
            words(&nearest.prompt),
            words(&request.prompt)
        )
    }
}

impl Provider for Recorded {
    fn name(&self) -> String {
        format!("recording of {}", self.source)
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Delta, ProviderError>> {
        let answer = self.answer(&request).map(Delta::Text);
        stream::iter([Ok(Delta::Phase(Phase::Answering)), answer]).boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Label, Origin, Segment, Speaker};

    fn prompt(words: &[&str]) -> Prompt {
        let segment = |text: &&str| Segment {
            label: Label::Observation,
            origin: Origin::Task,
            speaker: Speaker::User,
            text: Arc::from(*text),
        };
        Prompt { segments: words.iter().map(segment).collect() }
    }

    fn recorded(exchanges: &[(&[&str], u64, &str)]) -> Recorded {
        let mut recorded = Recorded { source: "s1".to_owned(), ..Recorded::default() };
        for (words, seed, reply) in exchanges {
            let prompt = prompt(words);
            recorded.bodies.entry((Asked::Actor, prompt.body())).or_default().push(recorded.exchanges.len());
            let reply = (*reply).to_owned();
            recorded.exchanges.push(Exchange { asked: Asked::Actor, seed: *seed, prompt, reply });
        }
        recorded
    }

    fn ask(recorded: &Recorded, words: &[&str], seed: u64) -> Result<String, String> {
        let request = Request {
            call: CallId(1),
            asked: Asked::Actor,
            prompt: Arc::new(prompt(words)),
            seed,
            ..Request::default()
        };
        recorded.answer(&request).map_err(|e| e.what)
    }

    #[test]
    fn the_same_question_gets_the_same_answer() {
        let recorded =
            recorded(&[(&["a", "b"], 1, "one"), (&["a", "b"], 2, "two"), (&["a", "c"], 1, "three")]);
        assert_eq!(ask(&recorded, &["a", "b"], 1).unwrap(), "one");
        assert_eq!(ask(&recorded, &["a", "b"], 2).unwrap(), "two");
        assert_eq!(ask(&recorded, &["a", "b"], 9).unwrap(), "one");
        assert_eq!(ask(&recorded, &["a", "c"], 9).unwrap(), "three");
    }

    #[test]
    fn another_question_is_told_where_it_differs() {
        let recorded = recorded(&[(&["x"], 1, "no"), (&["a", "b", "c"], 1, "yes")]);
        let told = ask(&recorded, &["a", "B", "c"], 1).unwrap_err();
        assert!(
            told.contains("segment 2 differs first: recorded [observation] \"b\", now [observation] \"B\""),
            "{told}"
        );
        let told = ask(&recorded, &["a", "b"], 1).unwrap_err();
        assert!(told.contains("segment 3") && told.contains("now nothing more"), "{told}");
    }
}
