//! The built-in actor on planning problems: a beginner that knows the rules of the four domains and has bad habits.
//!
//! It reads the prompt like a model: the facts from the words of the first observation, the rest by taking its own actions
//! again in its head. It looks for a plan and follows it, but for its habits (`worlds.toml`), each at a committed rate; it gives them
//! up by itself after a while, and at once with a lesson of the right form in the prompt. Of other domains it knows nothing: it asks for the list and takes something from it.

mod scene;

use super::dice::Dice;
use super::habits;
use super::read::{Item, Reading};
use crate::domain::Prompt;
use crate::env::pddl::{Domain, Hint, World};
use crate::pddl::SearchLimits;

/// What the actor spends on a plan.
const THOUGHT: SearchLimits = SearchLimits { states: 3_000, work: 10_000_000 };

/// The line for a prompt about a planning problem; none for any other prompt.
pub(super) fn answer(prompt: &Prompt, reading: &Reading<'_>, dice: &Dice) -> Option<String> {
    if !scene::is_one(reading.task_text) {
        return None;
    }
    let goal = scene::goal(reading.task_text);
    let told = told(reading);
    let Some(mut world) =
        scene::domain(told.0).and_then(|domain| scene::game(domain, told.0, goal)).map(World::new)
    else {
        return Some(unknown(reading, dice));
    };
    let mut refused = 0;
    let actions = reading.items.iter().filter(|item| matches!(item, Item::Did { .. })).count();
    for item in &reading.items[told.1..] {
        if let Item::Did { line, answer, .. } = item {
            world.play(line);
            let failed = answer.starts_with("The action is not valid");
            refused = if failed { refused + 1 } else { 0 };
        }
    }
    // What it remembers does not fit what happens: it looks again.
    if refused >= 3 {
        return Some("look around".to_owned());
    }
    let next = match world.hint(THOUGHT) {
        Hint::Plan(plan) => plan.into_iter().next(),
        Hint::Impossible | Hint::GaveUp { .. } => None,
    };
    let Some(next) = next else { return Some(any(&world, dice)) };
    Some(habit(prompt, &world, &next, actions, dice).unwrap_or(next).trim_end().to_owned())
}

/// The last text that tells everything, and how many items lie before what happened after it.
fn told<'a>(reading: &Reading<'a>) -> (&'a str, usize) {
    let looked = reading.items.iter().enumerate().rev().find_map(|(at, item)| match item {
        Item::Did { line, answer, .. } if line.to_lowercase().contains("look around") => {
            Some((*answer, at + 1))
        }
        _ => None,
    });
    // The goal stands below the first observation, in the same words.
    looked.unwrap_or((reading.task_text.split("Your task is to:").next().unwrap_or_default(), 0))
}

/// What a habit does in place of the next action of the plan, where one shows now.
fn habit(prompt: &Prompt, world: &World, next: &str, actions: usize, dice: &Dice) -> Option<String> {
    let mut ahead = World::new(std::sync::Arc::clone(world.game()));
    ahead.restore_state(&world.save_state());
    ahead.play(next);
    let verb = ahead.recognized_action()?;
    let (verb, objects) = verb.split_once('(')?;
    let domain = Domain::from_name(world.game().domain())?;
    let takes = habits::shows_in_plan(domain, verb, actions, prompt, dice)?;
    // Both are mistakes of one who carries a ball: without one, nothing would ever be carried, and there is nothing to drop.
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
        // What cannot be done is said all the same.
        return Some(format!("{} {}", takes, objects.trim_end_matches(')').replace(',', " ")));
    }
    let at = (dice.now("which") * options.len() as f64) as usize;
    options.get(at).map(|text| (*text).to_owned())
}

/// Something that can be done.
fn any(world: &World, dice: &Dice) -> String {
    let many = world.valid_count();
    let at = (dice.now("any") * many as f64) as usize;
    world.valid_actions().nth(at).unwrap_or("check valid actions").trim_end().to_owned()
}

/// A domain whose words mean nothing to it: something from the list, which has to be asked for every other time.
fn unknown(reading: &Reading<'_>, dice: &Dice) -> String {
    const LIST: &str = "Valid actions are: ";
    let last = reading.items.iter().rev().find_map(|item| match item {
        Item::Did { answer, .. } => Some(*answer),
        Item::Thought(_) => None,
    });
    let listed = last.and_then(|answer| answer.strip_prefix(LIST)).unwrap_or_default();
    let all: Vec<&str> = listed
        .split(", ")
        .filter(|text| !matches!(*text, "" | "check valid actions" | "look around"))
        .collect();
    let at = (dice.now("any") * all.len() as f64) as usize;
    all.get(at).map_or("check valid actions", |text| text.trim_end()).to_owned()
}

#[cfg(test)]
mod tests;
