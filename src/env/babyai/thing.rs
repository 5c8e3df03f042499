//! What lies on the grid: things, cells, the agent's pose, and the triples by which the original encodes them.

/// A colour. The order is that of the encoding; lists draw from [`Colour::BY_NAME`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Colour {
    /// Red.
    Red,
    /// Green.
    Green,
    /// Blue.
    Blue,
    /// Purple.
    Purple,
    /// Yellow.
    Yellow,
    /// Grey.
    Grey,
}

impl Colour {
    /// All of them in the order of their names, which is the one random choices are made from.
    pub const BY_NAME: [Self; 6] =
        [Self::Blue, Self::Green, Self::Grey, Self::Purple, Self::Red, Self::Yellow];

    const WORDS: [&str; 6] = ["red", "green", "blue", "purple", "yellow", "grey"];

    /// Its word in texts and files.
    pub fn word(self) -> &'static str {
        Self::WORDS[self as usize]
    }

    /// The colour of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::BY_NAME.into_iter().find(|colour| colour.word() == word)
    }
}

/// A kind of thing; the number is that of the encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A door.
    Door = 4,
    /// A key.
    Key = 5,
    /// A ball.
    Ball = 6,
    /// A box.
    Box = 7,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Door, Self::Key, Self::Ball, Self::Box];

    /// Its word in texts and files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Door => "door",
            Self::Key => "key",
            Self::Ball => "ball",
            Self::Box => "box",
        }
    }

    /// The kind of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// How a door stands; the number is that of the encoding. Everything that is no door counts as open there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DoorState {
    /// Open.
    #[default]
    Open,
    /// Closed.
    Closed,
    /// Locked.
    Locked,
}

impl DoorState {
    /// Its word in texts and files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
            Self::Locked => "locked",
        }
    }

    /// The state of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Open, Self::Closed, Self::Locked].into_iter().find(|leaf| leaf.word() == word)
    }
}

/// Which thing of a level; an index into its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ThingId(pub u16);

/// A door, key, ball or box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thing {
    /// What it is.
    pub kind: Kind,
    /// Its colour.
    pub colour: Colour,
    /// How it stands, if it is a door.
    pub door_state: DoorState,
    /// What is in it, if it is a box.
    pub contents: Option<ThingId>,
}

impl Thing {
    /// A thing of this kind and colour; a door is closed, a box empty.
    pub fn new(kind: Kind, colour: Colour) -> Self {
        let leaf = if kind == Kind::Door { DoorState::Closed } else { DoorState::Open };
        Self { kind, colour, door_state: leaf, contents: None }
    }
}

/// What a cell of the grid holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cell {
    /// Nothing.
    #[default]
    Empty,
    /// A wall.
    Wall,
    /// A thing.
    Thing(ThingId),
}

/// How the original encodes what a cell shows, packed: type, colour and state in 3, 3 and 2 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct CellCode(pub u8);

impl CellCode {
    /// Not seen.
    pub const UNSEEN: Self = Self(0);
    /// Seen and empty.
    pub const EMPTY: Self = Self(1 << 5);
    /// A wall.
    pub const WALL: Self = Self(2 << 5 | 5 << 2);

    /// The code of a thing.
    pub fn from_thing(thing: Thing) -> Self {
        Self((thing.kind as u8) << 5 | (thing.colour as u8) << 2 | thing.door_state as u8)
    }

    /// The code of a triple as files write it; none for one that the world does not know.
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

    /// Type, colour and state as numbers.
    pub fn triple(self) -> [u8; 3] {
        [self.0 >> 5, self.0 >> 2 & 7, self.0 & 3]
    }

    /// The kind of thing; none for unseen, empty and wall.
    pub fn kind(self) -> Option<Kind> {
        match self.0 >> 5 {
            4 => Some(Kind::Door),
            5 => Some(Kind::Key),
            6 => Some(Kind::Ball),
            7 => Some(Kind::Box),
            _ => None,
        }
    }

    /// The colour of a thing or wall.
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

    /// How the door stands; open for everything else.
    pub fn door_state(self) -> DoorState {
        match self.0 & 3 {
            0 => DoorState::Open,
            1 => DoorState::Closed,
            _ => DoorState::Locked,
        }
    }

    /// Nothing is seen beyond it: walls and doors that are not open.
    pub fn is_opaque(self) -> bool {
        self == Self::WALL || (self.kind() == Some(Kind::Door) && self.door_state() != DoorState::Open)
    }

    /// It can be walked through.
    pub fn is_open_door(self) -> bool {
        self.kind() == Some(Kind::Door) && self.door_state() == DoorState::Open
    }

    /// Writes the name as observations have it: colour, for doors the state, kind.
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

    /// The name as [`Code::write_name`] writes it.
    pub fn name(self) -> String {
        let mut name = String::new();
        self.write_name(&mut name);
        name
    }
}

/// What a cell holds; outside of the grid are walls.
pub(super) fn cell_at(cells: &[Cell], width: i16, height: i16, x: i16, y: i16) -> Cell {
    if x < 0 || y < 0 || x >= width || y >= height {
        return Cell::Wall;
    }
    cells.get(y as usize * width as usize + x as usize).copied().unwrap_or(Cell::Wall)
}

/// How a cell is encoded.
pub(super) fn encode_cell(things: &[Thing], cell: Cell) -> CellCode {
    match cell {
        Cell::Empty => CellCode::EMPTY,
        Cell::Wall => CellCode::WALL,
        Cell::Thing(ThingId(id)) => {
            things.get(usize::from(id)).map_or(CellCode::EMPTY, |&thing| CellCode::from_thing(thing))
        }
    }
}

/// Where the agent is and where it looks. Directions: 0 right, 1 down, 2 left, 3 up; y grows downwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pose {
    /// Column.
    pub x: i16,
    /// Row.
    pub y: i16,
    /// Direction, below 4.
    pub direction: u8,
}

/// One step in each direction.
pub(super) const DIRECTIONS: [(i16, i16); 4] = [(1, 0), (0, 1), (-1, 0), (0, -1)];

impl Pose {
    /// The cell in front.
    pub fn front(self) -> (i16, i16) {
        self.offset(1, 0)
    }

    /// The cell so many steps ahead and so many to the right.
    pub fn offset(self, ahead: i16, right: i16) -> (i16, i16) {
        let (fx, fy) = DIRECTIONS[usize::from(self.direction & 3)];
        let (rx, ry) = (-fy, fx);
        (self.x + fx * ahead + rx * right, self.y + fy * ahead + ry * right)
    }

    /// One step to the agent's right, as a difference.
    pub fn step_right(self) -> (i16, i16) {
        DIRECTIONS[usize::from((self.direction + 1) & 3)]
    }

    /// One step backwards, as a difference.
    pub fn step_back(self) -> (i16, i16) {
        DIRECTIONS[usize::from((self.direction + 2) & 3)]
    }
}
