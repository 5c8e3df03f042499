//! Compares the Gaussian process and expected improvement with the golden numbers of botorch: predictions, expected
//! improvement, marginal likelihood and priors at given hyper-parameters; and the own fit and search with the best found.

use super::{Outcome, recordings};
use retrospect::bayes::{
    FitOptions, GaussianProcess, Hyperparameters, KernelVariant, NextPointsInputs, SearchVariant,
    Standardised, TrainingData, expected_improvement, fit, log_prior, maximise_improvement, next_points,
};
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};

/// Predictions, likelihoods and priors at given hyper-parameters.
const EXACT: f64 = 1e-9;
/// How far below the stored optimum the own fit may end.
const FIT: f64 = 1e-4;
/// The least share of the stored largest expected improvement that the own search must reach.
const SEARCH_SHARE: f64 = 0.98;

#[derive(Deserialize)]
struct File {
    name: String,
    d: usize,
    #[serde(rename = "box")]
    bounds: [f64; 2],
    #[serde(rename = "X")]
    x: Vec<Vec<f64>>,
    y_raw: Vec<f64>,
    y: Vec<f64>,
    #[serde(rename = "X_test")]
    x_test: Vec<Vec<f64>>,
    fixed: Vec<Block>,
    fitted: Vec<Block>,
}

#[derive(Deserialize)]
struct Block {
    variant: KernelVariant,
    hyper: Hyper,
    best_f: f64,
    mean: Vec<f64>,
    variance_latent: Vec<f64>,
    variance_observed: Vec<f64>,
    ei: Vec<f64>,
    log_ei: Vec<f64>,
    log_marginal_likelihood: f64,
    log_prior: Option<f64>,
    map_objective: Option<f64>,
    max_ei: Option<MaxEi>,
}

#[derive(Deserialize)]
struct Hyper {
    lengthscale: Vec<f64>,
    outputscale: Option<f64>,
    noise: f64,
    mean: Option<f64>,
}

#[derive(Deserialize)]
struct MaxEi {
    ei: f64,
}

pub(crate) fn compare_all() -> Outcome {
    let root = recordings("bayesopt");
    if !root.is_dir() {
        return Outcome { skipped: vec![format!("no {}", root.display())], ..Outcome::default() };
    }
    let mut outcome = Outcome::default();
    let files = golden_files(&root).unwrap_or_else(|reason| {
        outcome.failures.push(reason);
        Vec::new()
    });
    for file in &files {
        match compare(file) {
            Ok(blocks) => outcome.passed += blocks,
            Err(reason) => outcome.failures.push(format!("{}: {reason}", file.display())),
        }
    }
    outcome.compared = format!("{} files", files.len());
    outcome
}

fn golden_files(root: &Path) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for entry in fs::read_dir(root).map_err(|error| format!("{}: {error}", root.display()))? {
        let path = entry.map_err(|error| format!("{}: {error}", root.display()))?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Compares a file. Returns the number of its blocks.
fn compare(path: &Path) -> Result<usize, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let file: File = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let standardised = Standardised::new(&file.y_raw);
    expect_near("standardised rewards", &standardised.values, &file.y)?;
    for block in &file.fixed {
        compare_predictions(&file, block).map_err(|reason| format!("fixed {:?}: {reason}", block.variant))?;
    }
    for block in &file.fitted {
        compare_predictions(&file, block)
            .and_then(|()| compare_fit(&file, block))
            .map_err(|reason| format!("fitted {:?}: {reason}", block.variant))?;
    }
    check_next_points(&file)?;
    Ok(file.fixed.len() + file.fitted.len())
}

fn data(file: &File) -> TrainingData<'_> {
    TrainingData { points: &file.x, values: &file.y, scores: &[] }
}

