//! The rule-based actor as a provider: a stand-in for a model that streams its line like one.

use super::{Delta, Provider, ProviderError, Request};
use crate::domain::{CallPhase, Usage};
use crate::stand_in::{RuleBasedReply, answer};
use futures_util::stream::{self, BoxStream, StreamExt};
use std::time::Duration;

/// The rule-based actor.
#[derive(Clone, Debug, Default)]
pub struct RuleBasedActor {
    replies: Vec<RuleBasedReply>,
    word_delay: Duration,
}

impl RuleBasedActor {
    /// Creates an actor with functions for environments; prompts that none of them knows are read as a household's.
    pub fn new(replies: Vec<RuleBasedReply>) -> Self {
        Self { replies, word_delay: Duration::ZERO }
    }

    /// Makes the actor wait this long before each word, so that a person can follow.
    #[must_use]
    pub fn with_word_delay(self, delay: Duration) -> Self {
        Self { word_delay: delay, ..self }
    }
}

impl Provider for RuleBasedActor {
    fn name(&self) -> String {
        "built-in rules (a stand-in for a model)".to_owned()
    }

    fn answers_at_once(&self) -> bool {
        true
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Delta, ProviderError>> {
        let text = answer(&self.replies, &request.prompt, request.seed);
        let text = request
            .stop
            .iter()
            .filter_map(|stop| text.find(stop.as_str()))
            .min()
            .map_or(text.as_str(), |end| text.get(..end).unwrap_or(&text));
        let characters = request.prompt.segments.iter().map(|s| s.text.chars().count()).sum::<usize>();
        let usage = Usage {
            prompt_tokens: (characters as u64).div_ceil(4),
            reply_tokens: (text.chars().count() as u64).div_ceil(4),
            estimated: true,
            ..Usage::default()
        };
        let mut pieces = vec![Delta::Phase(CallPhase::Answering)];
        if self.word_delay.is_zero() {
            // Without a delay nobody is watching, and every piece would only wake the driver once more.
            pieces.push(Delta::Text(text.to_owned()));
        } else {
            pieces.extend(text.split_inclusive(' ').map(|word| Delta::Text(word.to_owned())));
        }
        pieces.push(Delta::Usage(usage));
        let pieces = stream::iter(pieces.into_iter().map(Ok));
        if self.word_delay.is_zero() {
            return pieces.boxed();
        }
        let delay = self.word_delay;
        pieces
            .then(move |piece| async move {
                if matches!(piece, Ok(Delta::Text(_))) {
                    tokio::time::sleep(delay).await;
                }
                piece
            })
            .boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Prompt;
    use crate::domain::{CallId, MessageRole, ModelRole, Segment, SegmentLabel, SegmentOrigin};
    use std::sync::Arc;

    const TASK: &str = "You see a bed 1, and a desk 1.\n\nYour task is to: put a pen in desk.";

    fn request() -> Request {
        let segment = |label, text: &str| Segment {
            label,
            origin: SegmentOrigin::Task,
            message_role: MessageRole::User,
            text: text.into(),
        };
        let segments = vec![segment(SegmentLabel::Task, TASK), segment(SegmentLabel::Cue, ">")];
        let prompt = Arc::new(Prompt { segments });
        Request { call: CallId(1), role: ModelRole::Actor, prompt, seed: 5, ..Request::default() }
    }

    async fn collect(rules: RuleBasedActor, request: Request) -> Vec<Delta> {
        rules.stream(request).map(Result::unwrap).collect().await
    }

    #[tokio::test]
    async fn pieces_are_words_and_add_up_to_the_answer() {
        let request = request();
        let whole = answer(&[], &request.prompt, request.seed);
        let deltas =
            collect(RuleBasedActor::default().with_word_delay(Duration::from_millis(1)), request).await;
        assert_eq!(deltas.first(), Some(&Delta::Phase(CallPhase::Answering)));
        let words: Vec<&str> = deltas
            .iter()
            .filter_map(|d| if let Delta::Text(text) = d { Some(text.as_str()) } else { None })
            .collect();
        assert!(words.len() > 3);
        assert_eq!(words.concat(), whole);
        assert!(
            matches!(deltas.last(), Some(Delta::Usage(u)) if u.estimated && u.prompt_tokens > 10 && u.reply_tokens > 3)
        );
    }

    #[tokio::test]
    async fn the_delay_applies_before_each_word() {
        let started = tokio::time::Instant::now();
        let deltas =
            collect(RuleBasedActor::default().with_word_delay(Duration::from_millis(2)), request()).await;
        let words = deltas.iter().filter(|d| matches!(d, Delta::Text(_))).count() as u32;
        assert!(started.elapsed() >= Duration::from_millis(2) * words);
    }

    #[tokio::test]
    async fn a_stop_sequence_ends_the_answer() {
        let mut request = request();
        request.stop = vec!["pen".to_owned()];
        let text: String = collect(RuleBasedActor::default(), request)
            .await
            .into_iter()
            .filter_map(|d| if let Delta::Text(text) = d { Some(text) } else { None })
            .collect();
        assert!(text.starts_with("think:") && !text.contains("pen"), "{text:?}");
    }

    #[test]
    fn its_name_says_that_it_is_a_stand_in() {
        assert!(RuleBasedActor::default().name().contains("stand-in"));
    }
}
