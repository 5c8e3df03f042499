//! The recorded episodes.

use crate::unix::{options, recordings};
use flate2::read::GzDecoder;
use retrospect::domain::{StepResult, Task, merge_patch};
use retrospect::driver::worlds;
use retrospect::env::Environment;
use serde_json::Value;
use std::fs::{self, File};
use std::io::Read as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

static COMPARED: AtomicUsize = AtomicUsize::new(0);
/// How many episodes and rows are recorded, so that a missing file is noticed.
const EPISODES: usize = 30;
const ROWS: usize = 1_311;
/// How many of the rows are the same only if the valid actions are listed after each step.
const ROWS_WITH_LISTS: usize = 23;

pub(crate) fn steps_compared() -> usize {
    COMPARED.load(Ordering::Relaxed)
}

/// A recorded episode.
pub(crate) struct Recording {
    pub(crate) name: String,
    pub(crate) task: Task,
    pub(crate) goal: String,
    /// The first is the state after the reset.
    pub(crate) rows: Vec<Value>,
}

impl Recording {
    pub(crate) fn actions(&self) -> Vec<String> {
        self.rows[1..].iter().map(|row| row["action"].as_str().unwrap().to_owned()).collect()
    }
}

/// Reads the recorded episodes, by name.
pub(crate) fn read() -> Vec<Recording> {
    let mut paths: Vec<_> = fs::read_dir(recordings())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "gz"))
        .collect();
    paths.sort();
    let recordings = paths.into_iter().map(|path| {
        let mut text = String::new();
        GzDecoder::new(File::open(&path).unwrap()).read_to_string(&mut text).unwrap();
        let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let header = lines.remove(0);
        assert_eq!(header["simplifications"], "");
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let id = format!("{}/{}", header["task"].as_str().unwrap(), header["variation"]);
        Recording {
            name,
            task: worlds::find("scienceworld", &id, &options(false)).unwrap(),
            goal: header["task_description"].as_str().unwrap().to_owned(),
            rows: lines,
        }
    });
    recordings.collect()
}

pub(crate) fn without_lists() {
    compare(false);
}

pub(crate) fn with_lists() {
    compare(true);
}

fn compare(lists_every_step: bool) {
    let recordings = read();
    let rows: usize = recordings.iter().map(|recording| recording.rows.len()).sum();
    assert_eq!((recordings.len(), rows), (EPISODES, ROWS));
    let mut differences = Vec::new();
    let (mut compared, mut left_out, mut steps) = (0, 0, 0);
    let mut stepping = Duration::ZERO;
    let options = options(lists_every_step);
    for recording in &recordings {
        let mut world = worlds::open(&recording.task, &options).unwrap();
        assert!(world.info().deterministic);
        let first = world.reset().unwrap();
        assert_eq!(first.shown["goal"], recording.goal.trim(), "{}", recording.name);
        let start = Instant::now();
        let mut result = first;
        let mut truth = Value::Null;
        for (index, row) in recording.rows.iter().enumerate() {
            if index > 0 {
                result = world.step(row["action"].as_str().unwrap()).unwrap();
                steps += 1;
            }
            merge_patch(&mut truth, &result.truth);
            // Listing takes random numbers, so a few rows have other texts without it.
            if !lists_every_step && row["repro"] == "pinned+valid" {
                left_out += 1;
                continue;
            }
            compared += 1;
            let compared_truth = lists_every_step.then_some(&truth);
            if let Some(difference) = difference(&result, world.as_ref(), row, compared_truth) {
                differences.push(format!("{} step {index}: {difference}", recording.name));
            }
        }
        stepping += start.elapsed();
    }
    let rate = steps as f64 / stepping.as_secs_f64();
    println!("{compared} of {rows} rows compared, {rate:.1} steps/s");
    COMPARED.fetch_add(compared, Ordering::Relaxed);
    assert!(differences.is_empty(), "{} differences: {}", differences.len(), differences[0]);
    assert_eq!(left_out, if lists_every_step { 0 } else { ROWS_WITH_LISTS });
}

/// Returns how an answer differs from the recorded one. What depends on earlier rows or on the state beside the text is the same
/// only with lists; then there is a truth.
fn difference(
    result: &StepResult,
    world: &dyn Environment,
    row: &Value,
    truth: Option<&Value>,
) -> Option<String> {
    let summary = world.world_summary();
    let observation = row["observation"].as_str().unwrap();
    let score = row["score"].as_i64().unwrap();
    let question = observation.starts_with("Ambiguous request:");
    let is_refused = observation.starts_with("No known action") || observation.starts_with("Unknown action.");
    let always = [
        ("observation", result.observation == observation),
        ("score", summary["score"] == row["score"]),
        ("progress", (result.progress - score.max(0) as f64 / 100.0).abs() < 1e-12),
        ("done", result.done == row["done"]),
        ("won", result.won == (score == 100)),
        ("moves", summary["moves"] == row["moves"]),
        ("valid", result.valid != is_refused),
        ("pending_choice", summary["pending_choice"] == question),
    ];
    let with_lists = truth.map(|truth| {
        [
            ("reward", Some(result.reward) == row["reward"].as_f64()),
            ("inventory", summary["inventory"] == row["inventory"]),
            ("valid_actions", summary["valid_actions"] == row["n_valid_actions"]),
            ("goals", reached(truth, "in_order") == row["seq_goals"]),
            ("optional goals", reached(truth, "helpful") == row["opt_goals"]),
        ]
    });
    let mut checks = always.into_iter().chain(with_lists.into_iter().flatten());
    let (name, _) = checks.find(|(_, is_equal)| !is_equal)?;
    Some(format!("{name}: {result:?} {summary}; recorded: {row}"))
}

/// Returns a digit for each goal, 1 if it is reached.
fn reached(truth: &Value, list: &str) -> String {
    let goals = truth["goals"][list].as_array().unwrap().iter();
    goals.map(|goal| if goal["reached"] == true { '1' } else { '0' }).collect()
}
