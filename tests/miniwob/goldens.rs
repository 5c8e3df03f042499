//! The golden episodes, recorded with the Python package and Selenium.

use crate::episodes::open_with;
use flate2::read::GzDecoder;
use serde::Deserialize;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::PathBuf;

/// How many episodes and steps are recorded, so that a missing or shortened file is noticed.
const EPISODES: usize = 60;
const STEPS: usize = 129;

/// What was compared.
pub(crate) struct Counts {
    pub(crate) episodes: usize,
    pub(crate) steps: usize,
}

/// Checks that everything recorded was compared.
pub(crate) fn check_count(episodes: usize, steps: usize) -> Result<usize, String> {
    let expected = format!("{EPISODES} episodes with {STEPS} steps");
    equal("what was compared", &expected, &format!("{episodes} episodes with {steps} steps")).map(|()| 0)
}

#[derive(Deserialize)]
struct Episode {
    task: String,
    seed: u64,
    utterance: String,
    success: bool,
    initial_observation: String,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    action: String,
    raw_reward: f64,
    done: bool,
    observation: String,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/golden/miniwob")
}

/// Returns the names of the files, `None` if there are none.
pub(crate) fn files() -> Option<Vec<String>> {
    let entries = fs::read_dir(folder()).ok()?.flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".jsonl.gz")).collect();
    names.sort();
    (!names.is_empty()).then_some(names)
}

/// Plays the episodes of a file in order, as they were recorded: the page is loaded once.
pub(crate) fn compare(file: &str) -> Result<Counts, String> {
    let mut text = String::new();
    GzDecoder::new(File::open(folder().join(file)).unwrap()).read_to_string(&mut text).unwrap();
    let mut counts = Counts { episodes: 0, steps: 0 };
    for line in text.lines() {
        let episode: Episode = serde_json::from_str(line).unwrap();
        let id = format!("{}/{}", episode.task, episode.seed);
        compare_episode(&id, &episode).map_err(|what| format!("{id}: {what}"))?;
        counts.episodes += 1;
        counts.steps += episode.steps.len();
    }
    Ok(counts)
}

fn compare_episode(id: &str, episode: &Episode) -> Result<(), String> {
    let mut world = open_with(id, &[("miniwob.reload", "task")]).map_err(|error| error.to_string())?;
    let first = world.reset().map_err(|error| error.to_string())?;
    equal("the first observation", &episode.initial_observation, &first.observation)?;
    equal("the goal", &episode.utterance, first.shown["goal"].as_str().unwrap_or_default())?;
    let mut won = false;
    for (number, step) in (1..).zip(&episode.steps) {
        let result = world.step(&step.action).map_err(|error| format!("step {number}: {error}"))?;
        equal(&format!("step {number}, {}", step.action), &step.observation, &result.observation)?;
        let facts = (result.reward.to_bits(), result.done, result.valid);
        if facts != (step.raw_reward.to_bits(), step.done, true) {
            return Err(format!("step {number}: reward, end and validity are {facts:?}"));
        }
        won = result.won;
    }
    equal("success", &episode.success.to_string(), &won.to_string())
}

fn equal(what: &str, golden: &str, ours: &str) -> Result<(), String> {
    if golden == ours {
        return Ok(());
    }
    let lines = golden.lines().zip(ours.lines());
    let difference = lines.clone().find(|(golden, ours)| golden != ours);
    let (golden, ours) = difference.unwrap_or((golden, ours));
    Err(format!("{what}: expected {golden:?}, not {ours:?}"))
}
