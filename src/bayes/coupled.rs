//! The kernel of DORA's public code, which couples points with the scores that they got.

use super::kernel::Matern;
use nalgebra::{Cholesky, DMatrix, DVector};

/// Is added to the diagonal of the points' covariances before they are inverted, as in the code. It keeps the inverse finite where
/// two points are close, and isn't a choice about the model, so it is no setting.
const JITTER: f64 = 1e-4;

/// `K(z, z') = s2 w(z)' K_S w(z')` with `w(z) = A k(X, z)` and `A = (k(X, X) + 1e-4 I)^-1`, where `k` is a Matérn
/// kernel on points, `X` the evaluated points and `K_S` a Matérn kernel on their scores. At an evaluated point it is
/// close to the covariance of the scores; far from all of them it is 0.
#[derive(Clone, Debug)]
pub(super) struct Coupled {
    on_points: Matern,
    inverse: DMatrix<f64>,
    score_gram: DMatrix<f64>,
    /// `s2 K_S W`, whose columns belong to the evaluated points.
    weighted: DMatrix<f64>,
    /// `s2 W' K_S W`
    gram: DMatrix<f64>,
    outputscale: f64,
}

impl Coupled {
    /// `points` and `scores` belong together. Returns `None` if the covariances of the points can't be inverted.
    pub(super) fn new(
        on_points: Matern,
        on_scores: &Matern,
        outputscale: f64,
        points: &[Vec<f64>],
        scores: &[Vec<f64>],
    ) -> Option<Self> {
        let point_gram = on_points.gram(points);
        let jitter = DMatrix::from_diagonal_element(points.len(), points.len(), JITTER);
        let inverse = Cholesky::new(&point_gram + jitter)?.inverse();
        let weights = &inverse * point_gram;
        let score_gram = on_scores.gram(scores);
        let weighted = &score_gram * &weights * outputscale;
        let gram = weights.transpose() * &weighted;
        // Rounding must not make it asymmetric.
        let gram = (&gram + gram.transpose()) * 0.5;
        Some(Self { on_points, inverse, score_gram, weighted, gram, outputscale })
    }

    pub(super) fn gram(&self) -> &DMatrix<f64> {
        &self.gram
    }

    /// The covariances of a point with the evaluated ones, and its own variance.
    pub(super) fn cross(&self, points: &[Vec<f64>], point: &[f64]) -> (DVector<f64>, f64) {
        let weights = &self.inverse * self.on_points.cross(points, point);
        let variance = self.outputscale * weights.dot(&(&self.score_gram * &weights));
        (self.weighted.transpose() * weights, variance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bayes::RandomNumbers;

    fn sample(count: usize) -> (Coupled, Vec<Vec<f64>>, DMatrix<f64>) {
        let mut numbers = RandomNumbers::from_seed(5);
        let points: Vec<_> = (0..count).map(|_| numbers.point(3, [-1.0, 1.0])).collect();
        let scores: Vec<_> = (0..count).map(|_| numbers.point(6, [0.0, 1.0])).collect();
        let on_scores = Matern::new(vec![0.8; 6], 1.0);
        let score_gram = on_scores.gram(&scores);
        let kernel = Coupled::new(Matern::new(vec![0.4; 3], 1.0), &on_scores, 1.7, &points, &scores);
        (kernel.expect("the points differ"), points, score_gram)
    }

    #[test]
    fn at_evaluated_points_it_is_close_to_the_covariance_of_the_scores() {
        let (kernel, points, score_gram) = sample(8);
        let expected = score_gram * 1.7;
        assert!((kernel.gram() - &expected).amax() < 5e-3 * expected.amax());
        let (cross, variance) = kernel.cross(&points, &points[2]);
        assert!((cross - kernel.gram().column(2)).amax() < 1e-12);
        assert!((variance - kernel.gram()[(2, 2)]).abs() < 1e-12);
    }

    #[test]
    fn it_is_symmetric_and_has_no_negative_eigenvalue() {
        let (kernel, _, _) = sample(20);
        let gram = kernel.gram();
        assert!((gram - gram.transpose()).amax() < 1e-15);
        let smallest = gram.clone().symmetric_eigen().eigenvalues.min();
        assert!(smallest > -1e-8, "{smallest}");
    }

    #[test]
    fn far_from_all_points_nothing_varies() {
        let (kernel, points, _) = sample(8);
        let (cross, variance) = kernel.cross(&points, &[40.0, 40.0, 40.0]);
        assert!(cross.amax() < 1e-12 && variance < 1e-12);
    }
}