fn compare_predictions(file: &File, block: &Block) -> Result<(), String> {
    let hyper = Hyperparameters {
        lengthscales: block.hyper.lengthscale.clone(),
        score_lengthscales: vec![],
        outputscale: block.hyper.outputscale.unwrap_or(1.0),
        noise: block.hyper.noise,
        mean: block.hyper.mean.unwrap_or(0.0),
    };
    let process = GaussianProcess::new(&hyper, data(file)).ok_or("not positive definite")?;
    let predictions: Vec<_> = file.x_test.iter().map(|point| process.predict(point)).collect();
    let improvements: Vec<_> =
        predictions.iter().map(|prediction| expected_improvement(*prediction, block.best_f)).collect();
    let column =
        |value: fn(&retrospect::bayes::Prediction) -> f64| predictions.iter().map(value).collect::<Vec<_>>();
    expect_near("mean", &column(|prediction| prediction.mean), &block.mean)?;
    let variance = column(|prediction| prediction.variance);
    expect_near("variance", &variance, &block.variance_latent)?;
    let observed: Vec<f64> = variance.iter().map(|variance| variance + hyper.noise).collect();
    expect_near("variance with noise", &observed, &block.variance_observed)?;
    expect_near("ei", &improvements.iter().map(|value| value.ei).collect::<Vec<_>>(), &block.ei)?;
    expect_near_relative(
        "log ei",
        &improvements.iter().map(|value| value.log_ei).collect::<Vec<_>>(),
        &block.log_ei,
    )?;
    let likelihood = process.log_marginal_likelihood();
    expect_near("log marginal likelihood", &[likelihood], &[block.log_marginal_likelihood])?;
    let prior = log_prior(block.variant, &hyper, &FitOptions::default());
    expect_near("log prior", &[prior], &[block.log_prior.unwrap_or(prior)])?;
    expect_near("objective", &[likelihood + prior], &[block.map_objective.unwrap_or(likelihood + prior)])
}

/// Compares the own fit, and the own search at the own fit, with the best that is known.
fn compare_fit(file: &File, block: &Block) -> Result<(), String> {
    let stored = block.map_objective.ok_or("no stored objective")?;
    let fitted = fit(block.variant, data(file), &FitOptions::default(), |_| Ok(()))?;
    if fitted.objective.is_nan() || fitted.objective < stored - FIT {
        return Err(format!("own objective {}, stored {stored}", fitted.objective));
    }
    let largest = block.max_ei.as_ref().ok_or("no stored largest expected improvement")?.ei;
    let mut order: Vec<usize> = (0..file.x.len()).collect();
    order.sort_by(|a, b| file.y[*b].total_cmp(&file.y[*a]));
    let plan = SearchVariant::Ours.plan();
    let mut found = 0.0_f64;
    for (seed, index) in order.iter().take(10).enumerate() {
        let start = &file.x[*index];
        let (point, improvement) = maximise_improvement(
            &fitted.process,
            block.best_f,
            file.bounds,
            start,
            plan,
            seed as u64,
            || Ok(()),
        )?;
        if point.len() != file.d
            || point.iter().any(|value| !(file.bounds[0]..=file.bounds[1]).contains(value))
        {
            return Err(format!("{point:?} is not in the box"));
        }
        found = found.max(improvement.ei);
    }
    println!(
        "{} {:?}: objective {:+.1e}, ei {:.5} of the stored one",
        file.name,
        block.variant,
        fitted.objective - stored,
        found / largest
    );
    if found < SEARCH_SHARE * largest {
        return Err(format!("own largest expected improvement {found}, stored {largest}"));
    }
    Ok(())
}

/// What a method asks for must be numbers in the box, also where all rewards are equal or points are repeated.
fn check_next_points(file: &File) -> Result<(), String> {
    let inputs = NextPointsInputs {
        dimension: file.d,
        bounds: file.bounds,
        points: file.x.clone(),
        rewards: file.y_raw.clone(),
        scores: vec![],
        kernel: KernelVariant::Paper,
        fit: FitOptions::default(),
        search: SearchVariant::Ours,
        count: 10,
        min_distance: 1e-6,
        seed: 1,
        version: 1,
    };
    let found = next_points(&inputs, &mut |_| Ok(()))?;
    let numbers = found.points.iter().flat_map(|point| {
        point.v.iter().copied().chain([
            point.improvement.ei,
            point.improvement.log_ei,
            point.mean,
            point.deviation,
        ])
    });
    let finite = numbers.chain([found.objective, found.blind, found.y_mean, found.y_std]).all(f64::is_finite);
    if finite && !found.points.is_empty() { Ok(()) } else { Err(format!("next points: {found:?}")) }
}

fn expect_near(name: &str, ours: &[f64], stored: &[f64]) -> Result<(), String> {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= EXACT;
    if ours.len() == stored.len() && ours.iter().zip(stored).all(near) {
        Ok(())
    } else {
        Err(format!("{name} {ours:?}, stored {stored:?}"))
    }
}

/// As [`expect_near`], for numbers that can be large.
fn expect_near_relative(name: &str, ours: &[f64], stored: &[f64]) -> Result<(), String> {
    let scaled = |values: &[f64]| -> Vec<f64> {
        values.iter().zip(stored).map(|(value, stored)| value / stored.abs().max(1.0)).collect()
    };
    expect_near(name, &scaled(ours), &scaled(stored))
}
