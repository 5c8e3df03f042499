//! The content of the grid: objects, cells, the agent's pose, and minigrid's triple encoding.

/// A colour. The order is that of the encoding; random choices use [`Colour::BY_NAME`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Colour {
    Red,
    Green,
    Blue,
    Purple,
    Yellow,
    Grey,
}

impl Colour {
    /// All colours in alphabetical order, which random choices use.
    pub const BY_NAME: [Self; 6] =
        [Self::Blue, Self::Green, Self::Grey, Self::Purple, Self::Red, Self::Yellow];

    const WORDS: [&str; 6] = ["red", "green", "blue", "purple", "yellow", "grey"];

    /// Returns the name used in texts and files.
    pub fn word(self) -> &'static str {
        Self::WORDS[self as usize]
    }

    /// Returns the colour with this name.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::BY_NAME.into_iter().find(|colour| colour.word() == word)
    }
}

/// A kind of object; the discriminant is that of the encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Door = 4,
    Key = 5,
    Ball = 6,
    Box = 7,
}

impl Kind {
    pub const ALL: [Self; 4] = [Self::Door, Self::Key, Self::Ball, Self::Box];

    /// Returns the name used in texts and files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Door => "door",
            Self::Key => "key",
            Self::Ball => "ball",
            Self::Box => "box",
        }
    }

    /// Returns the kind with this name.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// The state of a door; the discriminant is that of the encoding, in which everything that isn't a door counts as open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DoorState {
    #[default]
    Open,
    Closed,
    Locked,
}

impl DoorState {
    /// Returns the name used in texts and files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
            Self::Locked => "locked",
        }
    }

    /// Returns the state with this name.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Open, Self::Closed, Self::Locked].into_iter().find(|state| state.word() == word)
    }
}

/// Index of an object in a level's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ThingId(pub u16);

/// A door, key, ball or box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thing {
    pub kind: Kind,
    pub colour: Colour,
    /// The state of a door; [`DoorState::Open`] for other kinds.
    pub door_state: DoorState,
    /// The object inside, if this is a box.
    pub contents: Option<ThingId>,
}

impl Thing {
    /// Creates an object of this kind and colour. A door is closed, a box empty.
    pub fn new(kind: Kind, colour: Colour) -> Self {
        let door_state = if kind == Kind::Door { DoorState::Closed } else { DoorState::Open };
        Self { kind, colour, door_state, contents: None }
    }
}

/// The content of a cell of the grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cell {
    #[default]
    Empty,
    Wall,
    Thing(ThingId),
}

/// Minigrid's encoding of a cell, packed: type, colour and state in 3, 3 and 2 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct CellCode(pub u8);

impl CellCode {
    pub const UNSEEN: Self = Self(0);
    /// Seen and empty.
    pub const EMPTY: Self = Self(1 << 5);
    pub const WALL: Self = Self(2 << 5 | 5 << 2);

    /// Encodes an object.
    pub fn from_thing(thing: Thing) -> Self {
        Self((thing.kind as u8) << 5 | (thing.colour as u8) << 2 | thing.door_state as u8)
    }

    /// Decodes a triple in the file format. Returns `None` for an invalid one.
    pub fn from_triple(triple: [u8; 3]) -> Option<Self> {
        let [kind, colour, state] = triple;
        let known = match kind {
            0 | 1 => colour == 0 && state == 0,
            2 => colour == 5 && state == 0,
            4 => colour < 6 && state < 3,
            5..=7 => colour < 6 && state == 0,
            _ => false,
        };
        known.then_some(Self(kind << 5 | colour << 2 | state))
    }

    /// Returns type, colour and state as numbers.
    pub fn triple(self) -> [u8; 3] {
        [self.0 >> 5, self.0 >> 2 & 7, self.0 & 3]
    }

