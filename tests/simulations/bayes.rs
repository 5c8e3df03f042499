//! How near the search comes to the largest value of known functions with DORA's 46 evaluations, beside random search with as
//! many: with a fit after each evaluation, and with one after each ten at most, as DORA does.
//!
//! `RETROSPECT_SOAK=full` runs 20 seeds of each, otherwise 3 with rare fits in two dimensions; `RETROSPECT_SOAK_SEED` selects
//! other seeds. The whole test with the usual seeds also compares the regret with botorch's from the same first points
//! (`tests/data/regret/record_botorch.py`).

use retrospect::bayes::{
    FitOptions, KernelVariant, NextPointsInputs, RandomNumbers, SearchVariant, latin_hypercube, mix_seed,
    next_points,
};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::f64::consts::{E, PI, TAU};

/// A function on `[-1, 1]^dimension` to maximise, whose largest value is 0.
struct Problem {
    name: &'static str,
    dimension: usize,
    value: fn(&[f64]) -> f64,
}

const PROBLEMS: [Problem; 3] = [
    Problem { name: "Branin", dimension: 2, value: branin },
    Problem { name: "Hartmann-6", dimension: 6, value: hartmann },
    Problem { name: "Ackley-10", dimension: 10, value: ackley },
];

const BOX: [f64; 2] = [-1.0, 1.0];
const EVALUATIONS: usize = 46;
const FIRST_POINTS: usize = 4;
/// The largest allowed ratio of our median regret to botorch's.
const LARGEST_RATIO: f64 = 1.1;

/// What `tests/data/regret/record_botorch.py` recorded.
#[derive(Deserialize)]
struct Recorded {
    evaluations: usize,
    problems: BTreeMap<String, RecordedProblem>,
}

#[derive(Deserialize)]
struct RecordedProblem {
    /// Regret by seed, from 0 on.
    botorch: Vec<f64>,
    random: Vec<f64>,
    first_points: Vec<Vec<Vec<f64>>>,
}

fn recorded() -> Recorded {
    serde_json::from_str(include_str!("../data/regret/botorch.json")).unwrap()
}

#[test]
fn regret_is_smaller_than_that_of_random_search() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let first = number("RETROSPECT_SOAK_SEED").unwrap_or(0) * 1000;
    let is_full = std::env::var("RETROSPECT_SOAK").is_ok_and(|value| value == "full");
    let (seeds, batches, problems): (_, &[usize], _) =
        if is_full { (20, &[10, 1], &PROBLEMS[..]) } else { (3, &[10], &PROBLEMS[..1]) };
    for problem in problems {
        let random = median((first..first + seeds).map(|seed| random_regret(problem, seed)));
        for &batch in batches {
            let searched = median((first..first + seeds).map(|seed| search_regret(problem, batch, seed)));
            println!(
                "{}, at most {batch} evaluations a fit: median regret {searched:.4}, random search {random:.4}, {seeds} seeds",
                problem.name
            );
            if batch == 1 && first == 0 && is_full {
                let recorded = &recorded().problems[problem.name];
                let botorch = median(recorded.botorch.iter().copied());
                println!(
                    "{}: botorch {botorch:.4}, ratio {:.2}; its random search {:.4}",
                    problem.name,
                    searched / botorch,
                    median(recorded.random.iter().copied())
                );
                assert!(
                    searched <= LARGEST_RATIO * botorch,
                    "{}: {searched}, botorch {botorch}",
                    problem.name
                );
            }
            // Ten searches of one model begin near each other: in more than two dimensions that is a local search, which
            // random search may beat from a bad start.
            if batch > 1 && problem.dimension > 2 {
                continue;
            }
            assert!(searched < random, "{}, {batch}: {searched}, random search {random}", problem.name);
        }
    }
}

fn first_points(problem: &Problem, seed: u64) -> Vec<Vec<f64>> {
    latin_hypercube(FIRST_POINTS, problem.dimension, BOX, mix_seed(seed, "dora.init"))
}

/// With `RETROSPECT_WRITE_FIRST_POINTS=FILE` they are also written for a new recording.
#[test]
fn first_points_are_those_of_the_recording() {
    if let Ok(file) = std::env::var("RETROSPECT_WRITE_FIRST_POINTS") {
        let of_problem = |problem: &Problem| (0..20).map(|seed| first_points(problem, seed)).collect();
        let all: BTreeMap<&str, Vec<Vec<Vec<f64>>>> =
            PROBLEMS.iter().map(|problem| (problem.name, of_problem(problem))).collect();
        std::fs::write(file, serde_json::to_string(&all).unwrap()).unwrap();
        return;
    }
    let recorded = recorded();
    assert_eq!(recorded.evaluations, EVALUATIONS);
    for problem in &PROBLEMS {
        let of_problem = &recorded.problems[problem.name];
        assert_eq!((of_problem.botorch.len(), of_problem.random.len()), (20, 20));
        for (seed, points) in of_problem.first_points.iter().enumerate() {
            assert_eq!(*points, first_points(problem, seed as u64), "{} {seed}", problem.name);
        }
    }
}

