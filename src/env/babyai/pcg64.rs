//! The random numbers of the original: numpy's PCG64, seeded by its SeedSequence, with the draws that levels make.

/// Words of the entropy pool.
const POOL: usize = 4;
const MULTIPLIER: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;

/// A generator. Equal seeds give equal draws, on every machine and in the original.
#[derive(Clone, Debug)]
pub struct Pcg64 {
    state: u128,
    increment: u128,
    /// The upper half of the last 64-bit draw that was used for a 32-bit one.
    spare_half: Option<u32>,
}

impl Pcg64 {
    /// The generator of a seed.
    pub fn new(seed: u64) -> Self {
        let words = seed_words(seed);
        let wide = |i: usize| u128::from(words[i]) << 64 | u128::from(words[i + 1]);
        let mut dice = Self { state: 0, increment: wide(2) << 1 | 1, spare_half: None };
        dice.advance();
        dice.state = dice.state.wrapping_add(wide(0));
        dice.advance();
        dice
    }

    /// State and increment, to compare with the original.
    pub fn state_and_increment(&self) -> (u128, u128) {
        (self.state, self.increment)
    }

    fn advance(&mut self) {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(self.increment);
    }

    fn draw64(&mut self) -> u64 {
        self.advance();
        let folded = (self.state >> 64) as u64 ^ self.state as u64;
        folded.rotate_right((self.state >> 122) as u32)
    }

    /// The lower half of a 64-bit draw; the upper half is kept for the next time.
    fn draw32(&mut self) -> u32 {
        if let Some(half) = self.spare_half.take() {
            return half;
        }
        let both = self.draw64();
        self.spare_half = Some((both >> 32) as u32);
        both as u32
    }

    /// A whole number, `low` included and `high` not. What lies between is at most 2^32 apart; an empty range gives `low`.
    pub fn integer(&mut self, low: i64, high: i64) -> i64 {
        match u32::try_from(high.saturating_sub(low)) {
            Ok(many) => low + i64::from(self.below(many)),
            Err(_) if high < low => low,
            Err(_) => low + i64::from(self.draw32()),
        }
    }

    /// A number below `many` (Lemire's method). One possible value costs no draw.
    fn below(&mut self, many: u32) -> u32 {
        if many <= 1 {
            return 0;
        }
        let mut product = u64::from(self.draw32()) * u64::from(many);
        if (product as u32) < many {
            let threshold = many.wrapping_neg() % many;
            while (product as u32) < threshold {
                product = u64::from(self.draw32()) * u64::from(many);
            }
        }
        (product >> 32) as u32
    }

    /// A number from 0 to below `many`, as an index.
    pub fn index(&mut self, many: usize) -> usize {
        self.below(many as u32) as usize
    }

    /// A fraction, 0 included and 1 not.
    pub fn fraction(&mut self) -> f64 {
        (self.draw64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// True or false.
    pub fn coin(&mut self) -> bool {
        self.integer(0, 2) == 0
    }

    /// One of several; `several` is not empty.
    pub fn pick<T: Copy>(&mut self, several: &[T]) -> T {
        several[self.index(several.len())]
    }

    /// Some of several, each at most once, in the order in which they were drawn.
    pub fn sample<T: Copy>(&mut self, several: &[T], many: usize) -> Vec<T> {
        let mut left = several.to_vec();
        (0..many.min(several.len())).map(|_| left.remove(self.index(left.len()))).collect()
    }
}

/// Four words of 64 bit out of a seed: the seed is hashed into a pool of four words, which are mixed with each other.
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
