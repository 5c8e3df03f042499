//! Missions: what has to be done, as text and as data that is checked after every primitive action.

use super::thing::{Colour, Kind, ThingId};

/// The location of an object relative to the agent's initial pose, within the starting room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
    Front,
    Behind,
}

impl Side {
    /// All sides, in the order of the original's random choice.
    pub const ALL: [Self; 4] = [Self::Left, Self::Right, Self::Front, Self::Behind];

    /// Returns the name used in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Right => "right",
            Self::Front => "front",
            Self::Behind => "behind",
        }
    }

    /// Returns the side with this name.
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

/// A description of objects; fields that are `None` match anything. It is resolved to objects once, at the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    pub kind: Option<Kind>,
    pub colour: Option<Colour>,
    pub side: Option<Side>,
    /// The objects that matched at the start, column by column.
    pub things: Vec<ThingId>,
    /// Walls that matched: the original treats a wall as a grey object.
    pub walls: Vec<(i16, i16)>,
}

impl Description {
    /// Creates a description without matches.
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

/// The action that a clause asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClauseAction {
    /// Stand in front of it, facing it.
    GoTo(Description),
    PickUp(Description),
    Open(Description),
    /// Put the first next to the second.
    PutNext(Description, Description),
}

/// One clause. A strict clause fails if another object is picked up or toggled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    pub action: ClauseAction,
    /// Whether performing the action on another object fails the mission.
    pub is_strict: bool,
}

impl Clause {
    /// Iterates over the descriptions: one, or two for "put next".
    pub fn descriptions(&self) -> impl Iterator<Item = &Description> {
        let (first, second) = match &self.action {
            ClauseAction::GoTo(one) | ClauseAction::PickUp(one) | ClauseAction::Open(one) => (one, None),
            ClauseAction::PutNext(moved, fixed) => (moved, Some(fixed)),
        };
        std::iter::once(first).chain(second)
    }

    /// Iterates mutably over the descriptions.
    pub fn descriptions_mut(&mut self) -> impl Iterator<Item = &mut Description> {
        let (first, second) = match &mut self.action {
            ClauseAction::GoTo(one) | ClauseAction::PickUp(one) | ClauseAction::Open(one) => (one, None),
            ClauseAction::PutNext(moved, fixed) => (moved, Some(fixed)),
        };
        std::iter::once(first).chain(second)
    }

    /// Returns the clause as text.
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

/// Which part of a sequence comes first.
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
    /// A part on its own.
    Part(MissionPart),
    /// Two parts in a fixed order. A strict sequence fails if the later part is done too early.
    Sequence {
        order: SequenceOrder,
        /// Whether the wrong order fails the mission.
        is_strict: bool,
        /// The part that is named first.
        named_first: MissionPart,
        /// The part that is named second.
        named_second: MissionPart,
    },
}

impl Mission {
    /// Iterates over the clauses in the order in which they are named.
    pub fn clauses(&self) -> impl Iterator<Item = &Clause> {
        let (a, b) = match self {
            Self::Part(part) => (part, None),
            Self::Sequence { named_first: a, named_second: b, .. } => (a, Some(b)),
        };
        a.clauses().chain(b.into_iter().flat_map(MissionPart::clauses))
    }

    /// Iterates mutably over the clauses.
    pub fn clauses_mut(&mut self) -> impl Iterator<Item = &mut Clause> {
        let (a, b) = match self {
            Self::Part(part) => (part, None),
            Self::Sequence { named_first: a, named_second: b, .. } => (a, Some(b)),
        };
        a.clauses_mut().chain(b.into_iter().flat_map(MissionPart::clauses_mut))
    }

    /// Returns the mission in the original's wording. Its descriptions must have been matched.
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

    /// Returns the number of walks the mission takes: two for "put next", one for every other clause.
    pub fn walk_count(&self) -> u32 {
        self.clauses()
            .map(|clause| if matches!(clause.action, ClauseAction::PutNext(..)) { 2 } else { 1 })
            .sum()
    }
}
