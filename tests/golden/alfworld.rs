//! Plays every golden ALFWorld trace and compares feedback, admissible commands, won and inventory at every step.
//!
//! The traces of the small kitchen, recorded with the original stack, are part of the repository. Those of real games are in `../shared`.

use super::{Outcome, recordings};
use flate2::read::GzDecoder;
use retrospect::env::Environment;
use retrospect::env::alfworld::{Game, Targets, TaskType, World};
use serde::Deserialize;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
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

/// The result of one game's traces.
#[derive(Default)]
struct Played {
    traces: usize,
    steps: usize,
    failures: Vec<String>,
}

pub(crate) fn compare_all() -> Outcome {
    let root = recordings("alfworld");
    let mut outcome = Outcome::default();
    let mut games: Vec<PathBuf> = Vec::new();
    match fs::read_dir(root.join("games")) {
        Ok(entries) => games.extend(entries.filter_map(Result::ok).map(|entry| entry.path())),
        Err(error) => outcome.skipped.push(format!("real games in {}: {error}", root.display())),
    }
    games.sort();
    let next = AtomicUsize::new(0);
    let played: Vec<Played> = thread::scope(|scope| {
        let work = || {
            let mut played = Vec::new();
            while let Some(game) = games.get(next.fetch_add(1, Ordering::Relaxed)) {
                played.push(play_game(&root, game));
            }
            played
        };
        let workers = [scope.spawn(work), scope.spawn(work)];
        let panicked = || Played { failures: vec!["a worker panicked".to_owned()], ..Played::default() };
        let played =
            workers.into_iter().flat_map(|worker| worker.join().unwrap_or_else(|_| vec![panicked()]));
        played.chain([play_kitchen()]).collect()
    });
    let (traces, steps) = played.iter().fold((0, 0), |sum, game| (sum.0 + game.traces, sum.1 + game.steps));
    outcome.failures.extend(played.into_iter().flat_map(|game| game.failures));
    outcome.passed = traces.saturating_sub(outcome.failures.len());
    outcome.compared = format!("{} games, {steps} steps", games.len() + 1);
    outcome
}

/// Plays the small kitchen, whose files and traces are part of this repository.
fn play_kitchen() -> Played {
    let file = serde_json::json!({
        "pddl_domain": include_str!("../data/kitchen/domain.pddl"),
        "pddl_problem": include_str!("../data/kitchen/problem.pddl"),
        "grammar": include_str!("../data/kitchen/grammar.twl2"),
    });
    let mut played = Played::default();
    let traces = include_str!("../data/kitchen/trace.jsonl");
    if let Err(reason) = compare("kitchen", file.to_string().as_bytes(), traces, &mut played) {
        played.failures.push(format!("kitchen: {reason}"));
    }
    played
}

/// Plays all traces of one game, each until its first difference.
fn play_game(root: &Path, folder: &Path) -> Played {
    let mut played = Played::default();
    let id = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    type GameFiles = (Vec<u8>, Vec<u8>, String);
    let read = || -> Result<GameFiles, String> {
        let bytes = fs::read(folder.join("game.tw-pddl")).map_err(|error| error.to_string())?;
        let traj_data = fs::read(folder.join("traj_data.json")).map_err(|error| error.to_string())?;
        let compressed = fs::File::open(root.join("traces").join(format!("{id}.jsonl.gz")));
        let mut text = String::new();
        let decompressed =
            GzDecoder::new(compressed.map_err(|error| error.to_string())?).read_to_string(&mut text);
        decompressed.map_err(|error| error.to_string())?;
        Ok((bytes, traj_data, text))
    };
    let result = read().and_then(|(bytes, traj_data, traces)| {
        compare(&id, &bytes, &traces, &mut played)?;
        compare_progress(&id, &bytes, &traj_data, &traces)
    });
    if let Err(reason) = result {
        played.failures.push(format!("{id}: {reason}"));
    }
    played
}

/// Checks that the goal's targets match those in `traj_data.json`, and the progress of the walkthrough just before it
/// wins.
fn compare_progress(id: &str, bytes: &[u8], traj_data: &[u8], traces: &str) -> Result<(), String> {
    let game = Game::load(id, bytes).map_err(|error| error.to_string())?;
    let targets = Targets::from_traj_data(id, traj_data).map_err(|error| error.to_string())?;
    if *game.targets() != targets {
        return Err(format!("targets {:?}, expected {targets:?}", game.targets()));
    }
    let mut world = World::new(game, Some(&targets)).map_err(|error| error.to_string())?;
    let mut before = 0.0_f64;
    for line in traces.lines() {
        let line: Line = serde_json::from_str(line).map_err(|error| error.to_string())?;
        if line.trace != "walkthrough" {
            return Ok(());
        }
        let result = match &line.command {
            None => Environment::reset(&mut world),
            Some(command) => world.step(command),
        };
        let result = result.map_err(|error| error.to_string())?;
        if result.won {
            let expected_before =
                if targets.task_type == Some(TaskType::PickAndPlaceSimple) { 2.0 / 3.0 } else { 0.75 };
            let is_expected = result.progress > 0.999 && (before - expected_before).abs() < 1e-9;
            return if is_expected {
                Ok(())
            } else {
                Err(format!("progress {before}, then {}", result.progress))
            };
        }
        before = result.progress;
    }
    Err("the walkthrough does not win".to_owned())
}

fn compare(id: &str, bytes: &[u8], traces: &str, played: &mut Played) -> Result<(), String> {
    let game = Game::load(id, bytes).map_err(|error| error.to_string())?;
    let mut world = World::new(game, None).map_err(|error| error.to_string())?;
    let mut has_failed = false;
    for line in traces.lines() {
        let line: Line = serde_json::from_str(line).map_err(|error| error.to_string())?;
        if line.step == 0 {
            played.traces += 1;
            has_failed = false;
        }
        if has_failed {
            continue;
        }
        played.steps += 1;
        if let Err(difference) = compare_line(&mut world, &line) {
            has_failed = true;
            played
                .failures
                .push(format!("{id}, {} step {} ({:?}): {difference}", line.trace, line.step, line.command));
        }
    }
    Ok(())
}

fn compare_line(world: &mut World, line: &Line) -> Result<(), String> {
    let feedback = match &line.command {
        None => world.restart().map_err(|error| error.to_string())?,
        Some(command) => world.play(command).map_err(|error| error.to_string())?.feedback,
    };
    if feedback != line.feedback {
        return Err(format!("feedback {feedback:?}, expected {:?}", line.feedback));
    }
    if !world.commands().eq(line.admissible_commands.iter().map(String::as_str)) {
        let ours: Vec<&str> = world.commands().collect();
        let extra: Vec<_> = ours
            .iter()
            .filter(|command| !line.admissible_commands.iter().any(|other| other == *command))
            .collect();
        let missing: Vec<_> =
            line.admissible_commands.iter().filter(|command| !ours.contains(&command.as_str())).collect();
        return Err(format!("admissible commands: too many {extra:?}, missing {missing:?}"));
    }
    if world.is_won() != line.won {
        return Err(format!("won {}, expected {}", world.is_won(), line.won));
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
