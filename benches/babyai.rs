//! BabyAI: making levels, text steps with their action list, and the same through the trait everybody else uses.
//!
//! The text steps are those by which the Python reference was measured: level and seed 1234, 1,500 actions drawn from the list,
//! a reset every 60; 3,000 actions of turning and moving.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use retrospect::env::Environment;
use retrospect::env::babyai::{Level, World};
use std::sync::Arc;

const LEVELS: [&str; 4] = ["GoToRedBall", "Open", "Pickup", "BossLevel"];
/// Text steps from one reset to the next.
const EPISODE: usize = 60;

fn main() {
    divan::main();
}

fn open(name: &str) -> Option<World> {
    Some(World::new(Arc::new(Level::of_name(name)?.start(1234).ok()?)))
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
            world.begin();
        }
        let list: Vec<&str> = only.map_or_else(|| world.available().collect(), <[&str]>::to_vec);
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
    bencher.counter(ItemsCount::new(walk.len())).bench_local(|| {
        for (step, action) in walk.iter().enumerate() {
            if step % EPISODE == 0 {
                black_box(world.begin());
            }
            black_box(world.play(action).observation.len());
            black_box(world.available().map(str::len).sum::<usize>());
        }
    });
}

/// One item is a text step that turns or moves.
#[divan::bench(args = LEVELS)]
fn text_step_turn_or_move(bencher: Bencher, name: &str) {
    let Some(mut world) = open(name) else { return };
    let walk = walk(&mut world, 3000, Some(&["turn left", "turn right", "move forward"]));
    bencher.counter(ItemsCount::new(walk.len())).bench_local(|| {
        world.begin();
        for action in &walk {
            black_box(world.play(action).observation.len());
            black_box(world.available().map(str::len).sum::<usize>());
        }
    });
}

/// One item is a turn: the step, its list as owned strings, and what is shown and true.
#[divan::bench(args = LEVELS)]
fn environment_step(bencher: Bencher, name: &str) {
    let Some(mut world) = open(name) else { return };
    let walk = walk(&mut world, 1500, None);
    bencher.counter(ItemsCount::new(walk.len())).bench_local(|| {
        for (step, action) in walk.iter().enumerate() {
            if step % EPISODE == 0 {
                black_box(world.reset().is_ok());
            }
            black_box(world.step(action).map(|turn| turn.observation.len()).ok());
            black_box(world.admissible().map(|list| list.len()).ok());
        }
    });
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
    let Some(level) = Level::of_name(name) else { return };
    bencher.counter(ItemsCount::new(30_usize)).bench_local(|| {
        (0..30).filter_map(|seed| level.start(seed).ok()).map(|start| start.things.len()).sum::<usize>()
    });
}
