//! Plays every golden ALFWorld trace and compares feedback, admissible commands, won and inventory at every step.
//!
//! Ends with `N passed, N failed, N skipped` (traces) and the number of steps compared. Without `../shared` the traces are
//! skipped, which `RETROSPECT_GOLDEN=required` turns into a failure.

#![expect(clippy::print_stdout, reason = "a test target of its own reports to the terminal")]

use flate2::read::GzDecoder;
use retrospect::env::alfworld::{Game, World};
use serde::Deserialize;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// One line of a trace file.
#[derive(Deserialize)]
struct Line {
    trace: String,
    step: u64,
    command: Option<String>,
    feedback: String,
    admissible_commands: Vec<String>,
    won: bool,
    inventory: Vec<String>,
}

/// What one game's traces came to.
#[derive(Default)]
struct Outcome {
    traces: usize,
    steps: usize,
    failures: Vec<String>,
}

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/golden/alfworld");
    let games = match fs::read_dir(root.join("games")) {
        Ok(entries) => {
            let mut games: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
            games.sort();
            games
        }
        Err(error) => {
            println!("the golden traces are not here ({}: {error})", root.display());
            println!("0 steps compared");
            println!("0 passed, 0 failed, 1 skipped");
            let required = std::env::var("RETROSPECT_GOLDEN").is_ok_and(|value| value == "required");
            return if required { ExitCode::FAILURE } else { ExitCode::SUCCESS };
        }
    };
    let next = AtomicUsize::new(0);
    let outcomes: Vec<Outcome> = thread::scope(|scope| {
        let work = || {
            let mut outcomes = Vec::new();
            while let Some(game) = games.get(next.fetch_add(1, Ordering::Relaxed)) {
                outcomes.push(play_game(&root, game));
            }
            outcomes
        };
        let workers = [scope.spawn(work), scope.spawn(work)];
        let panicked = || Outcome { failures: vec!["a worker panicked".to_owned()], ..Outcome::default() };
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_else(|_| vec![panicked()])).collect()
    });
    let failures: Vec<&String> = outcomes.iter().flat_map(|outcome| &outcome.failures).collect();
    for failure in failures.iter().take(20) {
        println!("{failure}");
    }
    let traces: usize = outcomes.iter().map(|outcome| outcome.traces).sum();
    println!(
        "{} games, {} steps compared",
        games.len(),
        outcomes.iter().map(|outcome| outcome.steps).sum::<usize>()
    );
    println!("{} passed, {} failed, 0 skipped", traces - failures.len().min(traces), failures.len());
    if failures.is_empty() && traces > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Plays all traces of one game; a trace ends at its first difference.
fn play_game(root: &Path, folder: &Path) -> Outcome {
    let mut outcome = Outcome::default();
    let id = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match compare(root, folder, &id, &mut outcome) {
        Ok(()) => {}
        Err(reason) => outcome.failures.push(format!("{id}: {reason}")),
    }
    outcome
}

fn compare(root: &Path, folder: &Path, id: &str, outcome: &mut Outcome) -> Result<(), String> {
    let file = folder.join("game.tw-pddl");
    let bytes = fs::read(&file).map_err(|error| error.to_string())?;
    let game = Game::load(id, &bytes).map_err(|error| error.to_string())?;
    let mut world = World::new(game, None).map_err(|error| error.to_string())?;
    let packed = fs::File::open(root.join("traces").join(format!("{id}.jsonl.gz")))
        .map_err(|error| error.to_string())?;
    let mut text = String::new();
    GzDecoder::new(packed).read_to_string(&mut text).map_err(|error| error.to_string())?;
    let mut lost = false;
    for line in text.lines() {
        let line: Line = serde_json::from_str(line).map_err(|error| error.to_string())?;
        if line.step == 0 {
            outcome.traces += 1;
            lost = false;
        }
        if lost {
            continue;
        }
        outcome.steps += 1;
        if let Err(difference) = compare_line(&mut world, &line) {
            lost = true;
            outcome
                .failures
                .push(format!("{id}, {} step {} ({:?}): {difference}", line.trace, line.step, line.command));
        }
    }
    Ok(())
}

fn compare_line(world: &mut World, line: &Line) -> Result<(), String> {
    let feedback = match &line.command {
        None => world.begin().map_err(|error| error.to_string())?,
        Some(command) => world.play(command).map_err(|error| error.to_string())?.feedback,
    };
    if feedback != line.feedback {
        return Err(format!("feedback {feedback:?}, expected {:?}", line.feedback));
    }
    if !world.commands().iter().eq(line.admissible_commands.iter().map(String::as_str)) {
        let ours: Vec<&str> = world.commands().iter().collect();
        let more: Vec<_> =
            ours.iter().filter(|one| !line.admissible_commands.iter().any(|other| other == *one)).collect();
        let less: Vec<_> =
            line.admissible_commands.iter().filter(|one| !ours.contains(&one.as_str())).collect();
        return Err(format!("admissible commands: too many {more:?}, missing {less:?}"));
    }
    if world.won() != line.won {
        return Err(format!("won {}, expected {}", world.won(), line.won));
    }
    if !world.inventory().eq(line.inventory.iter().map(String::as_str)) {
        return Err(format!(
            "inventory {:?}, expected {:?}",
            world.inventory().collect::<Vec<_>>(),
            line.inventory
        ));
    }
    Ok(())
}
