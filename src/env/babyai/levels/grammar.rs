//! Levels whose mission is drawn from the whole language.

use super::site::{At, Restart, Site};
use crate::env::babyai::matching::Scope;
use crate::env::babyai::mission::{Clause, Deed, Description, Mission, Order, Part, Side};
use crate::env::babyai::thing::{Colour, Kind};

/// The room that was locked last. The original keeps it from one attempt to the next, and takes it for locked still.
pub(super) type Past = Option<At>;

/// Draws of a description before the attempt is given up.
const TRIES: u32 = 101;
/// Kinds in the order in which descriptions draw them.
const KINDS: [Kind; 4] = [Kind::Box, Kind::Ball, Kind::Key, Kind::Door];

/// A kind of clause.
#[derive(Clone, Copy, Debug)]
enum Verb {
    GoTo,
    PickUp,
    Open,
    PutNext,
}

const ALL_VERBS: &[Verb] = &[Verb::GoTo, Verb::PickUp, Verb::Open, Verb::PutNext];

/// A shape of a mission.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Clause,
    Pair,
    Sequence,
}

const ALL_SHAPES: &[Shape] = &[Shape::Clause, Shape::Pair, Shape::Sequence];

/// What is drawn from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grammar {
    others: usize,
    /// How likely a room is locked.
    locked: f64,
    locations: bool,
    /// Things may stand in the way.
    pub(super) unblocking: bool,
    /// What is asked for may lie behind the lock.
    implicit_unlock: bool,
    verbs: &'static [Verb],
    shapes: &'static [Shape],
}

impl Grammar {
    pub(super) const BOSS: Self = Self {
        others: 18,
        locked: 0.5,
        locations: true,
        unblocking: true,
        implicit_unlock: true,
        verbs: ALL_VERBS,
        shapes: ALL_SHAPES,
    };
    pub(super) const BOSS_NO_UNLOCK: Self = Self { locked: 0.0, implicit_unlock: false, ..Self::BOSS };
    pub(super) const MINI_BOSS: Self = Self { others: 7, locked: 0.25, ..Self::BOSS };
    pub(super) const SYNTH_SEQUENCE: Self = Self { implicit_unlock: false, ..Self::BOSS };
    pub(super) const SYNTH_LOCATIONS: Self = Self { shapes: &[Shape::Clause], ..Self::SYNTH_SEQUENCE };
    pub(super) const SYNTH_SMALL: Self = Self { locations: false, ..Self::SYNTH_LOCATIONS };
    pub(super) const GO_TO: Self = Self {
        others: 4,
        locked: 0.0,
        locations: false,
        unblocking: false,
        verbs: &[Verb::GoTo],
        ..Self::BOSS
    };
    pub(super) const PICK_UP: Self = Self {
        others: 8,
        locked: 0.0,
        unblocking: false,
        verbs: &[Verb::PickUp],
        shapes: &[Shape::Clause],
        ..Self::BOSS
    };

    pub(super) fn build(&self, site: &mut Site, past: &mut Past) -> Result<Mission, Restart> {
        let mut locked = None;
        if site.dice.fraction() < self.locked {
            locked = Some(Self::lock_a_room(site, past)?);
        }
        site.connect(&Colour::BY_NAME)?;
        site.distract(None, self.others, false)?;
        loop {
            site.place_agent(None)?;
            if Some(site.agents_room()) != locked {
                break;
            }
        }
        if !self.unblocking {
            site.need_reachable()?;
        }
        Random { grammar: self, past: *past }.mission(site)
    }

    fn lock_a_room(site: &mut Site, past: &mut Past) -> Result<At, Restart> {
        let (room, side) = loop {
            let at = site.any_room();
            let side = site.dice.index(4);
            *past = Some(at);
            if site.neighbour(at, side).is_some() {
                break (at, side);
            }
        };
        let door = site.door(room, Some(side), None, Some(true))?;
        let colour = site.thing(door).colour;
        let key_room = loop {
            let at = site.any_room();
            if at != room {
                break at;
            }
        };
        site.add(key_room, Some(Kind::Key), Some(colour))?;
        Ok(room)
    }
}

/// The draws of a mission.
struct Random<'g> {
    grammar: &'g Grammar,
    past: Past,
}

impl Random<'_> {
    fn mission(&self, site: &mut Site) -> Result<Mission, Restart> {
        match site.dice.one(self.grammar.shapes) {
            Shape::Clause => Ok(Mission::Part(Part::One(self.clause(site)?))),
            Shape::Pair => Ok(Mission::Part(self.pair(site)?)),
            Shape::Sequence => {
                let (a, b) = (self.part(site)?, self.part(site)?);
                let order = site.dice.one(&[Order::Before, Order::After]);
                Ok(Mission::Sequence { order, strict: false, a, b })
            }
        }
    }

    fn part(&self, site: &mut Site) -> Result<Part, Restart> {
        match site.dice.index(2) {
            0 => Ok(Part::One(self.clause(site)?)),
            _ => self.pair(site),
        }
    }

    /// The shape of each half is drawn from one shape only, which costs no draw.
    fn pair(&self, site: &mut Site) -> Result<Part, Restart> {
        Ok(Part::Both(self.clause(site)?, self.clause(site)?))
    }

    fn clause(&self, site: &mut Site) -> Result<Clause, Restart> {
        let portable = &KINDS[..3];
        let deed = match site.dice.one(self.grammar.verbs) {
            Verb::GoTo => Deed::GoTo(self.description(site, &KINDS)?),
            Verb::PickUp => Deed::PickUp(self.description(site, portable)?),
            Verb::Open => Deed::Open(self.description(site, &[Kind::Door])?),
            Verb::PutNext => {
                let moved = self.description(site, portable)?;
                Deed::PutNext(moved, self.description(site, &KINDS)?)
            }
        };
        Ok(Clause { deed, strict: false })
    }

    /// A description that matches something, and, where the lock is not to be opened, something outside of the locked room.
    fn description(&self, site: &mut Site, kinds: &[Kind]) -> Result<Description, Restart> {
        for _ in 0..TRIES {
            let colour = match site.dice.index(1 + Colour::BY_NAME.len()) {
                0 => None,
                n => Some(Colour::BY_NAME[n - 1]),
            };
            let kind = site.dice.one(kinds);
            let mut side = None;
            if self.grammar.locations && site.dice.coin() {
                side = Some(site.dice.one(&Side::ALL));
            }
            let wanted = Description::new(Some(kind), colour, side);
            let scope = Scope {
                cells: &site.cells,
                things: &site.things,
                width: site.width(),
                rooms: site.rooms,
                agent: site.agent,
            };
            let found = scope.find(&wanted);
            let hidden = |place: (i16, i16)| {
                !self.grammar.implicit_unlock && self.past.is_some_and(|room| site.is_inside(room, place))
            };
            if found.iter().any(|(_, place)| !hidden(*place)) {
                return Ok(wanted);
            }
        }
        Err(Restart)
    }
}
