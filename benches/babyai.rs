//! BabyAI: generating levels, text steps including the list of available actions, and the same through [`Environment`].
//!
//! The text steps are those with which the Python reference was measured, on seed 1234: 1,500 random available actions
//! with a reset every 60 actions, and 3,000 actions that turn or move. `cargo bench --bench babyai -- --figures` prints
//! the results for `benches/compare/babyai.py` as one line of JSON: CPU seconds per step, and the hashes of some start
//! states.

#![expect(clippy::print_stdout, reason = "a benchmark prints to the terminal")]

#[path = "measure/process.rs"]
mod process;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use retrospect::env::Environment;
use retrospect::env::babyai::{Level, World};
use serde_json::{Map, Value, json};
use std::sync::Arc;

const LEVELS: [&str; 4] = ["GoToRedBall", "Open", "Pickup", "BossLevel"];
/// The number of text steps between resets.
const STEPS_PER_EPISODE: usize = 60;

/// The minimum CPU seconds of a measurement.
const MIN_SECONDS: f64 = 0.5;

fn main() {
    if std::env::args().any(|arg| arg == "--figures") {
        println!("{}", measure_levels());
        return;
    }
    divan::main();
}

/// Measures every level. Returns the results by level name.
fn measure_levels() -> Value {
    let mut results = Map::new();
    for name in LEVELS {
        let Some(mut world) = open(name) else { continue };
        let mixed = random_actions(&mut world, 1500, None);
        let moves = random_actions(&mut world, 3000, Some(&["turn left", "turn right", "move forward"]));
        let step = cpu_per_item(mixed.len(), || play(&mut world, &mixed, STEPS_PER_EPISODE));
        let turn_or_move = cpu_per_item(moves.len(), || play(&mut world, &moves, usize::MAX));
        let environment_step = cpu_per_item(mixed.len(), || play_environment(&mut world, &mixed));
        let starts = (0..20).filter_map(|seed| Level::from_name(name)?.generate(seed).ok());
        let hashes: Vec<String> = starts.map(|start| World::new(Arc::new(start)).state_hash()).collect();
        let level_results =
            json!({"step": step, "turn_or_move": turn_or_move, "turn": environment_step, "starts": hashes});
        results.insert(name.to_owned(), level_results);
    }
    Value::Object(results)
}

/// Returns the CPU seconds per item of a call that processes `item_count` items.
fn cpu_per_item(item_count: usize, mut call: impl FnMut()) -> Option<f64> {
    let start = process::processor_seconds()?;
    let mut calls = 0_u32;
    loop {
        for _ in 0..50 {
            call();
        }
        calls += 50;
        let spent = process::processor_seconds()? - start;
        if spent >= MIN_SECONDS {
            return Some(spent / f64::from(calls) / item_count as f64);
        }
    }
}

/// Plays actions and reads the available actions after every step.
fn play(world: &mut World, actions: &[String], steps_per_episode: usize) {
    for (step, action) in actions.iter().enumerate() {
        if step % steps_per_episode == 0 {
            black_box(world.restart());
        }
        black_box(world.play(action).observation.len());
        black_box(world.available_actions().map(str::len).sum::<usize>());
    }
}

/// Plays actions in the same way through [`Environment`].
fn play_environment(world: &mut World, actions: &[String]) {
    for (step, action) in actions.iter().enumerate() {
        if step % STEPS_PER_EPISODE == 0 {
            black_box(world.reset().is_ok());
        }
        black_box(world.step(action).map(|result| result.observation.len()).ok());
        black_box(world.admissible().map(|list| list.len()).ok());
    }
}

fn open(name: &str) -> Option<World> {
    Some(World::new(Arc::new(Level::from_name(name)?.generate(1234).ok()?)))
}

/// Returns a pseudo-random index below `count`.
fn random_index(state: &mut u64, count: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize % count.max(1)
}

/// Returns random actions, chosen from `allowed` or from the available actions. They are chosen before the measurement.
fn random_actions(world: &mut World, steps: usize, allowed: Option<&[&str]>) -> Vec<String> {
    let mut state = 1;
    let mut actions = Vec::new();
    for step in 0..steps {
        if step % STEPS_PER_EPISODE == 0 {
            world.restart();
        }
        let list: Vec<&str> = allowed.map_or_else(|| world.available_actions().collect(), <[&str]>::to_vec);
        let action = list[random_index(&mut state, list.len())].to_owned();
        world.play(&action);
        actions.push(action);
    }
    actions
}

/// One item is one text step, including reading the available actions.
#[divan::bench(args = LEVELS)]
fn text_step(bencher: Bencher, name: &str) {
    let Some(mut world) = open(name) else { return };
    let actions = random_actions(&mut world, 1500, None);
    bencher
        .counter(ItemsCount::new(actions.len()))
        .bench_local(|| play(&mut world, &actions, STEPS_PER_EPISODE));
}

/// One item is one text step that turns or moves.
#[divan::bench(args = LEVELS)]
fn text_step_turn_or_move(bencher: Bencher, name: &str) {
    let Some(mut world) = open(name) else { return };
    let actions = random_actions(&mut world, 3000, Some(&["turn left", "turn right", "move forward"]));
    bencher.counter(ItemsCount::new(actions.len())).bench_local(|| play(&mut world, &actions, usize::MAX));
}

/// One item is one step through [`Environment`]: the step, the shown state, the ground truth, and the available actions
/// as owned strings.
#[divan::bench(args = LEVELS)]
fn environment_step(bencher: Bencher, name: &str) {
    let Some(mut world) = open(name) else { return };
    let actions = random_actions(&mut world, 1500, None);
    bencher.counter(ItemsCount::new(actions.len())).bench_local(|| play_environment(&mut world, &actions));
}

/// One item is taking and restoring one snapshot.
#[divan::bench(args = LEVELS)]
fn snapshot_and_restore(bencher: Bencher, name: &str) {
    let Some(mut world) = open(name) else { return };
    bencher.bench_local(|| {
        let snapshot = world.snapshot();
        snapshot.map(|snapshot| world.restore(&snapshot).is_ok())
    });
}

/// One item is generating one level from a seed.
#[divan::bench(args = LEVELS)]
fn generate_level(bencher: Bencher, name: &str) {
    let Some(level) = Level::from_name(name) else { return };
    bencher.counter(ItemsCount::new(30_usize)).bench_local(|| {
        (0..30).filter_map(|seed| level.generate(seed).ok()).map(|start| start.things.len()).sum::<usize>()
    });
}
