//! The fixed random matrix that turns a short vector into the embeddings of a soft prompt.

use super::random::RandomNumbers;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The distribution of the matrix's entries.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProjectionKind {
    /// Uniform between -1 and 1 (the public code).
    Uniform,
    /// Normal with variance 1 (the paper's equation 2).
    Normal,
    /// Normal, so that the soft prompt is as large as the embeddings of real tokens: `deviation` is that of the entries of
    /// the model's embedding table.
    Embedding { deviation: f64 },
}

/// A matrix with a row for each number of the soft prompt and a column for each number of the vector.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    columns: usize,
    /// Row by row.
    entries: Vec<f32>,
}

impl Projection {
    /// Draws the entries row by row, so that the same arguments give the same matrix in every build.
    pub fn new(kind: ProjectionKind, rows: usize, columns: usize, seed: u64) -> Self {
        let mut numbers = RandomNumbers::from_seed(seed);
        let mut draw = || match kind {
            ProjectionKind::Uniform => numbers.symmetric(),
            ProjectionKind::Normal => numbers.normal(),
            ProjectionKind::Embedding { deviation } => {
                numbers.normal() * deviation / (columns.max(1) as f64).sqrt()
            }
        };
        Self { columns, entries: (0..rows * columns).map(|_| draw() as f32).collect() }
    }

    /// Multiplies the matrix by a vector.
    pub fn apply(&self, vector: &[f64]) -> Vec<f32> {
        let row =
            |row: &[f32]| row.iter().zip(vector).map(|(entry, value)| f64::from(*entry) * value).sum::<f64>();
        self.entries.chunks_exact(self.columns.max(1)).map(|entries| row(entries) as f32).collect()
    }

    /// The SHA-256 of the entries as little-endian numbers of four bytes, in hexadecimal digits.
    pub fn sha256(&self) -> String {
        let digest =
            self.entries.iter().fold(Sha256::new(), |hash, entry| hash.chain_update(entry.to_le_bytes()));
        format!("{:x}", digest.finalize())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A session's journal has the hash: a change makes old sessions' soft prompts irreproducible.
    #[test]
    fn the_matrix_of_a_seed_stays_the_same() {
        let hashes =
            [ProjectionKind::Uniform, ProjectionKind::Normal, ProjectionKind::Embedding { deviation: 0.02 }]
                .map(|kind| Projection::new(kind, 40, 10, 7).sha256()[..16].to_owned());
        assert_eq!(hashes, ["5c8db8c6d5690950", "33763b967c03ac58", "9f400a4f0db3a4e8"]);
    }

    #[test]
    fn entries_have_the_range_and_the_deviation_that_were_asked_for() {
        let uniform = Projection::new(ProjectionKind::Uniform, 500, 10, 1);
        assert!(uniform.entries.iter().all(|entry| (-1.0..=1.0).contains(entry)));
        let scaled = Projection::new(ProjectionKind::Embedding { deviation: 0.02 }, 5000, 10, 1);
        let squares: f64 = scaled.entries.iter().map(|entry| f64::from(*entry).powi(2)).sum();
        let deviation = (squares / scaled.entries.len() as f64).sqrt();
        let expected = 0.02 / 10.0_f64.sqrt();
        assert!((deviation / expected - 1.0).abs() < 0.02, "{deviation}");
    }

    #[test]
    fn applying_is_a_product() {
        let projection = Projection { columns: 2, entries: vec![1.0, 2.0, 3.0, 4.0] };
        assert_eq!(projection.apply(&[10.0, 1.0]), [12.0, 34.0]);
    }
}
