//! Hyper-parameters that explain the rewards best: marginal likelihood and priors.

use super::evolution::{self, EvolutionOptions};
use super::gaussian_process::{GaussianProcess, Hyperparameters, TrainingData};
use serde::{Deserialize, Serialize};

/// Which hyper-parameters are free, and their priors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KernelVariant {
    /// The paper's: one length scale and the noise; the output scale is 1 and the mean 0.
    Paper,
    /// Also the output scale.
    Scaled,
    /// One length scale for each dimension, the output scale and the mean.
    Ard,
    /// The public code's: points coupled with their scores.
    Coupled,
}

/// The range of the logarithm of a length scale.
const LENGTHSCALE: [f64; 2] = [-7.0, 5.0];
/// The range of the logarithm of the noise's variance; the lowest is that of 1e-4.
const NOISE: [f64; 2] = [-9.210_340_371_976_182, 5.0];
/// The range of the logarithm of the output scale.
const OUTPUTSCALE: [f64; 2] = [-7.0, 7.0];
/// The length scales and noises from which a fit starts.
const STARTS: [(f64, f64); 4] = [(0.33, 0.01), (0.5, 0.1), (1.0, 0.001), (0.2, 0.5)];
/// The generations of each start.
const GENERATIONS: usize = 300;
const STEP: f64 = 0.7;
/// The value of hyper-parameters whose covariance matrix isn't positive definite.
const IMPOSSIBLE: f64 = -1e12;

impl KernelVariant {
    fn has_outputscale(self) -> bool {
        self != Self::Paper
    }

    fn has_mean(self) -> bool {
        matches!(self, Self::Ard | Self::Coupled)
    }

    /// The number of length scales of points and of scores.
    fn lengthscales(self, data: TrainingData<'_>) -> (usize, usize) {
        let dimension = data.points.first().map_or(1, Vec::len);
        match self {
            Self::Paper | Self::Scaled => (1, 0),
            Self::Ard => (dimension, 0),
            Self::Coupled => (dimension, data.scores.first().map_or(0, Vec::len)),
        }
    }

    /// The coupled kernel has tens of length scales, and each start takes seconds.
    fn starts(self) -> &'static [(f64, f64)] {
        if self == Self::Coupled { &STARTS[..1] } else { &STARTS }
    }

    /// How many generations a fit has at most.
    pub(super) fn generations(self) -> u64 {
        (self.starts().len() * GENERATIONS) as u64
    }
}

/// A fitted process.
#[derive(Clone, Debug)]
pub struct Fitted {
    pub hyper: Hyperparameters,
    /// The log marginal likelihood plus the logarithms of the priors.
    pub objective: f64,
    pub process: GaussianProcess,
}

/// Fits the hyper-parameters to data. `on_generation` is called with the generations done.
///
/// # Errors
/// Returns the error of `on_generation`, or says that there is nothing to fit.
pub fn fit(
    variant: KernelVariant,
    data: TrainingData<'_>,
    mut on_generation: impl FnMut(u64) -> Result<(), String>,
) -> Result<Fitted, String> {
    check(variant, data)?;
    let bounds = bounds(variant, data);
    let value = |parameters: &[f64]| {
        let (inside, overshoot) = evolution::clamp(parameters, bounds.iter().copied());
        let hyper = hyperparameters(variant, data, &inside);
        match GaussianProcess::new(&hyper, data) {
            Some(process) if process.log_marginal_likelihood().is_finite() => {
                process.log_marginal_likelihood() + log_prior(variant, &hyper) - overshoot
            }
            _ => IMPOSSIBLE,
        }
    };
    let mut best: Option<(Vec<f64>, f64)> = None;
    for (index, &(lengthscale, noise)) in variant.starts().iter().enumerate() {
        let start = start(variant, data, lengthscale, noise);
        let options =
            EvolutionOptions { step: STEP, population: None, generations: GENERATIONS, seed: index as u64 };
        let mut done = (index * GENERATIONS) as u64;
        let found = evolution::maximise(value, &start, options, || {
            done += 1;
            on_generation(done)
        })?;
        if best.as_ref().is_none_or(|best| found.1 > best.1) {
            best = Some(found);
        }
    }
    let (parameters, _) = best.ok_or("the fit has no start")?;
    let (inside, _) = evolution::clamp(&parameters, bounds.iter().copied());
    let hyper = hyperparameters(variant, data, &inside);
    let process = GaussianProcess::new(&hyper, data)
        .ok_or_else(|| format!("no process fits the {} rewards: {hyper:?}", data.values.len()))?;
    let objective = process.log_marginal_likelihood() + log_prior(variant, &hyper);
    Ok(Fitted { hyper, objective, process })
}

/// Says what is wrong with data from outside, such as a journal that was edited.
fn check(variant: KernelVariant, data: TrainingData<'_>) -> Result<(), String> {
    let dimension = data.points.first().ok_or("there are no points to fit a process to")?.len();
    let numbers = data.points.iter().flatten().chain(data.values).chain(data.scores.iter().flatten());
    let coupled = variant == KernelVariant::Coupled;
    let score_count = data.scores.first().map_or(0, Vec::len);
    let problem = if dimension == 0 || data.points.iter().any(|point| point.len() != dimension) {
        "the points have different dimensions, or none"
    } else if data.values.len() != data.points.len() {
        "there are more or fewer rewards than points"
    } else if coupled && data.scores.len() != data.points.len() {
        "the coupled kernel needs the scores of each point"
    } else if coupled && (score_count == 0 || data.scores.iter().any(|scores| scores.len() != score_count)) {
        "the points have different numbers of scores, or none"
    } else if numbers.copied().any(|number| !number.is_finite()) {
        "a point, reward or score is not a finite number"
    } else {
        return Ok(());
    };
    Err(problem.to_owned())
}

