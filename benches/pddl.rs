//! Text steps of PDDL problems, including the list of valid actions: on the reference's problems if they are present,
//! otherwise on generated ones of about the same size.
//!
//! Plays 600 actions, each a seeded random choice of the valid ones, as the reference was measured.
//! `cargo bench --bench pddl -- --figures FOLDER` writes the problems to the folder and prints the results for
//! `benches/compare/pddl.py` as one line of JSON: CPU seconds per step, the files, and the hash of the start state.
//! `-- --large` measures problems of 10,000 objects.

#![expect(clippy::print_stdout, reason = "a benchmark prints to the terminal")]

#[path = "measure/process.rs"]
mod process;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use retrospect::env::pddl::{
    Domain, Game, GoalSeparator, PddlEnvironment, ProblemSource, ReferencePlan, TaskId, World, generate,
};
use retrospect::env::{EnvError, Environment};
use retrospect::pddl::SearchLimits;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Instant;

const STEPS: usize = 600;

/// A problem and the actions to play.
struct Case {
    domain: Vec<u8>,
    problem: Vec<u8>,
    /// Whether the problem was generated because the reference's are missing.
    is_generated: bool,
    game: Arc<Game>,
    actions: Vec<String>,
}

/// The measured problems: the domain, and the index of the problem in the order of file names.
const PROBLEMS: [(Domain, usize); 8] = [
    (Domain::Gripper, 0),
    (Domain::Gripper, 4),
    (Domain::Blockworld, 0),
    (Domain::Blockworld, 1),
    (Domain::Barman, 0),
    (Domain::Barman, 19),
    (Domain::Tyreworld, 0),
    (Domain::Tyreworld, 9),
];

static CASES: LazyLock<Vec<Case>> =
    LazyLock::new(|| PROBLEMS.iter().filter_map(|&(domain, index)| load_case(domain, index)).collect());

fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(folder) =
        arguments.iter().position(|arg| arg == "--figures").and_then(|at| arguments.get(at + 1))
    {
        println!("{}", measure_problems(Path::new(folder)));
        return process::exit_code();
    }
    if arguments.iter().any(|arg| arg == "--large") {
        measure_large_problems();
        return process::exit_code();
    }
    let names: Vec<String> =
        PROBLEMS.iter().map(|(domain, index)| format!("{} {index}", domain.word())).collect();
    println!("problems: {}; {STEPS} steps per iteration", names.join(", "));
    divan::main();
    measure_large_problems();
    process::exit_code()
}

/// The minimum CPU seconds of a measurement.
const MIN_SECONDS: f64 = 0.5;

/// Measures every problem and writes its files to a folder. Returns the results by name.
fn measure_problems(folder: &Path) -> Value {
    let mut results = Map::new();
    for (case, (domain, index)) in CASES.iter().zip(PROBLEMS) {
        let mut world = World::new(Arc::clone(&case.game));
        world.restart();
        let start = format!("{:016x}", world.state_hash());
        let mut environment = PddlEnvironment::new(Arc::clone(&case.game), GoalSeparator::Comma, None);
        let step = cpu_per_step(|| play(&mut world, case));
        let environment_step = cpu_per_step(|| play_environment(&mut environment, case));
        let write = |name: &str, text: &[u8]| {
            let path = folder.join(format!("{}-{index}-{name}.pddl", domain.word()));
            fs::write(&path, text).map(|()| path.display().to_string()).ok()
        };
        let (rules, problem) = (write("domain", &case.domain), write("problem", &case.problem));
        let case_results = json!({"step": step, "turn": environment_step, "start": start, "domain": rules, "problem": problem, "own": case.is_generated});
        results.insert(format!("{} {index}", domain.word()), case_results);
    }
    Value::Object(results)
}

/// Returns the CPU seconds per step of a call that plays all steps.
fn cpu_per_step(mut call: impl FnMut()) -> Option<f64> {
    let start = process::processor_seconds()?;
    let mut calls = 0_u32;
    loop {
        for _ in 0..20 {
            call();
        }
        calls += 20;
        let spent = process::processor_seconds()? - start;
        if spent >= MIN_SECONDS {
            return Some(spent / f64::from(calls) / STEPS as f64);
        }
    }
}

