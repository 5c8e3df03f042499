//! Numbers in texts.

/// Formats a number with its noun: `1 step`, `2 steps`.
pub fn pluralize(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Rounds a reward or a progress rate to thousandths: models should read 0.333, not all sixteen digits.
pub fn round_to_thousandths(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}
