//! Levels whose mission is drawn from the whole language.

use super::builder::{LevelBuilder, Restart, RoomIndex};
use crate::env::babyai::matching::MatchContext;
use crate::env::babyai::mission::{
    Clause, ClauseAction, Description, Mission, MissionPart, SequenceOrder, Side,
};
use crate::env::babyai::thing::{Colour, Kind};

/// The room that was locked last. The original keeps it from one attempt to the next, and takes it for locked still.
pub(super) type LastLockedRoom = Option<RoomIndex>;

/// Draws of a description before the attempt is given up.
const MAX_DESCRIPTION_TRIES: u32 = 101;
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
    distractors: usize,
    /// How likely a room is locked.
    lock_probability: f64,
    has_locations: bool,
    /// Things may stand in the way.
    pub(super) unblocking: bool,
    /// What is asked for may lie behind the lock.
    implicit_unlock: bool,
    verbs: &'static [Verb],
    shapes: &'static [Shape],
}

impl Grammar {
    pub(super) const BOSS: Self = Self {
        distractors: 18,
        lock_probability: 0.5,
        has_locations: true,
        unblocking: true,
        implicit_unlock: true,
        verbs: ALL_VERBS,
        shapes: ALL_SHAPES,
    };
    pub(super) const BOSS_NO_UNLOCK: Self =
        Self { lock_probability: 0.0, implicit_unlock: false, ..Self::BOSS };
    pub(super) const MINI_BOSS: Self = Self { distractors: 7, lock_probability: 0.25, ..Self::BOSS };
    pub(super) const SYNTH_SEQUENCE: Self = Self { implicit_unlock: false, ..Self::BOSS };
    pub(super) const SYNTH_LOCATIONS: Self = Self { shapes: &[Shape::Clause], ..Self::SYNTH_SEQUENCE };
    pub(super) const SYNTH_SMALL: Self = Self { has_locations: false, ..Self::SYNTH_LOCATIONS };
    pub(super) const GO_TO: Self = Self {
        distractors: 4,
        lock_probability: 0.0,
        has_locations: false,
        unblocking: false,
        verbs: &[Verb::GoTo],
        ..Self::BOSS
    };
    pub(super) const PICK_UP: Self = Self {
        distractors: 8,
        lock_probability: 0.0,
        unblocking: false,
        verbs: &[Verb::PickUp],
        shapes: &[Shape::Clause],
        ..Self::BOSS
    };

    pub(super) fn build(
        &self,
        site: &mut LevelBuilder,
        past: &mut LastLockedRoom,
    ) -> Result<Mission, Restart> {
        let mut locked = None;
        if site.rng.fraction() < self.lock_probability {
            locked = Some(Self::lock_a_room(site, past)?);
        }
        site.connect_rooms(&Colour::BY_NAME)?;
        site.place_distractors(None, self.distractors, false)?;
        loop {
            site.place_agent(None)?;
            if Some(site.agents_room()) != locked {
                break;
            }
        }
        if !self.unblocking {
            site.require_reachable()?;
        }
        MissionSampler { grammar: self, last_locked: *past }.draw_mission(site)
    }

    fn lock_a_room(site: &mut LevelBuilder, past: &mut LastLockedRoom) -> Result<RoomIndex, Restart> {
        let (room, side) = loop {
            let at = site.random_room();
            let side = site.rng.index(4);
            *past = Some(at);
            if site.neighbour(at, side).is_some() {
                break (at, side);
            }
        };
        let door = site.add_door(room, Some(side), None, Some(true))?;
        let colour = site.thing(door).colour;
        let key_room = loop {
            let at = site.random_room();
            if at != room {
                break at;
            }
        };
        site.place_new_thing(key_room, Some(Kind::Key), Some(colour))?;
        Ok(room)
    }
}

/// The draws of a mission.
struct MissionSampler<'g> {
    grammar: &'g Grammar,
    last_locked: LastLockedRoom,
}

impl MissionSampler<'_> {
    fn draw_mission(&self, site: &mut LevelBuilder) -> Result<Mission, Restart> {
        match site.rng.pick(self.grammar.shapes) {
            Shape::Clause => Ok(Mission::Part(MissionPart::One(self.draw_clause(site)?))),
            Shape::Pair => Ok(Mission::Part(self.draw_pair(site)?)),
            Shape::Sequence => {
                let (a, b) = (self.draw_part(site)?, self.draw_part(site)?);
                let order = site.rng.pick(&[SequenceOrder::Before, SequenceOrder::After]);
                Ok(Mission::Sequence { order, is_strict: false, named_first: a, named_second: b })
            }
        }
    }

    fn draw_part(&self, site: &mut LevelBuilder) -> Result<MissionPart, Restart> {
        match site.rng.index(2) {
            0 => Ok(MissionPart::One(self.draw_clause(site)?)),
            _ => self.draw_pair(site),
        }
    }

    /// The shape of each half is drawn from one shape only, which costs no draw.
    fn draw_pair(&self, site: &mut LevelBuilder) -> Result<MissionPart, Restart> {
        Ok(MissionPart::Both(self.draw_clause(site)?, self.draw_clause(site)?))
    }

    fn draw_clause(&self, site: &mut LevelBuilder) -> Result<Clause, Restart> {
        let portable = &KINDS[..3];
        let deed = match site.rng.pick(self.grammar.verbs) {
            Verb::GoTo => ClauseAction::GoTo(self.draw_description(site, &KINDS)?),
            Verb::PickUp => ClauseAction::PickUp(self.draw_description(site, portable)?),
            Verb::Open => ClauseAction::Open(self.draw_description(site, &[Kind::Door])?),
            Verb::PutNext => {
                let moved = self.draw_description(site, portable)?;
                ClauseAction::PutNext(moved, self.draw_description(site, &KINDS)?)
            }
        };
        Ok(Clause { action: deed, is_strict: false })
    }

    /// A description that matches something, and, where the lock is not to be opened, something outside of the locked room.
    fn draw_description(&self, site: &mut LevelBuilder, kinds: &[Kind]) -> Result<Description, Restart> {
        for _ in 0..MAX_DESCRIPTION_TRIES {
            let colour = match site.rng.index(1 + Colour::BY_NAME.len()) {
                0 => None,
                n => Some(Colour::BY_NAME[n - 1]),
            };
            let kind = site.rng.pick(kinds);
            let mut side = None;
            if self.grammar.has_locations && site.rng.coin() {
                side = Some(site.rng.pick(&Side::ALL));
            }
            let wanted = Description::new(Some(kind), colour, side);
            let scope = MatchContext {
                cells: &site.cells,
                things: &site.things,
                width: site.width(),
                rooms: site.rooms,
                agent: site.agent,
            };
            let found = scope.find_things(&wanted);
            let hidden = |place: (i16, i16)| {
                !self.grammar.implicit_unlock
                    && self.last_locked.is_some_and(|room| site.is_inside(room, place))
            };
            if found.iter().any(|(_, place)| !hidden(*place)) {
                return Ok(wanted);
            }
        }
        Err(Restart)
    }
}
