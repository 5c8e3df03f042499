//! Missions: what has to be done, in words and as a check after every low-level action.

use super::thing::{Colour, Kind, ThingId};

/// Where a thing lay as seen from the agent at the start, inside the room of the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// To its left.
    Left,
    /// To its right.
    Right,
    /// Before it.
    Front,
    /// Behind it.
    Behind,
}

impl Side {
    /// All of them, in the order in which the original draws from them.
    pub const ALL: [Self; 4] = [Self::Left, Self::Right, Self::Front, Self::Behind];

    /// Its word in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Right => "right",
            Self::Front => "front",
            Self::Behind => "behind",
        }
    }

    /// The side of a word.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|side| side.word() == word)
    }

    fn phrase(self) -> &'static str {
        match self {
            Self::Left => " on your left",
            Self::Right => " on your right",
            Self::Front => " in front of you",
            Self::Behind => " behind you",
        }
    }
}

/// A description of things; what is left open matches any. Which things it means is settled at the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// The kind.
    pub kind: Option<Kind>,
    /// The colour.
    pub colour: Option<Colour>,
    /// The side.
    pub side: Option<Side>,
    /// The things that matched at the start, column by column.
    pub set: Vec<ThingId>,
    /// Walls that matched: to the original a wall is an object too, and it is grey.
    pub walls: Vec<(i16, i16)>,
}

impl Description {
    /// A description that matches nothing yet.
    pub fn new(kind: Option<Kind>, colour: Option<Colour>, side: Option<Side>) -> Self {
        Self { kind, colour, side, set: Vec::new(), walls: Vec::new() }
    }

    fn write(&self, out: &mut String) {
        out.push_str(if self.set.len() + self.walls.len() > 1 { "a " } else { "the " });
        if let Some(colour) = self.colour {
            out.push_str(colour.word());
            out.push(' ');
        }
        out.push_str(self.kind.map_or("object", Kind::word));
        out.push_str(self.side.map_or("", Side::phrase));
    }
}

/// What a clause asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Stand before it, looking at it.
    GoTo(Description),
    /// Take it.
    PickUp(Description),
    /// Open it.
    Open(Description),
    /// Lay the first next to the second.
    PutNext(Description, Description),
}

/// One clause. A strict one fails when something else was picked up or toggled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// What to do.
    pub deed: Deed,
    /// Whether another deed of its kind ends the mission as failed.
    pub strict: bool,
}

impl Clause {
    /// Its descriptions: one, or two for "put next".
    pub fn descriptions(&self) -> impl Iterator<Item = &Description> {
        let (first, second) = match &self.deed {
            Deed::GoTo(one) | Deed::PickUp(one) | Deed::Open(one) => (one, None),
            Deed::PutNext(moved, fixed) => (moved, Some(fixed)),
        };
        std::iter::once(first).chain(second)
    }

    /// The same, to be changed.
    pub fn descriptions_mut(&mut self) -> impl Iterator<Item = &mut Description> {
        let (first, second) = match &mut self.deed {
            Deed::GoTo(one) | Deed::PickUp(one) | Deed::Open(one) => (one, None),
            Deed::PutNext(moved, fixed) => (moved, Some(fixed)),
        };
        std::iter::once(first).chain(second)
    }

    /// The clause in words.
    pub fn text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        let (verb, first) = match &self.deed {
            Deed::GoTo(one) => ("go to ", one),
            Deed::PickUp(one) => ("pick up ", one),
            Deed::Open(one) => ("open ", one),
            Deed::PutNext(moved, _) => ("put ", moved),
        };
        out.push_str(verb);
        first.write(out);
        if let Deed::PutNext(_, fixed) = &self.deed {
            out.push_str(" next to ");
            fixed.write(out);
        }
    }
}

/// A clause, or two in any order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// One clause.
    One(Clause),
    /// Two clauses joined by "and".
    Both(Clause, Clause),
}

impl Part {
    fn clauses(&self) -> impl Iterator<Item = &Clause> {
        let (first, second) = match self {
            Self::One(only) => (only, None),
            Self::Both(first, second) => (first, Some(second)),
        };
        std::iter::once(first).chain(second)
    }

    fn clauses_mut(&mut self) -> impl Iterator<Item = &mut Clause> {
        let (first, second) = match self {
            Self::One(only) => (only, None),
            Self::Both(first, second) => (first, Some(second)),
        };
        std::iter::once(first).chain(second)
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::One(clause) => clause.write(out),
            Self::Both(first, second) => {
                first.write(out);
                out.push_str(" and ");
                second.write(out);
            }
        }
    }
}

/// Which half of a sequence comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// "A, then B".
    Before,
    /// "A after you B".
    After,
}

/// A mission: up to four clauses.
#[expect(clippy::large_enum_variant, reason = "a level has one mission")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mission {
    /// No order.
    Part(Part),
    /// Two parts in an order. A strict one fails when the later part is done too early.
    Sequence {
        /// Which is first.
        order: Order,
        /// Whether the wrong order fails.
        strict: bool,
        /// The part that is named first.
        a: Part,
        /// The part that is named second.
        b: Part,
    },
}

impl Mission {
    /// The clauses as they are named.
    pub fn clauses(&self) -> impl Iterator<Item = &Clause> {
        let (a, b) = match self {
            Self::Part(part) => (part, None),
            Self::Sequence { a, b, .. } => (a, Some(b)),
        };
        a.clauses().chain(b.into_iter().flat_map(Part::clauses))
    }

    /// The same, to be changed.
    pub fn clauses_mut(&mut self) -> impl Iterator<Item = &mut Clause> {
        let (a, b) = match self {
            Self::Part(part) => (part, None),
            Self::Sequence { a, b, .. } => (a, Some(b)),
        };
        a.clauses_mut().chain(b.into_iter().flat_map(Part::clauses_mut))
    }

    /// The mission in the words of the original; its descriptions must have been matched.
    pub fn text(&self) -> String {
        let mut out = String::new();
        match self {
            Self::Part(part) => part.write(&mut out),
            Self::Sequence { order, a, b, .. } => {
                a.write(&mut out);
                out.push_str(if *order == Order::Before { ", then " } else { " after you " });
                b.write(&mut out);
            }
        }
        out
    }

    /// How many walks it takes: two for "put next", one for every other clause.
    pub fn walks(&self) -> u32 {
        self.clauses().map(|clause| if matches!(clause.deed, Deed::PutNext(..)) { 2 } else { 1 }).sum()
    }
}
