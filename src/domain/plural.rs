//! Numbers with their nouns.

/// Formats a number with its noun: `1 step`, `2 steps`.
pub fn pluralize(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
