//! The native side of `benches/compare`: load, reset and step of ALFWorld games in CPU seconds.
//!
//! `compare_steps WORK.json` reads `[{"game": path, "commands": [...]}]` and prints one JSON line, a list of
//! `{"load", "reset", "step", "turn", "said"}`; `compare_steps --write DIR` writes games of the built-in household and prints their
//! folders. Without arguments (`cargo bench`) it measures six of those games and prints a table.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports figures")]

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

/// How long each part is repeated at least, in seconds.
const ENOUGH: f64 = 0.2;

#[derive(Deserialize)]
struct Work {
    game: String,
    commands: Vec<String>,
}

#[derive(Serialize)]
struct Figures {
    load: f64,
    reset: f64,
    /// Text, won, and the list of commands.
    step: f64,
    /// The same through the trait that every world has: progress, what is shown, what is true, owned strings.
    turn: f64,
    said: String,
}

fn main() -> Outcome<()> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words[..] {
        ["--write", dir] => {
            for (folder, _) in own_games(Path::new(dir))? {
                println!("{folder}");
            }
        }
        [work] => {
            let work: Vec<Work> = serde_json::from_slice(&std::fs::read(work)?)?;
            let figures = work.iter().map(measure).collect::<Outcome<Vec<_>>>()?;
            println!("{}", serde_json::to_string(&figures)?);
        }
        _ => table()?,
    }
    Ok(())
}

/// Writes a normal game of each kind; their folders and walkthroughs.
fn own_games(dir: &Path) -> Outcome<Vec<(String, Vec<String>)>> {
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

fn table() -> Outcome<()> {
    let dir = std::env::temp_dir().join(format!("retrospect-compare-steps-{}", std::process::id()));
    println!("{:>12} {:>12} {:>14} {:>14}  game", "load ms", "reset us", "steps a second", "turns a second");
    for (folder, commands) in own_games(&dir)? {
        let game = format!("{folder}/game.tw-pddl");
        let figures = measure(&Work { game, commands })?;
        let name = Path::new(&folder).file_name().unwrap_or_default().display().to_string();
        let Figures { load, reset, step, turn, .. } = figures;
        println!("{:12.3} {:12.3} {:14.0} {:14.0}  {name}", load * 1e3, reset * 1e6, 1.0 / step, 1.0 / turn);
    }
    std::fs::remove_dir_all(&dir)?;
    Ok(())
}

fn open(path: &str) -> Outcome<World> {
    let bytes = std::fs::read(path)?;
    Ok(World::new(Game::load(path, &bytes)?, None)?)
}

fn measure(work: &Work) -> Outcome<Figures> {
    let mut world = open(&work.game)?;
    let said = said(&mut world, &work.commands)?;
    let load = repeated(|| open(&work.game).map(drop))?;
    let reset = repeated(|| Ok(begin(&mut world)?))?;
    let walk = repeated(|| {
        begin(&mut world)?;
        for command in &work.commands {
            std::hint::black_box(world.play(command)?);
            std::hint::black_box(world.commands().iter().collect::<Vec<&str>>());
        }
        Ok(())
    })?;
    let fresh = repeated(|| {
        std::hint::black_box((world.reset()?, world.admissible()?));
        Ok(())
    })?;
    let turns = repeated(|| {
        std::hint::black_box((world.reset()?, world.admissible()?));
        for command in &work.commands {
            std::hint::black_box((world.step(command)?, world.admissible()?));
        }
        Ok(())
    })?;
    // A walk begins with a reset, which is not a step.
    let each = |walk: f64, start: f64| (walk - start).max(0.0) / work.commands.len().max(1) as f64;
    Ok(Figures { load, reset, step: each(walk, reset), turn: each(turns, fresh), said })
}

fn begin(world: &mut World) -> Result<(), EnvError> {
    std::hint::black_box(world.restart()?);
    std::hint::black_box(world.commands().iter().collect::<Vec<&str>>());
    Ok(())
}

/// The SHA-256 of all a walk says, written as compact JSON.
fn said(world: &mut World, commands: &[String]) -> Outcome<String> {
    let first = world.reset()?;
    let mut everything = vec![(first.observation, first.won, world.admissible()?)];
    for command in commands {
        let turn = world.step(command)?;
        everything.push((turn.observation, turn.won, world.admissible()?));
    }
    let mut hex = String::new();
    for byte in Sha256::digest(serde_json::to_string(&everything)?) {
        write!(hex, "{byte:02x}")?;
    }
    Ok(hex)
}

/// CPU seconds that one call takes, on average over enough of them.
fn repeated(mut call: impl FnMut() -> Outcome<()>) -> Outcome<f64> {
    let clock = Clock::start();
    let mut calls = 0.0;
    let mut batch: u32 = 1;
    loop {
        for _ in 0..batch {
            call()?;
        }
        calls += f64::from(batch);
        let spent = clock.seconds();
        if spent >= ENOUGH {
            return Ok(spent / calls);
        }
        // The clock is a file; it is read seldom enough not to be measured itself.
        batch = batch.saturating_mul(2).min(1 << 16);
    }
}

/// CPU time of this one thread where the system tells it, else wall time, said so once.
enum Clock {
    Cpu(f64),
    Wall(Instant),
}

impl Clock {
    fn start() -> Self {
        cpu().map_or_else(
            || {
                eprintln!(
                    "this system does not tell CPU time in /proc/self/schedstat: wall time is measured"
                );
                Self::Wall(Instant::now())
            },
            Self::Cpu,
        )
    }

    fn seconds(&self) -> f64 {
        match self {
            Self::Cpu(start) => cpu().unwrap_or(*start) - start,
            Self::Wall(start) => start.elapsed().as_secs_f64(),
        }
    }
}

fn cpu() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    let nanos: f64 = text.split(' ').next()?.parse().ok()?;
    Some(nanos / 1e9)
}
