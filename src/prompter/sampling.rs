//! The choice of the next token.

use crate::bayes::RandomNumbers;

/// Chooses one token after another.
pub(super) struct Sampler {
    /// Temperature and random numbers; `None`: always the most likely token.
    random: Option<(f64, RandomNumbers)>,
}

impl Sampler {
    /// Always chooses the most likely token, of equally likely ones the first.
    pub(super) fn greedy() -> Self {
        Self { random: None }
    }

    /// Draws tokens; a temperature of 0 percent is greedy.
    pub(super) fn with_temperature(percent: u64, seed: u64) -> Self {
        let temperature = percent as f64 / 100.0;
        Self { random: (percent > 0).then(|| (temperature, RandomNumbers::from_seed(seed))) }
    }

    /// Returns the index of the chosen token; `None` if there are no numbers.
    pub(super) fn choose(&mut self, logits: &[f32]) -> Option<u32> {
        let finite = || logits.iter().enumerate().filter(|(_, value)| !value.is_nan());
        let (best, largest) =
            finite().fold(None, |best: Option<(usize, f32)>, (index, value)| match best {
                Some((_, largest)) if *value <= largest => best,
                _ => Some((index, *value)),
            })?;
        let Some((temperature, numbers)) = &mut self.random else { return Some(best as u32) };
        let weight = |value: f32| libm::exp((f64::from(value) - f64::from(largest)) / *temperature);
        let all: f64 = finite().map(|(_, value)| weight(*value)).sum();
        let mut left = numbers.unit() * all;
        for (index, value) in finite() {
            left -= weight(*value);
            if left < 0.0 {
                return Some(index as u32);
            }
        }
        // Rounding alone leads here.
        Some(best as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greedy_takes_the_first_of_the_largest() {
        for mut sampler in [Sampler::greedy(), Sampler::with_temperature(0, 3)] {
            assert_eq!(sampler.choose(&[0.0, f32::NAN, 2.0, 2.0, -1.0]), Some(2));
            assert_eq!(sampler.choose(&[f32::NAN]), None);
            assert_eq!(sampler.choose(&[]), None);
        }
    }

    #[test]
    fn tokens_are_drawn_as_often_as_they_are_likely() {
        let logits = [1.0_f32.ln(), 2.0_f32.ln(), f32::NEG_INFINITY, 5.0_f32.ln()];
        let mut sampler = Sampler::with_temperature(100, 7);
        let mut counts = [0; 4];
        for _ in 0..8000 {
            counts[sampler.choose(&logits).unwrap() as usize] += 1;
        }
        assert_eq!(counts[2], 0);
        for (count, share) in [(counts[0], 0.125), (counts[1], 0.25), (counts[3], 0.625)] {
            assert!((f64::from(count) / 8000.0 - share).abs() < 0.02, "{counts:?}");
        }
        let draws = |seed| {
            let mut sampler = Sampler::with_temperature(150, seed);
            (0..20).map(|_| sampler.choose(&logits)).collect::<Vec<_>>()
        };
        assert_eq!(draws(1), draws(1));
        assert_ne!(draws(1), draws(2));
    }

    #[test]
    fn a_low_temperature_is_nearly_greedy() {
        let mut sampler = Sampler::with_temperature(1, 1);
        assert!((0..100).all(|_| sampler.choose(&[0.0, 1.0, 0.5]) == Some(1)));
    }
}
