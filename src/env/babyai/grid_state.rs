//! The state of the grid, and the primitive actions on it.

use super::level_start::LevelStart;
use super::mission_check::{ActionFacts, MissionMemory, MissionStatus};
use super::primitive_actions::PrimitiveAction;
use super::thing::{Cell, CellCode, DoorState, Kind, Pose, Thing, ThingId, cell_at, encode_cell};
use super::view::{GridView, Image};
use std::fmt::Write as _;
use std::sync::Arc;

/// The state that primitive actions change. Cheap to clone: rarely changed parts are shared.
#[derive(Clone, Debug)]
pub(super) struct GridState {
    pub(super) cells: Arc<Vec<Cell>>,
    pub(super) things: Arc<Vec<Thing>>,
    pub(super) agent: Pose,
    pub(super) carrying: Option<ThingId>,
    /// Number of primitive actions so far.
    pub(super) action_count: u32,
    /// By object: its position when positions were last recomputed.
    known_positions: Arc<Vec<Option<(i16, i16)>>>,
    pub(super) mission_memory: MissionMemory,
}

impl GridState {
    pub(super) fn new(start: &LevelStart) -> Self {
        Self {
            cells: Arc::clone(&start.cells),
            things: Arc::clone(&start.things),
            agent: start.agent,
            carrying: start.carrying,
            action_count: 0,
            known_positions: Arc::clone(&start.known_positions),
            mission_memory: MissionMemory::default(),
        }
    }

    fn cell_at(&self, start: &LevelStart, (x, y): (i16, i16)) -> Cell {
        cell_at(&self.cells, start.width, start.height, x, y)
    }

    fn set_cell(&mut self, start: &LevelStart, (x, y): (i16, i16), cell: Cell) {
        let index = y as usize * start.width as usize + x as usize;
        if let Some(old) = Arc::make_mut(&mut self.cells).get_mut(index) {
            *old = cell;
        }
    }

    fn thing(&self, id: ThingId) -> Option<Thing> {
        self.things.get(usize::from(id.0)).copied()
    }

    /// Returns what the agent sees.
    pub(super) fn view(&self, start: &LevelStart) -> Image {
        let grid =
            GridView { cells: &self.cells, things: &self.things, width: start.width, height: start.height };
        grid.view(self.agent, self.carrying)
    }

    /// Returns the encoded content of a cell.
    pub(super) fn cell_code(&self, index: usize) -> CellCode {
        encode_cell(&self.things, self.cells.get(index).copied().unwrap_or(Cell::Wall))
    }

    /// Returns the object that the agent carries.
    pub(super) fn carried_thing(&self) -> Option<Thing> {
        self.carrying.and_then(|id| self.thing(id))
    }

    /// Executes one primitive action and checks the mission.
    pub(super) fn apply_action(&mut self, start: &LevelStart, action: PrimitiveAction) -> MissionStatus {
        self.action_count += 1;
        let front = self.agent.front();
        let ahead = self.cell_at(start, front);
        let held = self.carrying;
        match action {
            PrimitiveAction::Left => self.agent.direction = (self.agent.direction + 3) & 3,
            PrimitiveAction::Right => self.agent.direction = (self.agent.direction + 1) & 3,
            PrimitiveAction::Forward => {
                let free = match ahead {
                    Cell::Empty => true,
                    Cell::Wall => false,
                    Cell::Thing(id) => self
                        .thing(id)
                        .is_some_and(|t| t.kind == Kind::Door && t.door_state == DoorState::Open),
                };
                if free {
                    (self.agent.x, self.agent.y) = front;
                }
            }
            PrimitiveAction::PickUp => {
                if let Cell::Thing(id) = ahead
                    && self.carrying.is_none()
                    && self.thing(id).is_some_and(|t| t.kind != Kind::Door)
                {
                    self.carrying = Some(id);
                    self.set_cell(start, front, Cell::Empty);
                }
            }
            PrimitiveAction::Drop => {
                if let (Cell::Empty, Some(id)) = (ahead, held) {
                    self.set_cell(start, front, Cell::Thing(id));
                    self.carrying = None;
                }
                self.update_known_positions(start);
            }
            PrimitiveAction::Toggle => {
                if let Cell::Thing(id) = ahead {
                    self.toggle_thing(start, front, id);
                }
            }
        }
        self.check_mission(start, action, held.is_some() && self.carrying.is_none())
    }

    fn toggle_thing(&mut self, start: &LevelStart, front: (i16, i16), id: ThingId) {
        let Some(thing) = self.thing(id) else { return };
        if thing.kind == Kind::Box {
            self.set_cell(start, front, thing.contents.map_or(Cell::Empty, Cell::Thing));
            return;
        }
        if thing.kind != Kind::Door {
            return;
        }
        let has_matching_key =
            || self.carried_thing().is_some_and(|t| t.kind == Kind::Key && t.colour == thing.colour);
        let new_state = match thing.door_state {
            DoorState::Open => DoorState::Closed,
            DoorState::Closed => DoorState::Open,
            DoorState::Locked if has_matching_key() => DoorState::Open,
            DoorState::Locked => return,
        };
        if let Some(door) = Arc::make_mut(&mut self.things).get_mut(usize::from(id.0)) {
            door.door_state = new_state;
        }
    }

    /// Recomputes the object positions that the mission check uses. Called only after drop actions, even failed ones.
    fn update_known_positions(&mut self, start: &LevelStart) {
        let positions = Arc::make_mut(&mut self.known_positions);
        positions.fill(None);
        for (index, cell) in self.cells.iter().enumerate() {
            if let Cell::Thing(id) = cell
                && let Some(position) = positions.get_mut(usize::from(id.0))
            {
                let width = start.width as usize;
                *position = Some(((index % width) as i16, (index / width) as i16));
            }
        }
    }

    fn check_mission(
        &mut self,
        start: &LevelStart,
        action: PrimitiveAction,
        has_dropped: bool,
    ) -> MissionStatus {
        let front = self.agent.front();
        let thing_in_front = match self.cell_at(start, front) {
            Cell::Thing(id) => Some(id),
            _ => None,
        };
        let door = thing_in_front
            .and_then(|id| self.thing(id))
            .filter(|t| t.kind == Kind::Door)
            .map(|t| t.door_state);
        let facts = ActionFacts {
            action,
            front,
            thing_in_front,
            door,
            carrying: self.carrying,
            has_dropped,
            last_known_positions: &self.known_positions,
        };
        self.mission_memory.check_mission(&start.instruction, &facts)
    }

    /// Encodes the whole state as text: the triples of all cells, the pose, and the carried object.
    pub(super) fn fingerprint(&self, start: &LevelStart) -> String {
        let width = start.width as usize;
        let mut text = String::with_capacity(self.cells.len() * 3 + 32);
        let write = |text: &mut String, code: CellCode| {
            let [kind, colour, state] = code.triple();
            // Writing to a string cannot fail.
            let _ = write!(text, "{kind:x}{colour:x}{state:x}");
        };
        for index in 0..self.cells.len() {
            if index > 0 && index % width == 0 {
                text.push('\n');
            }
            write(&mut text, self.cell_code(index));
        }
        let Pose { x, y, direction: dir } = self.agent;
        let _ = write!(text, "\n{x},{y},{dir}\n");
        match self.carried_thing() {
            Some(thing) => write(&mut text, CellCode::from_thing(thing)),
            None => text.push('-'),
        }
        text
    }
}