/// The ranges of the parameters of a search: the logarithms of length scales, noise and output scale, and the mean.
fn bounds(variant: KernelVariant, data: TrainingData<'_>) -> Vec<[f64; 2]> {
    let (points, scores) = variant.lengthscales(data);
    let mut bounds = vec![LENGTHSCALE; points + scores];
    bounds.push(NOISE);
    if variant.has_outputscale() {
        bounds.push(OUTPUTSCALE);
    }
    if variant.has_mean() {
        bounds.push([f64::NEG_INFINITY, f64::INFINITY]);
    }
    bounds
}

fn start(variant: KernelVariant, data: TrainingData<'_>, lengthscale: f64, noise: f64) -> Vec<f64> {
    let (points, scores) = variant.lengthscales(data);
    let mut start = vec![lengthscale.ln(); points + scores];
    start.push(noise.ln());
    // The logarithm of an output scale of 1, and a mean of 0.
    start.resize(start.len() + usize::from(variant.has_outputscale()) + usize::from(variant.has_mean()), 0.0);
    start
}

fn hyperparameters(variant: KernelVariant, data: TrainingData<'_>, parameters: &[f64]) -> Hyperparameters {
    let (points, scores) = variant.lengthscales(data);
    let mut parameters = parameters.iter().copied();
    let mut lengthscales: Vec<f64> = parameters.by_ref().take(points + scores).map(f64::exp).collect();
    let score_lengthscales = lengthscales.split_off(points);
    let mut next_log = || parameters.next().unwrap_or(0.0);
    let noise = next_log().exp();
    let outputscale = if variant.has_outputscale() { next_log().exp() } else { 1.0 };
    let mean = if variant.has_mean() { next_log() } else { 0.0 };
    Hyperparameters { lengthscales, score_lengthscales, outputscale, noise, mean }
}

/// The logarithm of the priors' density, taken at the hyper-parameters themselves. Gamma distributions by shape and rate.
pub fn log_prior(variant: KernelVariant, hyper: &Hyperparameters) -> f64 {
    let lengthscales = hyper.lengthscales.iter().chain(&hyper.score_lengthscales);
    let mut log_density: f64 = lengthscales.map(|length| log_gamma_density(*length, 3.0, 6.0)).sum();
    if variant != KernelVariant::Paper {
        log_density += log_gamma_density(hyper.noise, 1.1, 0.05);
    }
    if matches!(variant, KernelVariant::Scaled | KernelVariant::Ard) {
        log_density += log_gamma_density(hyper.outputscale, 2.0, 0.15);
    }
    log_density
}

fn log_gamma_density(value: f64, shape: f64, rate: f64) -> f64 {
    shape * rate.ln() - libm::lgamma(shape) + (shape - 1.0) * value.ln() - rate * value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bayes::RandomNumbers;

    fn fit_quietly(variant: KernelVariant, data: TrainingData<'_>) -> Result<Fitted, String> {
        fit(variant, data, |_| Ok(()))
    }

    #[test]
    fn every_variant_fits_noise_free_values_within_their_range() {
        let mut numbers = RandomNumbers::from_seed(2);
        let points: Vec<_> = (0..8).map(|_| numbers.point(2, [-1.0, 1.0])).collect();
        let values: Vec<f64> = points.iter().map(|point| point[0] - point[1]).collect();
        let scores: Vec<_> = values.iter().map(|value| vec![*value, 1.0 - value]).collect();
        let data = TrainingData { points: &points, values: &values, scores: &scores };
        for variant in
            [KernelVariant::Paper, KernelVariant::Scaled, KernelVariant::Ard, KernelVariant::Coupled]
        {
            let fitted = fit_quietly(variant, data).expect("the data can be fitted");
            assert!(fitted.hyper.noise >= 1e-4 - 1e-12, "{variant:?}: {:?}", fitted.hyper);
            let (first, last) = (fitted.process.predict(&points[0]), fitted.process.predict(&points[7]));
            assert_eq!(first.mean > last.mean, values[0] > values[7], "{variant:?}");
            assert_eq!(fitted.hyper.lengthscales.len(), variant.lengthscales(data).0, "{variant:?}");
        }
    }

    #[test]
    fn unusable_data_is_an_error_that_says_why() {
        let point = vec![0.0, 1.0];
        type Case<'a> = (KernelVariant, &'a [Vec<f64>], &'a [f64], &'a str);
        let cases: [Case<'_>; 5] = [
            (KernelVariant::Paper, &[], &[], "no points"),
            (KernelVariant::Paper, &[vec![]], &[1.0], "dimensions"),
            (KernelVariant::Paper, std::slice::from_ref(&point), &[], "rewards"),
            (KernelVariant::Paper, std::slice::from_ref(&point), &[f64::NAN], "finite"),
            (KernelVariant::Coupled, std::slice::from_ref(&point), &[1.0], "scores"),
        ];
        for (variant, points, values, reason) in cases {
            let message = fit_quietly(variant, TrainingData { points, values, scores: &[] }).map(|_| ());
            assert!(message.as_ref().is_err_and(|message| message.contains(reason)), "{message:?}");
        }
    }

    #[test]
    fn a_report_that_fails_ends_the_fit() {
        let points = vec![vec![0.0], vec![0.5]];
        let data = TrainingData { points: &points, values: &[1.0, -1.0], scores: &[] };
        let ended =
            fit(KernelVariant::Paper, data, |done| if done < 5 { Ok(()) } else { Err("stop".to_owned()) });
        assert_eq!(ended.map(|_| ()), Err("stop".to_owned()));
    }
}
