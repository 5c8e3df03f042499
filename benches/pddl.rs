//! Text steps of PDDL problems with their lists of valid actions, per domain: the reference's problems where they are at hand,
//! else generated ones of about their size.
//!
//! What is played are 600 actions, each a seeded choice among the valid ones, as the reference was measured.
//! `cargo bench --bench pddl -- --figures FOLDER` writes the problems there and prints the figures for `benches/compare/pddl.py` as one
//! JSON line: CPU seconds a step, the files, and the hash of the start. `-- --large` measures problems of 10,000 objects.

#![expect(clippy::print_stdout, reason = "a benchmark reports to the terminal")]

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

/// A problem and a walk through it.
struct Walk {
    domain: Vec<u8>,
    problem: Vec<u8>,
    /// The problem is one of ours, as the reference's are not at hand.
    own: bool,
    game: Arc<Game>,
    actions: Vec<String>,
}

/// The problems of the specification's table, by domain and place in the order of the file names.
const PLACES: [(Domain, usize); 8] = [
    (Domain::Gripper, 0),
    (Domain::Gripper, 4),
    (Domain::Blockworld, 0),
    (Domain::Blockworld, 1),
    (Domain::Barman, 0),
    (Domain::Barman, 19),
    (Domain::Tyreworld, 0),
    (Domain::Tyreworld, 9),
];

static WALKS: LazyLock<Vec<Walk>> =
    LazyLock::new(|| PLACES.iter().filter_map(|&place| walk(place)).collect());

fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(folder) =
        arguments.iter().position(|arg| arg == "--figures").and_then(|at| arguments.get(at + 1))
    {
        println!("{}", figures(Path::new(folder)));
        return process::ending();
    }
    if arguments.iter().any(|arg| arg == "--large") {
        large();
        return process::ending();
    }
    let names: Vec<String> = PLACES.iter().map(|(domain, at)| format!("{} {at}", domain.word())).collect();
    println!("problems: {}; {STEPS} steps an iteration", names.join(", "));
    divan::main();
    large();
    process::ending()
}

/// CPU seconds for which a figure is measured at least.
const ENOUGH: f64 = 0.5;

/// The figures of every problem, by name; the files go into a folder.
fn figures(folder: &Path) -> Value {
    let mut all = Map::new();
    for (walk, (domain, at)) in WALKS.iter().zip(PLACES) {
        let mut world = World::new(Arc::clone(&walk.game));
        world.restart();
        let start = format!("{:016x}", world.state_hash());
        let mut playing = PddlEnvironment::new(Arc::clone(&walk.game), GoalSeparator::Comma, None);
        let step = cpu_of_one(|| lean(&mut world, walk));
        let turn = cpu_of_one(|| live(&mut playing, walk));
        let put = |name: &str, text: &[u8]| {
            let path = folder.join(format!("{}-{at}-{name}.pddl", domain.word()));
            fs::write(&path, text).map(|()| path.display().to_string()).ok()
        };
        let (rules, problem) = (put("domain", &walk.domain), put("problem", &walk.problem));
        let figures = json!({"step": step, "turn": turn, "start": start, "domain": rules, "problem": problem, "own": walk.own});
        all.insert(format!("{} {at}", domain.word()), figures);
    }
    Value::Object(all)
}

/// CPU seconds of one of the steps of a walk that a call plays, over enough calls.
fn cpu_of_one(mut call: impl FnMut()) -> Option<f64> {
    let start = process::processor_seconds()?;
    let mut calls = 0_u32;
    loop {
        for _ in 0..20 {
            call();
        }
        calls += 20;
        let spent = process::processor_seconds()? - start;
        if spent >= ENOUGH {
            return Some(spent / f64::from(calls) / STEPS as f64);
        }
    }
}

/// Plays a walk, with the list of valid actions read after every step.
fn lean(world: &mut World, walk: &Walk) {
    black_box(world.restart().len());
    for action in &walk.actions {
        black_box(world.play(action).observation.len());
        black_box(world.valid_actions().map(str::len).sum::<usize>());
    }
}

/// The same through the trait that every world has.
fn live(world: &mut PddlEnvironment, walk: &Walk) {
    black_box(world.reset().is_ok());
    for action in &walk.actions {
        black_box(world.step(action).map(|turn| turn.observation.len()).ok());
        black_box(world.admissible().map(|all| all.len()).ok());
    }
}

/// Objects of a problem that is larger than any real one.
const MANY: usize = 10_000;

