//! Names of household tasks: `normal/heat/17` is the seventeenth heat task of normal difficulty.
//!
//! Any such name is a task; the name alone decides the game, on every machine and in every later version of the
//! generator that calls itself [`super::GENERATION`].

pub use crate::env::task_name::Difficulty;

use crate::env::task_name;
use std::fmt;
use std::str::FromStr;

/// The six kinds of task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TaskKind {
    /// Put one thing somewhere.
    Put,
    /// Hold a thing beside a lamp that was switched on.
    Look,
    /// Put a washed thing somewhere.
    Clean,
    /// Put a heated thing somewhere.
    Heat,
    /// Put a cooled thing somewhere.
    Cool,
    /// Put two things of a kind into the same place.
    Two,
}

impl TaskKind {
    /// All of them, in the order of ALFWorld's numbering.
    pub const ALL: [Self; 6] = [Self::Put, Self::Look, Self::Clean, Self::Heat, Self::Cool, Self::Two];

    /// The word used in task names.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Put => "put",
            Self::Look => "look",
            Self::Clean => "clean",
            Self::Heat => "heat",
            Self::Cool => "cool",
            Self::Two => "two",
        }
    }

    /// The name of the task type in `traj_data.json` and in ALFWorld's configuration.
    pub const fn task_type(self) -> &'static str {
        match self {
            Self::Put => "pick_and_place_simple",
            Self::Look => "look_at_obj_in_light",
            Self::Clean => "pick_clean_then_place_in_recep",
            Self::Heat => "pick_heat_then_place_in_recep",
            Self::Cool => "pick_cool_then_place_in_recep",
            Self::Two => "pick_two_obj_and_place",
        }
    }
}

/// The name of one generated task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskId {
    /// How much it asks.
    pub difficulty: Difficulty,
    /// What is to be done.
    pub kind: TaskKind,
    /// Which of them; chance is drawn from the whole name, so neighbours have nothing in common.
    pub seed: u32,
}

impl TaskId {
    /// Reads a name such as `normal/heat/17`; a leading `household/` is allowed.
    ///
    /// # Errors
    /// [`BadTaskId`], with the form that was expected.
    pub fn parse(text: &str) -> Result<Self, BadTaskId> {
        text.parse()
    }
}

/// A text is not the name of a household task.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` names no household task: expected easy|normal|hard, then put|look|clean|heat|cool|two, then a number \
     from 0 to 4294967295, as in `normal/heat/17`"
)]
pub struct BadTaskId {
    /// What was given.
    pub text: String,
}

impl FromStr for TaskId {
    type Err = BadTaskId;

    fn from_str(text: &str) -> Result<Self, BadTaskId> {
        let bad = || BadTaskId { text: text.to_owned() };
        let mut parts = text.strip_prefix("household/").unwrap_or(text).split('/');
        let (Some(difficulty), Some(kind), Some(seed), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(bad());
        };
        let difficulty = Difficulty::from_word(difficulty).ok_or_else(bad)?;
        let kind = TaskKind::ALL.into_iter().find(|known| known.word() == kind).ok_or_else(bad)?;
        let seed = task_name::parse_number(seed).ok_or_else(bad)?;
        Ok(Self { difficulty, kind, seed })
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.difficulty.word(), self.kind.word(), self.seed)
    }
}
