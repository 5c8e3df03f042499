//! Random numbers that are the same in every build: a published cipher, a hash for its key, and no other crate's
//! seeding scheme.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

/// Derives the seed of one purpose from the seed of a run.
pub fn mix_seed(seed: u64, purpose: &str) -> u64 {
    let digest =
        Sha256::new().chain_update(purpose).chain_update([0]).chain_update(seed.to_le_bytes()).finalize();
    digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// A generator whose key is the hash of its seed.
#[derive(Clone, Debug)]
pub struct RandomNumbers(ChaCha8Rng);

impl RandomNumbers {
    /// Returns the generator of a seed.
    pub fn from_seed(seed: u64) -> Self {
        Self(ChaCha8Rng::from_seed(Sha256::digest(seed.to_le_bytes()).into()))
    }

    /// Draws a number between 0 and 1, never one of the two.
    pub fn unit(&mut self) -> f64 {
        (f64::from(self.0.next_u32()) + 0.5) / 4_294_967_296.0
    }

    /// Draws a number between -1 and 1, never one of the two.
    pub fn symmetric(&mut self) -> f64 {
        (f64::from(self.0.next_u32()) + 0.5) / 2_147_483_648.0 - 1.0
    }

    /// Draws from the normal distribution of mean 0 and variance 1 (Box and Muller; two uniform numbers for each).
    pub fn normal(&mut self) -> f64 {
        let (radius, angle) = (self.unit(), self.unit());
        libm::sqrt(-2.0 * libm::log(radius)) * libm::cos(std::f64::consts::TAU * angle)
    }

    /// Draws a number below `end`; 0 if `end` is 0. The bias of the division is below 2^-32 for a small `end`.
    pub fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { (self.0.next_u64() % end as u64) as usize }
    }

    /// Draws a point of the box `[low, high]^dimension`.
    pub fn point(&mut self, dimension: usize, [low, high]: [f64; 2]) -> Vec<f64> {
        (0..dimension).map(|_| low + (high - low) * self.unit()).collect()
    }

    /// Puts items in a random order; each order is equally likely.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last + 1);
            items.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Journals depend on these numbers: a change makes resumed searches differ from their beginnings.
    #[test]
    fn the_numbers_of_a_seed_stay_the_same() {
        assert_eq!(mix_seed(7, "dora.init"), MIXED);
        let mut numbers = RandomNumbers::from_seed(7);
        let drawn: Vec<u64> = (0..3).map(|_| numbers.unit().to_bits()).collect();
        assert_eq!(drawn, DRAWN);
    }

    const MIXED: u64 = 17_594_850_565_340_808_710;
    const DRAWN: [u64; 3] = [4_598_337_527_858_855_936, 4_583_251_094_800_433_152, 4_599_972_722_286_526_464];

    #[test]
    fn purposes_and_seeds_differ() {
        assert_ne!(mix_seed(7, "a"), mix_seed(7, "b"));
        assert_ne!(mix_seed(7, "a"), mix_seed(8, "a"));
    }

    #[test]
    fn normal_numbers_have_mean_0_and_variance_1() {
        let mut numbers = RandomNumbers::from_seed(3);
        let drawn: Vec<f64> = (0..20_000).map(|_| numbers.normal()).collect();
        let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
        let variance = drawn.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / drawn.len() as f64;
        assert!(mean.abs() < 0.03, "{mean}");
        assert!((variance - 1.0).abs() < 0.03, "{variance}");
    }

    #[test]
    fn a_shuffle_keeps_all_items() {
        let mut items: Vec<usize> = (0..50).collect();
        RandomNumbers::from_seed(1).shuffle(&mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}
