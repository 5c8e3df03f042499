//! Seeded randomness: the same prompt and seed always give the same reply.
//!
//! There are two seeds. What must stay the same through an episode, such as habits, depends only on the task's text.
//! What varies from call to call depends on the request's seed and the length of the history.

/// The two seeds.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeededRandom {
    task_seed: u64,
    call_seed: u64,
}

impl SeededRandom {
    /// Creates the source of randomness for one call.
    pub(super) fn new(task_text: &str, seed: u64, items: usize) -> Self {
        Self {
            task_seed: hash(0x7261_6e64, task_text.as_bytes()),
            call_seed: mix(seed ^ mix(items as u64 ^ 0x0063_616c_6c00)),
        }
    }

    /// Returns a number in 0..1 that stays the same through the episode. `number` distinguishes draws with the same
    /// name.
    pub(super) fn draw_for_task(&self, name: &str, number: u64) -> f64 {
        unit_interval(hash(mix(self.task_seed ^ number.wrapping_mul(0x9e37_79b9)), name.as_bytes()))
    }

    /// Returns a number in 0..1 for this call only.
    pub(super) fn draw_for_call(&self, name: &str) -> f64 {
        unit_interval(hash(self.call_seed, name.as_bytes()))
    }
}

fn hash(seed: u64, bytes: &[u8]) -> u64 {
    let mut state = seed ^ 0xcbf2_9ce4_8422_2325;
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let word = chunk.iter().rev().fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
        state = mix(state ^ word);
    }
    let rest = chunks.remainder();
    let word = rest.iter().fold(rest.len() as u64, |word, byte| word << 8 | u64::from(*byte));
    mix(state ^ word)
}

/// The finaliser of splitmix64.
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn unit_interval(value: u64) -> f64 {
    (value >> 11) as f64 / (1_u64 << 53) as f64
}
