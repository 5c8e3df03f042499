//! Parser for the goal of a grid world: up to four clauses. The text does not say in which order
//! the clauses must be fulfilled.

use super::view::VisibleObject;

/// A description of objects in a goal. A field that is `None` matches anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObjectDesc<'a> {
    pub colour: Option<&'a str>,
    pub kind: Option<&'a str>,
    /// Where the objects were at the start, relative to the agent: 0 ahead, 1 right, 2 behind, 3 left.
    pub side: Option<u8>,
}

impl<'a> ObjectDesc<'a> {
    fn parse(text: &'a str) -> Self {
        let mut description = Self::default();
        let sides =
            [(" in front of you", 0), (" on your right", 1), (" behind you", 2), (" on your left", 3)];
        let side = sides.into_iter().find(|(phrase, _)| text.trim_end().ends_with(phrase));
        description.side = side.map(|(_, side)| side);
        let text = side.map_or(text, |(phrase, _)| text.trim_end().strip_suffix(phrase).unwrap_or(text));
        for word in text.split([' ', ',', '.']) {
            match word {
                "ball" | "box" | "key" | "door" => description.kind = Some(word),
                "red" | "green" | "blue" | "purple" | "yellow" | "grey" => description.colour = Some(word),
                _ => {}
            }
        }
        description
    }

    /// Returns whether the description matches this colour and kind, ignoring the location.
    pub fn matches_kind(&self, colour: &str, kind: &str) -> bool {
        self.colour.is_none_or(|c| c == colour) && self.kind.is_none_or(|k| k == kind)
    }

    /// Returns whether the description matches this visible object.
    pub fn matches(&self, object: &VisibleObject<'_>) -> bool {
        self.matches_kind(object.colour, object.kind)
    }
}

/// One clause of a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clause<'a> {
    /// Stand in front of it.
    GoTo(ObjectDesc<'a>),
    PickUp(ObjectDesc<'a>),
    Open(ObjectDesc<'a>),
    /// Put the first next to the second.
    PutNext(ObjectDesc<'a>, ObjectDesc<'a>),
}

/// Returns the clauses of a goal sentence, or an empty list if the sentence is not a grid-world goal.
pub fn parse_clauses(goal: &str) -> Vec<Clause<'_>> {
    let parts = goal.split(" and ").flat_map(|part| part.split(", and "));
    let clause = |part| {
        let part = str::trim(part).trim_start_matches("and ");
        if let Some(rest) = part.strip_prefix("go to ") {
            return Some(Clause::GoTo(ObjectDesc::parse(rest)));
        }
        if let Some(rest) = part.strip_prefix("pick up ") {
            return Some(Clause::PickUp(ObjectDesc::parse(rest)));
        }
        if let Some(rest) = part.strip_prefix("open ") {
            return Some(Clause::Open(ObjectDesc::parse(rest)));
        }
        let (moved, fixed) = part.strip_prefix("put ")?.split_once(" next to ")?;
        Some(Clause::PutNext(ObjectDesc::parse(moved), ObjectDesc::parse(fixed)))
    };
    parts.filter_map(clause).collect()
}
