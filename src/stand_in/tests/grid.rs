//! Tests of the actor in grid worlds.

use super::prompt;
use crate::domain::ModelRole;
use crate::engine::request_seed;
use crate::env::babyai::{Level, World};
use std::sync::Arc;

/// Plays a level from its text only. Returns the steps with their observations, and whether it was won.
fn play(level: &Level, seed: u64, lessons: &[&str], max_steps: u32) -> (Vec<(String, String)>, bool) {
    let mut world = World::new(Arc::new(level.generate(seed).unwrap()));
    let first = world.restart();
    let task = format!("{first}\nYour task is to: {}", world.start().goal);
    let mut steps: Vec<(String, String)> = Vec::new();
    for step in 1..=max_steps {
        let history: Vec<(&str, &str)> = steps.iter().map(|(a, o)| (a.as_str(), o.as_str())).collect();
        let line = super::answer(
            &prompt(lessons, &task, &history),
            request_seed(seed, 1, step, ModelRole::Actor, 0),
        );
        let observation =
            if line.starts_with("think:") { "OK.".to_owned() } else { world.play(&line).observation };
        steps.push((line, observation));
        if world.is_done() {
            return (steps, true);
        }
    }
    (steps, false)
}

/// Returns how many of the seeds 0 to 9 of a level are won within AgentBoard's limit of fifty steps.
fn count_wins(name: &str, lessons: &[&str]) -> usize {
    let level = Level::from_name(name).unwrap();
    (0..10).filter(|seed| play(level, *seed, lessons, 50).1).count()
}

#[test]
fn simple_levels_are_won_and_hard_ones_sometimes() {
    for (name, min_wins) in [
        ("GoToRedBall", 9),
        ("GoToDoor", 10),
        ("OpenDoorLoc", 10),
        ("PickupDistDebug", 10),
        ("GoToSeqS5R2", 8),
        ("UnlockLocalDist", 6),
        ("Open", 5),
        ("BossLevel", 2),
    ] {
        let won = count_wins(name, &[]);
        assert!(won >= min_wins, "{name}: {won} of 10");
    }
}

#[test]
fn a_beginner_writes_pick_up_until_a_lesson_or_many_refusals() {
    let level = Level::from_name("PickupLoc").unwrap();
    let count_pick_up = |lessons: &[&str]| -> Vec<usize> {
        let refused = |(line, _): &&(String, String)| line.starts_with("pick up ");
        (0..10).map(|seed| play(level, seed, lessons, 50).0.iter().filter(refused).count()).collect()
    };
    let untaught = count_pick_up(&[]);
    assert!(untaught.contains(&0) && untaught.iter().any(|n| *n >= 4), "{untaught:?}");
    assert!(untaught.iter().all(|n| *n <= 14), "{untaught:?}");
    assert_eq!(count_pick_up(&["The verb is `pickup`, in one word."]), [0; 10]);
}

#[test]
fn the_same_prompt_gets_the_same_answer_and_no_thought_asks_for_the_list_of_actions() {
    let level = Level::from_name("BossLevel").unwrap();
    for seed in 0..3 {
        let (steps, _) = play(level, seed, &[], 30);
        assert_eq!(play(level, seed, &[], 30).0, steps);
        // BabyAI treats a thought as an action, and answers one that contains "check" with the list of
        // available actions.
        assert!(steps.iter().all(|(line, _)| !line.contains("check")), "{steps:?}");
    }
}

#[test]
fn text_that_is_not_a_grid_is_still_answered() {
    let task = "You are in the middle of a room. You see a shelf 1.\nYour task is to: put a mug in shelf.";
    assert!(!super::answer(&prompt(&[], task, &[]), 1).is_empty());
    let garbled = "In front of you in this room, you can see several objects: There is a . There is a red There is a 1 2 3. \
               You are carrying a \nYour task is to: go to the . and put a next to";
    let history = [
        ("turn left", garbled),
        ("go to x", "You are carrying a"),
        ("drop", "There is a \u{1b} 9 in front of you."),
    ];
    assert!(!super::answer(&prompt(&[], garbled, &history), 1).is_empty());
}

#[test]
#[ignore = "prints a table of all levels for manual inspection"]
fn table_of_levels() {
    let (mut all, mut sum) = (0, 0);
    for level in Level::all() {
        let won = (0..20).filter(|seed| play(level, *seed, &[], 50).1).count();
        let taught = ["The verb is `pickup`.", "Toggle a closed door first."];
        let taught = (0..20).filter(|seed| play(level, *seed, &taught, 50).1).count();
        println!("{:3} {:24} {won:3} of 20, taught {taught:3}", level.number, level.name);
        if level.in_test_split {
            (all, sum) = (all + 20, sum + won);
        }
    }
    println!("levels of the test split: {sum} of {all}");
    assert!(sum * 2 > all, "the actor wins less than half of the levels of the test split");
}
