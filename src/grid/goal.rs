//! The goal of a grid world, taken apart: up to four clauses, whose order is not told.

use super::view::VisibleObject;

/// Things that are meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObjectDesc<'a> {
    /// Its colour, where it is said.
    pub colour: Option<&'a str>,
    /// Its kind, where it is said.
    pub kind: Option<&'a str>,
    /// Where they lay at the start: 0 ahead, 1 right, 2 behind, 3 left.
    pub side: Option<u8>,
}

impl<'a> ObjectDesc<'a> {
    fn parse(text: &'a str) -> Self {
        let mut wanted = Self::default();
        let sides =
            [(" in front of you", 0), (" on your right", 1), (" behind you", 2), (" on your left", 3)];
        let side = sides.into_iter().find(|(words, _)| text.trim_end().ends_with(words));
        wanted.side = side.map(|(_, side)| side);
        let text = side.map_or(text, |(words, _)| text.trim_end().strip_suffix(words).unwrap_or(text));
        for word in text.split([' ', ',', '.']) {
            match word {
                "ball" | "box" | "key" | "door" => wanted.kind = Some(word),
                "red" | "green" | "blue" | "purple" | "yellow" | "grey" => wanted.colour = Some(word),
                _ => {}
            }
        }
        wanted
    }

    /// A thing of this colour and kind is meant, wherever it is.
    pub fn matches_kind(&self, colour: &str, kind: &str) -> bool {
        self.colour.is_none_or(|c| c == colour) && self.kind.is_none_or(|k| k == kind)
    }

    /// This thing is meant.
    pub fn matches(&self, spot: &VisibleObject<'_>) -> bool {
        self.matches_kind(spot.colour, spot.kind)
    }
}

/// One clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clause<'a> {
    /// Stand before it.
    GoTo(ObjectDesc<'a>),
    /// Take it.
    PickUp(ObjectDesc<'a>),
    /// Open it.
    Open(ObjectDesc<'a>),
    /// Lay the first next to the second.
    PutNext(ObjectDesc<'a>, ObjectDesc<'a>),
}

/// The clauses of a goal sentence; empty where it is about something else.
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
