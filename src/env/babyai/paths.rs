//! The planner of the macro actions: breadth first over cells and directions, inside a window around the agent.
//!
//! Both the window and what counts as free are the original's: the window is off by one in three directions, cells that are
//! not seen are free, and so are doors in any state.

use super::primitive_actions::Low;
use super::sight::Sight;
use super::thing::{AHEAD, Code, Kind, Pose};

/// Cells along a side of the widest window.
const WINDOW: i16 = 8;
/// Nodes: the cells of the window times the directions.
const NODES: usize = 256;

/// The part of the grid in which plans are made, one bit a cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    left: i16,
    top: i16,
    /// Cells that can be stood on.
    free: u64,
    /// Free cells with a way to them.
    reached: u64,
    agent: Pose,
}

/// Where a plan is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aim {
    /// Before this cell, looking at it.
    Facing(i16, i16),
    /// On this cell.
    On(i16, i16),
}

impl Window {
    pub(super) fn new(sight: &Sight, agent: Pose) -> Self {
        let Pose { x, y, dir } = agent;
        let (left, right, top, bottom) = match dir & 3 {
            0 => (x - 1, x + 6, y - 3, y + 3),
            1 => (x - 4, x + 3, y - 1, y + 6),
            2 => (x - 6, x, y - 4, y + 3),
            _ => (x - 3, x + 3, y - 6, y),
        };
        let row = (1_u64 << (right - left + 1)) - 1;
        let free = (0..=bottom - top).fold(0, |free, line| free | row << (line * WINDOW));
        let mut window = Self { left, top, free, reached: 0, agent };
        for spot in sight.all().iter().filter(|spot| spot.code.kind() != Some(Kind::Door)) {
            window.free &= !window.bit(spot.x, spot.y);
        }
        window.flood();
        window
    }

    /// The bit of a cell; none outside of the window.
    fn bit(&self, x: i16, y: i16) -> u64 {
        let (column, line) = (x - self.left, y - self.top);
        let inside = (0..WINDOW).contains(&column) && (0..WINDOW).contains(&line);
        if inside { 1 << (line * WINDOW + column) } else { 0 }
    }

    /// Turning is always possible, so a pose has a way to it when its cell has.
    fn flood(&mut self) {
        const FIRST: u64 = 0x0101_0101_0101_0101;
        let mut reached = self.bit(self.agent.x, self.agent.y);
        loop {
            let sideways = (reached & !(FIRST << 7)) << 1 | (reached & !FIRST) >> 1;
            let grown = reached | (sideways | reached << 8 | reached >> 8) & self.free;
            if grown == reached {
                break;
            }
            reached = grown;
        }
        self.reached = reached;
    }

    /// There is a way to this aim.
    pub(super) fn reaches(&self, aim: Aim) -> bool {
        match aim {
            Aim::On(x, y) => self.reached & self.bit(x, y) != 0,
            Aim::Facing(x, y) => {
                let beside = AHEAD.iter().fold(0, |all, (dx, dy)| all | self.bit(x - dx, y - dy));
                self.reached & beside != 0
            }
        }
    }

    /// The agent is there already.
    pub(super) fn is_at(&self, aim: Aim) -> bool {
        match aim {
            Aim::On(x, y) => (x, y) == (self.agent.x, self.agent.y),
            Aim::Facing(x, y) => (x, y) == self.agent.front(),
        }
    }

    /// The shortest way to an aim, or none. Among equally short ways the original's queue decides, in which a node can stand
    /// several times: the goal is the node that was queued first, and the way to a node leads over the last node that
    /// queued it. So each layer is kept in two orders, by first and by last insertion.
    pub(super) fn way(&self, aim: Aim) -> Option<Vec<Low>> {
        if !self.reaches(aim) {
            return None;
        }
        let start = self.node(self.agent)?;
        let mut before = [None; NODES];
        let mut known = [0_u64; NODES / 64];
        mark(&mut known, start);
        let (mut first, mut last) = (vec![start], vec![start]);
        while !first.is_empty() {
            if let Some(&goal) = first.iter().find(|&&node| self.fulfils(node, aim)) {
                return Some(trace(&before, goal, start));
            }
            let mut seen = known;
            let mut next_first = Vec::new();
            for &node in &first {
                for (_, next) in self.successors(node).into_iter().flatten() {
                    if mark(&mut seen, next) {
                        next_first.push(next);
                    }
                }
            }
            let mut next_last = Vec::new();
            for &node in last.iter().rev() {
                for (action, next) in self.successors(node).into_iter().rev().flatten() {
                    if mark(&mut known, next) {
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

    fn node(&self, pose: Pose) -> Option<u8> {
        let cell = self.bit(pose.x, pose.y);
        (cell != 0).then(|| (cell.trailing_zeros() as u8) << 2 | pose.dir & 3)
    }

    fn pose(&self, node: u8) -> Pose {
        let cell = i16::from(node >> 2);
        Pose { x: self.left + cell % WINDOW, y: self.top + cell / WINDOW, dir: node & 3 }
    }

    fn fulfils(&self, node: u8, aim: Aim) -> bool {
        let pose = self.pose(node);
        match aim {
            Aim::On(x, y) => (x, y) == (pose.x, pose.y),
            Aim::Facing(x, y) => (x, y) == pose.front(),
        }
    }

    /// What can be done from a pose, in the order in which it is queued.
    fn successors(&self, node: u8) -> [Option<(Low, u8)>; 3] {
        let pose = self.pose(node);
        let (x, y) = pose.front();
        let ahead = self.bit(x, y) & self.free != 0;
        let forward = if ahead { self.node(Pose { x, y, dir: pose.dir }) } else { None };
        let turned = |by: u8| node & !3 | node.wrapping_add(by) & 3;
        [
            forward.map(|next| (Low::Forward, next)),
            Some((Low::Left, turned(3))),
            Some((Low::Right, turned(1))),
        ]
    }
}

/// Sets a bit; false when it was set.
fn mark(bits: &mut [u64; NODES / 64], node: u8) -> bool {
    let (word, bit) = (usize::from(node >> 6), 1_u64 << (node & 63));
    let new = bits[word] & bit == 0;
    bits[word] |= bit;
    new
}

fn trace(before: &[Option<(Low, u8)>; NODES], goal: u8, start: u8) -> Vec<Low> {
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

impl Code {
    /// Stands in the way of what is laid down.
    pub(super) fn blocks_dropping(self) -> bool {
        self == Self::WALL || matches!(self.kind(), Some(Kind::Key | Kind::Ball | Kind::Box))
    }
}