/// Plays the actions and reads the valid actions after every step.
fn play(world: &mut World, case: &Case) {
    black_box(world.restart().len());
    for action in &case.actions {
        black_box(world.play(action).observation.len());
        black_box(world.valid_actions().map(str::len).sum::<usize>());
    }
}

/// Plays the actions in the same way through [`Environment`].
fn play_environment(world: &mut PddlEnvironment, case: &Case) {
    black_box(world.reset().is_ok());
    for action in &case.actions {
        black_box(world.step(action).map(|result| result.observation.len()).ok());
        black_box(world.admissible().map(|all| all.len()).ok());
    }
}

/// The number of objects of a problem larger than any real one.
const OBJECTS: usize = 10_000;

/// Measures problems of 10,000 objects. Within 2 s and 1 GB, each is loaded and reset, or rejected with an error.
fn measure_large_problems() {
    // Object names and facts, separated by U+0001.
    let numbered = |name: &str, fact: &dyn Fn(usize) -> String| {
        (1..=OBJECTS).fold(String::new(), |mut text, n| {
            let _ = write!(text, "{name}{n} ");
            text
        }) + "\u{1}"
            + &(1..=OBJECTS).map(fact).collect::<String>()
    };
    let problem = |domain: Domain, objects: &str, init: &str, goal: &str| {
        let (names, facts) = objects.split_once('\u{1}').unwrap_or_default();
        format!(
            "(define (problem large) (:domain {}) (:objects {names}) (:init {facts} {init}) (:goal {goal}))",
            domain.pddl_name()
        )
    };
    let balls = numbered("ball", &|n| format!("(ball ball{n}) (at ball{n} rooma)")).replacen(
        "ball1 ",
        "rooma roomb left right ball1 ",
        1,
    );
    let rooms = numbered("room", &|n| format!("(room room{n})")).replacen("room1 ", "left ball1 room1 ", 1);
    let blocks = numbered("b", &|n| format!("(on-table b{n}) (clear b{n})"));
    let tower =
        numbered("b", &|n| if n == 1 { "(on-table b1)".to_owned() } else { format!("(on b{n} b{})", n - 1) });
    let hands =
        "(room rooma) (room roomb) (gripper left) (gripper right) (free left) (free right) (at-robby rooma)";
    let shots: String = numbered("shot", &|n| format!("(ontable shot{n}) (clean shot{n}) (empty shot{n})"));
    let shots = shots.replacen('\u{1}', "- shot left right - hand l0 - level \u{1}", 1);
    for (name, domain, text) in [
        ("balls in two rooms", Domain::Gripper, problem(Domain::Gripper, &balls, hands, "(at ball1 roomb)")),
        (
            "rooms",
            Domain::Gripper,
            problem(
                Domain::Gripper,
                &rooms,
                "(gripper left) (free left) (ball ball1) (at ball1 room1) (at-robby room1)",
                "(at ball1 room2)",
            ),
        ),
        (
            "blocks on the table",
            Domain::Blockworld,
            problem(Domain::Blockworld, &blocks, "(arm-empty)", "(on b1 b2)"),
        ),
        (
            "blocks in a tower",
            Domain::Blockworld,
            problem(Domain::Blockworld, &tower, "(clear b10000) (arm-empty)", "(on-table b2)"),
        ),
        (
            "shot glasses",
            Domain::Barman,
            problem(Domain::Barman, &shots, "(handempty left) (handempty right)", "(holding left shot1)"),
        ),
    ] {
        let start = Instant::now();
        let outcome = match load(domain.pddl_text().as_bytes(), text.as_bytes()) {
            Ok(game) => {
                let plan = match game.reference_plan(SearchLimits::INTERACTIVE) {
                    ReferencePlan::Plan(length) => format!("a plan of {length} steps"),
                    ReferencePlan::Impossible => "no plan".to_owned(),
                    ReferencePlan::GaveUp { states } => format!("the planner gives up after {states} states"),
                };
                let mut world = PddlEnvironment::new(game, GoalSeparator::Comma, None);
                let first = world.reset().map(|result| result.observation.len());
                let listed = world.admissible().map(|all| all.len());
                match (first, listed) {
                    (Ok(bytes), Ok(count)) => {
                        format!("loads ({plan}): {bytes} bytes of text, {count} valid actions")
                    }
                    (first, listed) => format!("fails: {first:?} {listed:?}"),
                }
            }
            Err(error) => format!("is rejected: {error}"),
        };
        let seconds = start.elapsed().as_secs_f64();
        let peak = process::peak();
        let met =
            seconds <= 2.0 && peak.is_none_or(|bytes| bytes <= 1 << 30) && !outcome.starts_with("fails");
        println!(
            "{OBJECTS} {name}: {} in {seconds:.2} s, {} MB at most so far ({}); {outcome}",
            process::verdict(met),
            peak.map_or_else(|| "?".to_owned(), |bytes| (bytes >> 20).to_string()),
            process::load(),
        );
    }
}

