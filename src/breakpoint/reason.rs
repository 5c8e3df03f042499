//! Why a condition came true, in the words a person is told.

use crate::domain::Step;
use crate::engine::{Episode, Streak};

/// Turns that are named one by one; of a longer row only its ends are.
const MAX_LISTED_STEPS: u32 = 6;

/// `at turn 5`, `at turns 5, 6 and 7`: the last `n` turns of a row that ends with this step. Turns that only think lie
/// between them; where those are many, only the ends are named.
pub(super) fn at_steps(episode: &Episode, last: u32, n: u32, first: u32) -> String {
    if n == 1 {
        return format!("at turn {last}");
    }
    let mut named = vec![last];
    let mut at = last;
    // Bounded, however long the episode and its thoughts are.
    for _ in 0..4 * MAX_LISTED_STEPS {
        if named.len() as u32 == n.min(MAX_LISTED_STEPS + 1) || at <= first.max(1) {
            break;
        }
        at -= 1;
        if episode.step(at).is_some_and(|s| !s.is_thought_only()) {
            named.push(at);
        }
    }
    named.reverse();
    if named.len() as u32 != n || n > MAX_LISTED_STEPS {
        return format!("{n} times, up to turn {last}");
    }
    let words: Vec<String> = named.iter().map(u32::to_string).collect();
    match words.split_last() {
        Some((end, before)) if !before.is_empty() => format!("at turns {} and {end}", before.join(", ")),
        _ => format!("at turn {last}"),
    }
}

/// The same for a row of the fold.
pub(super) fn at_streak_steps(episode: &Episode, row: Streak, n: u32) -> String {
    at_steps(episode, row.last, n, row.first)
}

/// A text in one line, short enough to be told with others.
pub(super) fn shorten(text: &str) -> String {
    const MAX_CHARS: usize = 90;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((end, _)) = line.char_indices().nth(MAX_CHARS) else { return line };
    format!("{}…", line.get(..end).unwrap_or_default().trim_end())
}

/// The line of a text that a match stands in.
pub(super) fn line_at(text: &str, at: usize) -> String {
    let start = text.get(..at).and_then(|t| t.rfind('\n')).map_or(0, |n| n + 1);
    shorten(text.get(start..).unwrap_or(text).lines().next().unwrap_or_default())
}

/// 1st, 2nd, 3rd.
pub(super) fn ordinal(n: u32) -> String {
    let end = match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{n}{end}")
}

/// The number of a step that may not be there.
pub(super) fn step_number(step: Option<&Step>) -> u32 {
    step.map_or(0, |s| s.number)
}
