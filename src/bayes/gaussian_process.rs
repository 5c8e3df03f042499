//! A Gaussian process: what the rewards of tried points say about other points.

use super::coupled::Coupled;
use super::kernel::Matern;
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};
use serde::{Deserialize, Serialize};

/// The lowest variance of a prediction: expected improvement divides by its root.
const MIN_VARIANCE: f64 = 1e-12;
/// Rewards whose standard deviation is below this are treated as equal.
const MIN_DEVIATION: f64 = 1e-9;

/// Rewards shifted and scaled to mean 0 and standard deviation 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Standardised {
    pub mean: f64,
    /// The standard deviation with n - 1; 1 if the rewards are (almost) equal or there is only one.
    pub scale: f64,
    pub values: Vec<f64>,
}

impl Standardised {
    /// Scales rewards to mean 0 and standard deviation 1.
    pub fn new(rewards: &[f64]) -> Self {
        let count = rewards.len() as f64;
        let mean = if rewards.is_empty() { 0.0 } else { rewards.iter().sum::<f64>() / count };
        let squares: f64 = rewards.iter().map(|reward| (reward - mean).powi(2)).sum();
        let deviation = if rewards.len() < 2 { 0.0 } else { (squares / (count - 1.0)).sqrt() };
        let scale = if deviation < MIN_DEVIATION { 1.0 } else { deviation };
        Self { mean, scale, values: rewards.iter().map(|reward| (reward - mean) / scale).collect() }
    }
}

/// What a process is fitted to: points, their standardised rewards and, for the coupled kernel, their scores.
#[derive(Clone, Copy, Debug)]
pub struct TrainingData<'a> {
    pub points: &'a [Vec<f64>],
    pub values: &'a [f64],
    pub scores: &'a [Vec<f64>],
}

/// The hyper-parameters of a process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hyperparameters {
    /// One length scale for all dimensions, or one for each.
    #[serde(rename = "l")]
    pub lengthscales: Vec<f64>,
    /// The length scales of the scores (the coupled kernel alone).
    #[serde(rename = "l_scores", default, skip_serializing_if = "Vec::is_empty")]
    pub score_lengthscales: Vec<f64>,
    #[serde(rename = "s2")]
    pub outputscale: f64,
    /// The variance of the noise of a reward.
    pub noise: f64,
    pub mean: f64,
}

/// What a process says about a point: mean and variance of its reward without noise, and the variance before any data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    pub mean: f64,
    pub variance: f64,
    pub prior_variance: f64,
}

#[derive(Clone, Debug)]
enum Covariance {
    Matern(Matern),
    Coupled(Box<Coupled>),
}

/// A Gaussian process conditioned on training data.
#[derive(Clone, Debug)]
pub struct GaussianProcess {
    covariance: Covariance,
    points: Vec<Vec<f64>>,
    mean: f64,
    factor: Cholesky<f64, Dyn>,
    /// `(K + noise I)^-1 (y - mean)`
    weights: DVector<f64>,
    log_marginal_likelihood: f64,
}

impl GaussianProcess {
    /// Conditions a process on data. With scores and their length scales it uses the coupled kernel. Returns `None` if the
    /// covariance matrix isn't positive definite.
    pub fn new(hyper: &Hyperparameters, data: TrainingData<'_>) -> Option<Self> {
        let covariance = if hyper.score_lengthscales.is_empty() {
            Covariance::Matern(Matern::new(hyper.lengthscales.clone(), hyper.outputscale))
        } else {
            let on_points = Matern::new(hyper.lengthscales.clone(), 1.0);
            let on_scores = Matern::new(hyper.score_lengthscales.clone(), 1.0);
            let coupled = Coupled::new(on_points, &on_scores, hyper.outputscale, data.points, data.scores)?;
            Covariance::Coupled(Box::new(coupled))
        };
        let gram = match &covariance {
            Covariance::Matern(kernel) => kernel.gram(data.points),
            Covariance::Coupled(kernel) => kernel.gram().clone(),
        };
        let count = data.points.len();
        let factor = Cholesky::new(gram + DMatrix::from_diagonal_element(count, count, hyper.noise))?;
        let centred = DVector::from_iterator(count, data.values.iter().map(|value| value - hyper.mean));
        let weights = factor.solve(&centred);
        let log_determinant = 2.0 * factor.l_dirty().diagonal().map(f64::ln).sum();
        let log_marginal_likelihood =
            -0.5 * (centred.dot(&weights) + log_determinant + count as f64 * std::f64::consts::TAU.ln());
        let points = data.points.to_vec();
        Some(Self { covariance, points, mean: hyper.mean, factor, weights, log_marginal_likelihood })
    }

    /// The logarithm of the density of the training data.
    pub fn log_marginal_likelihood(&self) -> f64 {
        self.log_marginal_likelihood
    }

    /// Returns the posterior mean and variance at a point, in the units of the training data.
    pub fn predict(&self, point: &[f64]) -> Prediction {
        let (cross, prior_variance) = match &self.covariance {
            Covariance::Matern(kernel) => (kernel.cross(&self.points, point), kernel.outputscale()),
            Covariance::Coupled(kernel) => kernel.cross(&self.points, point),
        };
        let mean = self.mean + cross.dot(&self.weights);
        let mut half = cross;
        // The factor has a positive diagonal, so this succeeds.
        self.factor.l_dirty().solve_lower_triangular_mut(&mut half);
        let variance = (prior_variance - half.norm_squared()).max(MIN_VARIANCE);
        Prediction { mean, variance, prior_variance }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rewards_are_not_divided_by_zero() {
        assert_eq!(Standardised::new(&[0.3, 0.3, 0.3]).values, [0.0, 0.0, 0.0]);
        assert_eq!(Standardised::new(&[0.3]).values, [0.0]);
        assert!(Standardised::new(&[]).values.is_empty());
        let two = Standardised::new(&[1.0, 3.0]);
        assert_eq!((two.mean, two.scale), (2.0, 2.0_f64.sqrt()));
    }

    #[test]
    fn without_noise_the_mean_goes_through_the_data() {
        let points = vec![vec![-0.5], vec![0.1], vec![0.7]];
        let values = [1.0, -1.0, 0.5];
        let hyper = Hyperparameters {
            lengthscales: vec![0.4],
            score_lengthscales: vec![],
            outputscale: 1.0,
            noise: 1e-10,
            mean: 0.0,
        };
        let data = TrainingData { points: &points, values: &values, scores: &[] };
        let process = GaussianProcess::new(&hyper, data).expect("positive definite");
        for (point, value) in points.iter().zip(values) {
            let prediction = process.predict(point);
            assert!((prediction.mean - value).abs() < 1e-6, "{prediction:?}");
            assert!(prediction.variance < 1e-6, "{prediction:?}");
        }
        let far = process.predict(&[30.0]);
        assert!(far.mean.abs() < 1e-9 && (far.variance - 1.0).abs() < 1e-9, "{far:?}");
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_is_no_process() {
        let points = vec![vec![0.0], vec![0.0]];
        let hyper = Hyperparameters {
            lengthscales: vec![0.4],
            score_lengthscales: vec![],
            outputscale: 1.0,
            noise: -0.5,
            mean: 0.0,
        };
        let data = TrainingData { points: &points, values: &[0.0, 0.0], scores: &[] };
        assert!(GaussianProcess::new(&hyper, data).is_none());
    }
}
