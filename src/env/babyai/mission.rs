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
    pub fn from_word(word: &str) -> Option<Self> {
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
    pub things: Vec<ThingId>,
    /// Walls that matched: to the original a wall is an object too, and it is grey.
    pub walls: Vec<(i16, i16)>,
}

impl Description {
    /// A description that matches nothing yet.
    pub fn new(kind: Option<Kind>, colour: Option<Colour>, side: Option<Side>) -> Self {
        Self { kind, colour, side, things: Vec::new(), walls: Vec::new() }
    }

    fn write_text(&self, out: &mut String) {
        out.push_str(if self.things.len() + self.walls.len() > 1 { "a " } else { "the " });
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
pub enum ClauseAction {
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
    pub action: ClauseAction,
    /// Whether another deed of its kind ends the mission as failed.
    pub is_strict: bool,
}

impl Clause {
    /// Its descriptions: one, or two for "put next".
    pub fn descriptions(&self) -> impl Iterator<Item = &Description> {
        let (first, second) = match &self.action {
            ClauseAction::GoTo(one) | ClauseAction::PickUp(one) | ClauseAction::Open(one) => (one, None),
            ClauseAction::PutNext(moved, fixed) => (moved, Some(fixed)),
        };
        std::iter::once(first).chain(second)
    }

    /// The same, to be changed.
    pub fn descriptions_mut(&mut self) -> impl Iterator<Item = &mut Description> {
        let (first, second) = match &mut self.action {
            ClauseAction::GoTo(one) | ClauseAction::PickUp(one) | ClauseAction::Open(one) => (one, None),
            ClauseAction::PutNext(moved, fixed) => (moved, Some(fixed)),
        };
        std::iter::once(first).chain(second)
    }

    /// The clause in words.
    pub fn text(&self) -> String {
        let mut out = String::new();
        self.write_text(&mut out);
        out
    }

    fn write_text(&self, out: &mut String) {
        let (verb, first) = match &self.action {
            ClauseAction::GoTo(one) => ("go to ", one),
            ClauseAction::PickUp(one) => ("pick up ", one),
            ClauseAction::Open(one) => ("open ", one),
            ClauseAction::PutNext(moved, _) => ("put ", moved),
        };
        out.push_str(verb);
        first.write_text(out);
        if let ClauseAction::PutNext(_, fixed) = &self.action {
            out.push_str(" next to ");
            fixed.write_text(out);
        }
    }
}

/// A clause, or two in any order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MissionPart {
    /// One clause.
    One(Clause),
    /// Two clauses joined by "and".
    Both(Clause, Clause),
}

impl MissionPart {
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

    fn write_text(&self, out: &mut String) {
        match self {
            Self::One(clause) => clause.write_text(out),
            Self::Both(first, second) => {
                first.write_text(out);
                out.push_str(" and ");
                second.write_text(out);
            }
        }
    }
}

/// Which half of a sequence comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceOrder {
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
    Part(MissionPart),
    /// Two parts in an order. A strict one fails when the later part is done too early.
    Sequence {
        /// Which is first.
        order: SequenceOrder,
        /// Whether the wrong order fails.
        is_strict: bool,
        /// The part that is named first.
        named_first: MissionPart,
        /// The part that is named second.
        named_second: MissionPart,
    },
}

impl Mission {
    /// The clauses as they are named.
    pub fn clauses(&self) -> impl Iterator<Item = &Clause> {
        let (a, b) = match self {
            Self::Part(part) => (part, None),
            Self::Sequence { named_first: a, named_second: b, .. } => (a, Some(b)),
        };
        a.clauses().chain(b.into_iter().flat_map(MissionPart::clauses))
    }

    /// The same, to be changed.
    pub fn clauses_mut(&mut self) -> impl Iterator<Item = &mut Clause> {
        let (a, b) = match self {
            Self::Part(part) => (part, None),
            Self::Sequence { named_first: a, named_second: b, .. } => (a, Some(b)),
        };
        a.clauses_mut().chain(b.into_iter().flat_map(MissionPart::clauses_mut))
    }

    /// The mission in the words of the original; its descriptions must have been matched.
    pub fn text(&self) -> String {
        let mut out = String::new();
        match self {
            Self::Part(part) => part.write_text(&mut out),
            Self::Sequence { order, named_first: a, named_second: b, .. } => {
                a.write_text(&mut out);
                out.push_str(if *order == SequenceOrder::Before { ", then " } else { " after you " });
                b.write_text(&mut out);
            }
        }
        out
    }

    /// How many walks it takes: two for "put next", one for every other clause.
    pub fn walk_count(&self) -> u32 {
        self.clauses()
            .map(|clause| if matches!(clause.action, ClauseAction::PutNext(..)) { 2 } else { 1 })
            .sum()
    }
}
