//! A grid of rooms under construction. Random draws happen in the original's order, so each rejection redraws where the
//! original redraws, and [`Restart`] starts a new attempt with the same generator.

use crate::env::babyai::level_start::RoomLayout;
use crate::env::babyai::pcg64::Pcg64;
use crate::env::babyai::thing::{Cell, Colour, DIRECTIONS, DoorState, Kind, Pose, Thing, ThingId, cell_at};

/// Abandons the attempt. The generator keeps its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Restart;

/// Draws for one position before the attempt is abandoned.
const MAX_PLACE_TRIES: u32 = 1001;
/// Draws for connecting all rooms before the attempt is abandoned.
const MAX_CONNECT_TRIES: u32 = 5001;
/// Limit for draws that the original repeats without a limit.
const MAX_UNBOUNDED_TRIES: u32 = 1_000_000;
/// The kinds that can be carried, in the order of the original's random choice.
pub(super) const PORTABLE: [Kind; 3] = [Kind::Key, Kind::Ball, Kind::Box];

/// The column and row of a room.
pub(super) type RoomIndex = (usize, usize);

/// The content of a wall of a room. Sides are ordered right, down, left, up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WallOpening {
    Wall,
    Gap,
    Door(ThingId),
}

#[derive(Clone, Debug)]
struct Room {
    walls: [WallOpening; 4],
    doorways: [Option<(i16, i16)>; 4],
    is_locked: bool,
    things: Vec<ThingId>,
}

/// The grid under construction.
pub(super) struct LevelBuilder<'d> {
    pub(super) rng: &'d mut Pcg64,
    pub(super) rooms: RoomLayout,
    pub(super) cells: Vec<Cell>,
    pub(super) things: Vec<Thing>,
    pub(super) agent: Pose,
    room_states: Vec<Room>,
}

impl<'d> LevelBuilder<'d> {
    /// Creates walls, door positions, and the agent, provisionally in the middle.
    pub(super) fn new(rng: &'d mut Pcg64, rooms: RoomLayout) -> Self {
        let pitch = rooms.size - 1;
        let half = |count: i16| (count / 2) * pitch + rooms.size / 2;
        let agent = Pose { x: half(rooms.cols), y: half(rooms.rows), direction: 0 };
        let room =
            Room { walls: [WallOpening::Wall; 4], doorways: [None; 4], is_locked: false, things: Vec::new() };
        let room_states = vec![room; rooms.rows as usize * rooms.cols as usize];
        let mut builder = Self { rng, rooms, cells: Vec::new(), things: Vec::new(), agent, room_states };
        let (width, height) = (builder.width(), builder.height());
        let wall = |at: i16| at % pitch == 0;
        for y in 0..height {
            builder
                .cells
                .extend((0..width).map(|x| if wall(x) || wall(y) { Cell::Wall } else { Cell::Empty }));
        }
        for row in 0..rooms.rows as usize {
            for col in 0..rooms.cols as usize {
                let (left, top) = builder.room_corner((col, row));
                let mut between =
                    |low: i16| builder.rng.integer(i64::from(low) + 1, i64::from(low + pitch)) as i16;
                if col + 1 < rooms.cols as usize {
                    let door = Some((left + pitch, between(top)));
                    builder.room_states[row * rooms.cols as usize + col].doorways[0] = door;
                    builder.room_states[row * rooms.cols as usize + col + 1].doorways[2] = door;
                }
                let mut between =
                    |low: i16| builder.rng.integer(i64::from(low) + 1, i64::from(low + pitch)) as i16;
                if row + 1 < rooms.rows as usize {
                    let door = Some((between(left), top + pitch));
                    builder.room_states[row * rooms.cols as usize + col].doorways[1] = door;
                    builder.room_states[(row + 1) * rooms.cols as usize + col].doorways[3] = door;
                }
            }
        }
        builder
    }

    pub(super) fn width(&self) -> i16 {
        (self.rooms.size - 1) * self.rooms.cols + 1
    }

