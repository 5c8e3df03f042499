//! The state of the grid and its low-level actions.

use super::primitive_actions::Low;
use super::start::Start;
use super::thing::{Cell, Code, Kind, Leaf, Pose, Thing, ThingId, cell, code};
use super::verify::{Facts, Memory, Verdict};
use super::view::{Image, Scene};
use std::fmt::Write as _;
use std::sync::Arc;

/// The state that low-level actions change. Cheap to copy: what rarely changes is shared.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) cells: Arc<Vec<Cell>>,
    pub(super) things: Arc<Vec<Thing>>,
    pub(super) agent: Pose,
    pub(super) carrying: Option<ThingId>,
    /// Low-level actions so far.
    pub(super) count: u32,
    marks: Arc<Vec<Option<(i16, i16)>>>,
    pub(super) memory: Memory,
}

impl Place {
    pub(super) fn new(start: &Start) -> Self {
        Self {
            cells: Arc::clone(&start.cells),
            things: Arc::clone(&start.things),
            agent: start.agent,
            carrying: start.carrying,
            count: 0,
            marks: Arc::clone(&start.marks),
            memory: Memory::default(),
        }
    }

    fn at(&self, start: &Start, (x, y): (i16, i16)) -> Cell {
        cell(&self.cells, start.width, start.height, x, y)
    }

    fn set(&mut self, start: &Start, (x, y): (i16, i16), cell: Cell) {
        let index = y as usize * start.width as usize + x as usize;
        if let Some(old) = Arc::make_mut(&mut self.cells).get_mut(index) {
            *old = cell;
        }
    }

    fn thing(&self, id: ThingId) -> Option<Thing> {
        self.things.get(usize::from(id.0)).copied()
    }

    /// What the agent sees.
    pub(super) fn look(&self, start: &Start) -> Image {
        let scene =
            Scene { cells: &self.cells, things: &self.things, width: start.width, height: start.height };
        scene.look(self.agent, self.carrying)
    }

    /// What a cell shows.
    pub(super) fn code(&self, index: usize) -> Code {
        code(&self.things, self.cells.get(index).copied().unwrap_or(Cell::Wall))
    }

    /// What the agent carries.
    pub(super) fn carried(&self) -> Option<Thing> {
        self.carrying.and_then(|id| self.thing(id))
    }

    /// Does one low-level action and checks the mission.
    pub(super) fn act(&mut self, start: &Start, action: Low) -> Verdict {
        self.count += 1;
        let front = self.agent.front();
        let ahead = self.at(start, front);
        let held = self.carrying;
        match action {
            Low::Left => self.agent.dir = (self.agent.dir + 3) & 3,
            Low::Right => self.agent.dir = (self.agent.dir + 1) & 3,
            Low::Forward => {
                let free = match ahead {
                    Cell::Empty => true,
                    Cell::Wall => false,
                    Cell::Of(id) => {
                        self.thing(id).is_some_and(|t| t.kind == Kind::Door && t.leaf == Leaf::Open)
                    }
                };
                if free {
                    (self.agent.x, self.agent.y) = front;
                }
            }
            Low::PickUp => {
                if let Cell::Of(id) = ahead
                    && self.carrying.is_none()
                    && self.thing(id).is_some_and(|t| t.kind != Kind::Door)
                {
                    self.carrying = Some(id);
                    self.set(start, front, Cell::Empty);
                }
            }
            Low::Drop => {
                if let (Cell::Empty, Some(id)) = (ahead, held) {
                    self.set(start, front, Cell::Of(id));
                    self.carrying = None;
                }
                self.mark_again(start);
            }
            Low::Toggle => {
                if let Cell::Of(id) = ahead {
                    self.toggle(start, front, id);
                }
            }
        }
        self.judge(start, action, held.is_some() && self.carrying.is_none())
    }

    fn toggle(&mut self, start: &Start, front: (i16, i16), id: ThingId) {
        let Some(thing) = self.thing(id) else { return };
        if thing.kind == Kind::Box {
            self.set(start, front, thing.inside.map_or(Cell::Empty, Cell::Of));
            return;
        }
        if thing.kind != Kind::Door {
            return;
        }
        let fits = || self.carried().is_some_and(|t| t.kind == Kind::Key && t.colour == thing.colour);
        let leaf = match thing.leaf {
            Leaf::Open => Leaf::Closed,
            Leaf::Closed => Leaf::Open,
            Leaf::Locked if fits() => Leaf::Open,
            Leaf::Locked => return,
        };
        if let Some(door) = Arc::make_mut(&mut self.things).get_mut(usize::from(id.0)) {
            door.leaf = leaf;
        }
    }

    /// Positions that missions know are found again only when something is laid down, or could not be.
    fn mark_again(&mut self, start: &Start) {
        let marks = Arc::make_mut(&mut self.marks);
        marks.fill(None);
        for (index, cell) in self.cells.iter().enumerate() {
            if let Cell::Of(id) = cell
                && let Some(mark) = marks.get_mut(usize::from(id.0))
            {
                let width = start.width as usize;
                *mark = Some(((index % width) as i16, (index / width) as i16));
            }
        }
    }

    fn judge(&mut self, start: &Start, action: Low, dropped: bool) -> Verdict {
        let front = self.agent.front();
        let before_it = match self.at(start, front) {
            Cell::Of(id) => Some(id),
            _ => None,
        };
        let door = before_it.and_then(|id| self.thing(id)).filter(|t| t.kind == Kind::Door).map(|t| t.leaf);
        let facts =
            Facts { action, front, before_it, door, carrying: self.carrying, dropped, marks: &self.marks };
        self.memory.verify(&start.instruction, &facts)
    }

    /// The text that stands for the whole state: triples of all cells, the pose, what is carried.
    pub(super) fn fingerprint(&self, start: &Start) -> String {
        let width = start.width as usize;
        let mut text = String::with_capacity(self.cells.len() * 3 + 32);
        let write = |text: &mut String, code: Code| {
            let [kind, colour, state] = code.triple();
            // Writing to a string cannot fail.
            let _ = write!(text, "{kind:x}{colour:x}{state:x}");
        };
        for index in 0..self.cells.len() {
            if index > 0 && index % width == 0 {
                text.push('\n');
            }
            write(&mut text, self.code(index));
        }
        let Pose { x, y, dir } = self.agent;
        let _ = write!(text, "\n{x},{y},{dir}\n");
        match self.carried() {
            Some(thing) => write(&mut text, Code::of(thing)),
            None => text.push('-'),
        }
        text
    }
}
