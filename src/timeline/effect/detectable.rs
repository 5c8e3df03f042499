//! What a planned measurement can detect (`docs/EFFECT.md`).

use super::fixed_power::AssumedEffect;
use super::monitored_power::MonitoredDesign;

/// The probability with which an effect counts as detectable.
pub const POWER: f64 = 0.8;

/// The number of differences that are tried, 1/20 apart up to 1.
const GRID: u32 = 20;

/// Returns the smallest difference, on a grid of 0.05, that a monitored measurement with up to `pairs` pairs reports as helpful
/// with probability [`POWER`]. `assume` gives the discordance for a difference ([`AssumedEffect::best_case`] or
/// [`AssumedEffect::independent_arms`]), `None` if that difference is impossible. `None` if no difference is detectable.
pub fn detectable_difference(
    design: &MonitoredDesign,
    pairs: usize,
    assume: impl Fn(f64) -> Option<AssumedEffect>,
) -> Option<f64> {
    (1..=GRID)
        .map(|step| f64::from(step) / f64::from(GRID))
        .filter_map(|difference| Some((difference, assume(difference)?)))
        .find(|(_, effect)| design.power(*effect, pairs).helped >= POWER)
        .map(|(difference, _)| difference)
}
