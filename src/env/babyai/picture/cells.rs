//! The cells of a grid: signs of one character, and shapes made of half blocks. Shapes and letters tell objects apart
//! without their colours.

use super::Grid;
use crate::domain::{PictureRole, PictureRow};

/// The size of a cell on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CellSize {
    pub(super) columns: usize,
    pub(super) rows: usize,
}

impl CellSize {
    /// A sign.
    pub(super) const NARROW: Self = Self { columns: 1, rows: 1 };
    /// A sign and the letter of its colour.
    pub(super) const WIDE: Self = Self { columns: 2, rows: 1 };
    /// A shape and the letter of its colour.
    pub(super) const LARGE: Self = Self { columns: 4, rows: 2 };
}

/// The signs of small cells.
pub(super) struct Signs {
    pub(super) ball: char,
    pub(super) box_sign: char,
    pub(super) key: char,
    pub(super) open: char,
    pub(super) closed: char,
    pub(super) locked: char,
    /// A cell that the agent hasn't seen.
    pub(super) unseen: char,
    /// An empty cell that the agent sees.
    pub(super) visible: char,
    wall: char,
    /// The agent facing right, down, left and up.
    agent: [char; 4],
}

const UNICODE_SIGNS: Signs = Signs {
    ball: '●',
    box_sign: '■',
    key: 'K',
    open: '▯',
    closed: '▮',
    locked: '◆',
    unseen: '░',
    visible: '·',
    wall: '▒',
    agent: ['▶', '▼', '◀', '▲'],
};

const ASCII_SIGNS: Signs = Signs {
    ball: 'O',
    box_sign: 'B',
    key: 'K',
    open: '/',
    closed: '+',
    locked: 'X',
    unseen: ':',
    visible: '-',
    wall: '#',
    agent: ['>', 'v', '<', '^'],
};

/// A shape of a large cell: the upper and the lower three characters.
type Shape = [&'static str; 2];

/// Returns the shapes of ball, box, key, and open, closed and locked door.
pub(super) fn large_shapes(is_ascii: bool) -> [Shape; 6] {
    if is_ascii {
        [["/-\\", "\\-/"], ["+-+", "+-+"], ["O--", " \'\'"], ["| |", "| |"], ["|#|", "|#|"], ["|#|", "|X|"]]
    } else {
        [["▄▄▄", "▀▀▀"], ["█▀█", "█▄█"], ["█▄▄", "▀ ▀"], ["▐ ▌", "▐ ▌"], ["▐█▌", "▐█▌"], ["▐█▌", "▐◆▌"]]
    }
}

/// Returns the shapes of the agent facing right, down, left and up.
fn agent_shapes(is_ascii: bool) -> [Shape; 4] {
    if is_ascii {
        [["|\\ ", "|/ "], ["\\-/", " v "], [" /|", " \\|"], [" ^ ", "/-\\"]]
    } else {
        [["█▄ ", "█▀ "], ["███", " ▀ "], [" ▄█", " ▀█"], [" ▄ ", "███"]]
    }
}

/// One character of a cell.
type CellCharacter = (PictureRole, char);

impl Grid<'_> {
    /// Returns the signs to draw with.
    pub(super) fn signs(&self) -> &'static Signs {
        if self.is_ascii { &ASCII_SIGNS } else { &UNICODE_SIGNS }
    }

    /// Returns the role of a small cell and its two characters.
    pub(super) fn small_cell(&self, x: usize, y: usize) -> (PictureRole, [char; 2]) {
        let signs = self.signs();
        if self.is_agent_at(x, y) {
            return (PictureRole::Agent, [signs.agent[usize::from(self.agent.direction & 3)], ' ']);
        }
        let [kind, colour] = self.cell(x, y);
        let sign = match kind {
            b'o' => signs.ball,
            b'b' => signs.box_sign,
            b'k' => signs.key,
            b'/' => signs.open,
            b'|' => signs.closed,
            b'!' => signs.locked,
            _ => {
                let (role, character) = self.ground(x, y, kind);
                let second = if character == signs.visible { ' ' } else { character };
                return (role, [character, second]);
            }
        };
        (colour_role(colour), [sign, colour_letter(colour)])
    }

    /// Returns the two rows of a large cell.
    pub(super) fn large_cell(&self, x: usize, y: usize) -> [[CellCharacter; 4]; 2] {
        if self.is_agent_at(x, y) {
            let shape = agent_shapes(self.is_ascii)[usize::from(self.agent.direction & 3)];
            let mut rows = large_rows(PictureRole::Agent, shape, ' ');
            if let Some((colour, sign)) = self.carried_sign() {
                rows[0][3] = (colour_role(colour), colour_letter(colour));
                rows[1][3] = (colour_role(colour), sign);
            }
            return rows;
        }
        let [kind, colour] = self.cell(x, y);
        let [ball, box_shape, key, open, closed, locked] = large_shapes(self.is_ascii);
        let shape = match kind {
            b'o' => ball,
            b'b' => box_shape,
            b'k' => key,
            b'/' => open,
            b'|' => closed,
            b'!' => locked,
            _ => {
                let (role, character) = self.ground(x, y, kind);
                if character != self.signs().visible {
                    return [[(role, character); 4]; 2];
                }
                let blank = [(role, ' '); 4];
                return [[blank[0], (role, character), blank[2], blank[3]], blank];
            }
        };
        large_rows(colour_role(colour), shape, colour_letter(colour))
    }

    /// Returns what a cell without an object is filled with.
    fn ground(&self, x: usize, y: usize, kind: u8) -> CellCharacter {
        let signs = self.signs();
        match (kind, self.is_visible(x, y)) {
            (b'#', true) => (PictureRole::Text, signs.wall),
            (b'#', false) => (PictureRole::Muted, signs.wall),
            (b'.', true) => (PictureRole::Text, signs.visible),
            (b'.', false) => (PictureRole::Muted, ' '),
            _ => (PictureRole::Frame, signs.unseen),
        }
    }

    /// Returns the colour and the sign of the object that the agent carries.
    fn carried_sign(&self) -> Option<(u8, char)> {
        let signs = self.signs();
        let (colour, kind) = self.holding?.split_once(' ')?;
        let sign = match kind {
            "ball" => signs.ball,
            "box" => signs.box_sign,
            "key" => signs.key,
            _ => return None,
        };
        // Green has the letter `g`, so grey has its third one.
        let colour = if colour == "grey" { b'e' } else { colour.bytes().next()? };
        Some((colour, sign))
    }
}

/// Returns a shape with a letter at its upper right.
fn large_rows(role: PictureRole, shape: Shape, letter: char) -> [[CellCharacter; 4]; 2] {
    let mut rows = shape.map(|text| {
        let mut row = [(role, ' '); 4];
        for (cell, character) in row.iter_mut().zip(text.chars()) {
            cell.1 = character;
        }
        row
    });
    rows[0][3].1 = letter;
    rows
}

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
