//! Generates every golden BabyAI level from its seed, plays every golden trace, and compares the results with the
//! recordings.

use super::Outcome;
use flate2::read::GzDecoder;
use retrospect::env::Environment;
use retrospect::env::babyai::{Image, Level, LevelStart, Pcg64, VIEW_SIDE, World};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// The numbers drawn from a random generator with one seed.
#[derive(Deserialize)]
struct RecordedDraws {
    seed: u64,
    draws: Vec<Value>,
}

/// What is recorded before the first step of an episode, in addition to the level.
#[derive(Deserialize)]
struct Initial {
    observation: String,
    available: Vec<String>,
    errors: BTreeMap<String, String>,
    image: Vec<Vec<[u8; 3]>>,
    hash: String,
}

#[derive(Deserialize)]
struct Episode {
    id: String,
    level: u8,
    seed: u64,
    label: Option<Label>,
    initial: Initial,
    traces: Vec<Trace>,
}

#[derive(Deserialize)]
struct Label {
    task_id: usize,
}

#[derive(Deserialize)]
struct Trace {
    kind: String,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    action: String,
    observation: String,
    reward: f64,
    done: bool,
    valid: Option<bool>,
    agent: [i16; 3],
    carrying: Option<u16>,
    hash: String,
    #[serde(rename = "low")]
    primitive_actions: Vec<u8>,
    step_count: u32,
    available: Vec<String>,
    raw: Option<(f64, bool)>,
}

/// The totals of all comparisons.
#[derive(Default)]
struct Compared {
    passed: usize,
    steps: usize,
    failures: Vec<String>,
}

impl Compared {
    fn count(&mut self, name: &str, result: Result<(), String>) {
        match result {
            Ok(()) => self.passed += 1,
            Err(reason) => self.failures.push(format!("{name}: {reason}")),
        }
    }
}

pub(crate) fn compare_all(root: &Path) -> Outcome {
    let (mut compared, mut skipped) = (Compared::default(), Vec::new());
    let mut read_or_skip = |name: &str| {
        read_json_lines(&root.join(name)).unwrap_or_else(|error| {
            skipped.push(format!("{name} in {}: {error}", root.display()));
            Vec::new()
        })
    };
    let (draws, starts) = (read_or_skip("rng_vectors.jsonl.gz"), read_or_skip("level_starts.jsonl.gz"));
    let (tasks, episodes) = (read_or_skip("testsplit_tasks.jsonl.gz"), read_or_skip("episodes.jsonl.gz"));
    for line in &draws {
        compared.count("random numbers", compare_draws(line));
    }
    let split: Vec<(&Level, u64)> = Level::test_split().collect();
    if !tasks.is_empty() && split.len() != tasks.len() {
        compared.failures.push(format!("the test split has {} tasks, not {}", split.len(), tasks.len()));
    }
    for (line, (level, seed)) in tasks.iter().zip(split) {
        compared.count(&format!("task {} {seed}", level.name), compare_task(line, level, seed));
    }
    for line in &starts {
        let number = line["level"].as_u64().unwrap_or_default();
        compared.count(
            &format!("start of level {number} with seed {}", line["seed"]),
            compare_start(line).map(drop),
        );
    }
    for line in &episodes {
        compare_episode(line, &tasks, &mut compared);
    }
    Outcome {
        compared: format!(
            "{} generators, {} starts, {} tasks and {} episodes, {} steps",
            draws.len(),
            starts.len(),
            tasks.len(),
            episodes.len(),
            compared.steps
        ),
        passed: compared.passed,
        failures: compared.failures,
        skipped,
    }
}

fn read_json_lines(path: &Path) -> Result<Vec<Value>, String> {
    let mut text = String::new();
    let file = fs::File::open(path).map_err(|error| error.to_string())?;
    GzDecoder::new(file).read_to_string(&mut text).map_err(|error| error.to_string())?;
    text.lines().map(|line| serde_json::from_str(line).map_err(|error| error.to_string())).collect()
}

fn expect_equal<T: PartialEq + std::fmt::Debug>(name: &str, ours: &T, expected: &T) -> Result<(), String> {
    if ours == expected { Ok(()) } else { Err(format!("{name} is\n  {ours:?}, expected\n  {expected:?}")) }
}

fn compare_draws(line: &Value) -> Result<(), String> {
    let recorded = RecordedDraws::deserialize(line).map_err(|error| error.to_string())?;
    let mut generator = Pcg64::new(recorded.seed);
    for (index, draw) in recorded.draws.iter().enumerate() {
        let number = |i: usize| draw[i].as_i64().unwrap_or_default();
        let name = format!("draw {index} of seed {}", recorded.seed);
        if draw[0] == "i" {
            expect_equal(&name, &generator.integer(number(1), number(2)), &number(3))?;
        } else {
            expect_equal(&name, &generator.fraction(), &draw[1].as_f64().unwrap_or_default())?;
        }
    }
    Ok(())
}

