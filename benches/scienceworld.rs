//! ScienceWorld: steps per second, without and with listing the valid actions after each step, beside those of the Python package,
//! which always lists them.
//!
//! Needs Java, the simulator (`SCIENCEWORLD_JAR`) and the recorded episodes in `../shared`. The Python package is measured where
//! `SCIENCEWORLD_PYTHON` names a Python that has it. The ways take turns at each episode, and each has a simulator of its own
//! that has started before.

#![expect(clippy::print_stdout, reason = "a benchmark prints to the terminal")]

use flate2::read::GzDecoder;
use retrospect::driver::worlds;
use retrospect::env::TaskOptions;
use retrospect::env::scienceworld::{ENUMERATE_OPTION, JAR_OPTION};
use serde_json::{Value, json};
use std::error::Error;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// How many steps of an episode are played, and every how many of the recorded episodes are.
const MAX_STEPS: usize = 40;
const EVERY: usize = 2;
/// How often each is played, and how often before that, unmeasured: Java compiles what has run for a while.
const ROUNDS: usize = 2;
const WARM_ROUNDS: usize = 2;

/// An episode: task, variation and actions.
struct Episode {
    task: String,
    variation: u64,
    actions: Vec<String>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let recordings = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/golden/scienceworld");
    let Some(jar) = std::env::var_os("SCIENCEWORLD_JAR").filter(|_| recordings.is_dir()) else {
        println!("nothing was measured: SCIENCEWORLD_JAR isn't set, or {} is missing", recordings.display());
        return Ok(());
    };
    let options = |lists: &str| TaskOptions {
        paths: [(JAR_OPTION.name, jar.clone().into())].into(),
        chosen: [(ENUMERATE_OPTION.name, lists.to_owned())].into(),
        ..TaskOptions::default()
    };
    let mut python =
        std::env::var_os("SCIENCEWORLD_PYTHON").map(|program| start_python(&program)).transpose()?;
    let episodes = read_episodes(&recordings)?;
    let mut seconds = [0.0; 3];
    for round in 0..WARM_ROUNDS + ROUNDS {
        for episode in &episodes {
            let taken = [
                play(episode, &options("never"))?,
                play(episode, &options("every-step"))?,
                python
                    .as_mut()
                    .map(|python| play_in_python(python, episode))
                    .transpose()?
                    .unwrap_or_default(),
            ];
            if round >= WARM_ROUNDS {
                for (sum, taken) in seconds.iter_mut().zip(taken) {
                    *sum += taken;
                }
            }
        }
    }
    let steps = (ROUNDS * episodes.iter().map(|episode| episode.actions.len()).sum::<usize>()) as f64;
    let [never, listing, reference] = seconds.map(|seconds| steps / seconds);
    println!(
        "{steps} steps: {ROUNDS} rounds of {} episodes, after {WARM_ROUNDS} unmeasured ones",
        episodes.len()
    );
    println!("without lists       {never:6.1} steps/s");
    println!("lists at every step {listing:6.1} steps/s");
    if let Some(mut python) = python {
        python.kill()?;
        println!("Python's env.step   {reference:6.1} steps/s");
        println!("ratios: {:.1} without lists, {:.1} with lists", never / reference, listing / reference);
    }
    Ok(())
}

fn read_episodes(folder: &Path) -> Result<Vec<Episode>, Box<dyn Error>> {
    let mut paths =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, std::io::Error>>()?;
    paths.retain(|path| path.to_string_lossy().ends_with(".gold.jsonl.gz"));
    paths.sort();
    paths
        .iter()
        .step_by(EVERY)
        .map(|path| {
            let mut text = String::new();
            GzDecoder::new(File::open(path)?).read_to_string(&mut text)?;
            let rows: Vec<Value> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
            let actions =
                rows.iter().filter_map(|row| row["action"].as_str()).take(MAX_STEPS).map(str::to_owned);
            Ok(Episode {
                task: rows[0]["task"].as_str().ok_or("a recording without a task")?.to_owned(),
                variation: rows[0]["variation"].as_u64().ok_or("a recording without a variation")?,
                actions: actions.collect(),
            })
        })
        .collect()
}

/// Plays an episode. Returns the seconds of its steps.
fn play(episode: &Episode, options: &TaskOptions) -> Result<f64, Box<dyn Error>> {
    let task = worlds::find("scienceworld", &format!("{}/{}", episode.task, episode.variation), options)?;
    let mut world = worlds::open(&task, options)?;
    world.reset()?;
    let start = Instant::now();
    for action in &episode.actions {
        world.step(action)?;
    }
    Ok(start.elapsed().as_secs_f64())
}

fn start_python(program: &std::ffi::OsStr) -> Result<Child, std::io::Error> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/compare/scienceworld_steps.py");
    Command::new(program).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()
}

/// Plays an episode with the Python package. Returns the seconds of its steps.
fn play_in_python(python: &mut Child, episode: &Episode) -> Result<f64, Box<dyn Error>> {
    let request = json!({"task": episode.task, "variation": episode.variation, "actions": episode.actions});
    let (input, output) =
        (python.stdin.as_mut().ok_or("no input")?, python.stdout.as_mut().ok_or("no output")?);
    writeln!(input, "{request}")?;
    let mut answer = String::new();
    // The program answers each line with one line, so nothing is left in the buffer.
    BufReader::new(output).read_line(&mut answer)?;
    Ok(answer.trim().parse()?)
}
