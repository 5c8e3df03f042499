//! Explains to the user why a condition became true.

use crate::domain::Step;
use crate::engine::{Episode, Streak};

/// Maximum number of steps listed one by one; longer streaks are summarized.
const MAX_LISTED_STEPS: u32 = 6;

/// Formats the last `n` steps of a streak that begins with step `first` and ends with step `last`, such as
/// `at steps 5, 6 and 7`. Skips thought-only steps. Long streaks are summarized, such as `9 times, up to step 12`.
pub(super) fn format_steps(episode: &Episode, last: u32, n: u32, first: u32) -> String {
    if n == 1 {
        return format!("at step {last}");
    }
    let mut steps = vec![last];
    let mut step = last;
    // The lookback is bounded, even if the episode has many thought-only steps in a row.
    for _ in 0..4 * MAX_LISTED_STEPS {
        if steps.len() as u32 == n.min(MAX_LISTED_STEPS + 1) || step <= first.max(1) {
            break;
        }
        step -= 1;
        if episode.step(step).is_some_and(|s| !s.is_thought_only()) {
            steps.push(step);
        }
    }
    steps.reverse();
    if steps.len() as u32 != n || n > MAX_LISTED_STEPS {
        return format!("{n} times, up to step {last}");
    }
    let numbers: Vec<String> = steps.iter().map(u32::to_string).collect();
    match numbers.split_last() {
        Some((end, others)) if !others.is_empty() => format!("at steps {} and {end}", others.join(", ")),
        _ => format!("at step {last}"),
    }
}

/// Formats the steps of a streak as [`format_steps`] does.
pub(super) fn format_streak_steps(episode: &Episode, streak: Streak, n: u32) -> String {
    format_steps(episode, streak.last, n, streak.first)
}

/// Shortens a text to one line that fits into a message.
pub(super) fn shorten(text: &str) -> String {
    const MAX_CHARS: usize = 90;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((end, _)) = line.char_indices().nth(MAX_CHARS) else { return line };
    format!("{}…", line.get(..end).unwrap_or_default().trim_end())
}

/// Returns the line of a text that contains this byte offset.
pub(super) fn line_at(text: &str, offset: usize) -> String {
    let start = text.get(..offset).and_then(|t| t.rfind('\n')).map_or(0, |n| n + 1);
    shorten(text.get(start..).unwrap_or(text).lines().next().unwrap_or_default())
}

/// Formats an ordinal: 1st, 2nd, 3rd.
pub(super) fn ordinal(n: u32) -> String {
    let suffix = match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{n}{suffix}")
}

/// Returns the number of a step, or 0 if there is none.
pub(super) fn step_number(step: Option<&Step>) -> u32 {
    step.map_or(0, |s| s.number)
}
