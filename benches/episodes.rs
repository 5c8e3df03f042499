//! 134 episodes of at most 50 steps with the built-in actor and symbolic reflection, through driver, journal and disk,
//! without a screen. DESIGN 7: at most 4 seconds of processor time on real games.
//!
//! The result is the median processor time of five runs, over all threads; `taskset -c 0 cargo bench --bench episodes`
//! uses one core. The built-in actor wins most games early, so the budget applies to environments that never end an
//! episode, which makes all episodes 50 steps long. The time of the unchanged environments is printed below.
#![expect(clippy::print_stdout, reason = "this program prints its results")]

#[path = "measure/process.rs"]
mod process;
#[path = "../tests/rig/run.rs"]
mod run;

use process::{exit_code, load, median, processor_seconds, verdict};
use retrospect::domain::{EnvInfo, Interface, RunSpec, StepResult, Task};
use retrospect::driver::worlds;
use retrospect::driver::{Driver, OpenWorld, RunConfig};
use retrospect::engine::Command;
use retrospect::env::TaskOptions;
use retrospect::env::{EnvError, Environment};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

type Outcome<T> = Result<T, Box<dyn Error>>;

const EPISODES: usize = 134;
const RUNS: usize = 5;

fn main() -> Outcome<std::process::ExitCode> {
    let games = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/golden/alfworld/games");
    let mut game_paths: Vec<String> = std::fs::read_dir(&games)
        .map(|entries| entries.flatten().map(|e| e.path().display().to_string()).collect())
        .unwrap_or_default();
    game_paths.sort();
    if game_paths.is_empty() {
        println!("{}: no real games found; playing only the built-in ones", games.display());
    } else {
        measure("alfworld", &game_paths)?;
    }
    let kinds = ["put", "look", "clean", "heat", "cool", "two"];
    let household_ids: Vec<String> =
        (0..EPISODES).map(|n| format!("normal/{}/{}", kinds[n % kinds.len()], 1 + n / kinds.len())).collect();
    measure("household", &household_ids)?;
    Ok(exit_code())
}

fn measure(env: &str, games: &[String]) -> Outcome<()> {
    let options = TaskOptions::default();
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
            let before = processor_seconds().ok_or("processor time needs /proc")?;
            let start = Instant::now();
            (steps, won) = play(&tasks, endless)?;
            times.push(processor_seconds().unwrap_or(f64::NAN) - before);
            walls.push(start.elapsed().as_secs_f64());
        }
        let runs: Vec<String> = times.iter().map(|t| format!("{t:.2}")).collect();
        let median_time = median(times);
        let description = if endless {
            let budget = match env {
                "alfworld" => format!(" (budget 4 s: {})", verdict(median_time <= 4.0)),
                _ => " (the budget is for real games)".to_owned(),
            };
            format!("all 50 steps{budget}")
        } else {
            format!("until won or 50 steps, {won} won")
        };
        println!(
            "  {median_time:.2} s of processor time (runs {}), wall {:.2} s, {steps} steps, {:.0} us each: {description}",
            runs.join(" "),
            median(walls),
            median_time / f64::from(steps) * 1e6
        );
    }
    Ok(())
}

/// An environment that never reports that an episode is won or done.
struct Endless(Box<dyn Environment>);

impl Endless {
    fn without_end(result: StepResult) -> StepResult {
        StepResult { done: false, won: false, ..result }
    }
}

impl Environment for Endless {
    fn info(&self) -> EnvInfo {
        self.0.info()
    }

    fn reset(&mut self) -> Result<StepResult, EnvError> {
        self.0.reset().map(Self::without_end)
    }

    fn step(&mut self, action: &str) -> Result<StepResult, EnvError> {
        self.0.step(action).map(Self::without_end)
    }

    fn admissible(&mut self) -> Result<Vec<String>, EnvError> {
        self.0.admissible()
    }
}

/// Plays all tasks as one run. Returns the number of steps and of wins.
fn play(tasks: &[Task], endless: bool) -> Outcome<(u32, usize)> {
    let dir = tempfile::tempdir()?;
    let spec = RunSpec { interface: Interface::Raw, ..run::spec("omnireflect", tasks.to_vec()) };
    let open: OpenWorld = Arc::new(move |task| {
        let world = worlds::open(task, &TaskOptions::default())?;
        Ok(if endless { Box::new(Endless(world)) } else { world })
    });
    let run_config = RunConfig::from_spec(
        &spec,
        Arc::new(retrospect::catalog::builtin_templates()),
        open,
        Duration::ZERO,
    )?;
    let meta = run::meta("bench", &spec);
    let (handle, thread, _) = Driver::start(dir.path(), meta, spec, Vec::new(), run_config)?;
    handle.send(Command::Run);
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    runtime.block_on(async {
        let mut changes_receiver = handle.store.changes();
        loop {
            let head = handle.store.head();
            if head.run_over || head.failed_call.is_some() || changes_receiver.changed().await.is_err() {
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
