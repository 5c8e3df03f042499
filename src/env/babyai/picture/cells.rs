//! The cells of a grid: signs of one character, and shapes of half blocks and lines. Shapes and letters tell objects apart
//! without their colours. All characters are of the set that every monospaced font has (WGL4).

use super::Grid;
use crate::domain::{PictureRole, PictureRow};

/// The size of a cell on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CellSize {
    pub(super) columns: usize,
    pub(super) rows: usize,
}

impl CellSize {
    /// A sign and the letter of its colour.
    pub(super) const SMALL: Self = Self { columns: 2, rows: 1 };
    /// A shape with the letter of its colour in it (doors) or beside it.
    pub(super) const LARGE: Self = Self { columns: 5, rows: 2 };
    /// A shape with the letter of its colour inside.
    pub(super) const HUGE: Self = Self { columns: 6, rows: 3 };
}

/// How something is drawn in cells of each size. In rows of shapes, [`LETTER`] stands for the letter of a colour and [`SIGN`] for
/// the sign of what the agent carries.
struct Shape {
    sign: char,
    large: [&'static str; 2],
    huge: [&'static str; 3],
}

const LETTER: char = '@';
const SIGN: char = '&';

impl Shape {
    const fn new(sign: char, large: [&'static str; 2], huge: [&'static str; 3]) -> Self {
        Self { sign, large, huge }
    }

    /// Returns a row of the shape; it has as many characters as the cell has columns.
    fn row(&self, size: CellSize, row: usize) -> String {
        match size {
            CellSize::HUGE => self.huge[row].to_owned(),
            CellSize::LARGE => self.large[row].to_owned(),
            _ => String::from_iter([self.sign, LETTER]),
        }
    }
}

/// What the cells are drawn with.
struct Drawings {
    /// In the order of [`KINDS`].
    things: [Shape; 6],
    /// The agent facing right, down, left and up.
    agent: [Shape; 4],
    /// A cell that the agent hasn't seen.
    unseen: char,
    /// An empty cell that the agent sees.
    visible: char,
    wall: char,
}

/// The kinds of objects: the letter in a cell, and the name.
pub(super) const KINDS: [(u8, &str); 6] = [
    (b'o', "ball"),
    (b'b', "box"),
    (b'k', "key"),
    (b'/', "open door"),
    (b'|', "closed door"),
    (b'!', "locked door"),
];

static UNICODE: Drawings = Drawings {
    things: [
        Shape::new('●', ["▄██▄@", "▀██▀ "], ["▄███▄ ", "██@██ ", "▀███▀ "]),
        Shape::new('■', ["█▀▀█@", "█▄▄█ "], ["█▀▀▀█ ", "█ @ █ ", "█▄▄▄█ "]),
        Shape::new('K', ["●▄▄▄@", "  ▀ ▀"], ["▄▄▄   ", "█@█▄▄▄", "▀▀▀ ▀ "]),
        Shape::new('║', ["█ @ █", "█   █"], ["█    █", "█ @  █", "█    █"]),
        Shape::new('█', ["██@██", "█████"], ["██████", "██@ ██", "██████"]),
        Shape::new('╬', ["╬═@═╬", "╬═══╬"], ["╔╦══╦╗", "╠╬@═╬╣", "╚╩══╩╝"]),
    ],
    agent: [
        Shape::new('►', ["██▄▄@", "██▀▀&"], ["█▄▄ &@", "█████ ", "█▀▀   "]),
        Shape::new('▼', ["▀███▀", "  ▀&@"], ["▀████▀", " ▀██▀ ", "  ▀▀&@"]),
        Shape::new('◄', ["@▄▄██", "&▀▀██"], ["&@ ▄▄█", " █████", "   ▀▀█"]),
        Shape::new('▲', ["  ▄&@", "▄███▄"], ["  ▄▄&@", " ▄██▄ ", "▄████▄"]),
    ],
    unseen: '░',
    visible: '·',
    wall: '▒',
};

static ASCII: Drawings = Drawings {
    things: [
        Shape::new('O', ["/--\\@", "\\--/ "], [".---. ", "( @ ) ", "'---' "]),
        Shape::new('B', ["+--+@", "+--+ "], ["+---+ ", "| @ | ", "+---+ "]),
        Shape::new('K', ["O---@", "  ' '"], [".-.   ", "|@|---", "'-' ' "]),
        Shape::new('/', ["| @ |", "|   |"], ["|    |", "| @  |", "|    |"]),
        Shape::new('+', ["|=@=|", "|===|"], ["+====+", "|=@==|", "+====+"]),
        Shape::new('X', ["|X@X|", "|XXX|"], ["+XXXX+", "|X@XX|", "+XXXX+"]),
    ],
    agent: [
        Shape::new('>', ["\\\\  @", "//  &"], ["|\\  &@", "|  >  ", "|/    "]),
        Shape::new('v', ["\\  /@", " \\/ &"], ["\\---/ ", " \\ /  ", "  v &@"]),
        Shape::new('<', [" // @", " \\\\ &"], ["&@  /|", "  <  |", "    \\|"]),
        Shape::new('^', [" /\\ @", "/  \\&"], ["  ^ &@", " / \\  ", "/---\\ "]),
    ],
    unseen: ':',
    visible: '-',
    wall: '#',
};

/// One character of a cell.
type CellCharacter = (PictureRole, char);

impl Grid<'_> {
    fn drawings(&self) -> &'static Drawings {
        if self.is_ascii { &ASCII } else { &UNICODE }
    }