fn search_regret(problem: &Problem, batch: usize, seed: u64) -> f64 {
    let mut points = first_points(problem, seed);
    let mut rewards: Vec<f64> = points.iter().map(|point| (problem.value)(point)).collect();
    while points.len() < EVALUATIONS {
        let inputs = NextPointsInputs {
            dimension: problem.dimension,
            bounds: BOX,
            points: points.clone(),
            rewards: rewards.clone(),
            scores: vec![],
            kernel: KernelVariant::Paper,
            fit: FitOptions::default(),
            search: SearchVariant::Ours,
            count: 10,
            min_distance: 1e-6,
            seed: mix_seed(seed, &format!("after {}", points.len())),
            version: 1,
        };
        let found = next_points(&inputs, &mut |_| Ok(())).unwrap();
        let left = EVALUATIONS - points.len();
        for found in found.points.into_iter().take(batch.min(left)) {
            rewards.push((problem.value)(&found.v));
            points.push(found.v);
        }
    }
    -rewards.into_iter().fold(f64::NEG_INFINITY, f64::max)
}

fn random_regret(problem: &Problem, seed: u64) -> f64 {
    let mut numbers = RandomNumbers::from_seed(mix_seed(seed, "random search"));
    let values = (0..EVALUATIONS).map(|_| (problem.value)(&numbers.point(problem.dimension, BOX)));
    -values.fold(f64::NEG_INFINITY, f64::max)
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2])
}

#[test]
fn the_largest_values_are_0() {
    let branin_top = [(PI - 2.5) / 7.5, (2.275 - 7.5) / 7.5];
    assert!(branin(&branin_top).abs() < 1e-5, "{}", branin(&branin_top));
    let hartmann_top = [0.20169, 0.150_011, 0.476_874, 0.275_332, 0.311_652, 0.6573].map(|x| 2.0 * x - 1.0);
    assert!(hartmann(&hartmann_top).abs() < 1e-4, "{}", hartmann(&hartmann_top));
    assert!(ackley(&ACKLEY_TOP).abs() < 1e-9, "{}", ackley(&ACKLEY_TOP));
}

/// Branin's function on [-5, 10] x [0, 15], negated.
fn branin(point: &[f64]) -> f64 {
    let (x, y) = (2.5 + 7.5 * point[0], 7.5 + 7.5 * point[1]);
    let square = (y - 5.1 / (4.0 * PI * PI) * x * x + 5.0 / PI * x - 6.0).powi(2);
    0.397_887_357_729_739 - (square + 10.0 * (1.0 - 1.0 / (8.0 * PI)) * x.cos() + 10.0)
}

/// Hartmann's function on [0, 1]^6, negated.
fn hartmann(point: &[f64]) -> f64 {
    const A: [[f64; 6]; 4] = [
        [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
        [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
        [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
        [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
    ];
    const P: [[f64; 6]; 4] = [
        [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
        [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
        [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650],
        [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
    ];
    let term = |(weight, (a, p)): (f64, (&[f64; 6], &[f64; 6]))| {
        let squares = point.iter().zip(a).zip(p).map(|((value, a), p)| a * ((value + 1.0) / 2.0 - p).powi(2));
        weight * (-squares.sum::<f64>()).exp()
    };
    let sum: f64 = [1.0, 1.2, 3.0, 3.2].into_iter().zip(A.iter().zip(&P)).map(term).sum();
    sum - 3.322_368_011_415_515
}

/// Where Ackley's function is largest: not in the middle of the box, nor at the same place in every dimension.
const ACKLEY_TOP: [f64; 10] = [0.3, -0.2, 0.1, 0.4, -0.35, 0.25, -0.1, 0.05, -0.3, 0.2];

/// Ackley's function with its minimum moved, on [-5, 5]^10, negated.
fn ackley(point: &[f64]) -> f64 {
    let count = point.len() as f64;
    let moved: Vec<f64> = point.iter().zip(ACKLEY_TOP).map(|(value, top)| 5.0 * (value - top)).collect();
    let squares = moved.iter().map(|value| value * value).sum::<f64>() / count;
    let cosines = moved.iter().map(|value| (TAU * value).cos()).sum::<f64>() / count;
    20.0 * (-0.2 * squares.sqrt()).exp() + cosines.exp() - 20.0 - E
}
