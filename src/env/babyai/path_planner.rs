//! The planner of the macro actions: breadth first over cells and directions, inside a window around the agent.
//!
//! Both the window and what counts as free are the original's: the window is off by one in three directions, cells that are
//! not seen are free, and so are doors in any state.

use super::observation::Observation;
use super::primitive_actions::PrimitiveAction;
use super::thing::{CellCode, DIRECTIONS, Kind, Pose};

/// Cells along a side of the widest window.
const WINDOW_SIDE: i16 = 8;
/// Nodes: the cells of the window times the directions.
const NODE_COUNT: usize = 256;

/// The part of the grid in which plans are made, one bit a cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    left: i16,
    top: i16,
    /// Cells that can be stood on.
    free: u64,
    /// Free cells with a way to them.
    reachable: u64,
    agent: Pose,
}

/// Where a plan is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    /// Before this cell, looking at it.
    Facing(i16, i16),
    /// On this cell.
    On(i16, i16),
}

impl Window {
    pub(super) fn new(sight: &Observation, agent: Pose) -> Self {
        let Pose { x, y, direction: dir } = agent;
        let (left, right, top, bottom) = match dir & 3 {
            0 => (x - 1, x + 6, y - 3, y + 3),
            1 => (x - 4, x + 3, y - 1, y + 6),
            2 => (x - 6, x, y - 4, y + 3),
            _ => (x - 3, x + 3, y - 6, y),
        };
        let row = (1_u64 << (right - left + 1)) - 1;
        let free = (0..=bottom - top).fold(0, |free, line| free | row << (line * WINDOW_SIDE));
        let mut window = Self { left, top, free, reachable: 0, agent };
        for spot in sight.seen().iter().filter(|spot| spot.code.kind() != Some(Kind::Door)) {
            window.free &= !window.cell_bit(spot.x, spot.y);
        }
        window.mark_reachable();
        window
    }

    /// The bit of a cell; none outside of the window.
    fn cell_bit(&self, x: i16, y: i16) -> u64 {
        let (column, line) = (x - self.left, y - self.top);
        let inside = (0..WINDOW_SIDE).contains(&column) && (0..WINDOW_SIDE).contains(&line);
        if inside { 1 << (line * WINDOW_SIDE + column) } else { 0 }
    }

    /// Turning is always possible, so a pose has a way to it when its cell has.
    fn mark_reachable(&mut self) {
        const FIRST_COLUMN: u64 = 0x0101_0101_0101_0101;
        let mut reached = self.cell_bit(self.agent.x, self.agent.y);
        loop {
            let sideways = (reached & !(FIRST_COLUMN << 7)) << 1 | (reached & !FIRST_COLUMN) >> 1;
            let grown = reached | (sideways | reached << 8 | reached >> 8) & self.free;
            if grown == reached {
                break;
            }
            reached = grown;
        }
        self.reachable = reached;
    }

    /// There is a way to this aim.
    pub(super) fn can_reach(&self, aim: Destination) -> bool {
        match aim {
            Destination::On(x, y) => self.reachable & self.cell_bit(x, y) != 0,
            Destination::Facing(x, y) => {
                let beside = DIRECTIONS.iter().fold(0, |all, (dx, dy)| all | self.cell_bit(x - dx, y - dy));
                self.reachable & beside != 0
            }
        }
    }

    /// The agent is there already.
    pub(super) fn is_at(&self, aim: Destination) -> bool {
        match aim {
            Destination::On(x, y) => (x, y) == (self.agent.x, self.agent.y),
            Destination::Facing(x, y) => (x, y) == self.agent.front(),
        }
    }

    /// The shortest way to an aim, or none. Among equally short ways the original's queue decides, in which a node can stand
    /// several times: the goal is the node that was queued first, and the way to a node leads over the last node that
    /// queued it. So each layer is kept in two orders, by first and by last insertion.
    pub(super) fn find_path(&self, aim: Destination) -> Option<Vec<PrimitiveAction>> {
        if !self.can_reach(aim) {
            return None;
        }
        let start = self.node_of(self.agent)?;
        let mut before = [None; NODE_COUNT];
        let mut known = [0_u64; NODE_COUNT / 64];
        insert_bit(&mut known, start);
        let (mut first, mut last) = (vec![start], vec![start]);
        while !first.is_empty() {
            if let Some(&goal) = first.iter().find(|&&node| self.is_destination(node, aim)) {
                return Some(trace_path(&before, goal, start));
            }
            let mut seen = known;
            let mut next_first = Vec::new();
            for &node in &first {
                for (_, next) in self.successors(node).into_iter().flatten() {
                    if insert_bit(&mut seen, next) {
                        next_first.push(next);
                    }
                }
            }
            let mut next_last = Vec::new();
            for &node in last.iter().rev() {
                for (action, next) in self.successors(node).into_iter().rev().flatten() {
                    if insert_bit(&mut known, next) {
                        before[usize::from(next)] = Some((action, node));
                        next_last.push(next);
                    }
                }
            }
            next_last.reverse();
            (first, last) = (next_first, next_last);
        }
        None
    }

    fn node_of(&self, pose: Pose) -> Option<u8> {
        let cell = self.cell_bit(pose.x, pose.y);
        (cell != 0).then(|| (cell.trailing_zeros() as u8) << 2 | pose.direction & 3)
    }

    fn pose_of(&self, node: u8) -> Pose {
        let cell = i16::from(node >> 2);
        Pose { x: self.left + cell % WINDOW_SIDE, y: self.top + cell / WINDOW_SIDE, direction: node & 3 }
    }

    fn is_destination(&self, node: u8, aim: Destination) -> bool {
        let pose = self.pose_of(node);
        match aim {
            Destination::On(x, y) => (x, y) == (pose.x, pose.y),
            Destination::Facing(x, y) => (x, y) == pose.front(),
        }
    }

    /// What can be done from a pose, in the order in which it is queued.
    fn successors(&self, node: u8) -> [Option<(PrimitiveAction, u8)>; 3] {
        let pose = self.pose_of(node);
        let (x, y) = pose.front();
        let ahead = self.cell_bit(x, y) & self.free != 0;
        let forward = if ahead { self.node_of(Pose { x, y, direction: pose.direction }) } else { None };
        let turned = |by: u8| node & !3 | node.wrapping_add(by) & 3;
        [
            forward.map(|next| (PrimitiveAction::Forward, next)),
            Some((PrimitiveAction::Left, turned(3))),
            Some((PrimitiveAction::Right, turned(1))),
        ]
    }
}

/// Sets a bit; false when it was set.
fn insert_bit(bits: &mut [u64; NODE_COUNT / 64], node: u8) -> bool {
    let (word, bit) = (usize::from(node >> 6), 1_u64 << (node & 63));
    let new = bits[word] & bit == 0;
    bits[word] |= bit;
    new
}

fn trace_path(
    before: &[Option<(PrimitiveAction, u8)>; NODE_COUNT],
    goal: u8,
    start: u8,
) -> Vec<PrimitiveAction> {
    let mut way = Vec::new();
    let mut node = goal;
    while node != start {
        let Some((action, from)) = before[usize::from(node)] else { break };
        way.push(action);
        node = from;
    }
    way.reverse();
    way
}

impl CellCode {
    /// Stands in the way of what is laid down.
    pub(super) fn blocks_dropping(self) -> bool {
        self == Self::WALL || matches!(self.kind(), Some(Kind::Key | Kind::Ball | Kind::Box))
    }
}
