//! Ids of household tasks: `normal/heat/17` is heat task number 17 of normal difficulty.
//!
//! Every id of this form is a task. The id alone determines the game, on every machine and in every later version of
//! the generator with the same [`super::GENERATION`].

pub use crate::env::task_name::Difficulty;

use crate::env::task_name;
use std::fmt;
use std::str::FromStr;

/// The six kinds of task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TaskKind {
    /// Put an object somewhere.
    Put,
    /// Hold an object next to a lamp that is switched on.
    Look,
    /// Put a cleaned object somewhere.
    Clean,
    /// Put a heated object somewhere.
    Heat,
    /// Put a cooled object somewhere.
    Cool,
    /// Put two objects of the same kind in the same place.
    Two,
}

impl TaskKind {
    /// All kinds, in the order of ALFWorld's numbering.
    pub const ALL: [Self; 6] = [Self::Put, Self::Look, Self::Clean, Self::Heat, Self::Cool, Self::Two];

    /// Returns the word used in task ids.
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

    /// Returns the task type used in `traj_data.json` and in ALFWorld's configuration.
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

/// The id of a generated task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskId {
    pub difficulty: Difficulty,
    pub kind: TaskKind,
    /// Number of the task. Randomness is seeded with the whole id, so neighbouring numbers are unrelated.
    pub seed: u32,
}

impl TaskId {
    /// Parses an id such as `normal/heat/17`; a leading `household/` is allowed.
    ///
    /// # Errors
    /// [`BadTaskId`], which describes the expected form.
    pub fn parse(text: &str) -> Result<Self, BadTaskId> {
        text.parse()
    }
}

/// The text is not a valid household task id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not a household task: expected easy|normal|hard, then put|look|clean|heat|cool|two, and a number \
     from 0 to 4294967295, as in `normal/heat/17`"
)]
pub struct BadTaskId {
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
