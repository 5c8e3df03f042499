//! The common parts of the ids of generated tasks (a word for the difficulty, and a number) and of patterns of such ids.

use std::ops::RangeInclusive;
use std::str::FromStr;

/// The difficulty of a generated task. Each environment defines what it means (docs/HOUSEHOLD.md, docs/PDDL.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Difficulty {
    /// A small, tidy room; solvable in a few steps.
    Easy,
    /// Comparable to the published games and problems.
    Normal,
    /// A crowded room, or a problem larger than most of AgentBoard's.
    Hard,
}

impl Difficulty {
    /// All difficulties, from easy to hard.
    pub const ALL: [Self; 3] = [Self::Easy, Self::Normal, Self::Hard];

    /// Returns the word used in task ids.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Easy => "easy",
            Self::Normal => "normal",
            Self::Hard => "hard",
        }
    }

    /// Returns the difficulty with this word.
    pub(super) fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.word() == word)
    }
}

/// Parses a task's number. Every number has exactly one spelling: `+7` and `007` are rejected.
pub(super) fn parse_number(text: &str) -> Option<u32> {
    text.parse().ok().filter(|number: &u32| number.to_string() == text)
}

/// Parses the last part of a pattern: a number, or a range of at most 100,000 numbers such as `1-20`.
pub(super) fn parse_range<N: FromStr + Copy + Into<u64>>(text: &str) -> Option<RangeInclusive<N>> {
    const MAX_TASKS: u64 = 100_000;
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last): (N, N) = (first.parse().ok()?, last.parse().ok()?);
    last.into().checked_sub(first.into()).filter(|count| *count < MAX_TASKS)?;
    Some(first..=last)
}

/// Returns what another part of a pattern selects: everything (`*`), or what has this word. `None` if nothing does.
pub(super) fn select<T: Copy>(part: &str, all: &[T], word: fn(T) -> &'static str) -> Option<Vec<T>> {
    let selected: Vec<T> = all.iter().copied().filter(|one| part == "*" || word(*one) == part).collect();
    (!selected.is_empty()).then_some(selected)
}
