//! Chance with a name: the same label throws the same numbers for ever.
//!
//! ChaCha8 is a published algorithm, its key is the SHA-256 of the label, and only whole numbers are used; nothing
//! here depends on a platform, a crate's idea of seeding, or floating point.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

/// A source of chance.
pub(in crate::env) struct LabelledRng(ChaCha8Rng);

impl LabelledRng {
    /// The dice that belong to a label.
    pub(in crate::env) fn from_label(label: &str) -> Self {
        Self(ChaCha8Rng::from_seed(Sha256::digest(label.as_bytes()).into()))
    }

    /// A number from 0 to `sides` - 1; 0 where there are no sides. The bias of a remainder of 64 bits is below 2^-32.
    pub(in crate::env) fn below(&mut self, sides: u32) -> u32 {
        if sides == 0 { 0 } else { (self.0.next_u64() % u64::from(sides)) as u32 }
    }

    /// A number from `low` to `high`, both included.
    pub(in crate::env) fn between(&mut self, low: i32, high: i32) -> i32 {
        low + self.below((high - low + 1).max(1) as u32).cast_signed()
    }

    /// True in `permille` of 1000 throws.
    pub(in crate::env) fn chance(&mut self, permille: u32) -> bool {
        self.below(1000) < permille
    }

    /// How many of `trials` throws of [`Self::chance`] come true.
    pub(in crate::env) fn successes(&mut self, trials: u32, permille: u32) -> u32 {
        (0..trials).filter(|_| self.chance(permille)).count() as u32
    }

    /// One of the items, by weight; none where all weights are zero.
    pub(in crate::env) fn pick_weighted<'a, T>(
        &mut self,
        items: &'a [T],
        weight: impl Fn(&T) -> u32,
    ) -> Option<&'a T> {
        let mut left = self.below(items.iter().map(&weight).sum());
        items.iter().find(|item| {
            let own = weight(item);
            let found = left < own;
            left = left.saturating_sub(own);
            found
        })
    }

    /// One of the items, each as likely as the next; none where there are none.
    pub(in crate::env) fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        self.pick_weighted(items, |_| 1)
    }

    /// Puts the items into a random order.
    pub(in crate::env) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u32 + 1) as usize;
            items.swap(last, other);
        }
    }
}
