//! The published versions of a method, and the limits that settings hold.

use crate::domain::common_settings::{LOOP_DETECTOR, MAX_MOVES, WALL_SECONDS};
use crate::domain::{Limits, Settings, setting_words};

setting_words! {
    /// Which version of a method to use where paper and public code differ (`--as`).
    #[derive(Default)]
    pub enum PaperOrCode {
        /// As the paper describes it.
        #[default]
        Paper = "paper",
        /// As the public code does it.
        Code = "code",
    }
}

/// Copies limits given as settings to the fields where the engine reads them. Limits that are not set stay unchanged.
pub fn apply_limits(settings: &Settings, limits: &mut Limits, loop_detector: &mut bool) {
    if let Some(moves) = settings.find(MAX_MOVES) {
        limits.moves = u32::try_from(moves).ok().filter(|n| *n > 0);
    }
    if let Some(seconds) = settings.find(WALL_SECONDS) {
        limits.wall_seconds = Some(seconds).filter(|n| *n > 0);
    }
    *loop_detector = settings.find(LOOP_DETECTOR).unwrap_or(*loop_detector);
}
