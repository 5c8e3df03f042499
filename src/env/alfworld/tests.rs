//! Tests in a small kitchen that cover every quirk of the Python stack.

mod broken_files;
mod environment;
mod quirks;

use super::{Game, World};
use std::sync::Arc;

pub(super) const DOMAIN: &str = include_str!("../../../tests/data/kitchen/domain.pddl");
pub(super) const PROBLEM: &str = include_str!("../../../tests/data/kitchen/problem.pddl");
pub(super) const GRAMMAR: &str = include_str!("../../../tests/data/kitchen/grammar.twl2");

/// Builds the bytes of a game file from these parts.
pub(super) fn game_file(domain: &str, problem: &str, grammar: &str) -> Vec<u8> {
    serde_json::json!({ "pddl_domain": domain, "pddl_problem": problem, "grammar": grammar })
        .to_string()
        .into_bytes()
}

/// Returns the small kitchen with some text of its three parts replaced.
pub(super) fn kitchen_with(changes: &[(&str, &str)]) -> Arc<Game> {
    let change = |text: &str| changes.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
    for (from, _) in changes {
        assert!(
            [DOMAIN, PROBLEM, GRAMMAR].iter().any(|text| text.contains(from)),
            "no text contains {from:?}"
        );
    }
    Game::load("kitchen", &game_file(&change(DOMAIN), &change(PROBLEM), &change(GRAMMAR))).unwrap()
}

/// Returns the small kitchen at its start.
pub(super) fn kitchen() -> World {
    World::new(kitchen_with(&[]), None).unwrap()
}

/// Plays commands that must be accepted and returns the last reply.
pub(super) fn play_accepted(world: &mut World, commands: &[&str]) -> String {
    let mut last = String::new();
    for command in commands {
        let reply = world.play(command).unwrap();
        assert!(reply.accepted, "{command:?} was rejected");
        last = reply.feedback.to_owned();
    }
    last
}

/// Returns the admissible commands with this prefix.
pub(super) fn commands_starting_with(world: &World, start: &str) -> Vec<String> {
    world.commands().filter(|command| command.starts_with(start)).map(ToOwned::to_owned).collect()
}
