//! What the names of generated tasks have in common: a word for how much is asked, and a number.

/// How much a generated task asks. What that means is each world's (docs/HOUSEHOLD.md, docs/PDDL.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Difficulty {
    /// A small tidy room; a handful of steps.
    Easy,
    /// As ALFWorld's rooms and AgentBoard's problems are.
    Normal,
    /// A crowded room; a problem larger than most of AgentBoard's.
    Hard,
}

impl Difficulty {
    /// All of them, from easy to hard.
    pub const ALL: [Self; 3] = [Self::Easy, Self::Normal, Self::Hard];

    /// The word used in task names.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Easy => "easy",
            Self::Normal => "normal",
            Self::Hard => "hard",
        }
    }

    /// The one with this word.
    pub(super) fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.word() == word)
    }
}

/// A task's number. One task has one name: neither `+7` nor `007` is a second one for `7`.
pub(super) fn parse_number(text: &str) -> Option<u32> {
    text.parse().ok().filter(|number: &u32| number.to_string() == text)
}
