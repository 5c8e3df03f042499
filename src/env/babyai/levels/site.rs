//! A grid of rooms under construction. The order of its draws is that of the original, so every refusal redraws where the
//! original redraws, and [`Restart`] begins anew with the same dice.

use crate::env::babyai::dice::Dice;
use crate::env::babyai::start::Rooms;
use crate::env::babyai::thing::{AHEAD, Cell, Colour, Kind, Leaf, Pose, Thing, ThingId, cell};

/// The attempt is given up; the dice roll on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Restart;

/// Draws for one place before the attempt is given up.
const TRIES: u32 = 1001;
/// Draws for connecting all rooms before the attempt is given up.
const CONNECTING: u32 = 5001;
/// Draws for what the original draws for without end.
const ENDLESS: u32 = 1_000_000;
/// What can be carried, in the order in which it is drawn from.
pub(super) const PORTABLE: [Kind; 3] = [Kind::Key, Kind::Ball, Kind::Box];

/// A column and a row of rooms.
pub(super) type At = (usize, usize);

/// What is in a wall of a room. The sides are right, down, left, up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Shut,
    Gap,
    Door(ThingId),
}

#[derive(Clone, Debug)]
struct Room {
    ways: [Way; 4],
    doorways: [Option<(i16, i16)>; 4],
    locked: bool,
    things: Vec<ThingId>,
}

/// The grid under construction.
pub(super) struct Site<'d> {
    pub(super) dice: &'d mut Dice,
    pub(super) rooms: Rooms,
    pub(super) cells: Vec<Cell>,
    pub(super) things: Vec<Thing>,
    pub(super) agent: Pose,
    built: Vec<Room>,
}

impl<'d> Site<'d> {
    /// Walls, the places of doors, and the agent in the middle for the time being.
    pub(super) fn new(dice: &'d mut Dice, rooms: Rooms) -> Self {
        let pitch = rooms.size - 1;
        let half = |many: i16| (many / 2) * pitch + rooms.size / 2;
        let agent = Pose { x: half(rooms.cols), y: half(rooms.rows), dir: 0 };
        let room = Room { ways: [Way::Shut; 4], doorways: [None; 4], locked: false, things: Vec::new() };
        let built = vec![room; rooms.rows as usize * rooms.cols as usize];
        let mut site = Self { dice, rooms, cells: Vec::new(), things: Vec::new(), agent, built };
        let (width, height) = (site.width(), site.height());
        let wall = |at: i16| at % pitch == 0;
        for y in 0..height {
            site.cells.extend((0..width).map(|x| if wall(x) || wall(y) { Cell::Wall } else { Cell::Empty }));
        }
        for row in 0..rooms.rows as usize {
            for col in 0..rooms.cols as usize {
                let (left, top) = site.corner((col, row));
                let mut between =
                    |low: i16| site.dice.integer(i64::from(low) + 1, i64::from(low + pitch)) as i16;
                if col + 1 < rooms.cols as usize {
                    let door = Some((left + pitch, between(top)));
                    site.built[row * rooms.cols as usize + col].doorways[0] = door;
                    site.built[row * rooms.cols as usize + col + 1].doorways[2] = door;
                }
                let mut between =
                    |low: i16| site.dice.integer(i64::from(low) + 1, i64::from(low + pitch)) as i16;
                if row + 1 < rooms.rows as usize {
                    let door = Some((between(left), top + pitch));
                    site.built[row * rooms.cols as usize + col].doorways[1] = door;
                    site.built[(row + 1) * rooms.cols as usize + col].doorways[3] = door;
                }
            }
        }
        site
    }

    pub(super) fn width(&self) -> i16 {
        (self.rooms.size - 1) * self.rooms.cols + 1
    }

    fn height(&self) -> i16 {
        (self.rooms.size - 1) * self.rooms.rows + 1
    }

    fn corner(&self, (col, row): At) -> (i16, i16) {
        let pitch = self.rooms.size - 1;
        (col as i16 * pitch, row as i16 * pitch)
    }

    fn room(&self, (col, row): At) -> &Room {
        &self.built[row * self.rooms.cols as usize + col]
    }

    fn room_mut(&mut self, (col, row): At) -> &mut Room {
        &mut self.built[row * self.rooms.cols as usize + col]
    }

    /// The room on a side.
    pub(super) fn neighbour(&self, (col, row): At, side: usize) -> Option<At> {
        let (dx, dy) = AHEAD[side];
        let (col, row) = (col as i16 + dx, row as i16 + dy);
        let inside = (0..self.rooms.cols).contains(&col) && (0..self.rooms.rows).contains(&row);
        inside.then_some((col as usize, row as usize))
    }

