//! The limits that settings hold.

use crate::domain::common_settings::{LOOP_DETECTOR, MAX_MOVES, MAX_STEPS, WALL_SECONDS};
use crate::domain::{Limits, Settings};

/// Returns the limits given as settings, and whether the loop detector is on: what the engine reads from fields of its own.
/// Removes the step limit, which a run records as a limit only.
pub fn take_limits(settings: &mut Settings) -> (Limits, bool) {
    let small = |number: u64| u32::try_from(number).ok();
    let limits = Limits {
        steps: small(settings.get(MAX_STEPS)).unwrap_or(u32::MAX),
        moves: settings.find(MAX_MOVES).and_then(small).filter(|n| *n > 0),
        wall_seconds: settings.find(WALL_SECONDS).filter(|n| *n > 0),
    };
    settings.remove(MAX_STEPS.spec.name);
    (limits, settings.get(LOOP_DETECTOR))
}
