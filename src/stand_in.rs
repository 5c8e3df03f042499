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

use crate::domain::Prompt;
use prompt_parser::ParsedPrompt;
use seeded_random::SeededRandom;
use std::ops::Range;

/// Seeds of the generated games on which the rates of the mistakes were chosen.
pub const TUNING_SEEDS: Range<u64> = 0..1_000;

/// Seeds of the generated games that the published tables use; never used for tuning.
pub const TABLE_SEEDS: Range<u64> = 10_000..10_200;

/// Returns a line for a prompt and a seed, or `None` if the prompt is about another environment. It may use only the labels and
/// texts of the prompt, as a model would.
pub type RuleBasedReply = fn(&Prompt, u64) -> Option<String>;

/// Returns the actor's reply to a prompt, one line: that of the first function that knows the prompt. A prompt that none knows
/// is read as a household's. The same prompt and seed give the same line.
pub fn answer(replies: &[RuleBasedReply], prompt: &Prompt, seed: u64) -> String {
    let own = replies.iter().find_map(|reply| reply(prompt, seed));
    let line = own.unwrap_or_else(|| {
        let (parsed, random) = parse(prompt, seed);
        reply_in_household(prompt, &parsed, random)
    });
    // A prompt may break a name over several lines; the reply is always one line.
    if line.contains(['\n', '\r']) { line.split_whitespace().collect::<Vec<_>>().join(" ") } else { line }
}

fn parse(prompt: &Prompt, seed: u64) -> (ParsedPrompt<'_>, SeededRandom) {
    let parsed = prompt_parser::parse_prompt(prompt);
    let random = SeededRandom::new(parsed.task_text, seed, parsed.items.len());
    (parsed, random)
}

/// Parses a prompt and replies with one of the modules of this folder.
fn reply_of_module(
    reply: fn(&Prompt, &ParsedPrompt<'_>, &SeededRandom) -> Option<String>,
    prompt: &Prompt,
    seed: u64,
) -> Option<String> {
    let (parsed, random) = parse(prompt, seed);
    reply(prompt, &parsed, &random)
}

/// Replies to prompts about rooms with numbered places.
pub fn household_reply(prompt: &Prompt, seed: u64) -> Option<String> {
    let (parsed, random) = parse(prompt, seed);
    (!parsed.places.is_empty()).then(|| reply_in_household(prompt, &parsed, random))
}

/// Returns whether the actor understands a lesson's text in households; any other text changes nothing that it does.
pub fn household_understands(lesson: &str) -> bool {
    forms::forms().understand(lesson)
}

fn reply_in_household(prompt: &Prompt, parsed: &ParsedPrompt<'_>, random: SeededRandom) -> String {
    rule_context::RuleContext {
        knowledge: knowledge::knowledge(),
        prompt: parsed,
        belief: belief::Belief::from_prompt(parsed),
        lessons: forms::forms().find_lessons(prompt),
        random,
        without_habits: false,
    }
    .answer()
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
