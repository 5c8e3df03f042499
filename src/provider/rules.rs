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
//! answer prompts about other environments.

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

/// The rule-based actor.
#[derive(Clone, Copy, Debug, Default)]
pub struct RuleBasedActor {
    word_delay: Duration,
}

impl RuleBasedActor {
    /// Creates an actor that waits this long before each word, so that a person can follow.
    pub fn with_word_delay(delay: Duration) -> Self {
        Self { word_delay: delay }
    }
}

/// Returns the actor's reply to a prompt, one line. The same prompt and seed give the same line.
pub fn answer(prompt: &Prompt, seed: u64) -> String {
    let parsed = prompt_parser::parse_prompt(prompt);
    let random = SeededRandom::new(parsed.task_text, seed, parsed.items.len());
    let of_their_own = OTHER_WORLDS.iter().find_map(|reply| reply(prompt, &parsed, &random));
    of_their_own.unwrap_or_else(|| household_reply(prompt, &parsed, random))
}

/// Replies to a prompt about one kind of world; `None` if the prompt is about another.
type Reply = fn(&Prompt, &ParsedPrompt<'_>, &SeededRandom) -> Option<String>;

/// Worlds with an actor of their own. What none of them knows is read as a household.
const OTHER_WORLDS: &[Reply] = &[grid::reply, planning::reply, science::reply, questions::reply, web::reply];

fn household_reply(prompt: &Prompt, parsed: &ParsedPrompt<'_>, random: SeededRandom) -> String {
    let belief = belief::Belief::from_prompt(parsed);
    let lessons = forms::forms().find_lessons(prompt);
    let line = rule_context::RuleContext {
        knowledge: knowledge::knowledge(),
        prompt: parsed,
        belief,
        lessons,
        random,
        without_habits: false,
    }
    .answer();
    // A prompt may break a name over several lines; the reply is always one line.
    if line.contains(['\n', '\r']) { line.split_whitespace().collect::<Vec<_>>().join(" ") } else { line }
}

impl Provider for RuleBasedActor {
    fn name(&self) -> String {
        "built-in rules (a stand-in for a model)".to_owned()
    }

    fn answers_at_once(&self) -> bool {
        true
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Delta, ProviderError>> {
        let text = answer(&request.prompt, request.seed);
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
