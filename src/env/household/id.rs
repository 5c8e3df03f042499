//! Names of household tasks: `normal/heat/17` is the seventeenth heat task of normal difficulty.
//!
//! Any such name is a task; the name alone decides the game, on every machine and in every later version of the
//! generator that calls itself [`super::GENERATION`].

use std::fmt;
use std::str::FromStr;

/// How much a room asks of the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Difficulty {
    /// A small tidy room: at most two of each kind of furniture, each at a spot of its own, few doors and lids, half
    /// the clutter, and what is looked for lies in the open where it can.
    Easy,
    /// A room like ALFWorld's: the figures of `stock.toml` as they are.
    Normal,
    /// A crowded room: the larger of two draws for furniture and clutter, half of the remaining furniture closed as well,
    /// and no more of what is looked for than the task needs, hidden behind a door or lid where it fits behind one.
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
}

/// The six kinds of task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
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

impl Kind {
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
    pub kind: Kind,
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
        let name = text.strip_prefix("household/").unwrap_or(text);
        let mut parts = name.split('/');
        let (Some(difficulty), Some(kind), Some(seed), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(bad());
        };
        let difficulty =
            Difficulty::ALL.into_iter().find(|known| known.word() == difficulty).ok_or_else(bad)?;
        let kind = Kind::ALL.into_iter().find(|known| known.word() == kind).ok_or_else(bad)?;
        // One game has one name: neither `+7` nor `007` is a second one for `7`.
        let number: u32 = seed.parse().map_err(|_error| bad())?;
        if number.to_string() != seed {
            return Err(bad());
        }
        Ok(Self { difficulty, kind, seed: number })
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.difficulty.word(), self.kind.word(), self.seed)
    }
}
