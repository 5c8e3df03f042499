//! Random numbers seeded by a label: the same label always produces the same sequence.
//!
//! ChaCha8 is a published algorithm, its key is the SHA-256 of the label, and only integers are used, so nothing
//! depends on the platform, on a crate's seeding scheme or on floating point.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

/// A random number generator seeded by a label.
pub(in crate::env) struct LabelledRng(ChaCha8Rng);

impl LabelledRng {
    /// Creates the generator for a label.
    pub(in crate::env) fn from_label(label: &str) -> Self {
        Self(ChaCha8Rng::from_seed(Sha256::digest(label.as_bytes()).into()))
    }

    /// Draws a number in `0..sides`, or 0 if `sides` is 0. The modulo bias of a 64-bit draw is below 2^-32.
    pub(in crate::env) fn below(&mut self, sides: u32) -> u32 {
        if sides == 0 { 0 } else { (self.0.next_u64() % u64::from(sides)) as u32 }
    }

    /// Draws a number from `low` to `high`, both inclusive.
    pub(in crate::env) fn between(&mut self, low: i32, high: i32) -> i32 {
        low + self.below((high - low + 1).max(1) as u32).cast_signed()
    }

    /// Returns true with a probability of `permille` / 1000.
    pub(in crate::env) fn chance_permille(&mut self, permille: u32) -> bool {
        self.below(1000) < permille
    }

    /// Returns how many of `trials` draws of [`Self::chance_permille`] are true.
    pub(in crate::env) fn successes(&mut self, trials: u32, permille: u32) -> u32 {
        (0..trials).filter(|_| self.chance_permille(permille)).count() as u32
    }

    /// Draws one of the items by weight. Returns `None` if all weights are zero.
    pub(in crate::env) fn pick_weighted<'a, T>(
        &mut self,
        items: &'a [T],
        weight: impl Fn(&T) -> u32,
    ) -> Option<&'a T> {
        let mut left = self.below(items.iter().map(&weight).sum());
        items.iter().find(|item| {
            let own_weight = weight(item);
            let found = left < own_weight;
            left = left.saturating_sub(own_weight);
            found
        })
    }

    /// Draws one of the items with equal probability. Returns `None` if there are none.
    pub(in crate::env) fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        self.pick_weighted(items, |_| 1)
    }

    /// Shuffles the items.
    pub(in crate::env) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u32 + 1) as usize;
            items.swap(last, other);
        }
    }
}
