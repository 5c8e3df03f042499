//! The planner of macro actions: breadth-first search over cells and directions within a window around the agent.
//!
//! Both the window and the definition of a free cell are the original's: the window is off by one in three directions,
//! and unseen cells and doors in any state count as free.

use super::observation::Observation;
use super::primitive_actions::PrimitiveAction;
use super::thing::{CellCode, DIRECTIONS, Kind, Pose};

/// Side of the largest window, in cells.
const WINDOW_SIDE: i16 = 8;
/// Number of search nodes: the cells of the window times the directions.
const NODE_COUNT: usize = 256;

/// The part of the grid in which paths are planned, one bit per cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    left: i16,
    top: i16,
    /// Cells that the agent can stand on.
    free: u64,
    /// Free cells with a path to them.
    reachable: u64,
    agent: Pose,
}

/// Where a path ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    /// In front of this cell, facing it.
    Facing(i16, i16),
    /// On this cell.
    On(i16, i16),
}

impl Window {
    pub(super) fn new(observation: &Observation, agent: Pose) -> Self {
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
        for cell in observation.seen().iter().filter(|cell| cell.code.kind() != Some(Kind::Door)) {
            window.free &= !window.cell_bit(cell.x, cell.y);
        }
        window.mark_reachable();
        window
    }

    /// Returns the bit of a cell, or 0 if it is outside the window.
    fn cell_bit(&self, x: i16, y: i16) -> u64 {
        let (column, line) = (x - self.left, y - self.top);
        let inside = (0..WINDOW_SIDE).contains(&column) && (0..WINDOW_SIDE).contains(&line);
        if inside { 1 << (line * WINDOW_SIDE + column) } else { 0 }
    }

    /// Marks the reachable cells. Turning is always possible, so a pose is reachable if its cell is.
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

    /// Returns whether there is a path to the destination.
    pub(super) fn can_reach(&self, destination: Destination) -> bool {
        match destination {
            Destination::On(x, y) => self.reachable & self.cell_bit(x, y) != 0,
            Destination::Facing(x, y) => {
                let beside = DIRECTIONS.iter().fold(0, |all, (dx, dy)| all | self.cell_bit(x - dx, y - dy));
                self.reachable & beside != 0
            }
        }
    }

    /// Returns whether the agent is already there.
    pub(super) fn is_at(&self, destination: Destination) -> bool {
        match destination {
            Destination::On(x, y) => (x, y) == (self.agent.x, self.agent.y),
            Destination::Facing(x, y) => (x, y) == self.agent.front(),
        }
    }

    /// Returns the shortest path to a destination, or `None` if there is none. Ties are broken as in the original's
    /// queue, in which a node can occur several times: the goal is the node that was queued first, and the path to a
    /// node goes through the last node that queued it. Each layer is therefore kept in two orders, by first and by last
    /// insertion.
    pub(super) fn find_path(&self, destination: Destination) -> Option<Vec<PrimitiveAction>> {
        if !self.can_reach(destination) {
            return None;
        }
        let start = self.node_of(self.agent)?;
        let mut predecessors = [None; NODE_COUNT];
        let mut known = [0_u64; NODE_COUNT / 64];
        insert_bit(&mut known, start);
        let (mut first, mut last) = (vec![start], vec![start]);
        while !first.is_empty() {
            if let Some(&goal) = first.iter().find(|&&node| self.is_destination(node, destination)) {
                return Some(trace_path(&predecessors, goal, start));
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
                        predecessors[usize::from(next)] = Some((action, node));
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

    fn is_destination(&self, node: u8, destination: Destination) -> bool {
        let pose = self.pose_of(node);
        match destination {
            Destination::On(x, y) => (x, y) == (pose.x, pose.y),
            Destination::Facing(x, y) => (x, y) == pose.front(),
        }
    }

    /// Returns the actions possible from a pose, in the order in which they are queued.
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

/// Sets a bit and returns whether it was clear before.
fn insert_bit(bits: &mut [u64; NODE_COUNT / 64], node: u8) -> bool {
    let (word, bit) = (usize::from(node >> 6), 1_u64 << (node & 63));
    let new = bits[word] & bit == 0;
    bits[word] |= bit;
    new
}

fn trace_path(
    predecessors: &[Option<(PrimitiveAction, u8)>; NODE_COUNT],
    goal: u8,
    start: u8,
) -> Vec<PrimitiveAction> {
    let mut path = Vec::new();
    let mut node = goal;
    while node != start {
        let Some((action, from)) = predecessors[usize::from(node)] else { break };
        path.push(action);
        node = from;
    }
    path.reverse();
    path
}

impl CellCode {
    /// Returns whether the cell's content prevents dropping an object there.
    pub(super) fn blocks_dropping(self) -> bool {
        self == Self::WALL || matches!(self.kind(), Some(Kind::Key | Kind::Ball | Kind::Box))
    }
}
