//! A level at its start: everything an episode begins with. It comes from a seed ([`super::Level::start`]) or a file ([`super::Start::parse`]).

use super::mission::Mission;
use super::thing::{Cell, Pose, Thing, ThingId, cell_at};
use super::view::Image;
use std::sync::Arc;

/// How rooms divide the grid; locations such as "on your left" are told inside the room of the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoomLayout {
    /// Width and height of a room, its walls included.
    pub size: i16,
    /// How many below each other.
    pub rows: i16,
    /// How many beside each other.
    pub cols: i16,
}

impl RoomLayout {
    /// Low-level steps that are granted for one walk through all rooms.
    pub(super) fn steps_for_one_walk(self) -> u32 {
        [self.size, self.size, self.rows, self.cols]
            .into_iter()
            .map(|n| u32::from(n.unsigned_abs()))
            .product()
    }
}

/// A level at its start.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelStart {
    /// AgentBoard's number of the level, from 1 to 40; 0 where it is none of them.
    pub number: u8,
    /// The full name, such as `BabyAI-GoToRedBall-v0`; empty where a file gives none.
    pub env_id: String,
    /// The seed it was made from.
    pub seed: u64,
    /// Columns.
    pub width: i16,
    /// Rows.
    pub height: i16,
    /// How rooms divide it.
    pub rooms: RoomLayout,
    /// Low-level steps over which the reward of the environment falls to a tenth.
    pub max_steps: u32,
    /// The cells, row by row.
    pub cells: Arc<Vec<Cell>>,
    /// The things; cells, boxes and descriptions speak of them by index.
    pub things: Arc<Vec<Thing>>,
    /// The agent.
    pub agent: Pose,
    /// What it carries.
    pub carrying: Option<ThingId>,
    /// The mission in the words of the original.
    pub mission: String,
    /// The mission as the agent is told it: what comes first is hidden.
    pub goal: String,
    /// What has to be done.
    pub instruction: Mission,
    /// Where each thing that a description matched lay when it did.
    pub known_positions: Arc<Vec<Option<(i16, i16)>>>,
    /// The first view, where it was made before the thing was put into the hand (`PutNextS7N4Carrying`).
    pub stale_view: Option<Image>,
    /// AgentBoard's subgoals: lists of patterns, each list an alternative; none where the environment's reward is the progress.
    pub subgoals: Vec<Vec<String>>,
    /// AgentBoard's word of difficulty, where a label gave one.
    pub difficulty: Option<String>,
}

impl LevelStart {
    /// What a cell holds; outside of the grid are walls.
    pub fn cell(&self, x: i16, y: i16) -> Cell {
        cell_at(&self.cells, self.width, self.height, x, y)
    }
}

/// The goal as AgentBoard tells a mission: both words of order become "and", wherever they stand.
pub(super) fn goal_text(mission: &str) -> String {
    mission.replace("then", "and").replace("after you", "and")
}
