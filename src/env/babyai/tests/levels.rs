//! Levels generated from their seeds, without the recordings.

use super::super::{Level, Pcg64, World};
use std::collections::BTreeSet;
use std::sync::Arc;

#[test]
fn random_numbers_match_numpy() {
    // numpy.random.default_rng(0).integers(0, 10, 5) as printed by numpy itself.
    let mut rng = Pcg64::new(0);
    assert_eq!(std::array::from_fn(|_| rng.integer(0, 10)), [8, 6, 5, 2, 3]);
    assert_eq!((rng.integer(4, 5), rng.integer(4, 4), rng.integer(4, 2)), (4, 4, 4));
    assert!((0..1000).all(|_| (0.0..1.0).contains(&rng.fraction())));
}

#[test]
fn names_numbers_and_ids_find_a_level() {
    assert_eq!(Level::all().len(), 40);
    for (at, level) in Level::all().iter().enumerate() {
        assert_eq!(usize::from(level.number), at + 1);
        for text in [level.number.to_string(), level.name.to_owned(), level.env_id()] {
            assert_eq!(Level::from_name(&text).map(|l| l.number), Some(level.number), "{text}");
        }
    }
    for none in ["", "0", "41", "-1", "gotoredball", "BabyAI-GoToRedBall", "BabyAI-2-v0x"] {
        assert!(Level::from_name(none).is_none(), "{none}");
    }
    let split: Vec<_> = Level::test_split().collect();
    assert_eq!(split.len(), 112);
    assert_eq!((split[52].0.name, split[52].1), ("OpenDoorLoc", 1234));
}

#[test]
fn every_level_builds_and_starts_unsolved() {
    let mut missions = BTreeSet::new();
    for level in Level::all() {
        for seed in [0, 1, 1_000_000_007, u64::MAX] {
            let start = level.generate(seed).unwrap();
            assert_eq!(level.generate(seed).unwrap(), start, "{} {seed}", level.name);
            assert!(!start.goal.contains("then") && !start.mission.is_empty());
            let mut world = World::new(Arc::new(start));
            world.restart();
            assert!(world.available_actions().any(|action| action == "turn left"));
            assert!(!world.is_done());
            missions.insert(world.start().mission.clone());
        }
    }
    assert!(missions.len() > 80, "{}", missions.len());
}

#[test]
fn prompt_examples_match_the_environment() {
    let door = include_str!("../prompts/door.txt");
    let key = include_str!("../prompts/key.txt");
    for (name, seed, text) in [("OpenRedDoor", 5, door), ("UnlockPickupDist", 22, key)] {
        let mut world = World::new(Arc::new(Level::from_name(name).unwrap().generate(seed).unwrap()));
        let mut transcript = format!("{}\nYour task is to: {}\n", world.restart(), world.start().goal);
        for line in text.lines().filter_map(|line| line.strip_prefix("> ")) {
            let answer =
                if line.starts_with("think:") { "OK.".to_owned() } else { world.play(line).observation };
            transcript.extend(["> ", line, "\n", &answer, "\n"]);
        }
        assert_eq!(text.trim_end(), transcript.trim_end());
        assert!(world.is_done());
    }
}
