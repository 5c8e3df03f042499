//! The native side of `benches/compare`: the CPU seconds to load, reset and step ALFWorld games.
//!
//! - `compare_steps WORK.json` reads `[{"game": path, "commands": [...]}]` and prints one line of JSON: a list of
//!   `{"load", "reset", "step", "turn", "said"}`.
//! - `compare_steps --write DIR` writes games of the built-in household and prints their folders.
//! - Without arguments (`cargo bench`), it measures six of those games and prints a table.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this program prints its results")]

use retrospect::env::alfworld::{Game, World};
use retrospect::env::household::{self, Difficulty, TaskId, TaskKind};
use retrospect::env::{EnvError, Environment};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The minimum seconds of a measurement.
const MIN_SECONDS: f64 = 0.2;

/// A game to measure, and the commands to play.
#[derive(Deserialize)]
struct Work {
    game: String,
    commands: Vec<String>,
}

/// The CPU seconds of each part.
#[derive(Serialize)]
struct Timings {
    load: f64,
    reset: f64,
    /// A command: its text, whether the game is won, and the admissible commands.
    step: f64,
    /// A step through [`Environment`], which adds the progress, the shown state and the ground truth, as owned strings.
    turn: f64,
    /// The hash of all texts, to compare them with the other side's.
    said: String,
}

fn main() -> Outcome<()> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["--write", dir] => {
            for (folder, _) in write_household_games(Path::new(dir))? {
                println!("{folder}");
            }
        }
        [work] => {
            let work: Vec<Work> = serde_json::from_slice(&std::fs::read(work)?)?;
            let timings = work.iter().map(measure).collect::<Outcome<Vec<_>>>()?;
            println!("{}", serde_json::to_string(&timings)?);
        }
        _ => print_table()?,
    }
    Ok(())
}

/// Writes a household game of each kind. Returns their folders and walkthroughs.
fn write_household_games(dir: &Path) -> Outcome<Vec<(String, Vec<String>)>> {
    let mut games = Vec::new();
    for kind in TaskKind::ALL {
        let game = household::generate(&TaskId { difficulty: Difficulty::Normal, kind, seed: 1 })?;
        let folder = dir.join(&game.folder);
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join("game.tw-pddl"), &game.game_json)?;
        std::fs::write(folder.join("traj_data.json"), &game.traj_json)?;
        games.push((folder.display().to_string(), game.walkthrough));
    }
    Ok(games)
}

fn print_table() -> Outcome<()> {
    let dir = std::env::temp_dir().join(format!("retrospect-compare-steps-{}", std::process::id()));
    println!("{:>12} {:>12} {:>14} {:>14}  game", "load ms", "reset us", "steps a second", "turns a second");
    for (folder, commands) in write_household_games(&dir)? {
        let game = format!("{folder}/game.tw-pddl");
        let timings = measure(&Work { game, commands })?;
        let name = Path::new(&folder).file_name().unwrap_or_default().display().to_string();
        let Timings { load, reset, step, turn, .. } = timings;
        println!("{:12.3} {:12.3} {:14.0} {:14.0}  {name}", load * 1e3, reset * 1e6, 1.0 / step, 1.0 / turn);
    }
    std::fs::remove_dir_all(&dir)?;
    Ok(())
}

fn open(path: &str) -> Outcome<World> {
    let bytes = std::fs::read(path)?;
    Ok(World::new(Game::load(path, &bytes)?, None)?)
}

fn measure(work: &Work) -> Outcome<Timings> {
    let mut world = open(&work.game)?;
    let said = hash_texts(&mut world, &work.commands)?;
    let load = seconds_per_call(|| open(&work.game).map(drop))?;
    let reset = seconds_per_call(|| Ok(restart(&mut world)?))?;
    let game = seconds_per_call(|| {
        restart(&mut world)?;
        for command in &work.commands {
            std::hint::black_box(world.play(command)?);
            std::hint::black_box(world.commands().collect::<Vec<&str>>());
        }
        Ok(())
    })?;
    let environment_reset = seconds_per_call(|| {
        std::hint::black_box((world.reset()?, world.admissible()?));
        Ok(())
    })?;
    let environment_game = seconds_per_call(|| {
        std::hint::black_box((world.reset()?, world.admissible()?));
        for command in &work.commands {
            std::hint::black_box((world.step(command)?, world.admissible()?));
        }
        Ok(())
    })?;
    // A game starts with a reset, which is not a step.
    let per_step = |game: f64, reset: f64| (game - reset).max(0.0) / work.commands.len().max(1) as f64;
    let (step, turn) = (per_step(game, reset), per_step(environment_game, environment_reset));
    Ok(Timings { load, reset, step, turn, said })
}

fn restart(world: &mut World) -> Result<(), EnvError> {
    std::hint::black_box(world.restart()?);
    std::hint::black_box(world.commands().collect::<Vec<&str>>());
    Ok(())
}

/// Returns the SHA-256 hash of everything the game returns for these commands, as compact JSON.
fn hash_texts(world: &mut World, commands: &[String]) -> Outcome<String> {
    let first = world.reset()?;
    let mut everything = vec![(first.observation, first.won, world.admissible()?)];
    for command in commands {
        let result = world.step(command)?;
        everything.push((result.observation, result.won, world.admissible()?));
    }
    let mut hex = String::new();
    for byte in Sha256::digest(serde_json::to_string(&everything)?) {
        write!(hex, "{byte:02x}")?;
    }
    Ok(hex)
}

/// Returns the average CPU seconds of a call, repeated for at least [`MIN_SECONDS`].
fn seconds_per_call(mut call: impl FnMut() -> Outcome<()>) -> Outcome<f64> {
    let clock = Clock::start();
    let mut calls = 0.0;
    let mut batch: u32 = 1;
    loop {
        for _ in 0..batch {
            call()?;
        }
        calls += f64::from(batch);
        let spent = clock.seconds();
        if spent >= MIN_SECONDS {
            return Ok(spent / calls);
        }
        // Reading the clock reads a file: larger batches keep its share of the time small.
        batch = batch.saturating_mul(2).min(1 << 16);
    }
}

/// The CPU time of this thread if the system reports it, otherwise wall time.
enum Clock {
    Cpu(f64),
    Wall(Instant),
}

impl Clock {
    fn start() -> Self {
        cpu_seconds().map_or_else(
            || {
                eprintln!("/proc/self/schedstat is missing: measuring wall time instead of CPU time");
                Self::Wall(Instant::now())
            },
            Self::Cpu,
        )
    }

    fn seconds(&self) -> f64 {
        match self {
            Self::Cpu(start) => cpu_seconds().unwrap_or(*start) - start,
            Self::Wall(start) => start.elapsed().as_secs_f64(),
        }
    }
}

fn cpu_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    let nanos: f64 = text.split(' ').next()?.parse().ok()?;
    Some(nanos / 1e9)
}
