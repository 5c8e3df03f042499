//! Ids of generated problems: `gripper/3` is gripper problem number 3 of normal difficulty, `gripper/hard/3` a hard
//! one.
//!
//! Every id of this form denotes a problem. The id alone determines it, on every machine and in every later version of
//! the generator with the same [`super::GENERATOR_VERSION`].

pub use crate::env::task_name::Difficulty;

use crate::env::task_name;
use std::fmt;
use std::str::FromStr;

/// The four built-in domains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Domain {
    /// A robot carries balls between rooms.
    Gripper,
    /// An arm builds towers of blocks.
    Blockworld,
    /// A robot pours and mixes drinks.
    Barman,
    /// A mechanic replaces flat tyres.
    Tyreworld,
}

impl Domain {
    /// All domains, in AgentBoard's order.
    pub const ALL: [Self; 4] = [Self::Gripper, Self::Blockworld, Self::Barman, Self::Tyreworld];

    /// Returns the word used in task ids.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Gripper => "gripper",
            Self::Blockworld => "blockworld",
            Self::Barman => "barman",
            Self::Tyreworld => "tyreworld",
        }
    }

    /// Returns the name that the domain's PDDL file declares and its problems refer to.
    pub const fn pddl_name(self) -> &'static str {
        match self {
            Self::Gripper => "gripper-strips",
            Self::Blockworld => "blocksworld-4ops",
            Self::Barman => "barman",
            Self::Tyreworld => "tyreworld",
        }
    }

    /// Returns the domain's rules, in PDDL.
    pub const fn pddl_text(self) -> &'static str {
        match self {
            Self::Gripper => include_str!("domains/gripper.pddl"),
            Self::Blockworld => include_str!("domains/blockworld.pddl"),
            Self::Barman => include_str!("domains/barman.pddl"),
            Self::Tyreworld => include_str!("domains/tyreworld.pddl"),
        }
    }

    /// Returns the domain for the name in a problem's `:domain`, which may also be the word used in task ids.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|domain| domain.pddl_name() == name || domain.word() == name)
    }
}

/// The id of a generated problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskId {
    pub domain: Domain,
    pub difficulty: Difficulty,
    /// Number of the problem. Randomness is seeded with the whole id, so neighbouring numbers are unrelated.
    pub number: u32,
}

/// The text is not the id of a generated problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not a generated problem: expected gripper|blockworld|barman|tyreworld, optionally easy|normal|hard, and a number \
     from 0 to 4294967295, as in `gripper/3` or `barman/hard/7`"
)]
pub struct InvalidTaskId {
    pub text: String,
}

impl FromStr for TaskId {
    type Err = InvalidTaskId;

    fn from_str(text: &str) -> Result<Self, InvalidTaskId> {
        let error = || InvalidTaskId { text: text.to_owned() };
        let parts: Vec<&str> = text.strip_prefix("pddl/").unwrap_or(text).split('/').collect();
        let (domain, difficulty, number) = match parts[..] {
            [domain, number] => (domain, Difficulty::Normal.word(), number),
            [domain, difficulty, number] => (domain, difficulty, number),
            _ => return Err(error()),
        };
        let domain =
            Domain::ALL.into_iter().find(|candidate| candidate.word() == domain).ok_or_else(error)?;
        let difficulty = Difficulty::from_word(difficulty).ok_or_else(error)?;
        let number = task_name::parse_number(number).ok_or_else(error)?;
        Ok(Self { domain, difficulty, number })
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.difficulty {
            Difficulty::Normal => write!(f, "{}/{}", self.domain.word(), self.number),
            other => write!(f, "{}/{}/{}", self.domain.word(), other.word(), self.number),
        }
    }
}
