//! Defaults of the detectors' thresholds. Nobody published any; these are ours, and each is a setting.

/// How often the same action does nothing before it is called a repeat (setting `repeat_after`).
pub const REPEAT_AFTER: u64 = 2;
/// Visits of one place without progress that are called going in circles (setting `circle_visits`).
pub const CIRCLE_VISITS: u64 = 3;
/// Turns the same way, one after the other, that are called going in circles in a grid world (setting `circle_turns`).
pub const CIRCLE_TURNS: u64 = 5;
/// Steps without progress before going in circles can be noted (setting `circle_window`).
pub const CIRCLE_WINDOW: u64 = 6;
