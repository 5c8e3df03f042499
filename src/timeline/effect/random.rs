//! The random numbers of a measurement: the order of its tasks and the seeds of its pairs (sections 2 and 4.5 of
//! `docs/EFFECT.md`). They are part of the results, so they depend on no library.

use sha2::{Digest, Sha256};

/// The generator splitmix64. Its state is the seed; equal seeds give equal numbers on every platform.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Creates a generator whose state is `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns an index below `end`, or 0 if `end` is 0: the upper half of the product of the next number and `end`.
    pub fn index_below(&mut self, end: usize) -> usize {
        ((u128::from(self.next_u64()) * end as u128) >> 64) as usize
    }

    /// Returns a number in [0, 1) with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Shuffles a list (Fisher-Yates, from the last position to the second).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.index_below(last + 1);
            items.swap(last, other);
        }
    }
}

/// Returns the order in which a measurement plays its tasks, as indices into their list, which was made in blocks of these
/// lengths. Task lists are often sorted by type, and a measurement that stops early must not have seen one type only. Each block is
/// in random order, so that a longer list only continues the order of a shorter one.
pub fn block_order(blocks: &[usize], measurement_seed: u64) -> Vec<usize> {
    let mut random = SplitMix64::new(measurement_seed);
    let mut order: Vec<usize> = Vec::new();
    for block in blocks {
        let mut indices: Vec<usize> = (order.len()..order.len() + block).collect();
        random.shuffle(&mut indices);
        order.extend(indices);
    }
    order
}

/// Returns the sample seed of a pair's repeat, both counted from 1. All arms of the pair share it, so that they draw
/// the same random numbers.
pub fn sample_seed(measurement_seed: u64, pair: u64, repeat: u64) -> u64 {
    let mut hash = Sha256::new();
    hash.update(b"retrospect effect");
    for part in [measurement_seed, pair, repeat] {
        hash.update(part.to_be_bytes());
    }
    let digest: [u8; 32] = hash.finalize().into();
    digest.iter().take(8).fold(0, |seed, byte| seed << 8 | u64::from(*byte))
}