/// Returns the domain and a problem of the reference if they are present.
fn reference_files(domain: Domain, index: usize) -> Option<(Vec<u8>, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/golden/pddl");
    let rules = fs::read(root.join("domains").join(format!("{}.pddl", domain.word()))).ok()?;
    let entries = fs::read_dir(root.join("problems").join(domain.word())).ok()?;
    let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    Some((rules, fs::read(files.get(index)?).ok()?))
}

fn load_case(domain: Domain, index: usize) -> Option<Case> {
    let (domain, problem, is_generated) = if let Some((domain, problem)) = reference_files(domain, index) {
        (domain, problem, false)
    } else {
        let grade = if index == 0 { "easy" } else { "hard" };
        let id: TaskId = format!("{}/{grade}/1", domain.word()).parse().ok()?;
        (domain.pddl_text().as_bytes().to_vec(), generate(&id).ok()?.text.into_bytes(), true)
    };
    let game = load(&domain, &problem).ok()?;
    let mut world = World::new(Arc::clone(&game));
    let mut seed = 1_u64;
    let mut actions = Vec::with_capacity(STEPS);
    for _ in 0..STEPS {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let count = world.valid_count().max(1);
        let action = world.valid_actions().nth((seed >> 33) as usize % count)?.to_owned();
        world.play(&action);
        actions.push(action);
    }
    Some(Case { domain, problem, is_generated, game, actions })
}

fn load(domain: &[u8], problem: &[u8]) -> Result<Arc<Game>, EnvError> {
    Game::load(&ProblemSource { domain_label: "domain", domain, problem_label: "problem", problem })
}

/// One item is one text step, including the list of valid actions.
#[divan::bench(args = 0..PROBLEMS.len())]
fn step_with_valid(bencher: Bencher, index: usize) {
    let Some(case) = CASES.get(index) else { return };
    let mut world = World::new(Arc::clone(&case.game));
    bencher.counter(ItemsCount::new(STEPS)).bench_local(|| play(&mut world, case));
}

/// The same through [`Environment`], which adds the shown state and the ground truth, as owned strings.
#[divan::bench(args = 0..PROBLEMS.len())]
fn environment_step(bencher: Bencher, index: usize) {
    let Some(case) = CASES.get(index) else { return };
    let mut world = PddlEnvironment::new(Arc::clone(&case.game), GoalSeparator::Comma, None);
    bencher.counter(ItemsCount::new(STEPS)).bench_local(|| play_environment(&mut world, case));
}

/// One item is loading a problem from its bytes, up to the first observation.
#[divan::bench(args = 0..PROBLEMS.len())]
fn load_and_reset(bencher: Bencher, index: usize) {
    let Some(case) = CASES.get(index) else { return };
    bencher
        .bench_local(|| load(&case.domain, &case.problem).ok().map(|game| World::new(game).restart().len()));
}

/// One item is finding a reference plan.
#[divan::bench(args = 0..PROBLEMS.len(), sample_count = 5, sample_size = 1)]
fn reference_plan(bencher: Bencher, index: usize) {
    let Some(case) = CASES.get(index) else { return };
    bencher.bench_local(|| case.game.reference_plan(SearchLimits::INTERACTIVE));
}
