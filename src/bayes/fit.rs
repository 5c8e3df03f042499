//! Hyper-parameters that explain the rewards best: marginal likelihood and priors.

use super::evolution::{self, EvolutionOptions};
use super::gaussian_process::{GaussianProcess, Hyperparameters, TrainingData};
use super::random::RandomNumbers;
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

/// The numbers of a fit that a person may choose. The default is what every fit had before they could be chosen, so it also
/// stands for what an older journal doesn't say.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FitOptions {
    /// The generations of each start, at most.
    pub generations: usize,
    /// From how many places the fit begins; 0: as many as suit the kernel.
    pub starts: usize,
    /// The lowest variance of the noise of standardised rewards.
    pub min_noise: f64,
    /// The Gamma distribution of each length scale, by shape and rate; the next two likewise.
    pub lengthscale_prior: [f64; 2],
    /// That of the noise; the paper's kernel has none.
    pub noise_prior: [f64; 2],
    /// That of the output scale, where it is free; the coupled kernel has none.
    pub outputscale_prior: [f64; 2],
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            generations: 300,
            starts: 0,
            min_noise: 1e-4,
            lengthscale_prior: [3.0, 6.0],
            noise_prior: [1.1, 0.05],
            outputscale_prior: [2.0, 0.15],
        }
    }
}

impl FitOptions {
    /// Returns the length scales and noises from which a fit begins. After the fixed ones they are drawn, always the same.
    fn starts(&self, variant: KernelVariant) -> Vec<(f64, f64)> {
        let count = match (self.starts, variant) {
            // It has tens of length scales, and each start takes seconds.
            (0, KernelVariant::Coupled) => 1,
            (0, _) => STARTS.len(),
            (count, _) => count,
        };
        let mut numbers = RandomNumbers::from_seed(START_SEED);
        let mut between = |low: f64, high: f64| (low.ln() + numbers.unit() * (high / low).ln()).exp();
        let drawn = std::iter::repeat_with(|| (between(0.1, 2.0), between(1e-3, 0.5)));
        STARTS.iter().copied().chain(drawn).take(count).collect()
    }

    /// Returns from how many places a fit begins, and how many generations each has at most.
    pub(super) fn searches(&self, variant: KernelVariant) -> (u64, u64) {
        (self.starts(variant).len() as u64, self.generations as u64)
    }
}

