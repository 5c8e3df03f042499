//! Tests that the actor knows nothing but its prompt, and that its mistakes are the declared ones.

use super::*;
use crate::stand_in::knowledge::MISTAKES_TOML;
use crate::stand_in::{TABLE_SEEDS, TUNING_SEEDS};
use sha2::{Digest as _, Sha256};

/// Hash of the mistakes file. After changing a rate, make the tables of `docs/STAND_IN.md` again and update it.
const PINNED_SHA256: &str = "d983444e7e12beac3f20867d22ff61a98eeda9b154cc9d77cf0769a9fe796080";

#[test]
fn rates_match_the_published_tables() {
    assert_eq!(crate::domain::hex(&Sha256::digest(MISTAKES_TOML.as_bytes())), PINNED_SHA256);
}

#[test]
fn tuning_and_table_seeds_do_not_overlap() {
    const { assert!(TUNING_SEEDS.end <= TABLE_SEEDS.start) };
    assert_eq!(TABLE_SEEDS.count(), 200);
}

/// A limit far beyond any episode's: a game not won within it never will be.
const NO_LIMIT: u32 = 300;

#[test]
fn without_lessons_every_habit_is_given_up_and_every_game_can_be_won() {
    let games: Vec<PlayedGame> =
        (0..72).map(|seed| play(generate_game(Difficulty::Normal, seed), &[], NO_LIMIT)).collect();
    for (seed, game) in games.iter().enumerate() {
        assert!(game.won, "normal game of seed {seed} is not won in {NO_LIMIT} steps");
    }
    for habit in Habit::ALL.into_iter().filter(|h| *h != Habit::NoPlan) {
        let counts: Vec<u32> = games.iter().map(|g| count_shown(&g.mistakes, habit)).collect();
        assert!(counts.iter().any(|n| *n > 0), "{habit:?} never shows");
        assert!(counts.contains(&0), "{habit:?} shows in every game");
    }
    let in_time = games.iter().filter(|g| g.prompts.len() <= 50).count();
    assert!(in_time * 10 >= games.len() * 3, "only {in_time} of {} games are won in 50 steps", games.len());
}

#[test]
fn nothing_is_kept_between_calls() {
    let first = play(generate_game(Difficulty::Normal, 8), &[], 50);
    let second = play(generate_game(Difficulty::Normal, 9), &[], 50);
    let alone: Vec<String> = first.prompts.iter().map(|p| answer(p, 1)).collect();
    // The same prompts in reverse order, with another game's prompts in between.
    let mixed: Vec<String> = first
        .prompts
        .iter()
        .rev()
        .zip(second.prompts.iter().cycle())
        .map(|(mine, other)| {
            answer(other, 2);
            answer(mine, 1)
        })
        .collect();
    assert!(alone.iter().eq(mixed.iter().rev()));
}

#[test]
fn randomness_depends_on_the_seed_and_habits_on_the_task() {
    let played = play(generate_game(Difficulty::Normal, 15), &[], 50);
    let answers = |seed: u64| played.prompts.iter().map(|p| answer(p, seed)).collect::<Vec<_>>();
    assert_eq!(answers(4), answers(4));
    assert!((0..8).any(|seed| answers(seed) != answers(4)), "the seed never matters");
    // The opening thought depends only on the task.
    assert!((0..8).all(|seed| answer(&played.prompts[0], seed) == answer(&played.prompts[0], 99)));
}