/// Reads a recorded start, generates it from its seed, and compares the two.
fn compare_start(line: &Value) -> Result<LevelStart, String> {
    let recorded = LevelStart::from_json("golden", line).map_err(|error| error.to_string())?;
    let level = Level::from_name(&recorded.env_id).ok_or("no such level")?;
    expect_equal("the number", &level.number, &recorded.number)?;
    let mut generated = level.generate(recorded.seed).map_err(|error| error.to_string())?;
    generated.subgoals.clone_from(&recorded.subgoals);
    generated.difficulty.clone_from(&recorded.difficulty);
    if level.starts_carrying() && recorded.stale_view.is_none() {
        // These recordings don't say where a carried object was picked up.
        (generated.stale_view, generated.known_positions) = (None, recorded.known_positions.clone());
    }
    expect_equal("the mission", &generated.mission, &recorded.mission)?;
    expect_equal("the agent", &generated.agent, &recorded.agent)?;
    expect_equal("the level", &generated, &recorded)?;
    Ok(recorded)
}

fn compare_task(line: &Value, level: &Level, seed: u64) -> Result<(), String> {
    let start = compare_start(line)?;
    expect_equal("level and seed", &(start.number, start.seed), &(level.number, seed))?;
    let observation = World::new(Arc::new(start)).restart();
    expect_equal(
        "the first observation",
        &observation.as_str(),
        &line["initial_observation"].as_str().unwrap_or_default(),
    )
}

fn compare_episode(line: &Value, tasks: &[Value], compared: &mut Compared) {
    let episode = match Episode::deserialize(line) {
        Ok(episode) => episode,
        Err(error) => return compared.failures.push(format!("an episode: {error}")),
    };
    let Episode { id, level, seed, label, initial, traces } = episode;
    let labelled_task =
        label.as_ref().and_then(|label| tasks.iter().find(|task| task["task_id"] == label.task_id));
    let start = compare_start(line).and_then(|mut start| {
        expect_equal("level and seed", &(start.number, start.seed), &(level, seed))?;
        if let Some(task) = labelled_task {
            start.subgoals =
                LevelStart::from_json("label", task).map_err(|error| error.to_string())?.subgoals;
        } else if label.is_some() {
            return Err("the task named by its label is not in testsplit_tasks.jsonl.gz".to_owned());
        }
        Ok(start)
    });
    let start = match start {
        Ok(start) => start,
        Err(reason) => return compared.failures.push(format!("{id}: {reason}")),
    };
    let mut world = World::new(Arc::new(start));
    for Trace { kind, steps } in &traces {
        let result = compare_initial(&mut world, &initial).and_then(|()| {
            steps.iter().enumerate().try_for_each(|(index, step)| {
                compared.steps += 1;
                compare_step(&mut world, step)
                    .map_err(|reason| format!("step {index} {:?}: {reason}", step.action))
            })
        });
        compared.count(&format!("{id} {kind}"), result);
    }
}

fn image_triples(image: &Image) -> Vec<Vec<[u8; 3]>> {
    image.chunks(VIEW_SIDE).map(|row| row.iter().map(|code| code.triple()).collect()).collect()
}

fn compare_initial(world: &mut World, initial: &Initial) -> Result<(), String> {
    let observation = world.restart();
    expect_equal("the first observation", &observation, &initial.observation)?;
    expect_equal("the first view", &image_triples(world.image()), &initial.image)?;
    expect_equal("available actions", &available_actions(world), &initial.available)?;
    expect_equal(
        "the errors of unavailable actions",
        &world.action_errors().into_iter().collect(),
        &initial.errors,
    )?;
    expect_equal("the hash", &world.state_hash(), &initial.hash)
}

fn available_actions(world: &World) -> Vec<String> {
    world.available_actions().map(ToOwned::to_owned).collect()
}

fn compare_step(world: &mut World, step: &Step) -> Result<(), String> {
    let reply = world.play(&step.action);
    expect_equal("the observation", &reply.observation, &step.observation)?;
    let primitive_actions: Vec<u8> = reply.primitive_actions.iter().map(|action| *action as u8).collect();
    expect_equal("the primitive actions", &primitive_actions, &step.primitive_actions)?;
    expect_equal("the original environment's reward and done", &reply.environment_result, &step.raw)?;
    expect_equal("the reward", &world.reward(), &step.reward)?;
    expect_equal("done", &world.is_done(), &step.done)?;
    expect_equal("valid", &world.last_valid(), &step.valid)?;
    let agent = world.agent();
    expect_equal("the agent", &[agent.x, agent.y, i16::from(agent.direction)], &step.agent)?;
    expect_equal("the number of primitive actions", &world.action_count(), &step.step_count)?;
    expect_equal("available actions", &available_actions(world), &step.available)?;
    let summary = world.world_summary();
    expect_equal("the carried object", &summary["carrying"].as_u64(), &step.carrying.map(u64::from))?;
    expect_equal("the hash", &world.state_hash(), &step.hash)
}
