//! Text steps of PDDL problems with their lists of valid actions, per domain: the reference's problems where they are at hand,
//! else generated ones of about their size.
//!
//! What is played are 600 actions, each a seeded choice among the valid ones, as the reference was measured.

#![expect(clippy::print_stdout, reason = "a benchmark reports to the terminal")]

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use retrospect::env::Environment;
use retrospect::env::pddl::{Domain, Game, Joining, Playing, Source, TaskId, World, generate};
use retrospect::pddl::Effort;
use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock};

const STEPS: usize = 600;

/// A problem and a walk through it.
struct Walk {
    domain: Vec<u8>,
    problem: Vec<u8>,
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

fn main() {
    let names: Vec<String> = PLACES.iter().map(|(domain, at)| format!("{} {at}", domain.word())).collect();
    println!("problems: {}; {STEPS} steps an iteration", names.join(", "));
    divan::main();
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
    let (domain, problem) = if let Some(texts) = texts(domain, at) {
        texts
    } else {
        let grade = if at == 0 { "easy" } else { "hard" };
        let id: TaskId = format!("{}/{grade}/1", domain.word()).parse().ok()?;
        (domain.text().as_bytes().to_vec(), generate(&id).ok()?.text.into_bytes())
    };
    let game = load(&domain, &problem)?;
    let mut world = World::new(Arc::clone(&game));
    let mut seed = 1_u64;
    let mut actions = Vec::with_capacity(STEPS);
    for _ in 0..STEPS {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let many = world.valid_count().max(1);
        let action = world.valid().nth((seed >> 33) as usize % many)?.to_owned();
        world.play(&action);
        actions.push(action);
    }
    Some(Walk { domain, problem, game, actions })
}

fn load(domain: &[u8], problem: &[u8]) -> Option<Arc<Game>> {
    Game::load(&Source { domain_label: "domain", domain, problem_label: "problem", problem }).ok()
}

/// One item is a text step with its list of valid actions.
#[divan::bench(args = 0..PLACES.len())]
fn step_with_valid(bencher: Bencher, at: usize) {
    let Some(walk) = WALKS.get(at) else { return };
    let mut world = World::new(Arc::clone(&walk.game));
    bencher.counter(ItemsCount::new(STEPS)).bench_local(|| {
        black_box(world.begin().len());
        for action in &walk.actions {
            black_box(world.play(action).observation.len());
            black_box(world.valid().map(str::len).sum::<usize>());
        }
    });
}

/// The same through the trait everybody else uses, with owned strings, and what is shown and true.
#[divan::bench(args = 0..PLACES.len())]
fn environment_step(bencher: Bencher, at: usize) {
    let Some(walk) = WALKS.get(at) else { return };
    let mut world = Playing::new(Arc::clone(&walk.game), Joining::Comma, None);
    bencher.counter(ItemsCount::new(STEPS)).bench_local(|| {
        black_box(world.reset().is_ok());
        for action in &walk.actions {
            black_box(world.step(action).map(|turn| turn.observation.len()).ok());
            black_box(world.admissible().map(|all| all.len()).ok());
        }
    });
}

/// One item is a problem, from the bytes of its files to its first text.
#[divan::bench(args = 0..PLACES.len())]
fn load_and_reset(bencher: Bencher, at: usize) {
    let Some(walk) = WALKS.get(at) else { return };
    bencher.bench_local(|| load(&walk.domain, &walk.problem).map(|game| World::new(game).begin().len()));
}

/// One item is a plan from the start.
#[divan::bench(args = 0..PLACES.len(), sample_count = 5, sample_size = 1)]
fn yardstick(bencher: Bencher, at: usize) {
    let Some(walk) = WALKS.get(at) else { return };
    bencher.bench_local(|| walk.game.yardstick(Effort::MODEST));
}