    /// Returns a row of a cell.
    pub(super) fn cell_row(&self, (x, y): (usize, usize), size: CellSize, row: usize) -> Vec<CellCharacter> {
        let drawings = self.drawings();
        if self.is_agent_at(x, y) {
            let shape = &drawings.agent[usize::from(self.agent.direction & 3)];
            let carried = self.carried().and_then(|(kind, colour)| Some((self.thing(kind)?.sign, colour)));
            let carried = carried.filter(|_| size.rows > 1);
            let character = |character: char| match (character, carried) {
                (LETTER, Some((_, colour))) => (colour_role(colour), colour_letter(colour)),
                (SIGN, Some((sign, colour))) => (colour_role(colour), sign),
                (LETTER | SIGN, None) => (PictureRole::Agent, ' '),
                (part, _) => (PictureRole::Agent, part),
            };
            return shape.row(size, row).chars().map(character).collect();
        }
        let [kind, colour] = self.cell(x, y);
        if let Some(shape) = self.thing(kind) {
            let letter = |part: char| if part == LETTER { colour_letter(colour) } else { part };
            return shape.row(size, row).chars().map(|part| (colour_role(colour), letter(part))).collect();
        }
        let (role, character) = match (kind, self.is_visible(x, y)) {
            (b'#', true) => (PictureRole::Text, drawings.wall),
            (b'#', false) => (PictureRole::Muted, drawings.wall),
            (b'.', true) => (PictureRole::Text, drawings.visible),
            (b'.', false) => (PictureRole::Muted, ' '),
            _ => (PictureRole::Frame, drawings.unseen),
        };
        let mut characters = vec![(role, character); size.columns];
        if character == drawings.visible {
            // One dot in the middle.
            characters = vec![(role, ' '); size.columns];
            if row == (size.rows - 1) / 2 {
                characters[(size.columns - 1) / 2].1 = character;
            }
        }
        characters
    }

