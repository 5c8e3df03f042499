//! Plays every golden PDDL episode. At every step, compares observation, valid actions, progress, done, won, validity,
//! the parsed action and the state's hash; also compares goals and first observations of the 60 published tasks.

use super::{Outcome, recordings};
use flate2::read::GzDecoder;
use retrospect::domain::Task;
use retrospect::env::Environment;
use retrospect::env::pddl::{
    Game, GoalSeparator, PddlEnvironment, ProblemSource, World, published_key, published_keys,
};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Deserialize)]
struct Episode {
    id: String,
    domain: String,
    source: String,
    problem_file: String,
    goal: String,
    initial: Initial,
    traces: Vec<Trace>,
}

#[derive(Deserialize)]
struct Initial {
    observation: String,
    valid: Vec<String>,
    state_hash: String,
}

#[derive(Deserialize)]
struct Trace {
    kind: String,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    action: String,
    parsed: Option<String>,
    observation: String,
    valid: Vec<String>,
    progress: f64,
    done: bool,
    won: bool,
    action_is_valid: bool,
    state_hash: String,
}

#[derive(Deserialize)]
struct PublishedTask {
    domain: String,
    problem_file: String,
    goal: String,
    initial_observation: String,
    goal_as_agentboard_code_prints_it: String,
}

#[derive(Default)]
struct Compared {
    traces: usize,
    steps: usize,
    tasks: usize,
    failures: Vec<String>,
    by_domain: BTreeMap<String, usize>,
}

pub(crate) fn compare_all() -> Outcome {
    let root = recordings("pddl");
    if !root.is_dir() {
        return Outcome { skipped: vec![format!("no {}", root.display())], ..Outcome::default() };
    }
    let mut compared = Compared::default();
    if let Err(reason) = compare(&root, &mut compared) {
        compared.failures.push(reason);
    }
    let Compared { traces, tasks, steps, failures, by_domain } = compared;
    Outcome {
        compared: format!("{traces} traces, {tasks} tasks, {steps} steps ({by_domain:?})"),
        passed: (traces + tasks).saturating_sub(failures.len()),
        failures,
        skipped: Vec::new(),
    }
}

fn compare(root: &Path, compared: &mut Compared) -> Result<(), String> {
    let file = fs::File::open(root.join("episodes.jsonl.gz")).map_err(|error| error.to_string())?;
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).map_err(|error| error.to_string())?;
    for line in text.lines() {
        let episode: Episode = serde_json::from_str(line).map_err(|error| error.to_string())?;
        // Test problems and extra problems share names; `source` distinguishes them.
        let folder = if episode.source.contains("test split") { "problems" } else { "problems_extra" };
        let problem = root.join(folder).join(&episode.problem_file);
        let problem = if problem.is_file() { problem } else { find_problem(root, &episode)? };
        let game =
            load_game(root, &episode.domain, &problem).map_err(|error| format!("{}: {error}", episode.id))?;
        let before = compared.steps;
        for trace in &episode.traces {
            compared.traces += 1;
            if let Err(difference) = compare_trace(&game, &episode, trace, &mut compared.steps) {
                compared.failures.push(format!("{}, {}: {difference}", episode.id, trace.kind));
            }
        }
        *compared.by_domain.entry(episode.domain).or_default() += compared.steps - before;
    }
    let mut unused_keys = published_keys();
    let labels = fs::read_to_string(root.join("testsplit_tasks.jsonl")).map_err(|error| error.to_string())?;
    for line in labels.lines() {
        let label: PublishedTask = serde_json::from_str(line).map_err(|error| error.to_string())?;
        compared.tasks += 1;
        let game = load_game(root, &label.domain, &root.join("problems").join(&label.problem_file))?;
        let goals = (game.goal_text(GoalSeparator::Comma), game.goal_text(GoalSeparator::Space));
        let first = World::new(Arc::clone(&game)).restart().to_owned();
        // Some recorded goals lack the trailing blank that the others have.
        let is_same_goal = goals.1.trim_end() == label.goal.trim_end();
        if goals.0 != label.goal_as_agentboard_code_prints_it
            || !is_same_goal
            || first != label.initial_observation
        {
            compared.failures.push(format!("{}: {goals:?}, expected {:?}", label.problem_file, label.goal));
        }
        let row = format!("labels.jsonl#{}", compared.tasks - 1);
        let keys = [goals.0, goals.1].map(|goal| published_key(&task(&row, &label.domain, goal)));
        let index = unused_keys.iter().position(|known| keys.iter().all(|key| key.as_ref() == Some(known)));
        match index {
            Some(index) => drop(unused_keys.swap_remove(index)),
            None => compared.failures.push(format!("{}: not known as published", label.problem_file)),
        }
    }
    if !unused_keys.is_empty() {
        compared.failures.push(format!("no published task has {unused_keys:?}"));
    }
    Ok(())
}

