//! The Matérn kernel with smoothness 5/2.

use nalgebra::{DMatrix, DVector};

/// A Matérn kernel with one length scale for all dimensions, or one for each.
#[derive(Clone, Debug)]
pub(super) struct Matern {
    lengthscales: Vec<f64>,
    outputscale: f64,
}

impl Matern {
    /// `lengthscales` has one number, or as many as the points.
    pub(super) fn new(lengthscales: Vec<f64>, outputscale: f64) -> Self {
        Self { lengthscales, outputscale }
    }

    pub(super) fn outputscale(&self) -> f64 {
        self.outputscale
    }

    pub(super) fn covariance(&self, a: &[f64], b: &[f64]) -> f64 {
        // The last length scale also holds for the dimensions after it: a single one is that of all dimensions.
        let last = self.lengthscales.last().copied().unwrap_or(1.0);
        let lengths = self.lengthscales.iter().copied().chain(std::iter::repeat(last));
        let squared: f64 =
            a.iter().zip(b).zip(lengths).map(|((a, b), length)| ((a - b) / length).powi(2)).sum();
        let q = (5.0 * squared).sqrt();
        self.outputscale * (1.0 + q + q * q / 3.0) * (-q).exp()
    }

    /// The covariances of all pairs of points.
    pub(super) fn gram(&self, points: &[Vec<f64>]) -> DMatrix<f64> {
        let mut gram = DMatrix::from_element(points.len(), points.len(), self.outputscale);
        for row in 0..points.len() {
            for column in 0..row {
                let value = self.covariance(&points[row], &points[column]);
                gram[(row, column)] = value;
                gram[(column, row)] = value;
            }
        }
        gram
    }

    /// The covariances of a point with all others.
    pub(super) fn cross(&self, points: &[Vec<f64>], point: &[f64]) -> DVector<f64> {
        DVector::from_iterator(points.len(), points.iter().map(|other| self.covariance(other, point)))
    }
}
