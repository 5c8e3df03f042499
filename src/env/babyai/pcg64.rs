//! The original's random numbers: numpy's PCG64, seeded by its SeedSequence, with the draws used by levels.

/// Words of the entropy pool.
const POOL: usize = 4;
const MULTIPLIER: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;

/// A PCG64 generator. Equal seeds give equal draws on every machine and in numpy.
#[derive(Clone, Debug)]
pub struct Pcg64 {
    state: u128,
    increment: u128,
    /// The upper half of the last 64-bit draw of which only the lower half was used.
    spare_half: Option<u32>,
}

impl Pcg64 {
    /// Creates a generator from a seed.
    pub fn new(seed: u64) -> Self {
        let words = seed_words(seed);
        let wide = |i: usize| u128::from(words[i]) << 64 | u128::from(words[i + 1]);
        let mut rng = Self { state: 0, increment: wide(2) << 1 | 1, spare_half: None };
        rng.advance();
        rng.state = rng.state.wrapping_add(wide(0));
        rng.advance();
        rng
    }

    fn advance(&mut self) {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(self.increment);
    }

    fn draw64(&mut self) -> u64 {
        self.advance();
        let folded = (self.state >> 64) as u64 ^ self.state as u64;
        folded.rotate_right((self.state >> 122) as u32)
    }

    /// Returns the lower half of a 64-bit draw and stores the upper half for the next call.
    fn draw32(&mut self) -> u32 {
        if let Some(half) = self.spare_half.take() {
            return half;
        }
        let both = self.draw64();
        self.spare_half = Some((both >> 32) as u32);
        both as u32
    }

    /// Draws an integer in `low..high`. The range may span at most 2^32 values; an empty range gives `low`.
    pub fn integer(&mut self, low: i64, high: i64) -> i64 {
        match u32::try_from(high.saturating_sub(low)) {
            Ok(count) => low + i64::from(self.below(count)),
            Err(_) if high < low => low,
            Err(_) => low + i64::from(self.draw32()),
        }
    }

    /// Draws a number below `count` (Lemire's method). If only one value is possible, no draw is used.
    fn below(&mut self, count: u32) -> u32 {
        if count <= 1 {
            return 0;
        }
        let mut product = u64::from(self.draw32()) * u64::from(count);
        if (product as u32) < count {
            let threshold = count.wrapping_neg() % count;
            while (product as u32) < threshold {
                product = u64::from(self.draw32()) * u64::from(count);
            }
        }
        (product >> 32) as u32
    }

    /// Draws an index below `count`.
    pub fn index(&mut self, count: usize) -> usize {
        self.below(count as u32) as usize
    }

    /// Draws a fraction in `[0, 1)`.
    pub fn fraction(&mut self) -> f64 {
        (self.draw64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Draws a boolean.
    pub fn coin(&mut self) -> bool {
        self.integer(0, 2) == 0
    }

    /// Draws one element of `items`, which must not be empty.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.index(items.len())]
    }

    /// Draws `count` distinct elements, in the order in which they were drawn.
    pub fn sample<T: Copy>(&mut self, items: &[T], count: usize) -> Vec<T> {
        let mut left = items.to_vec();
        (0..count.min(items.len())).map(|_| left.remove(self.index(left.len()))).collect()
    }
}

/// Derives four 64-bit words from a seed: the seed is hashed into a pool of four words, which are then mixed with each
/// other.
fn seed_words(seed: u64) -> [u64; 4] {
    let mut constant = 0x43b0_d7e5_u32;
    let mut hash = |word: u32| {
        let word = word ^ constant;
        constant = constant.wrapping_mul(0x931e_8875);
        let word = word.wrapping_mul(constant);
        word ^ word >> 16
    };
    let mut pool = [0_u32; POOL];
    for (i, word) in pool.iter_mut().enumerate() {
        *word = hash(if i < 2 { (seed >> (32 * i)) as u32 } else { 0 });
    }
    for from in 0..POOL {
        for to in (0..POOL).filter(|&to| to != from) {
            let left = 0xca01_f9dd_u32.wrapping_mul(pool[to]);
            let mixed = left.wrapping_sub(0x4973_f715_u32.wrapping_mul(hash(pool[from])));
            pool[to] = mixed ^ mixed >> 16;
        }
    }
    let mut constant = 0x8b51_f9dd_u32;
    let mut word = |i: usize| {
        let word = pool[i % POOL] ^ constant;
        constant = constant.wrapping_mul(0x58f3_8ded);
        let word = word.wrapping_mul(constant);
        u64::from(word ^ word >> 16)
    };
    std::array::from_fn(|i| word(2 * i) | word(2 * i + 1) << 32)
}
