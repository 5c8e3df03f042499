//! BabyAI: making levels, text steps with their action list, and the same through the trait everybody else uses.
//!
//! The text steps are those by which the Python reference was measured: level and seed 1234, 1,500 actions drawn from the list,
//! a reset every 60; 3,000 actions of turning and moving. `cargo bench --bench babyai -- --figures` prints the figures for
//! `benches/compare/babyai.py` as one JSON line: CPU seconds a step, and the hashes of some starts.

#![expect(clippy::print_stdout, reason = "a benchmark reports to the terminal")]

#[path = "measure/process.rs"]
mod process;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use retrospect::env::Environment;
use retrospect::env::babyai::{Level, World};
use serde_json::{Map, Value, json};
use std::sync::Arc;

const LEVELS: [&str; 4] = ["GoToRedBall", "Open", "Pickup", "BossLevel"];
/// Text steps from one reset to the next.
const EPISODE: usize = 60;

/// CPU seconds for which a figure is measured at least.
const ENOUGH: f64 = 0.5;

fn main() {
    if std::env::args().any(|arg| arg == "--figures") {
        println!("{}", figures());
        return;
    }
    divan::main();
}

/// The figures of every level, by name.
fn figures() -> Value {
    let mut all = Map::new();
    for name in LEVELS {
        let Some(mut world) = open(name) else { continue };
        let mixed = walk(&mut world, 1500, None);
        let moves = walk(&mut world, 3000, Some(&["turn left", "turn right", "move forward"]));
        let step = cpu_of_one(mixed.len(), || play(&mut world, &mixed, EPISODE));
        let turn_or_move = cpu_of_one(moves.len(), || play(&mut world, &moves, usize::MAX));
        let turn = cpu_of_one(mixed.len(), || live(&mut world, &mixed));
        let starts = (0..20).filter_map(|seed| Level::from_name(name)?.generate(seed).ok());
        let hashes: Vec<String> = starts.map(|start| World::new(Arc::new(start)).state_hash()).collect();
        let figures = json!({"step": step, "turn_or_move": turn_or_move, "turn": turn, "starts": hashes});
        all.insert(name.to_owned(), figures);
    }
    Value::Object(all)
}

/// CPU seconds of one of `many` things that a call does, over enough calls.
fn cpu_of_one(many: usize, mut call: impl FnMut()) -> Option<f64> {
    let start = process::processor_seconds()?;
    let mut calls = 0_u32;
    loop {
        for _ in 0..50 {
            call();
        }
        calls += 50;
        let spent = process::processor_seconds()? - start;
        if spent >= ENOUGH {
            return Some(spent / f64::from(calls) / many as f64);
        }
    }
}

/// Plays a walk, with the list of actions read after every step.
fn play(world: &mut World, walk: &[String], episode: usize) {
    for (step, action) in walk.iter().enumerate() {
        if step % episode == 0 {
            black_box(world.restart());
        }
        black_box(world.play(action).observation.len());
        black_box(world.available_actions().map(str::len).sum::<usize>());
    }
}

/// The same through the trait that every world has.
fn live(world: &mut World, walk: &[String]) {
    for (step, action) in walk.iter().enumerate() {
        if step % EPISODE == 0 {
            black_box(world.reset().is_ok());
        }
        black_box(world.step(action).map(|turn| turn.observation.len()).ok());
        black_box(world.admissible().map(|list| list.len()).ok());
    }
}

fn open(name: &str) -> Option<World> {
    Some(World::new(Arc::new(Level::from_name(name)?.generate(1234).ok()?)))
}

/// A small generator of our own for choices among actions.
fn choose(state: &mut u64, many: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize % many.max(1)
}

/// Actions drawn from the list, recorded once so that the benchmark draws nothing.
fn walk(world: &mut World, steps: usize, only: Option<&[&str]>) -> Vec<String> {
    let mut state = 1;
    let mut walk = Vec::new();
    for step in 0..steps {
        if step % EPISODE == 0 {
            world.restart();
        }
        let list: Vec<&str> = only.map_or_else(|| world.available_actions().collect(), <[&str]>::to_vec);
        let action = list[choose(&mut state, list.len())].to_owned();
        world.play(&action);
        walk.push(action);
    }
    walk
}

/// One item is a text step, with its list of actions read.
#[divan::bench(args = LEVELS)]
fn text_step(bencher: Bencher, name: &str) {
    let Some(mut world) = open(name) else { return };
    let walk = walk(&mut world, 1500, None);
    bencher.counter(ItemsCount::new(walk.len())).bench_local(|| play(&mut world, &walk, EPISODE));
}

/// One item is a text step that turns or moves.
#[divan::bench(args = LEVELS)]
fn text_step_turn_or_move(bencher: Bencher, name: &str) {
    let Some(mut world) = open(name) else { return };
    let walk = walk(&mut world, 3000, Some(&["turn left", "turn right", "move forward"]));
    bencher.counter(ItemsCount::new(walk.len())).bench_local(|| play(&mut world, &walk, usize::MAX));
}

/// One item is a turn: the step, its list as owned strings, and what is shown and true.
#[divan::bench(args = LEVELS)]
fn environment_step(bencher: Bencher, name: &str) {
    let Some(mut world) = open(name) else { return };
    let walk = walk(&mut world, 1500, None);
    bencher.counter(ItemsCount::new(walk.len())).bench_local(|| live(&mut world, &walk));
}

/// One item is a snapshot taken and restored.
#[divan::bench(args = LEVELS)]
fn snapshot_and_restore(bencher: Bencher, name: &str) {
    let Some(mut world) = open(name) else { return };
    bencher.bench_local(|| {
        let kept = world.snapshot();
        kept.map(|kept| world.restore(&kept).is_ok())
    });
}

/// One item is a level made from a seed.
#[divan::bench(args = LEVELS)]
fn make_level(bencher: Bencher, name: &str) {
    let Some(level) = Level::from_name(name) else { return };
    bencher.counter(ItemsCount::new(30_usize)).bench_local(|| {
        (0..30).filter_map(|seed| level.generate(seed).ok()).map(|start| start.things.len()).sum::<usize>()
    });
}
