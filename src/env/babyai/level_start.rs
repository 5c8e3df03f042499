//! The initial state of a level: everything an episode starts with. It is generated from a seed
//! ([`super::Level::generate`]) or read from a file ([`super::LevelStart::parse`]).

use super::mission::Mission;
use super::thing::{Cell, Pose, Thing, ThingId};
use super::view::Image;
use std::sync::Arc;

/// How rooms divide the grid. Locations such as "on your left" refer to the inside of the starting room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoomLayout {
    /// Width and height of a room, including its walls.
    pub size: i16,
    /// Number of room rows.
    pub rows: i16,
    /// Number of room columns.
    pub cols: i16,
}

impl RoomLayout {
    /// Returns the number of primitive actions allowed for one walk through all rooms.
    pub(super) fn steps_for_one_walk(self) -> u32 {
        [self.size, self.size, self.rows, self.cols]
            .into_iter()
            .map(|n| u32::from(n.unsigned_abs()))
            .product()
    }
}

/// The initial state of a level.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelStart {
    /// AgentBoard's level number, from 1 to 40, or 0 for any other level.
    pub number: u8,
    /// The full name, such as `BabyAI-GoToRedBall-v0`; empty if a file gives none.
    pub env_id: String,
    /// The seed that the level was generated from.
    pub seed: u64,
    /// Number of columns.
    pub width: i16,
    /// Number of rows.
    pub height: i16,
    pub rooms: RoomLayout,
    /// The number of primitive actions over which the environment's reward falls to a tenth.
    pub max_steps: u32,
    /// The cells, row by row.
    pub cells: Arc<Vec<Cell>>,
    /// All objects; cells, boxes and descriptions refer to them by index.
    pub things: Arc<Vec<Thing>>,
    pub agent: Pose,
    pub carrying: Option<ThingId>,
    /// The mission in the original's wording.
    pub mission: String,
    /// The mission as shown to the agent, with the order of its parts hidden.
    pub goal: String,
    /// The mission to check.
    pub instruction: Mission,
    /// The position of each object that a description matched, at the time of matching.
    pub known_positions: Arc<Vec<Option<(i16, i16)>>>,
    /// The first view, if it was taken before the carried object was put into the agent's hand (`PutNextS7N4Carrying`).
    pub stale_view: Option<Image>,
    /// AgentBoard's subgoals: lists of patterns, each list an alternative. Empty if progress is the environment's
    /// reward.
    pub subgoals: Vec<Vec<String>>,
    /// AgentBoard's difficulty, if a label contains one.
    pub difficulty: Option<String>,
}

/// Returns the goal text that AgentBoard shows for a mission: both ordering phrases are replaced by "and" wherever they
/// occur.
pub(super) fn goal_text(mission: &str) -> String {
    mission.replace("then", "and").replace("after you", "and")
}