fn task(id: &str, domain: &str, goal: String) -> Task {
    let task_type = Some(domain.to_owned());
    Task { env: "pddl".to_owned(), id: id.to_owned(), goal, task_type, difficulty: None, seed: 0 }
}

/// Finds a problem file by its name.
fn find_problem(root: &Path, episode: &Episode) -> Result<PathBuf, String> {
    let name = Path::new(&episode.problem_file).file_name().unwrap_or_default();
    ["problems_extra", "problems"]
        .map(|folder| root.join(folder).join(&episode.domain).join(name))
        .into_iter()
        .find(|path| path.is_file())
        .ok_or_else(|| format!("{}: no file {}", episode.id, episode.problem_file))
}

fn load_game(root: &Path, domain: &str, problem: &Path) -> Result<Arc<Game>, String> {
    let rules = root.join("domains").join(format!("{domain}.pddl"));
    let read = |path: &Path| fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
    let (domain, text) = (read(&rules)?, read(problem)?);
    let source = ProblemSource {
        domain_label: &rules.display().to_string(),
        domain: &domain,
        problem_label: &problem.display().to_string(),
        problem: &text,
    };
    Game::load(&source).map_err(|error| error.to_string())
}

/// Plays one trace twice: directly on the game, and through the `Environment` trait. Adds to `steps` the number of
/// steps compared.
fn compare_trace(
    game: &Arc<Game>,
    episode: &Episode,
    trace: &Trace,
    steps: &mut usize,
) -> Result<(), String> {
    let mut world = World::new(Arc::clone(game));
    let mut environment = PddlEnvironment::new(Arc::clone(game), GoalSeparator::Comma, None);
    let first = environment.reset().map_err(|error| error.to_string())?;
    let initial = &episode.initial;
    expect_equal("goal", &first.shown["goal"], &serde_json::json!(episode.goal))?;
    expect_equal("first observation", &world.restart(), &initial.observation.as_str())?;
    expect_equal("first observation through the trait", &first.observation, &initial.observation)?;
    expect_equal(
        "first valid actions",
        &world.valid_actions().collect::<Vec<_>>(),
        &initial.valid.iter().map(String::as_str).collect(),
    )?;
    expect_equal("first hash", &format!("{:016x}", world.state_hash()), &initial.state_hash)?;
    let mut middle_snapshot = None;
    for (index, step) in trace.steps.iter().enumerate() {
        let describe = |name: &str| format!("step {} ({:?}): {name}", index + 1, step.action);
        let reply = world.play(&step.action);
        expect_equal(&describe("observation"), &reply.observation, &step.observation.as_str())?;
        expect_equal(&describe("validity"), &reply.valid, &step.action_is_valid)?;
        expect_equal(&describe("recognized action"), &world.recognized_action(), &step.parsed)?;
        let ours: Vec<&str> = world.valid_actions().collect();
        expect_equal(&describe("valid actions"), &ours, &step.valid.iter().map(String::as_str).collect())?;
        let result = environment.step(&step.action).map_err(|error| error.to_string())?;
        expect_equal(&describe("observation through the trait"), &result.observation, &step.observation)?;
        expect_equal(&describe("validity through the trait"), &result.valid, &step.action_is_valid)?;
        expect_equal(&describe("done"), &result.done, &step.done)?;
        expect_equal(&describe("won"), &result.won, &step.won)?;
        if (result.progress - step.progress).abs() > 1e-9
            || result.reward.to_bits() != result.progress.to_bits()
        {
            return Err(describe(&format!("progress {}, expected {}", result.progress, step.progress)));
        }
        let admissible = environment.admissible().map_err(|error| error.to_string())?;
        expect_equal(&describe("admissible"), &admissible, &step.valid)?;
        expect_equal(
            &describe("hash"),
            &environment.world_summary()["state_hash"],
            &serde_json::json!(step.state_hash),
        )?;
        *steps += 1;
        if index == trace.steps.len() / 2 {
            middle_snapshot = environment.snapshot();
        }
    }
    // Restore the snapshot from the middle and play on from there.
    if let Some(snapshot) = middle_snapshot {
        environment.restore(&snapshot).map_err(|error| error.to_string())?;
        for step in &trace.steps[trace.steps.len() / 2 + 1..] {
            let result = environment.step(&step.action).map_err(|error| error.to_string())?;
            let admissible = environment.admissible().map_err(|error| error.to_string())?;
            expect_equal("observation after a restore", &result.observation, &step.observation)?;
            expect_equal("valid actions after a restore", &admissible, &step.valid)?;
            expect_equal("won after a restore", &result.won, &step.won)?;
        }
    }
    Ok(())
}

fn expect_equal<T: PartialEq + std::fmt::Debug>(name: &str, ours: &T, expected: &T) -> Result<(), String> {
    if ours == expected { Ok(()) } else { Err(format!("{name} {ours:?}, expected {expected:?}")) }
}
