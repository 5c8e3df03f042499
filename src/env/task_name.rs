//! The common parts of the ids of generated tasks: a word for the difficulty, and a number.

/// The difficulty of a generated task. Each environment defines what it means (docs/HOUSEHOLD.md, docs/PDDL.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Difficulty {
    /// A small, tidy room; solvable in a few steps.
    Easy,
    /// Comparable to ALFWorld's rooms and AgentBoard's problems.
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
