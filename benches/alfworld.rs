//! Loading, resetting and stepping ALFWorld games. Needs the golden games; if they are missing, it prints so and
//! measures nothing.

#![expect(clippy::print_stdout, reason = "a benchmark prints to the terminal")]

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use flate2::read::GzDecoder;
use retrospect::env::Environment;
use retrospect::env::alfworld::{Game, World};
use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::LazyLock;

/// A game file and the commands of its recorded traces.
struct RecordedGame {
    id: String,
    bytes: Vec<u8>,
    traces: Vec<Vec<String>>,
}

static GAMES: LazyLock<Vec<RecordedGame>> = LazyLock::new(read_games);

fn main() {
    if GAMES.is_empty() {
        println!("the golden games are missing: nothing to measure");
        return;
    }
    divan::main();
}

fn read_games() -> Vec<RecordedGame> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/golden/alfworld");
    let Ok(entries) = fs::read_dir(root.join("games")) else { return Vec::new() };
    let read = |folder: &Path| {
        let id = folder.file_name()?.to_string_lossy().into_owned();
        let bytes = fs::read(folder.join("game.tw-pddl")).ok()?;
        let mut text = String::new();
        let compressed = fs::File::open(root.join("traces").join(format!("{id}.jsonl.gz"))).ok()?;
        GzDecoder::new(compressed).read_to_string(&mut text).ok()?;
        let mut traces: Vec<Vec<String>> = Vec::new();
        for line in text.lines() {
            let line: serde_json::Value = serde_json::from_str(line).ok()?;
            match line["command"].as_str() {
                None => traces.push(Vec::new()),
                Some(command) => traces.last_mut()?.push(command.to_owned()),
            }
        }
        Some(RecordedGame { id, bytes, traces })
    };
    entries.filter_map(|entry| read(&entry.ok()?.path())).collect()
}

fn open_worlds() -> Vec<(World, &'static [Vec<String>])> {
    let open = |game_file: &'static RecordedGame| {
        let game = Game::load(&game_file.id, &game_file.bytes).ok()?;
        Some((World::new(game, None).ok()?, game_file.traces.as_slice()))
    };
    GAMES.iter().filter_map(open).collect()
}

/// One item is loading a game from its bytes, up to the first observation.
#[divan::bench]
fn load_and_reset(bencher: Bencher) {
    bencher.counter(ItemsCount::new(GAMES.len())).bench(|| {
        for game_file in GAMES.iter() {
            let game = Game::load(&game_file.id, &game_file.bytes);
            let mut world = game.and_then(|game| World::new(game, None));
            black_box(world.as_mut().map(|world| world.restart().map(str::len)).ok());
        }
    });
}

/// One item is one reset.
#[divan::bench]
fn reset(bencher: Bencher) {
    let mut worlds = open_worlds();
    bencher.counter(ItemsCount::new(worlds.len())).bench_local(|| {
        for (world, _) in &mut worlds {
            black_box(world.restart().map(str::len).ok());
        }
    });
}

/// One item is one step of a golden trace, including reading all admissible commands.
#[divan::bench]
fn step_with_admissible(bencher: Bencher) {
    let mut worlds = open_worlds();
    let steps: usize = worlds.iter().flat_map(|(_, traces)| *traces).map(Vec::len).sum();
    bencher.counter(ItemsCount::new(steps)).bench_local(|| {
        for (world, traces) in &mut worlds {
            for trace in *traces {
                black_box(world.restart().is_ok());
                for command in trace {
                    black_box(world.play(command).map(|reply| reply.feedback.len()).ok());
                    black_box(world.commands().map(str::len).sum::<usize>());
                }
            }
        }
    });
}

/// One item is one step through [`Environment`], which adds the progress, the shown state and the ground truth.
#[divan::bench]
fn environment_step(bencher: Bencher) {
    let mut worlds = open_worlds();
    let steps: usize = worlds.iter().flat_map(|(_, traces)| *traces).map(Vec::len).sum();
    bencher.counter(ItemsCount::new(steps)).bench_local(|| {
        for (world, traces) in &mut worlds {
            for trace in *traces {
                black_box(Environment::reset(world).is_ok());
                for command in trace {
                    black_box(world.step(command).map(|result| result.observation.len()).ok());
                }
            }
        }
    });
}

/// One item is taking and restoring one snapshot.
#[divan::bench]
fn snapshot_and_restore(bencher: Bencher) {
    let mut worlds = open_worlds();
    bencher.counter(ItemsCount::new(worlds.len())).bench_local(|| {
        for (world, _) in &mut worlds {
            let snapshot = world.snapshot();
            black_box(snapshot.map(|snapshot| world.restore(&snapshot).is_ok()));
        }
    });
}
