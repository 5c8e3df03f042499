//! The rule-based actor, a stand-in for a language model: a beginner that lessons can teach.
//!
//! It answers a prompt as a model does, one line per call, from the labels and texts of its segments only (never
//! their origins, never the state). It searches likely places, makes a beginner's mistakes at fixed rates, and
//! gives each of them up by itself after a while, or at once if the prompt contains a lesson against it in a
//! documented form. No call depends on another, on a file or on a clock.
//!
//! The core is one pure function, [`answer`]: `prompt_parser` parses the prompt, `belief` replays the history, `forms`
//! finds the lessons, and `rule_context` decides with `plans`, `search` and `narration`. `knowledge` holds fixed data,
//! and `seeded_random` derives random numbers from the task and the seed. `grid`, `planning`, `science`, `questions` and `web`
//! answer prompts about other environments; the entries of the catalog name them, or a function of their own.

mod belief;
mod forms;
mod grid;
mod habits;
mod knowledge;
mod narration;
mod planning;
mod plans;
mod prompt_parser;
mod questions;
mod rule_context;
mod science;
mod search;
mod seeded_random;
mod vocabulary;
mod web;

#[cfg(test)]
mod tests;

use super::{Delta, Phase, Provider, ProviderError, Request};
use crate::domain::{Prompt, Usage};
use futures_util::stream::{self, BoxStream, StreamExt};
use prompt_parser::ParsedPrompt;
use seeded_random::SeededRandom;
use std::ops::Range;
use std::time::Duration;

/// Seeds of the generated games on which the rates of the mistakes were chosen.
pub const TUNING_SEEDS: Range<u64> = 0..1_000;

/// Seeds of the generated games that the published tables use; never used for tuning.
pub const TABLE_SEEDS: Range<u64> = 10_000..10_200;

/// Returns a line for a prompt and a seed, or `None` if the prompt is about another environment. It may use only the labels and
/// texts of the prompt, as a model would.
pub type RuleBasedReply = fn(&Prompt, u64) -> Option<String>;

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

/// Returns the actor's reply to a prompt, one line: that of the first function that knows the prompt, or of the rules for
/// households. The same prompt and seed give the same line.
pub fn answer(replies: &[RuleBasedReply], prompt: &Prompt, seed: u64) -> String {
    let own = replies.iter().find_map(|reply| reply(prompt, seed));
    let line = own.unwrap_or_else(|| household_reply(prompt, seed));
    // A prompt may break a name over several lines; the reply is always one line.
    if line.contains(['\n', '\r']) { line.split_whitespace().collect::<Vec<_>>().join(" ") } else { line }
}

/// Parses a prompt and replies with one of the modules of this folder.
fn reply_of_module(
    reply: fn(&Prompt, &ParsedPrompt<'_>, &SeededRandom) -> Option<String>,
    prompt: &Prompt,
    seed: u64,
) -> Option<String> {
    let parsed = prompt_parser::parse_prompt(prompt);
    let random = SeededRandom::new(parsed.task_text, seed, parsed.items.len());
    reply(prompt, &parsed, &random)
}

/// Replies to prompts about grid worlds.
pub fn grid_reply(prompt: &Prompt, seed: u64) -> Option<String> {
    reply_of_module(grid::reply, prompt, seed)
}

/// Replies to prompts about planning problems.
pub fn planning_reply(prompt: &Prompt, seed: u64) -> Option<String> {
    reply_of_module(planning::reply, prompt, seed)
}

/// Replies to prompts about experiments in rooms.
pub fn science_reply(prompt: &Prompt, seed: u64) -> Option<String> {
    reply_of_module(science::reply, prompt, seed)
}

/// Replies to prompts about questions.
pub fn question_reply(prompt: &Prompt, seed: u64) -> Option<String> {
    reply_of_module(questions::reply, prompt, seed)
}

/// Replies to prompts about web pages.
pub fn web_reply(prompt: &Prompt, seed: u64) -> Option<String> {
    reply_of_module(web::reply, prompt, seed)
}

fn household_reply(prompt: &Prompt, seed: u64) -> String {
    let parsed = prompt_parser::parse_prompt(prompt);
    let random = SeededRandom::new(parsed.task_text, seed, parsed.items.len());
    rule_context::RuleContext {
        knowledge: knowledge::knowledge(),
        prompt: &parsed,
        belief: belief::Belief::from_prompt(&parsed),
        lessons: forms::forms().find_lessons(prompt),
        random,
        without_habits: false,
    }
    .answer()
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
        let mut pieces = vec![Delta::Phase(Phase::Answering)];
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
