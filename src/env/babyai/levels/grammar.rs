//! Levels whose mission is drawn from the full mission grammar.

use super::builder::{LevelBuilder, Restart, RoomIndex};
use crate::env::babyai::matching::MatchContext;
use crate::env::babyai::mission::{
    Clause, ClauseAction, Description, Mission, MissionPart, SequenceOrder, Side,
};
use crate::env::babyai::thing::{Colour, Kind};

/// The last room that was locked. The original keeps it across attempts and still treats it as locked.
pub(super) type LastLockedRoom = Option<RoomIndex>;

/// Draws of a description before the attempt is abandoned.
const MAX_DESCRIPTION_TRIES: u32 = 101;
/// Kinds, in the order in which descriptions draw them.
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

/// The structure of a mission.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Clause,
    Pair,
    Sequence,
}

const ALL_SHAPES: &[Shape] = &[Shape::Clause, Shape::Pair, Shape::Sequence];

/// The parameters of the random mission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grammar {
    distractors: usize,
    /// Probability that a room is locked.
    lock_probability: f64,
    has_locations: bool,
    /// Whether objects may block the way.
    pub(super) unblocking: bool,
    /// Whether the target may be behind the locked door.
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
        builder: &mut LevelBuilder,
        last_locked: &mut LastLockedRoom,
    ) -> Result<Mission, Restart> {
        let mut locked = None;
        if builder.rng.fraction() < self.lock_probability {
            locked = Some(Self::lock_a_room(builder, last_locked)?);
        }
        builder.connect_rooms(&Colour::BY_NAME)?;
        builder.place_distractors(None, self.distractors, false)?;
        loop {
            builder.place_agent(None)?;
            if Some(builder.agents_room()) != locked {
                break;
            }
        }
        if !self.unblocking {
            builder.require_reachable()?;
        }
        MissionSampler { grammar: self, last_locked: *last_locked }.draw_mission(builder)
    }

    fn lock_a_room(
        builder: &mut LevelBuilder,
        last_locked: &mut LastLockedRoom,
    ) -> Result<RoomIndex, Restart> {
        let (room, side) = loop {
            let at = builder.random_room();
            let side = builder.rng.index(4);
            *last_locked = Some(at);
            if builder.neighbour(at, side).is_some() {
                break (at, side);
            }
        };
        let door = builder.add_door(room, Some(side), None, Some(true))?;
        let colour = builder.thing(door).colour;
        let key_room = loop {
            let at = builder.random_room();
            if at != room {
                break at;
            }
        };
        builder.place_new_thing(key_room, Some(Kind::Key), Some(colour))?;
        Ok(room)
    }
}

/// Draws the parts of a mission.
struct MissionSampler<'g> {
    grammar: &'g Grammar,
    last_locked: LastLockedRoom,
}

impl MissionSampler<'_> {
    fn draw_mission(&self, builder: &mut LevelBuilder) -> Result<Mission, Restart> {
        match builder.rng.pick(self.grammar.shapes) {
            Shape::Clause => Ok(Mission::Part(MissionPart::One(self.draw_clause(builder)?))),
            Shape::Pair => Ok(Mission::Part(self.draw_pair(builder)?)),
            Shape::Sequence => {
                let (a, b) = (self.draw_part(builder)?, self.draw_part(builder)?);
                let order = builder.rng.pick(&[SequenceOrder::Before, SequenceOrder::After]);
                Ok(Mission::Sequence { order, is_strict: false, named_first: a, named_second: b })
            }
        }
    }

    fn draw_part(&self, builder: &mut LevelBuilder) -> Result<MissionPart, Restart> {
        match builder.rng.index(2) {
            0 => Ok(MissionPart::One(self.draw_clause(builder)?)),
            _ => self.draw_pair(builder),
        }
    }

    /// Each half has only one possible shape, so the shape itself costs no draw.
    fn draw_pair(&self, builder: &mut LevelBuilder) -> Result<MissionPart, Restart> {
        Ok(MissionPart::Both(self.draw_clause(builder)?, self.draw_clause(builder)?))
    }

    fn draw_clause(&self, builder: &mut LevelBuilder) -> Result<Clause, Restart> {
        let portable = &KINDS[..3];
        let action = match builder.rng.pick(self.grammar.verbs) {
            Verb::GoTo => ClauseAction::GoTo(self.draw_description(builder, &KINDS)?),
            Verb::PickUp => ClauseAction::PickUp(self.draw_description(builder, portable)?),
            Verb::Open => ClauseAction::Open(self.draw_description(builder, &[Kind::Door])?),
            Verb::PutNext => {
                let moved = self.draw_description(builder, portable)?;
                ClauseAction::PutNext(moved, self.draw_description(builder, &KINDS)?)
            }
        };
        Ok(Clause { action, is_strict: false })
    }

    /// Draws a description that matches something and, unless unlocking may be implicit, something outside the locked
    /// room.
    fn draw_description(&self, builder: &mut LevelBuilder, kinds: &[Kind]) -> Result<Description, Restart> {
        for _ in 0..MAX_DESCRIPTION_TRIES {
            let colour = match builder.rng.index(1 + Colour::BY_NAME.len()) {
                0 => None,
                n => Some(Colour::BY_NAME[n - 1]),
            };
            let kind = builder.rng.pick(kinds);
            let mut side = None;
            if self.grammar.has_locations && builder.rng.coin() {
                side = Some(builder.rng.pick(&Side::ALL));
            }
            let description = Description::new(Some(kind), colour, side);
            let context = MatchContext {
                cells: &builder.cells,
                things: &builder.things,
                width: builder.width(),
                rooms: builder.rooms,
                agent: builder.agent,
            };
            let found = context.find_things(&description);
            let hidden = |place: (i16, i16)| {
                !self.grammar.implicit_unlock
                    && self.last_locked.is_some_and(|room| builder.is_inside(room, place))
            };
            if found.iter().any(|(_, place)| !hidden(*place)) {
                return Ok(description);
            }
        }
        Err(Restart)
    }
}