    /// Returns the kind of object, or `None` if the cell is unseen, empty or a wall.
    pub fn kind(self) -> Option<Kind> {
        match self.0 >> 5 {
            4 => Some(Kind::Door),
            5 => Some(Kind::Key),
            6 => Some(Kind::Ball),
            7 => Some(Kind::Box),
            _ => None,
        }
    }

    /// Returns the colour of an object or wall.
    pub fn colour(self) -> Colour {
        match self.0 >> 2 & 7 {
            0 => Colour::Red,
            1 => Colour::Green,
            2 => Colour::Blue,
            3 => Colour::Purple,
            4 => Colour::Yellow,
            _ => Colour::Grey,
        }
    }

    /// Returns the state of a door; open for everything else.
    pub fn door_state(self) -> DoorState {
        match self.0 & 3 {
            0 => DoorState::Open,
            1 => DoorState::Closed,
            _ => DoorState::Locked,
        }
    }

    /// Returns whether it blocks the view: walls and doors that are not open.
    pub fn is_opaque(self) -> bool {
        self == Self::WALL || (self.kind() == Some(Kind::Door) && self.door_state() != DoorState::Open)
    }

    /// Returns whether it is a door that can be walked through.
    pub fn is_open_door(self) -> bool {
        self.kind() == Some(Kind::Door) && self.door_state() == DoorState::Open
    }

    /// Writes the name as in observations: colour, state (for doors), kind.
    pub fn write_name(self, out: &mut String) {
        let Some(kind) = self.kind() else { return };
        out.push_str(self.colour().word());
        out.push(' ');
        if kind == Kind::Door {
            out.push_str(self.door_state().word());
            out.push(' ');
        }
        out.push_str(kind.word());
    }

    /// Returns the name as [`CellCode::write_name`] writes it.
    pub fn name(self) -> String {
        let mut name = String::new();
        self.write_name(&mut name);
        name
    }
}

/// Returns the content of a cell; everything outside the grid is wall.
pub(super) fn cell_at(cells: &[Cell], width: i16, height: i16, x: i16, y: i16) -> Cell {
    if x < 0 || y < 0 || x >= width || y >= height {
        return Cell::Wall;
    }
    cells.get(y as usize * width as usize + x as usize).copied().unwrap_or(Cell::Wall)
}

/// Encodes a cell.
pub(super) fn encode_cell(things: &[Thing], cell: Cell) -> CellCode {
    match cell {
        Cell::Empty => CellCode::EMPTY,
        Cell::Wall => CellCode::WALL,
        Cell::Thing(ThingId(id)) => {
            things.get(usize::from(id)).map_or(CellCode::EMPTY, |&thing| CellCode::from_thing(thing))
        }
    }
}

/// The agent's position and direction. Directions: 0 right, 1 down, 2 left, 3 up; y grows downwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pose {
    pub x: i16,
    pub y: i16,
    /// Always below 4.
    pub direction: u8,
}

/// Unit vector of each direction.
pub(super) const DIRECTIONS: [(i16, i16); 4] = [(1, 0), (0, 1), (-1, 0), (0, -1)];

impl Pose {
    /// Returns the cell in front of the agent.
    pub fn front(self) -> (i16, i16) {
        self.offset(1, 0)
    }

    /// Returns the cell at this distance ahead and to the right.
    pub fn offset(self, ahead: i16, right: i16) -> (i16, i16) {
        let (fx, fy) = DIRECTIONS[usize::from(self.direction & 3)];
        let (rx, ry) = (-fy, fx);
        (self.x + fx * ahead + rx * right, self.y + fy * ahead + ry * right)
    }

    /// Returns the vector of one step to the agent's right.
    pub fn step_right(self) -> (i16, i16) {
        DIRECTIONS[usize::from((self.direction + 1) & 3)]
    }

    /// Returns the vector of one step backwards.
    pub fn step_back(self) -> (i16, i16) {
        DIRECTIONS[usize::from((self.direction + 2) & 3)]
    }
}
