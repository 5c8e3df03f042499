//! The rule-based actor in planning problems: a beginner that knows the rules of the four domains and has bad habits.
//!
//! Like a model it has only the prompt: it reads the facts from the first observation and simulates its own actions
//! on them. It plans and follows the plan, except for its habits (`worlds.toml`), which show at committed rates. It
//! gives a habit up by itself after a while, or at once if the prompt contains a lesson against it in a documented
//! form. In other domains it asks for the list of actions and takes one from it.

mod problem_parser;

use super::habits;
use super::prompt_parser::{HistoryItem, ParsedPrompt};
use super::seeded_random::SeededRandom;
use crate::domain::Prompt;
use crate::env::pddl::{Domain, Hint, World};
use crate::pddl::SearchLimits;

/// The actor's limits for finding a plan.
const PLAN_SEARCH_LIMITS: SearchLimits = SearchLimits { states: 3_000, work: 10_000_000 };

/// Returns the reply to a prompt about a planning problem. Returns `None` for any other prompt.
pub(super) fn reply(prompt: &Prompt, reading: &ParsedPrompt<'_>, dice: &SeededRandom) -> Option<String> {
    if !problem_parser::is_planning_task(reading.task_text) {
        return None;
    }
    let goal = problem_parser::goal_sentences(reading.task_text);
    let told = last_full_observation(reading);
    let Some(mut world) = problem_parser::detect_domain(told.0)
        .and_then(|domain| problem_parser::build_game(domain, told.0, goal))
        .map(World::new)
    else {
        return Some(action_in_unknown_domain(reading, dice));
    };
    let mut refused = 0;
    let actions = reading.items.iter().filter(|item| matches!(item, HistoryItem::Action { .. })).count();
    for item in &reading.items[told.1..] {
        if let HistoryItem::Action { line, answer, .. } = item {
            world.play(line);
            let failed = answer.starts_with("The action is not valid");
            refused = if failed { refused + 1 } else { 0 };
        }
    }
    // Its simulation no longer matches the environment, so it looks again.
    if refused >= 3 {
        return Some("look around".to_owned());
    }
    let next = match world.hint(PLAN_SEARCH_LIMITS) {
        Hint::Plan(plan) => plan.into_iter().next(),
        Hint::Impossible | Hint::GaveUp { .. } => None,
    };
    let Some(next) = next else { return Some(any_valid_action(&world, dice)) };
    Some(habitual_action(prompt, &world, &next, actions, dice).unwrap_or(next).trim_end().to_owned())
}

/// Returns the last observation that describes everything, and the index of the first item after it.
fn last_full_observation<'a>(reading: &ParsedPrompt<'a>) -> (&'a str, usize) {
    let looked = reading.items.iter().enumerate().rev().find_map(|(at, item)| match item {
        HistoryItem::Action { line, answer, .. } if line.to_lowercase().contains("look around") => {
            Some((*answer, at + 1))
        }
        _ => None,
    });
    // The goal follows the first observation and is written in the same sentences.
    looked.unwrap_or((reading.task_text.split("Your task is to:").next().unwrap_or_default(), 0))
}

/// Returns what a habit does instead of the plan's next action, if one shows now.
fn habitual_action(
    prompt: &Prompt,
    world: &World,
    next: &str,
    actions: usize,
    dice: &SeededRandom,
) -> Option<String> {
    let mut ahead = World::new(std::sync::Arc::clone(world.game()));
    ahead.restore_state(&world.save_state());
    ahead.play(next);
    let verb = ahead.recognized_action()?;
    let (verb, objects) = verb.split_once('(')?;
    let domain = Domain::from_name(world.game().domain())?;
    let takes = habits::habitual_wrong_action(domain, verb, actions, prompt, dice)?;
    // Both are mistakes while carrying a ball: without one nothing would ever be carried, and there is nothing to drop.
    if matches!(takes, "move" | "drop") && !world.valid_actions().any(|text| text.starts_with("drop")) {
        return None;
    }
    let form = |text: &&str| {
        let mut tried = World::new(std::sync::Arc::clone(world.game()));
        tried.restore_state(&world.save_state());
        tried.play(text);
        tried.recognized_action().is_some_and(|taken| taken.starts_with(&format!("{takes}(")))
    };
    let options: Vec<&str> = world.valid_actions().filter(form).collect();
    if options.is_empty() {
        // The habit shows even if its action is impossible.
        return Some(format!("{} {}", takes, objects.trim_end_matches(')').replace(',', " ")));
    }
    let at = (dice.per_call("which") * options.len() as f64) as usize;
    options.get(at).map(|text| (*text).to_owned())
}

/// Returns some valid action.
fn any_valid_action(world: &World, dice: &SeededRandom) -> String {
    let many = world.valid_count();
    let at = (dice.per_call("any") * many as f64) as usize;
    world.valid_actions().nth(at).unwrap_or("check valid actions").trim_end().to_owned()
}

/// Returns the reply in an unknown domain: an action from the list, or the request for the list, in turn.
fn action_in_unknown_domain(reading: &ParsedPrompt<'_>, dice: &SeededRandom) -> String {
    const LIST_PREFIX: &str = "Valid actions are: ";
    let last = reading.items.iter().rev().find_map(|item| match item {
        HistoryItem::Action { answer, .. } => Some(*answer),
        HistoryItem::Thought(_) => None,
    });
    let listed = last.and_then(|answer| answer.strip_prefix(LIST_PREFIX)).unwrap_or_default();
    let all: Vec<&str> = listed
        .split(", ")
        .filter(|text| !matches!(*text, "" | "check valid actions" | "look around"))
        .collect();
    let at = (dice.per_call("any") * all.len() as f64) as usize;
    all.get(at).map_or("check valid actions", |text| text.trim_end()).to_owned()
}

#[cfg(test)]
mod tests;
