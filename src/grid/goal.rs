//! The goal of a grid world, taken apart: up to four clauses, whose order is not told.

use super::seen::Spot;

/// Things that are meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted<'a> {
    /// Its colour, where it is said.
    pub colour: Option<&'a str>,
    /// Its kind, where it is said.
    pub kind: Option<&'a str>,
    /// Where they lay at the start: 0 ahead, 1 right, 2 behind, 3 left.
    pub side: Option<u8>,
}

impl<'a> Wanted<'a> {
    fn read(text: &'a str) -> Self {
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
    pub fn means(&self, colour: &str, kind: &str) -> bool {
        self.colour.is_none_or(|c| c == colour) && self.kind.is_none_or(|k| k == kind)
    }

    /// This thing is meant.
    pub fn is(&self, spot: &Spot<'_>) -> bool {
        self.means(spot.colour, spot.kind)
    }
}

/// One clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clause<'a> {
    /// Stand before it.
    GoTo(Wanted<'a>),
    /// Take it.
    PickUp(Wanted<'a>),
    /// Open it.
    Open(Wanted<'a>),
    /// Lay the first next to the second.
    PutNext(Wanted<'a>, Wanted<'a>),
}

/// The clauses of a goal sentence; empty where it is about something else.
pub fn clauses(goal: &str) -> Vec<Clause<'_>> {
    let parts = goal.split(" and ").flat_map(|part| part.split(", and "));
    let clause = |part| {
        let part = str::trim(part).trim_start_matches("and ");
        if let Some(rest) = part.strip_prefix("go to ") {
            return Some(Clause::GoTo(Wanted::read(rest)));
        }
        if let Some(rest) = part.strip_prefix("pick up ") {
            return Some(Clause::PickUp(Wanted::read(rest)));
        }
        if let Some(rest) = part.strip_prefix("open ") {
            return Some(Clause::Open(Wanted::read(rest)));
        }
        let (moved, fixed) = part.strip_prefix("put ")?.split_once(" next to ")?;
        Some(Clause::PutNext(Wanted::read(moved), Wanted::read(fixed)))
    };
    parts.filter_map(clause).collect()
}