/// Problems of 10,000 objects: loaded and taken to their first turn, or refused in words, within 2 s and 1 GB.
fn large() {
    let list = |name: &str, fact: &dyn Fn(usize) -> String| {
        (1..=MANY).fold(String::new(), |mut text, n| {
            let _ = write!(text, "{name}{n} ");
            text
        }) + "\u{1}"
            + &(1..=MANY).map(fact).collect::<String>()
    };
    let problem = |domain: Domain, objects: &str, init: &str, goal: &str| {
        let (names, facts) = objects.split_once('\u{1}').unwrap_or_default();
        format!(
            "(define (problem large) (:domain {}) (:objects {names}) (:init {facts} {init}) (:goal {goal}))",
            domain.pddl_name()
        )
    };
    let balls = list("ball", &|n| format!("(ball ball{n}) (at ball{n} rooma)")).replacen(
        "ball1 ",
        "rooma roomb left right ball1 ",
        1,
    );
    let rooms = list("room", &|n| format!("(room room{n})")).replacen("room1 ", "left ball1 room1 ", 1);
    let blocks = list("b", &|n| format!("(on-table b{n}) (clear b{n})"));
    let tower =
        list("b", &|n| if n == 1 { "(on-table b1)".to_owned() } else { format!("(on b{n} b{})", n - 1) });
    let hands =
        "(room rooma) (room roomb) (gripper left) (gripper right) (free left) (free right) (at-robby rooma)";
    let shots: String = list("shot", &|n| format!("(ontable shot{n}) (clean shot{n}) (empty shot{n})"));
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
        let begun = Instant::now();
        let told = match load(domain.pddl_text().as_bytes(), text.as_bytes()) {
            Ok(game) => {
                let yardstick = match game.reference_plan(SearchLimits::INTERACTIVE) {
                    ReferencePlan::Plan(length) => format!("a plan of {length}"),
                    ReferencePlan::Impossible => "no plan".to_owned(),
                    ReferencePlan::GaveUp { states } => format!("the planner gives up after {states} states"),
                };
                let mut world = PddlEnvironment::new(game, GoalSeparator::Comma, None);
                let first = world.reset().map(|turn| turn.observation.len());
                let listed = world.admissible().map(|all| all.len());
                match (first, listed) {
                    (Ok(bytes), Ok(many)) => {
                        format!("loads ({yardstick}): {bytes} bytes of text, {many} valid actions")
                    }
                    (first, listed) => format!("breaks: {first:?} {listed:?}"),
                }
            }
            Err(error) => format!("is refused: {error}"),
        };
        let seconds = begun.elapsed().as_secs_f64();
        let most = process::peak();
        let met = seconds <= 2.0 && most.is_none_or(|bytes| bytes <= 1 << 30) && !told.starts_with("breaks");
        println!(
            "{MANY} {name}: {} in {seconds:.2} s, {} MB at most so far ({}); {told}",
            process::verdict(met),
            most.map_or_else(|| "?".to_owned(), |bytes| (bytes >> 20).to_string()),
            process::load(),
        );
    }
}

fn texts(domain: Domain, at: usize) -> Option<(Vec<u8>, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/golden/pddl");
    let rules = fs::read(root.join("domains").join(format!("{}.pddl", domain.word()))).ok()?;
    let entries = fs::read_dir(root.join("problems").join(domain.word())).ok()?;
    let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    Some((rules, fs::read(files.get(at)?).ok()?))
}

fn walk((domain, at): (Domain, usize)) -> Option<Walk> {
    let (domain, problem, own) = if let Some((domain, problem)) = texts(domain, at) {
        (domain, problem, false)
    } else {
        let grade = if at == 0 { "easy" } else { "hard" };
        let id: TaskId = format!("{}/{grade}/1", domain.word()).parse().ok()?;
        (domain.pddl_text().as_bytes().to_vec(), generate(&id).ok()?.text.into_bytes(), true)
    };
    let game = load(&domain, &problem).ok()?;
    let mut world = World::new(Arc::clone(&game));
    let mut seed = 1_u64;
    let mut actions = Vec::with_capacity(STEPS);
    for _ in 0..STEPS {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let many = world.valid_count().max(1);
        let action = world.valid_actions().nth((seed >> 33) as usize % many)?.to_owned();
        world.play(&action);
        actions.push(action);
    }
    Some(Walk { domain, problem, own, game, actions })
}

fn load(domain: &[u8], problem: &[u8]) -> Result<Arc<Game>, EnvError> {
    Game::load(&ProblemSource { domain_label: "domain", domain, problem_label: "problem", problem })
}

/// One item is a text step with its list of valid actions.
#[divan::bench(args = 0..PLACES.len())]
fn step_with_valid(bencher: Bencher, at: usize) {
    let Some(walk) = WALKS.get(at) else { return };
    let mut world = World::new(Arc::clone(&walk.game));
    bencher.counter(ItemsCount::new(STEPS)).bench_local(|| lean(&mut world, walk));
}

/// The same through the trait everybody else uses, with owned strings, and what is shown and true.
#[divan::bench(args = 0..PLACES.len())]
fn environment_step(bencher: Bencher, at: usize) {
    let Some(walk) = WALKS.get(at) else { return };
    let mut world = PddlEnvironment::new(Arc::clone(&walk.game), GoalSeparator::Comma, None);
    bencher.counter(ItemsCount::new(STEPS)).bench_local(|| live(&mut world, walk));
}

/// One item is a problem, from the bytes of its files to its first text.
#[divan::bench(args = 0..PLACES.len())]
fn load_and_reset(bencher: Bencher, at: usize) {
    let Some(walk) = WALKS.get(at) else { return };
    bencher
        .bench_local(|| load(&walk.domain, &walk.problem).ok().map(|game| World::new(game).restart().len()));
}

/// One item is a plan from the start.
#[divan::bench(args = 0..PLACES.len(), sample_count = 5, sample_size = 1)]
fn yardstick(bencher: Bencher, at: usize) {
    let Some(walk) = WALKS.get(at) else { return };
    bencher.bench_local(|| walk.game.reference_plan(SearchLimits::INTERACTIVE));
}
