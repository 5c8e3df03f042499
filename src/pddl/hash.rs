//! Maps with a fast hash function. Their sizes are bounded by [`super::limits`], so a file crafted to cause collisions
//! costs only time within those bounds.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// A map with a fast hash function.
pub type FastMap<K, V> = HashMap<K, V, BuildHasherDefault<FoldHasher>>;
/// A set with a fast hash function.
pub type FastSet<K> = HashSet<K, BuildHasherDefault<FoldHasher>>;

/// A hasher that multiplies each word into 128 bits and folds the halves together.
#[derive(Clone, Copy, Debug, Default)]
pub struct FoldHasher(u64);

impl FoldHasher {
    fn mix(&mut self, word: u64) {
        const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
        let wide = u128::from(self.0.rotate_left(23) ^ word ^ ODD) * u128::from(ODD ^ 0x5851_F42D_4C95_7F2D);
        self.0 = (wide as u64) ^ ((wide >> 64) as u64);
    }
}

impl Hasher for FoldHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.mix(u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            self.mix(u64::from_le_bytes(last) ^ ((rest.len() as u64) << 56));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.mix(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.mix(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.mix(value);
    }

    fn write_usize(&mut self, value: usize) {
        self.mix(value as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
