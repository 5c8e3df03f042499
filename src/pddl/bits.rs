//! A fixed-size bit set.

/// A fixed-size bit set, initially all false.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bits {
    words: Vec<u64>,
}

impl Bits {
    /// Creates a set of `len` bits, all false.
    pub fn new(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(64)] }
    }

    /// Returns the bit at `index`, or false if `index` is out of range.
    #[inline]
    pub fn get(&self, index: usize) -> bool {
        self.words.get(index >> 6).is_some_and(|word| word >> (index & 63) & 1 == 1)
    }

    /// Sets the bit at `index`, which must be in range.
    #[inline]
    pub fn set(&mut self, index: usize, value: bool) {
        let mask = 1 << (index & 63);
        if value {
            self.words[index >> 6] |= mask;
        } else {
            self.words[index >> 6] &= !mask;
        }
    }

    /// Iterates over the indexes of the true bits in ascending order.
    pub fn ones(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(at, &word)| Ones { word, base: at << 6 })
    }

    /// Copies another set of the same length without allocating.
    pub fn copy_from(&mut self, other: &Self) {
        self.words.clone_from(&other.words);
    }

    /// Sets every bit that is true in `other`.
    pub fn union_with(&mut self, other: &Self) {
        for (mine, theirs) in self.words.iter_mut().zip(&other.words) {
            *mine |= theirs;
        }
    }

    /// Iterates over the indexes at which the two sets differ, in ascending order.
    pub fn differing_indexes<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = usize> + 'a {
        self.words
            .iter()
            .zip(&other.words)
            .enumerate()
            .flat_map(|(at, (mine, theirs))| Ones { word: mine ^ theirs, base: at << 6 })
    }
}

struct Ones {
    word: u64,
    base: usize,
}

impl Iterator for Ones {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.word == 0 {
            return None;
        }
        let low = self.word.trailing_zeros() as usize;
        self.word &= self.word - 1;
        Some(self.base + low)
    }
}
