//! The rule-based actor in planning problems: a beginner that knows the rules of the four domains and has bad habits.
//!
//! Like a model, it sees only the prompt: it reads the facts from the first observation and simulates its own actions
//! on them. It follows its plan, except when one of its habits shows, with the probabilities in `worlds.toml`. A habit
//! ends after a while, or at once if the prompt contains a lesson against it in a documented form
//! (`docs/LESSON_FORMS.md`). Some are also taught by bad advice, which the beginner follows literally. In other domains the actor asks for the list of actions and takes one from it.

mod problem_parser;

use super::habits;
use super::prompt_parser::{HistoryItem, ParsedPrompt};
use super::seeded_random::SeededRandom;
use crate::domain::Prompt;
use crate::env::pddl::{Domain, Hint, World};
use crate::pddl::SearchLimits;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

/// The limits of the actor's search for a plan.
const PLAN_SEARCH_LIMITS: SearchLimits = SearchLimits { states: 3_000, work: 10_000_000 };

/// The greatest number of positions whose next action is kept; a position is a text of a few thousand characters.
const KEPT_POSITIONS: usize = 1_000;

/// Returns the reply to a prompt about a planning problem. Returns `None` for any other prompt.
pub(super) fn reply(prompt: &Prompt, parsed: &ParsedPrompt<'_>, random: &SeededRandom) -> Option<String> {
    if !problem_parser::is_planning_task(parsed.task_text) {
        return None;
    }
    let goal = problem_parser::goal_sentences(parsed.task_text);
    let (observation, next_item) = last_full_observation(parsed);
    let Some(mut world) = problem_parser::detect_domain(observation)
        .and_then(|domain| problem_parser::build_game(domain, observation, goal))
        .map(World::new)
    else {
        return Some(action_in_unknown_domain(parsed, random));
    };
    let mut refused = 0;
    let actions = parsed.items.iter().filter(|item| matches!(item, HistoryItem::Action { .. })).count();
    let mut position = format!("{goal}\n{observation}");
    for item in &parsed.items[next_item..] {
        if let HistoryItem::Action { line, answer, .. } = item {
            world.play(line);
            position.extend(["\n", *line]);
            let failed = answer.starts_with("The action is not valid");
            refused = if failed { refused + 1 } else { 0 };
        }
    }
    // The simulation no longer matches the environment, so the actor looks again.
    if refused >= 3 {
        return Some("look around".to_owned());
    }
    let Some(next) = next_planned_action(position, &world) else {
        return Some(any_valid_action(&world, random));
    };
    Some(habitual_action(prompt, &world, &next, actions, random).unwrap_or(next).trim_end().to_owned())
}

/// Returns the first action of a plan from the world's state, if one is found. `position` is the text that led to this state.
///
/// The search takes most of the time of a reply, and further attempts and forks pass through the same states, so
/// what it found is kept.
fn next_planned_action(position: String, world: &World) -> Option<String> {
    static FOUND: LazyLock<Mutex<HashMap<String, Option<String>>>> = LazyLock::new(Mutex::default);
    let found = || FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(next) = found().get(&position) {
        return next.clone();
    }
    let next = match world.hint(PLAN_SEARCH_LIMITS) {
        Hint::Plan(plan) => plan.into_iter().next(),
        Hint::Impossible | Hint::GaveUp { .. } => None,
    };
    let mut kept = found();
    if kept.len() >= KEPT_POSITIONS {
        kept.clear();
    }
    kept.insert(position, next.clone());
    next
}

/// Returns the last observation that describes the complete state, and the index of the first item after it.
fn last_full_observation<'a>(parsed: &ParsedPrompt<'a>) -> (&'a str, usize) {
    let last_look = parsed.items.iter().enumerate().rev().find_map(|(index, item)| match item {
        HistoryItem::Action { line, answer, .. } if line.to_lowercase().contains("look around") => {
            Some((*answer, index + 1))
        }
        _ => None,
    });
    // The goal follows the first observation and is written in the same sentences.
    last_look.unwrap_or((parsed.task_text.split("Your task is to:").next().unwrap_or_default(), 0))
}

/// Returns the action that a habit takes instead of the plan's next one, if a habit shows now.
fn habitual_action(
    prompt: &Prompt,
    world: &World,
    next: &str,
    actions: usize,
    random: &SeededRandom,
) -> Option<String> {
    let mut preview = World::new(std::sync::Arc::clone(world.game()));
    preview.restore_state(&world.save_state());
    preview.play(next);
    let verb = preview.recognized_action()?;
    let (verb, objects) = verb.split_once('(')?;
    let domain = Domain::from_name(world.game().domain())?;
    let wrong_verb = habits::habitual_wrong_action(domain, verb, actions, prompt, random)?;
    // `move` and `drop` are mistakes only while a ball is carried: without one, `drop` is impossible, and an actor that
    // always moved would never carry any.
    if matches!(wrong_verb, "move" | "drop") && !world.valid_actions().any(|text| text.starts_with("drop")) {
        return None;
    }
    let has_wrong_verb = |text: &&str| {
        let mut trial = World::new(std::sync::Arc::clone(world.game()));
        trial.restore_state(&world.save_state());
        trial.play(text);
        trial.recognized_action().is_some_and(|taken| taken.starts_with(&format!("{wrong_verb}(")))
    };
    let options: Vec<&str> = world.valid_actions().filter(has_wrong_verb).collect();
    if options.is_empty() {
        // The habit shows even if its action is impossible.
        return Some(format!("{} {}", wrong_verb, objects.trim_end_matches(')').replace(',', " ")));
    }
    let index = (random.draw_for_call("which") * options.len() as f64) as usize;
    options.get(index).map(|text| (*text).to_owned())
}

/// Returns some valid action.
fn any_valid_action(world: &World, random: &SeededRandom) -> String {
    let count = world.valid_count();
    let index = (random.draw_for_call("any") * count as f64) as usize;
    world.valid_actions().nth(index).unwrap_or("check valid actions").trim_end().to_owned()
}

/// Returns the reply in an unknown domain: an action from the list if the last observation has one, otherwise the
/// request for the list.
fn action_in_unknown_domain(parsed: &ParsedPrompt<'_>, random: &SeededRandom) -> String {
    const LIST_PREFIX: &str = "Valid actions are: ";
    let last = parsed.items.iter().rev().find_map(|item| match item {
        HistoryItem::Action { answer, .. } => Some(*answer),
        HistoryItem::Thought(_) => None,
    });
    let listed = last.and_then(|answer| answer.strip_prefix(LIST_PREFIX)).unwrap_or_default();
    let listed_actions: Vec<&str> = listed
        .split(", ")
        .filter(|text| !matches!(*text, "" | "check valid actions" | "look around"))
        .collect();
    let index = (random.draw_for_call("any") * listed_actions.len() as f64) as usize;
    listed_actions.get(index).map_or("check valid actions", |text| text.trim_end()).to_owned()
}

#[cfg(test)]
mod tests;