    /// Returns how an object of a kind is drawn.
    fn thing(&self, kind: u8) -> Option<&'static Shape> {
        let place = KINDS.iter().position(|(letter, _)| *letter == kind)?;
        Some(&self.drawings().things[place])
    }

    /// Returns the kind and the colour of the object that the agent carries.
    fn carried(&self) -> Option<(u8, u8)> {
        let (colour, kind) = self.holding?.split_once(' ')?;
        let kind = KINDS.iter().find(|(_, name)| *name == kind)?.0;
        Some((kind, COLOURS.iter().find(|(_, name)| *name == colour)?.0))
    }

    /// Returns what the shapes, letters and fillings mean, as far as the grid has them, in rows of at most `columns` columns. Rows
    /// of one shape belong together.
    pub(super) fn legend(&self, size: CellSize, columns: usize) -> Vec<Vec<PictureRow>> {
        let cells = || (0..self.height).flat_map(|y| (0..self.width).map(move |x| (x, y)));
        let mut things: Vec<(u8, u8)> = cells().map(|(x, y)| self.cell(x, y).into()).collect();
        things.retain(|(kind, _)| self.thing(*kind).is_some());
        things.extend(self.carried());
        let kinds = KINDS.iter().filter(|(kind, _)| things.iter().any(|thing| thing.0 == *kind));
        let shapes = kinds.filter_map(|(kind, name)| {
            let shape = self.thing(*kind)?;
            let drawn = |row| match size.rows {
                1 => shape.sign.to_string(),
                _ => shape.row(size, row).replace(LETTER, " "),
            };
            let mut rows: Vec<PictureRow> =
                (0..size.rows).map(|row| vec![(PictureRole::Muted, drawn(row))]).collect();
            // Beside a shape, the name is in its middle or lower row.
            let named = size.rows / 2;
            for (row, pieces) in rows.iter_mut().enumerate() {
                let name = if row == named { format!(" {name}") } else { " ".repeat(name.len() + 1) };
                pieces.push((PictureRole::Muted, name));
            }
            Some(rows)
        });
        let shapes: Vec<Vec<PictureRow>> = shapes.collect();
        let is_used = |colour: u8| things.iter().any(|thing| thing.1 == colour);
        let colours = COLOURS.iter().filter(|(letter, _)| is_used(*letter));
        let colours =
            colours.map(|(letter, name)| (colour_role(*letter), format!("{} {name}", char::from(*letter))));
        let has = |is_wanted: &dyn Fn(u8, bool) -> bool| {
            cells().any(|(x, y)| is_wanted(self.cell(x, y)[0], self.is_visible(x, y)))
        };
        let drawings = self.drawings();
        let fillings = [
            (drawings.unseen, "not seen", !self.shows_truth && has(&|kind, _| kind == b' ')),
            (drawings.visible, "in view", has(&|kind, is_visible| kind == b'.' && is_visible)),
            (drawings.agent[usize::from(self.agent.direction & 3)].sign, "agent", true),
            (drawings.wall, "wall", has(&|kind, _| kind == b'#')),
        ];
        let fillings = fillings.into_iter().filter(|(.., is_used)| *is_used);
        let fillings = fillings.map(|(sign, name, _)| (PictureRole::Muted, format!("{sign} {name}")));
        let one_row = |piece: (PictureRole, String)| vec![vec![piece]];
        let texts = colours.map(one_row).chain(fillings.map(one_row));
        if size.rows == 1 {
            return flow(shapes.into_iter().chain(texts), columns);
        }
        let mut legend = flow(shapes.into_iter(), columns);
        legend.extend(flow(texts, columns));
        legend
    }
}

/// Sets items of the same height side by side, two columns apart, in as many blocks of that height as they need.
fn flow(items: impl Iterator<Item = Vec<PictureRow>>, columns: usize) -> Vec<Vec<PictureRow>> {
    let width = |row: &PictureRow| row.iter().map(|(_, text)| text.chars().count()).sum::<usize>();
    let mut blocks: Vec<Vec<PictureRow>> = Vec::new();
    for item in items {
        match blocks.last_mut().filter(|block| width(&block[0]) + 2 + width(&item[0]) <= columns) {
            Some(block) => {
                for (row, pieces) in block.iter_mut().zip(item) {
                    row.push((PictureRole::Muted, "  ".to_owned()));
                    row.extend(pieces);
                }
            }
            None => blocks.push(item),
        }
    }
    blocks
}

/// The colours of objects: the letter in a cell, and the name.
pub(super) const COLOURS: [(u8, &str); 6] =
    [(b'r', "red"), (b'g', "green"), (b'b', "blue"), (b'p', "purple"), (b'y', "yellow"), (b'e', "grey")];

/// Returns the letter of a colour. A malformed row may contain any byte; only these are one cell wide.
fn colour_letter(colour: u8) -> char {
    if colour.is_ascii_graphic() { char::from(colour) } else { ' ' }
}

/// Returns the role of objects whose colour has this letter.
pub(super) fn colour_role(colour: u8) -> PictureRole {
    match colour {
        b'r' => PictureRole::Red,
        b'g' => PictureRole::Green,
        b'b' => PictureRole::Blue,
        b'p' => PictureRole::Purple,
        b'y' => PictureRole::Yellow,
        b'e' => PictureRole::Grey,
        _ => PictureRole::Text,
    }
}

/// Returns a row of characters, with neighbours of the same role in one piece.
pub(super) fn joined_row(characters: impl Iterator<Item = CellCharacter>) -> PictureRow {
    let mut row = PictureRow::new();
    for (role, character) in characters {
        match row.last_mut().filter(|(last, _)| *last == role) {
            Some((_, text)) => text.push(character),
            None => row.push((role, character.to_string())),
        }
    }
    row
}
