//! Defaults of the detectors' thresholds. None are published; these are our own, and each is a setting.

/// Number of times the same action must have run before it can count as a repeat (setting `repeat_after`).
pub const REPEAT_AFTER: u64 = 2;
/// Number of times the same action must have run before it can count as going in circles in a household (setting
/// `circle_visits`).
pub const CIRCLE_VISITS: u64 = 3;
/// Consecutive turns in the same direction that count as going in circles in a grid world (setting `circle_turns`).
pub const CIRCLE_TURNS: u64 = 5;
/// Steps without progress before going in circles can be noted (setting `circle_window`).
pub const CIRCLE_WINDOW: u64 = 6;
