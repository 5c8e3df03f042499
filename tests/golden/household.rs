//! Plays generated household games natively and compares them with traces of the Python stack on the same files.
#![expect(clippy::unwrap_used, reason = "a failing test may panic")]

use super::Outcome;
use retrospect::env::Environment;
use retrospect::env::household::{self, Difficulty, TaskId, TaskKind, export_folder};
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
struct Index {
    games: Vec<RecordedGame>,
}

#[derive(Deserialize)]
struct RecordedGame {
    id: String,
    folder: String,
    traces: String,
    lines: usize,
    sha256: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Line {
    trace: String,
    step: usize,
    command: Option<String>,
    feedback: String,
    admissible_commands: Vec<String>,
    won: bool,
    inventory: Vec<String>,
}

pub(crate) fn compare_all() -> Outcome {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/household");
    let index: Index = serde_json::from_slice(&std::fs::read(dir.join("index.json")).unwrap()).unwrap();
    let (mut outcome, mut steps) = (Outcome::default(), 0);
    for game in &index.games {
        match replay(&dir, game) {
            Ok(compared) => {
                steps += compared;
                outcome.passed += 1;
            }
            Err(difference) => outcome.failures.push(format!("{}: {difference}", game.id)),
        }
    }
    outcome.compared = format!("{steps} steps");
    outcome
}

/// Generates one game, checks its bytes and plays its traces. Returns the number of lines compared, or the first
/// difference.
fn replay(dir: &Path, game: &RecordedGame) -> Result<usize, String> {
    let id = TaskId::parse(&game.id).map_err(|error| error.to_string())?;
    let exported = export_folder(&id).map_err(|error| error.to_string())?;
    if exported.folder != game.folder {
        return Err(format!("the folder is {}, it was {}", exported.folder, game.folder));
    }
    for (name, text) in &exported.files {
        if Some(&hex(text)) != game.sha256.get(*name) {
            return Err(format!("the bytes of {name} are not those that were recorded"));
        }
    }
    let mut world = household::open_world(&id).map_err(|error| error.to_string())?;
    let lines = read_lines(&dir.join(&game.traces));
    for line in &lines {
        let difference = |what: &str, ours: &dyn std::fmt::Debug, theirs: &dyn std::fmt::Debug| {
            format!(
                "{} step {}: {:?}: {what} is\n  {ours:?}, it was\n  {theirs:?}",
                line.trace, line.step, line.command
            )
        };
        let result = match &line.command {
            None => world.reset(),
            Some(command) => world.step(command),
        }
        .map_err(|error| error.to_string())?;
        if result.observation != line.feedback {
            return Err(difference("the text", &result.observation, &line.feedback));
        }
        // `Nothing happens.` is the reply to inadmissible actions, and only to those.
        if result.valid == (line.feedback == "Nothing happens.") {
            return Err(difference("valid", &result.valid, &line.feedback));
        }
        if result.won != line.won {
            return Err(difference("won", &result.won, &line.won));
        }
        let admissible = world.admissible().map_err(|error| error.to_string())?;
        if admissible != line.admissible_commands {
            return Err(difference("the list of commands", &admissible, &line.admissible_commands));
        }
        if world.world_summary()["inventory"] != json!(line.inventory) {
            return Err(difference("the inventory", &world.world_summary(), &line.inventory));
        }
    }
    if lines.len() != game.lines {
        return Err(format!("{} lines were read, {} were recorded", lines.len(), game.lines));
    }
    Ok(lines.len())
}

fn read_lines(path: &PathBuf) -> Vec<Line> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn hex(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    })
}

/// Returns the games whose traces are committed: a small kitchen, two games with an object inside another, and every
/// task type in every difficulty.
fn recorded_tasks() -> Vec<String> {
    let mut ids = vec!["easy/heat/23".to_owned(), "normal/cool/107".to_owned(), "normal/look/101".to_owned()];
    for difficulty in Difficulty::ALL {
        ids.extend(TaskKind::ALL.map(|kind| TaskId { difficulty, kind, seed: 1 }.to_string()));
    }
    ids
}

/// Writes the folders of these games, or of all that are recorded.
pub(crate) fn write_games(dir: &Path, ids: &[&str]) {
    let ids = if ids.is_empty() { recorded_tasks() } else { ids.iter().map(ToString::to_string).collect() };
    let mut list = String::new();
    for id in ids {
        let game = export_folder(&TaskId::parse(&id).unwrap()).unwrap();
        let folder = dir.join(&game.folder);
        std::fs::create_dir_all(&folder).unwrap();
        for (name, text) in game.files {
            std::fs::write(folder.join(name), text).unwrap();
        }
        println!("{id}\t{}", folder.display());
        writeln!(list, "{id}\t{}", game.folder).unwrap();
    }
    std::fs::write(dir.join("list.tsv"), list).unwrap();
}
