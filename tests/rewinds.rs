//! In every native world: thirty steps back, and on with another action. The world answers there as a world that only ever
//! went that way.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

#[path = "rig/rewind.rs"]
mod rewind;
#[path = "rig/run.rs"]
mod run;

use retrospect::driver::worlds::{self, WorldOptions};
use rewind::{Played, worlds_here};
use std::time::Instant;

const BACK: u32 = 30;
const STEPS: u32 = 40;

#[test]
fn thirty_steps_back_and_on_with_another_action() {
    let worlds = worlds_here();
    println!("{} worlds", worlds.len());
    for (env, id) in worlds {
        let dir = tempfile::tempdir().unwrap();
        let mut played = Played::begin(dir.path(), env, &id);
        played.play(STEPS);
        let place = STEPS - BACK;
        // What a world that goes that way alone says: the same actions, and another one in the place of the old.
        let task = worlds::find(env, &id, &WorldOptions::default()).unwrap();
        let mut alone = worlds::open(&task, &WorldOptions::default()).unwrap();
        alone.reset().unwrap();
        for action in &played.taken[..place as usize - 1] {
            alone.step(action).unwrap();
        }
        let old = played.taken[place as usize - 1].clone();
        let admissible = alone.admissible().unwrap();
        let other = admissible.iter().rev().map(|a| a.trim().to_owned()).find(|a| *a != old).unwrap();
        let due = alone.step(&other).unwrap();
        let before = std::fs::read(played.session.trunk()).unwrap();
        let began = Instant::now();
        played.back_to(place, Some(&other));
        println!("{env}: back by {BACK} steps and on in {:?}", began.elapsed());
        let head = played.handle.store.head();
        assert_eq!(head.divergence, None, "{env}: every answer was the recorded one");
        let step = head.episode.as_ref().unwrap().step(place).unwrap().clone();
        assert_eq!(step.executed.unwrap().action, other);
        assert_eq!(step.answer.unwrap().raw, due.observation, "{env}");
        assert!(std::fs::read(played.session.trunk()).unwrap().starts_with(&before));
        played.end();
    }
}