    fn height(&self) -> i16 {
        (self.rooms.size - 1) * self.rooms.rows + 1
    }

    fn room_corner(&self, (col, row): RoomIndex) -> (i16, i16) {
        let pitch = self.rooms.size - 1;
        (col as i16 * pitch, row as i16 * pitch)
    }

    fn room(&self, (col, row): RoomIndex) -> &Room {
        &self.room_states[row * self.rooms.cols as usize + col]
    }

    fn room_mut(&mut self, (col, row): RoomIndex) -> &mut Room {
        &mut self.room_states[row * self.rooms.cols as usize + col]
    }

    /// Returns the neighbouring room on a side.
    pub(super) fn neighbour(&self, (col, row): RoomIndex, side: usize) -> Option<RoomIndex> {
        let (dx, dy) = DIRECTIONS[side];
        let (col, row) = (col as i16 + dx, row as i16 + dy);
        let inside = (0..self.rooms.cols).contains(&col) && (0..self.rooms.rows).contains(&row);
        inside.then_some((col as usize, row as usize))
    }

    /// Returns all rooms, column by column.
    pub(super) fn rooms_by_column(&self) -> Vec<RoomIndex> {
        let (cols, rows) = (self.rooms.cols as usize, self.rooms.rows as usize);
        (0..cols).flat_map(|col| (0..rows).map(move |row| (col, row))).collect()
    }

