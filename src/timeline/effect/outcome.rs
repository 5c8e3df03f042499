//! What is compared between the arms of a pair (`docs/EFFECT.md`).

use super::betting::Difference;
use serde::{Deserialize, Serialize};

/// Progress and logarithms of token ratios are compared in millionths, as integers.
const MILLIONTHS: f64 = 1e6;

/// The result of an arm's episode.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpisodeResult {
    pub won: bool,
    /// The progress rate, between 0 and 1.
    pub progress: f64,
    /// The number of environment steps since the starting point.
    pub steps: u64,
    /// The tokens of prompts and replies since the starting point.
    pub tokens: u64,
}

/// The quantity that a measurement compares. One is selected before the first pair and gets the verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Whether the episode was won.
    #[default]
    Success,
    /// The progress rate; 1 if won. For tasks with subgoals only.
    Progress,
    /// The number of steps; a lost episode counts as many as were allowed.
    Steps,
    /// The number of tokens. Their ratio has no bound, so there is an interval but no verdict.
    Tokens,
}

impl Outcome {
    /// All outcomes, in display order.
    pub const ALL: [Self; 4] = [Self::Success, Self::Progress, Self::Steps, Self::Tokens];

    /// Returns the name in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Progress => "progress",
            Self::Steps => "steps",
            Self::Tokens => "tokens",
        }
    }

    /// Returns the smallest difference that matters unless a person chooses another one. `None` if the outcome has no
    /// verdict.
    pub fn default_margin(self) -> Option<f64> {
        match self {
            Self::Success => Some(0.10),
            Self::Progress | Self::Steps => Some(0.05),
            Self::Tokens => None,
        }
    }

    /// Returns the difference of a pair. `allowed_steps` is the step limit, or the number of steps left at the starting
    /// point. `None` for tokens.
    pub fn difference(
        self,
        first: &EpisodeResult,
        second: &EpisodeResult,
        allowed_steps: u64,
    ) -> Option<Difference> {
        let value = self.exact_difference(first, second, allowed_steps) as f64;
        let scale = match self {
            Self::Success => 1.0,
            Self::Progress => MILLIONTHS,
            Self::Steps => allowed_steps.max(1) as f64,
            Self::Tokens => return None,
        };
        Difference::new(value / scale)
    }

    /// Returns the difference of a pair as an integer, for the bootstrap: wins, millionths of progress, steps, or millionths
    /// of the logarithm of the token ratio. Positive if the first arm did better.
    pub fn exact_difference(self, first: &EpisodeResult, second: &EpisodeResult, allowed_steps: u64) -> i64 {
        match self {
            Self::Success => i64::from(first.won) - i64::from(second.won),
            Self::Progress => progress_millionths(first) - progress_millionths(second),
            Self::Steps => counted_steps(second, allowed_steps) - counted_steps(first, allowed_steps),
            Self::Tokens => {
                let ratio = second.tokens.max(1) as f64 / first.tokens.max(1) as f64;
                (ratio.ln() * MILLIONTHS).round() as i64
            }
        }
    }

    /// Returns how many units of [`exact_difference`](Self::exact_difference) make one unit that is displayed: 1, or a million
    /// for progress and for logarithms of token ratios.
    pub fn bootstrap_scale(self) -> f64 {
        match self {
            Self::Success | Self::Steps => 1.0,
            Self::Progress | Self::Tokens => MILLIONTHS,
        }
    }

    /// Returns the value of one arm on the scale of the differences; larger is better.
    pub fn value(self, of: &EpisodeResult, allowed_steps: u64) -> f64 {
        match self {
            Self::Success => f64::from(u8::from(of.won)),
            Self::Progress => progress_millionths(of) as f64 / MILLIONTHS,
            Self::Steps => -(counted_steps(of, allowed_steps) as f64) / allowed_steps.max(1) as f64,
            Self::Tokens => -(of.tokens.max(1) as f64).ln(),
        }
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

fn progress_millionths(of: &EpisodeResult) -> i64 {
    let progress = if of.won { 1.0 } else { of.progress.clamp(0.0, 1.0) };
    (progress * MILLIONTHS).round() as i64
}

fn counted_steps(of: &EpisodeResult, allowed_steps: u64) -> i64 {
    i64::try_from(if of.won { of.steps.min(allowed_steps) } else { allowed_steps }).unwrap_or(i64::MAX)
}

/// Returns how much of the variance the pairing removes, 1 - var(D) / (var(A) + var(B)), from the values of both arms of
/// each pair: 0 if common seeds have no effect. `None` with fewer than two pairs, or if nothing varies.
pub fn pairing_gain(values: &[(f64, f64)]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let variance = |of: fn(&(f64, f64)) -> f64| {
        let mean = values.iter().map(of).sum::<f64>() / values.len() as f64;
        values.iter().map(|pair| (of(pair) - mean).powi(2)).sum::<f64>()
    };
    let arms = variance(|pair| pair.0) + variance(|pair| pair.1);
    (arms > 0.0).then(|| 1.0 - variance(|pair| pair.0 - pair.1) / arms)
}