/// The range of the logarithm of a length scale. It and the next two only keep the numbers finite: the priors' densities at their
/// ends are as good as 0. So they aren't options.
const LENGTHSCALE: [f64; 2] = [-7.0, 5.0];
/// The highest logarithm of the noise's variance.
const MAX_LOG_NOISE: f64 = 5.0;
/// The range of the logarithm of the output scale.
const OUTPUTSCALE: [f64; 2] = [-7.0, 7.0];
/// The first length scales and noises from which a fit starts.
const STARTS: [(f64, f64); 4] = [(0.33, 0.01), (0.5, 0.1), (1.0, 0.001), (0.2, 0.5)];
/// The seed of further ones.
const START_SEED: u64 = 4;
/// The first step of the search in each direction, in logarithms. The search adapts it by itself, so it isn't an option.
const STEP: f64 = 0.7;
/// The value of hyper-parameters whose covariance matrix isn't positive definite: any number below all others.
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
    options: &FitOptions,
    mut on_generation: impl FnMut(u64) -> Result<(), String>,
) -> Result<Fitted, String> {
    check(variant, data, options)?;
    let bounds = bounds(variant, data, options);
    let value = |parameters: &[f64]| {
        let (inside, overshoot) = evolution::clamp(parameters, bounds.iter().copied());
        let hyper = hyperparameters(variant, data, &inside);
        match GaussianProcess::new(&hyper, data) {
            Some(process) if process.log_marginal_likelihood().is_finite() => {
                process.log_marginal_likelihood() + log_prior(variant, &hyper, options) - overshoot
            }
            _ => IMPOSSIBLE,
        }
    };
    let mut best: Option<(Vec<f64>, f64)> = None;
    let generations = options.generations;
    for (index, (lengthscale, noise)) in options.starts(variant).into_iter().enumerate() {
        let start = start(variant, data, lengthscale, noise.max(options.min_noise));
        let evolution = EvolutionOptions { step: STEP, population: None, generations, seed: index as u64 };
        let mut done = (index * generations) as u64;
        let found = evolution::maximise(value, &start, evolution, || {
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
    let objective = process.log_marginal_likelihood() + log_prior(variant, &hyper, options);
    Ok(Fitted { hyper, objective, process })
}

/// Says what is wrong with data from outside, such as a journal that was edited.
fn check(variant: KernelVariant, data: TrainingData<'_>, options: &FitOptions) -> Result<(), String> {
    let dimension = data.points.first().ok_or("there are no points to fit a process to")?.len();
    let numbers = data.points.iter().flatten().chain(data.values).chain(data.scores.iter().flatten());
    let coupled = variant == KernelVariant::Coupled;
    let score_count = data.scores.first().map_or(0, Vec::len);
    let priors = [options.lengthscale_prior, options.noise_prior, options.outputscale_prior];
    let mut positive = priors.as_flattened().iter().chain([&options.min_noise]);
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
    } else if options.generations == 0 || !positive.all(|number| number.is_finite() && *number > 0.0) {
        "the fit has no generations, or its lowest noise or a prior's shape or rate is not a positive number"
    } else {
        return Ok(());
    };
    Err(problem.to_owned())
}

/// The ranges of the parameters of a search: the logarithms of length scales, noise and output scale, and the mean.
fn bounds(variant: KernelVariant, data: TrainingData<'_>, options: &FitOptions) -> Vec<[f64; 2]> {
    let (points, scores) = variant.lengthscales(data);
    let mut bounds = vec![LENGTHSCALE; points + scores];
    bounds.push([options.min_noise.ln(), MAX_LOG_NOISE]);
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
pub fn log_prior(variant: KernelVariant, hyper: &Hyperparameters, options: &FitOptions) -> f64 {
    let lengthscales = hyper.lengthscales.iter().chain(&hyper.score_lengthscales);
    let mut log_density: f64 =
        lengthscales.map(|length| log_gamma_density(*length, options.lengthscale_prior)).sum();
    if variant != KernelVariant::Paper {
        log_density += log_gamma_density(hyper.noise, options.noise_prior);
    }
    if matches!(variant, KernelVariant::Scaled | KernelVariant::Ard) {
        log_density += log_gamma_density(hyper.outputscale, options.outputscale_prior);
    }
    log_density
}

fn log_gamma_density(value: f64, [shape, rate]: [f64; 2]) -> f64 {
    shape * rate.ln() - libm::lgamma(shape) + (shape - 1.0) * value.ln() - rate * value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bayes::RandomNumbers;

    fn fit_quietly(variant: KernelVariant, data: TrainingData<'_>) -> Result<Fitted, String> {
        fit(variant, data, &FitOptions::default(), |_| Ok(()))
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
        let ended = fit(KernelVariant::Paper, data, &FitOptions::default(), |done| {
            if done < 5 { Ok(()) } else { Err("stop".to_owned()) }
        });
        assert_eq!(ended.map(|_| ()), Err("stop".to_owned()));
    }

    fn fit_with(options: FitOptions) -> Result<Fitted, String> {
        let points: Vec<Vec<f64>> = (0..8).map(|index| vec![f64::from(index) / 4.0 - 1.0]).collect();
        let values: Vec<f64> = points.iter().map(|point| (3.0 * point[0]).sin()).collect();
        let data = TrainingData { points: &points, values: &values, scores: &[] };
        fit(KernelVariant::Scaled, data, &options, |_| Ok(()))
    }

    /// Each option changes what is fitted, in the direction that its name says.
    #[test]
    fn options_lead_the_fit() {
        let options = FitOptions::default();
        let usual = fit_with(options).expect("the data can be fitted");
        assert!(usual.hyper.noise < 2e-3, "{:?}", usual.hyper);
        let noisy = fit_with(FitOptions { min_noise: 0.3, ..options }).expect("the data can be fitted");
        assert!(noisy.hyper.noise >= 0.3 - 1e-9, "{:?}", noisy.hyper);
        // Priors with a mean of 4 and a small variance.
        let long = fit_with(FitOptions { lengthscale_prior: [400.0, 100.0], ..options });
        assert!(long.expect("the data can be fitted").hyper.lengthscales[0] > 3.0);
        let noisy = fit_with(FitOptions { noise_prior: [400.0, 100.0], ..options });
        assert!(noisy.expect("the data can be fitted").hyper.noise > 3.0);
        let high = fit_with(FitOptions { outputscale_prior: [400.0, 100.0], ..options });
        assert!(high.expect("the data can be fitted").hyper.outputscale > 3.0);
        let hasty = fit_with(FitOptions { generations: 1, starts: 1, ..options });
        assert!(hasty.expect("the data can be fitted").objective < usual.objective - 1e-3);
        let patient = fit_with(FitOptions { starts: 9, ..options }).expect("the data can be fitted");
        assert!(patient.objective >= usual.objective);
        for wrong in [
            FitOptions { generations: 0, ..options },
            FitOptions { min_noise: 0.0, ..options },
            FitOptions { noise_prior: [1.0, -1.0], ..options },
        ] {
            assert!(
                fit_with(wrong).is_err_and(|why| why.contains("the fit has no generations")),
                "{wrong:?}"
            );
        }
    }

    #[test]
    fn a_fit_begins_at_as_many_places_as_were_asked_for() {
        let starts = |starts, variant| FitOptions { starts, ..FitOptions::default() }.starts(variant);
        assert_eq!(starts(0, KernelVariant::Paper), STARTS);
        assert_eq!(starts(0, KernelVariant::Coupled), STARTS[..1]);
        assert_eq!(starts(2, KernelVariant::Coupled), STARTS[..2]);
        let many = starts(20, KernelVariant::Paper);
        assert_eq!((many.len(), &many[..4]), (20, &STARTS[..]));
        assert_eq!(many, starts(20, KernelVariant::Ard));
        assert!(
            many.iter().all(|(length, noise)| (0.1..=2.0).contains(length) && (1e-3..=0.5).contains(noise))
        );
        assert!(many[4] != many[5], "{many:?}");
    }
}