    /// All rooms, columns first.
    pub(super) fn by_columns(&self) -> Vec<At> {
        let (cols, rows) = (self.rooms.cols as usize, self.rooms.rows as usize);
        (0..cols).flat_map(|col| (0..rows).map(move |row| (col, row))).collect()
    }

    /// The doors of a room: right, down, left, up.
    pub(super) fn doors(&self, at: At) -> impl Iterator<Item = ThingId> + '_ {
        self.room(at).ways.iter().filter_map(|way| if let Way::Door(id) = way { Some(*id) } else { None })
    }

    /// A cell lies in a room, its walls included.
    pub(super) fn is_inside(&self, at: At, (x, y): (i16, i16)) -> bool {
        let ((left, top), size) = (self.corner(at), self.rooms.size);
        (left..left + size).contains(&x) && (top..top + size).contains(&y)
    }

    /// The room the agent is in.
    pub(super) fn agents_room(&self) -> At {
        let pitch = self.rooms.size - 1;
        ((self.agent.x / pitch) as usize, (self.agent.y / pitch) as usize)
    }

    pub(super) fn thing(&self, id: ThingId) -> Thing {
        self.things[usize::from(id.0)]
    }

    /// Where a thing lies.
    pub(super) fn where_is(&self, id: ThingId) -> Option<(i16, i16)> {
        let index = self.cells.iter().position(|cell| *cell == Cell::Of(id))?;
        let width = self.width() as usize;
        Some(((index % width) as i16, (index / width) as i16))
    }

    pub(super) fn cell(&self, (x, y): (i16, i16)) -> Cell {
        cell(&self.cells, self.width(), self.height(), x, y)
    }

    pub(super) fn set(&mut self, (x, y): (i16, i16), to: Cell) {
        let width = self.width() as usize;
        self.cells[y as usize * width + x as usize] = to;
    }

    pub(super) fn colour(&mut self) -> Colour {
        self.dice.one(&Colour::BY_NAME)
    }

    pub(super) fn column(&mut self) -> usize {
        self.dice.index(self.rooms.cols as usize)
    }

    pub(super) fn row(&mut self) -> usize {
        self.dice.index(self.rooms.rows as usize)
    }

    /// A room, its column drawn first.
    pub(super) fn any_room(&mut self) -> At {
        (self.column(), self.row())
    }

    pub(super) fn create(&mut self, thing: Thing) -> ThingId {
        self.things.push(thing);
        ThingId((self.things.len() - 1) as u16)
    }

    /// An empty cell of a room; for things none that touches the agent's.
    fn empty_cell(&mut self, at: At, for_thing: bool) -> Result<(i16, i16), Restart> {
        let ((left, top), size) = (self.corner(at), i64::from(self.rooms.size));
        for _ in 0..TRIES {
            let x = self.dice.integer(i64::from(left), i64::from(left) + size) as i16;
            let y = self.dice.integer(i64::from(top), i64::from(top) + size) as i16;
            let away = x.abs_diff(self.agent.x) + y.abs_diff(self.agent.y);
            if self.cell((x, y)) == Cell::Empty && away >= if for_thing { 2 } else { 1 } {
                return Ok((x, y));
            }
        }
        Err(Restart)
    }

    /// Lays a thing into a room.
    pub(super) fn place(&mut self, at: At, id: ThingId) -> Result<(), Restart> {
        let place = self.empty_cell(at, true)?;
        self.set(place, Cell::Of(id));
        self.room_mut(at).things.push(id);
        Ok(())
    }

    /// Lays a new thing into a room; what is open is drawn, the kind first.
    pub(super) fn add(
        &mut self,
        at: At,
        kind: Option<Kind>,
        colour: Option<Colour>,
    ) -> Result<ThingId, Restart> {
        let kind = kind.unwrap_or_else(|| self.dice.one(&PORTABLE));
        let colour = colour.unwrap_or_else(|| self.colour());
        let id = self.create(Thing::new(kind, colour));
        self.place(at, id)?;
        Ok(id)
    }

    /// Lays so many other things around, into one room or any.
    pub(super) fn distract(
        &mut self,
        room: Option<At>,
        many: usize,
        unique: bool,
    ) -> Result<Vec<ThingId>, Restart> {
        let mut known: Vec<(Kind, Colour)> = Vec::new();
        for room in &self.built {
            known.extend(room.things.iter().map(|id| self.thing(*id)).map(|t| (t.kind, t.colour)));
        }
        let mut added = Vec::new();
        while added.len() < many {
            let colour = self.colour();
            let kind = self.dice.one(&PORTABLE);
            if unique && known.contains(&(kind, colour)) {
                continue;
            }
            let at = room.unwrap_or_else(|| self.any_room());
            added.push(self.add(at, Some(kind), Some(colour))?);
            known.push((kind, colour));
        }
        Ok(added)
    }

    /// Puts a door into a wall of a room; what is open is drawn: side, colour, whether it is locked.
    pub(super) fn door(
        &mut self,
        at: At,
        side: Option<usize>,
        colour: Option<Colour>,
        locked: Option<bool>,
    ) -> Result<ThingId, Restart> {
        let side = match side {
            Some(side) => side,
            None => self.free_side(at)?,
        };
        let colour = colour.unwrap_or_else(|| self.colour());
        let locked = locked.unwrap_or_else(|| self.dice.coin());
        let leaf = if locked { Leaf::Locked } else { Leaf::Closed };
        let id = self.create(Thing { leaf, ..Thing::new(Kind::Door, colour) });
        self.room_mut(at).locked = locked;
        let place = self.room(at).doorways[side].ok_or(Restart)?;
        self.set(place, Cell::Of(id));
        self.join(at, side, Way::Door(id))?;
        Ok(id)
    }

    fn free_side(&mut self, at: At) -> Result<usize, Restart> {
        for _ in 0..ENDLESS {
            let side = self.dice.index(4);
            if self.neighbour(at, side).is_some() && self.room(at).ways[side] == Way::Shut {
                return Ok(side);
            }
        }
        Err(Restart)
    }

    fn join(&mut self, at: At, side: usize, way: Way) -> Result<(), Restart> {
        let other = self.neighbour(at, side).ok_or(Restart)?;
        self.room_mut(at).ways[side] = way;
        self.room_mut(other).ways[(side + 2) % 4] = way;
        Ok(())
    }

    /// Takes a wall between two rooms away, but for its ends.
    pub(super) fn open_wall(&mut self, at: At, side: usize) -> Result<(), Restart> {
        let ((left, top), pitch) = (self.corner(at), self.rooms.size - 1);
        for along in 1..pitch {
            let place = match side {
                0 => (left + pitch, top + along),
                1 => (left + along, top + pitch),
                2 => (left, top + along),
                _ => (left + along, top),
            };
            self.set(place, Cell::Empty);
        }
        self.join(at, side, Way::Gap)
    }

    /// Adds unlocked doors until every room can be reached; locked ones count as passages.
    pub(super) fn connect(&mut self, colours: &[Colour]) -> Result<(), Restart> {
        let start = self.agents_room();
        for _ in 0..CONNECTING {
            if self.all_connected(start) {
                return Ok(());
            }
            let at = self.any_room();
            let side = self.dice.index(4);
            let Some(other) = self.neighbour(at, side) else { continue };
            if self.room(at).ways[side] != Way::Shut || self.room(at).locked || self.room(other).locked {
                continue;
            }
            let colour = self.dice.one(colours);
            self.door(at, Some(side), Some(colour), Some(false))?;
        }
        Err(Restart)
    }

    fn all_connected(&self, start: At) -> bool {
        let mut reached = vec![start];
        let mut next = 0;
        while let Some(&at) = reached.get(next) {
            next += 1;
            for side in (0..4).filter(|&side| self.room(at).ways[side] != Way::Shut) {
                if let Some(other) = self.neighbour(at, side).filter(|other| !reached.contains(other)) {
                    reached.push(other);
                }
            }
        }
        reached.len() == self.built.len()
    }

    /// Puts the agent into a room (any, where none is given), looking at an empty cell or a wall.
    pub(super) fn place_agent(&mut self, room: Option<At>) -> Result<(), Restart> {
        let at = room.unwrap_or_else(|| self.any_room());
        for _ in 0..ENDLESS {
            (self.agent.x, self.agent.y) = (-1, -1);
            let (x, y) = self.empty_cell(at, false)?;
            self.agent = Pose { x, y, dir: self.dice.index(4) as u8 };
            if matches!(self.cell(self.agent.front()), Cell::Empty | Cell::Wall) {
                return Ok(());
            }
        }
        Err(Restart)
    }

    /// Every thing can be touched without moving another; doors in any state can be passed.
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
                Cell::Of(id) => self.thing(id).kind == Kind::Door,
            };
            if passable {
                stack.extend(AHEAD.map(|(dx, dy)| (x + dx, y + dy)));
            }
        }
        self.cells.iter().zip(seen).all(|(cell, seen)| seen || !matches!(cell, Cell::Of(_)))
    }

    /// Begins anew where not everything is reachable.
    pub(super) fn need_reachable(&self) -> Result<(), Restart> {
        if self.all_reachable() { Ok(()) } else { Err(Restart) }
    }
}
