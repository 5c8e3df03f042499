//! 134 episodes of at most 50 steps with the built-in actor and symbolic reflection, through driver, journal and disk,
//! without a screen. DESIGN 7: at most 5 seconds of processor time on real games.
//!
//! The time is that of the whole process (all threads), the middle of five runs; `taskset -c 0 cargo bench --bench episodes`
//! keeps it to one core. The built-in actor wins most games early, so the budget's 50 steps are played in worlds that do not
//! say when they are won; how long the same run takes as it is, is printed below.
#![expect(clippy::print_stdout, reason = "a program that reports figures")]

#[path = "measure/process.rs"]
mod process;
#[path = "../tests/rig/run.rs"]
mod run;

use process::{ending, load, median, processor_seconds, verdict};
use retrospect::domain::{EnvInfo, RunSpec, StepResult, Task};
use retrospect::driver::worlds::{self, WorldOptions};
use retrospect::driver::{Driver, OpenWorld, RunConfig};
use retrospect::engine::Command;
use retrospect::env::{EnvError, Environment};
use retrospect::prompt::Templates;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

type Outcome<T> = Result<T, Box<dyn Error>>;

const EPISODES: usize = 134;
const RUNS: usize = 5;

fn main() -> Outcome<std::process::ExitCode> {
    let games = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/golden/alfworld/games");
    let mut real: Vec<String> = std::fs::read_dir(&games)
        .map(|entries| entries.flatten().map(|e| e.path().display().to_string()).collect())
        .unwrap_or_default();
    real.sort();
    if real.is_empty() {
        println!("{}: the real games are not here; only the built-in ones are played", games.display());
    } else {
        measure("alfworld", &real)?;
    }
    let kinds = ["put", "look", "clean", "heat", "cool", "two"];
    let own: Vec<String> =
        (0..EPISODES).map(|n| format!("normal/{}/{}", kinds[n % kinds.len()], 1 + n / kinds.len())).collect();
    measure("household", &own)?;
    Ok(ending())
}

fn measure(env: &str, games: &[String]) -> Outcome<()> {
    let options = WorldOptions::default();
    let tasks = games
        .iter()
        .cycle()
        .take(EPISODES)
        .map(|game| worlds::find(env, game, &options))
        .collect::<Result<Vec<_>, _>>()?;
    println!("{env}: {EPISODES} episodes over {} games, {}", games.len().min(EPISODES), load());
    for endless in [true, false] {
        let mut times = Vec::new();
        let mut walls = Vec::new();
        let (mut steps, mut won) = (0, 0);
        for _ in 0..RUNS {
            let before = processor_seconds().ok_or("processor time is read from /proc, which is not here")?;
            let began = Instant::now();
            (steps, won) = play(&tasks, endless)?;
            times.push(processor_seconds().unwrap_or(f64::NAN) - before);
            walls.push(began.elapsed().as_secs_f64());
        }
        let runs: Vec<String> = times.iter().map(|t| format!("{t:.2}")).collect();
        let middle = median(times);
        let what = if endless {
            let budget = match env {
                "alfworld" => format!(" (budget 5 s: {})", verdict(middle <= 5.0)),
                _ => " (the budget is for real games)".to_owned(),
            };
            format!("all 50 steps{budget}")
        } else {
            format!("until won or 50 steps, {won} won")
        };
        println!(
            "  {middle:.2} s of processor time (runs {}), wall {:.2} s, {steps} steps, {:.0} us each: {what}",
            runs.join(" "),
            median(walls),
            middle / f64::from(steps) * 1e6
        );
    }
    Ok(())
}

/// A world that never says that it is over.
struct Endless(Box<dyn Environment>);

impl Endless {
    fn on(turn: StepResult) -> StepResult {
        StepResult { done: false, won: false, ..turn }
    }
}

impl Environment for Endless {
    fn info(&self) -> EnvInfo {
        self.0.info()
    }

    fn reset(&mut self) -> Result<StepResult, EnvError> {
        self.0.reset().map(Self::on)
    }

    fn step(&mut self, action: &str) -> Result<StepResult, EnvError> {
        self.0.step(action).map(Self::on)
    }

    fn admissible(&mut self) -> Result<Vec<String>, EnvError> {
        self.0.admissible()
    }
}

/// Plays all tasks as one run; its steps and wins.
fn play(tasks: &[Task], endless: bool) -> Outcome<(u32, usize)> {
    let dir = tempfile::tempdir()?;
    let spec = RunSpec { interface: "raw".to_owned(), ..run::spec("omnireflect", tasks.to_vec()) };
    let open: OpenWorld = Arc::new(move |task| {
        let world = worlds::open(task, &WorldOptions::default())?;
        Ok(if endless { Box::new(Endless(world)) } else { world })
    });
    let launch = RunConfig::from_spec(&spec, Arc::new(Templates::builtin()), open, Duration::ZERO)?;
    let meta = run::meta("bench", &spec);
    let (handle, thread, _) = Driver::start(dir.path(), meta, spec, Vec::new(), launch)?;
    handle.send(Command::Run);
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    runtime.block_on(async {
        let mut news = handle.store.changes();
        loop {
            let head = handle.store.head();
            if head.run_over || head.failed_call.is_some() || news.changed().await.is_err() {
                break;
            }
        }
    });
    let state = handle.store.head();
    handle.quit();
    if thread.join().is_err() {
        return Err("the driver panicked".into());
    }
    if let Some((_, failure)) = &state.failed_call {
        return Err(failure.message.clone().into());
    }
    let steps = state.ended_episodes.iter().map(|p| p.steps).sum();
    Ok((steps, state.ended_episodes.iter().filter(|p| p.won).count()))
}