    /// Iterates over the doors of a room: right, down, left, up.
    pub(super) fn doors(&self, at: RoomIndex) -> impl Iterator<Item = ThingId> + '_ {
        self.room(at)
            .walls
            .iter()
            .filter_map(|opening| if let WallOpening::Door(id) = opening { Some(*id) } else { None })
    }

    /// Returns whether a cell belongs to a room, including its walls.
    pub(super) fn is_inside(&self, at: RoomIndex, (x, y): (i16, i16)) -> bool {
        let ((left, top), size) = (self.room_corner(at), self.rooms.size);
        (left..left + size).contains(&x) && (top..top + size).contains(&y)
    }

    /// Returns the room the agent is in.
    pub(super) fn agents_room(&self) -> RoomIndex {
        let pitch = self.rooms.size - 1;
        ((self.agent.x / pitch) as usize, (self.agent.y / pitch) as usize)
    }

    pub(super) fn thing(&self, id: ThingId) -> Thing {
        self.things[usize::from(id.0)]
    }

    /// Returns the position of an object.
    pub(super) fn position_of(&self, id: ThingId) -> Option<(i16, i16)> {
        let index = self.cells.iter().position(|cell| *cell == Cell::Thing(id))?;
        let width = self.width() as usize;
        Some(((index % width) as i16, (index / width) as i16))
    }

    pub(super) fn cell_at(&self, (x, y): (i16, i16)) -> Cell {
        cell_at(&self.cells, self.width(), self.height(), x, y)
    }

    pub(super) fn set_cell(&mut self, (x, y): (i16, i16), to: Cell) {
        let width = self.width() as usize;
        self.cells[y as usize * width + x as usize] = to;
    }

    pub(super) fn random_colour(&mut self) -> Colour {
        self.rng.pick(&Colour::BY_NAME)
    }

    pub(super) fn random_column(&mut self) -> usize {
        self.rng.index(self.rooms.cols as usize)
    }

    pub(super) fn random_row(&mut self) -> usize {
        self.rng.index(self.rooms.rows as usize)
    }

    /// Draws a room, the column first.
    pub(super) fn random_room(&mut self) -> RoomIndex {
        (self.random_column(), self.random_row())
    }

    pub(super) fn add_thing(&mut self, thing: Thing) -> ThingId {
        self.things.push(thing);
        ThingId((self.things.len() - 1) as u16)
    }

    /// Draws an empty cell of a room; for objects, one that isn't adjacent to the agent.
    fn random_empty_cell(&mut self, at: RoomIndex, for_thing: bool) -> Result<(i16, i16), Restart> {
        let ((left, top), size) = (self.room_corner(at), i64::from(self.rooms.size));
        for _ in 0..MAX_PLACE_TRIES {
            let x = self.rng.integer(i64::from(left), i64::from(left) + size) as i16;
            let y = self.rng.integer(i64::from(top), i64::from(top) + size) as i16;
            let distance = x.abs_diff(self.agent.x) + y.abs_diff(self.agent.y);
            if self.cell_at((x, y)) == Cell::Empty && distance >= if for_thing { 2 } else { 1 } {
                return Ok((x, y));
            }
        }
        Err(Restart)
    }

    /// Places an object in a room.
    pub(super) fn place_thing(&mut self, at: RoomIndex, id: ThingId) -> Result<(), Restart> {
        let place = self.random_empty_cell(at, true)?;
        self.set_cell(place, Cell::Thing(id));
        self.room_mut(at).things.push(id);
        Ok(())
    }

    /// Places a new object in a room. A kind or colour that is `None` is drawn, the kind first.
    pub(super) fn place_new_thing(
        &mut self,
        at: RoomIndex,
        kind: Option<Kind>,
        colour: Option<Colour>,
    ) -> Result<ThingId, Restart> {
        let kind = kind.unwrap_or_else(|| self.rng.pick(&PORTABLE));
        let colour = colour.unwrap_or_else(|| self.random_colour());
        let id = self.add_thing(Thing::new(kind, colour));
        self.place_thing(at, id)?;
        Ok(id)
    }

    /// Places `count` distractors, in one room or in any.
    pub(super) fn place_distractors(
        &mut self,
        room: Option<RoomIndex>,
        count: usize,
        unique: bool,
    ) -> Result<Vec<ThingId>, Restart> {
        let mut known: Vec<(Kind, Colour)> = Vec::new();
        for room in &self.room_states {
            known.extend(room.things.iter().map(|id| self.thing(*id)).map(|t| (t.kind, t.colour)));
        }
        let mut added = Vec::new();
        while added.len() < count {
            let colour = self.random_colour();
            let kind = self.rng.pick(&PORTABLE);
            if unique && known.contains(&(kind, colour)) {
                continue;
            }
            let at = room.unwrap_or_else(|| self.random_room());
            added.push(self.place_new_thing(at, Some(kind), Some(colour))?);
            known.push((kind, colour));
        }
        Ok(added)
    }

    /// Adds a door to a wall of a room. Arguments that are `None` are drawn in the order side, colour, locked.
    pub(super) fn add_door(
        &mut self,
        at: RoomIndex,
        side: Option<usize>,
        colour: Option<Colour>,
        locked: Option<bool>,
    ) -> Result<ThingId, Restart> {
        let side = match side {
            Some(side) => side,
            None => self.free_side(at)?,
        };
        let colour = colour.unwrap_or_else(|| self.random_colour());
        let locked = locked.unwrap_or_else(|| self.rng.coin());
        let door_state = if locked { DoorState::Locked } else { DoorState::Closed };
        let id = self.add_thing(Thing { door_state, ..Thing::new(Kind::Door, colour) });
        self.room_mut(at).is_locked = locked;
        let place = self.room(at).doorways[side].ok_or(Restart)?;
        self.set_cell(place, Cell::Thing(id));
        self.set_opening(at, side, WallOpening::Door(id))?;
        Ok(id)
    }

    fn free_side(&mut self, at: RoomIndex) -> Result<usize, Restart> {
        for _ in 0..MAX_UNBOUNDED_TRIES {
            let side = self.rng.index(4);
            if self.neighbour(at, side).is_some() && self.room(at).walls[side] == WallOpening::Wall {
                return Ok(side);
            }
        }
        Err(Restart)
    }

    fn set_opening(&mut self, at: RoomIndex, side: usize, opening: WallOpening) -> Result<(), Restart> {
        let other = self.neighbour(at, side).ok_or(Restart)?;
        self.room_mut(at).walls[side] = opening;
        self.room_mut(other).walls[(side + 2) % 4] = opening;
        Ok(())
    }

    /// Removes the wall between two rooms, except for its ends.
    pub(super) fn open_wall(&mut self, at: RoomIndex, side: usize) -> Result<(), Restart> {
        let ((left, top), pitch) = (self.room_corner(at), self.rooms.size - 1);
        for along in 1..pitch {
            let place = match side {
                0 => (left + pitch, top + along),
                1 => (left + along, top + pitch),
                2 => (left, top + along),
                _ => (left + along, top),
            };
            self.set_cell(place, Cell::Empty);
        }
        self.set_opening(at, side, WallOpening::Gap)
    }

    /// Adds unlocked doors until every room is reachable. Locked doors count as passages.
    pub(super) fn connect_rooms(&mut self, colours: &[Colour]) -> Result<(), Restart> {
        let start = self.agents_room();
        for _ in 0..MAX_CONNECT_TRIES {
            if self.all_connected(start) {
                return Ok(());
            }
            let at = self.random_room();
            let side = self.rng.index(4);
            let Some(other) = self.neighbour(at, side) else { continue };
            if self.room(at).walls[side] != WallOpening::Wall
                || self.room(at).is_locked
                || self.room(other).is_locked
            {
                continue;
            }
            let colour = self.rng.pick(colours);
            self.add_door(at, Some(side), Some(colour), Some(false))?;
        }
        Err(Restart)
    }

    fn all_connected(&self, start: RoomIndex) -> bool {
        let mut reached = vec![start];
        let mut next = 0;
        while let Some(&at) = reached.get(next) {
            next += 1;
            for side in (0..4).filter(|&side| self.room(at).walls[side] != WallOpening::Wall) {
                if let Some(other) = self.neighbour(at, side).filter(|other| !reached.contains(other)) {
                    reached.push(other);
                }
            }
        }
        reached.len() == self.room_states.len()
    }

    /// Places the agent in a room (any room if `None`), facing an empty cell or a wall.
    pub(super) fn place_agent(&mut self, room: Option<RoomIndex>) -> Result<(), Restart> {
        let at = room.unwrap_or_else(|| self.random_room());
        for _ in 0..MAX_UNBOUNDED_TRIES {
            (self.agent.x, self.agent.y) = (-1, -1);
            let (x, y) = self.random_empty_cell(at, false)?;
            self.agent = Pose { x, y, direction: self.rng.index(4) as u8 };
            if matches!(self.cell_at(self.agent.front()), Cell::Empty | Cell::Wall) {
                return Ok(());
            }
        }
        Err(Restart)
    }

    /// Returns whether every object can be reached without moving another one. Doors in any state are passable.
    pub(super) fn all_reachable(&self) -> bool {
        let mut seen = vec![false; self.cells.len()];
        let width = self.width() as usize;
        let mut stack = vec![(self.agent.x, self.agent.y)];
        while let Some((x, y)) = stack.pop() {
            let inside = x >= 0 && y >= 0 && x < self.width() && y < self.height();
            let index = y.max(0) as usize * width + x.max(0) as usize;
            if !inside || seen[index] {
                continue;
            }
            seen[index] = true;
            let passable = match self.cells[index] {
                Cell::Empty => true,
                Cell::Wall => false,
                Cell::Thing(id) => self.thing(id).kind == Kind::Door,
            };
            if passable {
                stack.extend(DIRECTIONS.map(|(dx, dy)| (x + dx, y + dy)));
            }
        }
        self.cells.iter().zip(seen).all(|(cell, seen)| seen || !matches!(cell, Cell::Thing(_)))
    }

    /// Restarts if not every object is reachable.
    pub(super) fn require_reachable(&self) -> Result<(), Restart> {
        if self.all_reachable() { Ok(()) } else { Err(Restart) }
    }
}
