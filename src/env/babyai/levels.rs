//! The 40 levels, generated from a seed exactly as minigrid 2.3.0 does.

mod builder;
mod catalog;
mod grammar;
mod recipe;

use super::level_start::{LevelStart, RoomLayout, goal_text};
use super::matching::{MatchContext, match_descriptions};
use super::mission::{Clause, ClauseAction, Mission};
use super::pcg64::Pcg64;
use super::thing::{Cell, DoorState, Kind, ThingId};
use super::view::GridView;
use crate::env::EnvError;
use builder::{LevelBuilder, Restart};
use recipe::Recipe;
use std::sync::Arc;

/// Maximum number of attempts to generate a level. Levels need a few attempts, the hardest a few hundred.
const ATTEMPTS: u32 = 100_000;

/// One of the levels.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    /// AgentBoard's level number, starting at 1.
    pub number: u8,
    /// The short name, such as `GoToRedBall`.
    pub name: &'static str,
    /// Whether AgentBoard's test split has tasks of this level.
    pub in_test_split: bool,
    rooms: RoomLayout,
    /// Limit on primitive actions, if it isn't derived from the mission.
    max_steps: Option<u32>,
    recipe: Recipe,
}

impl Level {
    /// Returns all levels, ordered by number.
    pub fn all() -> &'static [Self] {
        catalog::LEVELS
    }

    /// Returns the level with this number, short name, or full id such as `BabyAI-GoToRedBall-v0`.
    pub fn from_name(text: &str) -> Option<&'static Self> {
        let short = text.strip_prefix("BabyAI-").and_then(|rest| rest.strip_suffix("-v0")).unwrap_or(text);
        let number = text.parse::<u8>().ok();
        Self::all().iter().find(|level| level.name == short || Some(level.number) == number)
    }

    /// The seeds of AgentBoard's test split. Each of its levels uses all of them, in this order.
    pub const TEST_SEEDS: std::ops::RangeInclusive<u64> = 1234..=1237;

    /// Iterates over the tasks of AgentBoard's test split: level by level, then seed by seed.
    pub fn test_split() -> impl Iterator<Item = (&'static Self, u64)> {
        let levels = Self::all().iter().filter(|level| level.in_test_split);
        levels.flat_map(|level| Self::TEST_SEEDS.map(move |seed| (level, seed)))
    }

    /// Returns the full id, such as `BabyAI-GoToRedBall-v0`.
    pub fn env_id(&self) -> String {
        format!("BabyAI-{}-v0", self.name)
    }

    /// Returns whether the agent starts with an object in its hand that the first observation still shows on the floor.
    pub fn starts_carrying(&self) -> bool {
        matches!(self.recipe, Recipe::PutNextCarrying { .. })
    }

    /// Generates the level from a seed.
    ///
    /// # Errors
    /// [`EnvError::Refused`] if a seed doesn't lead to a level, which has never been observed.
    pub fn generate(&self, seed: u64) -> Result<LevelStart, EnvError> {
        let mut rng = Pcg64::new(seed);
        let mut last_locked = None;
        for _ in 0..ATTEMPTS {
            let mut builder = LevelBuilder::new(&mut rng, self.rooms);
            let built = recipe::build(self.recipe, &mut builder, &mut last_locked)
                .and_then(|mission| check_mission(&builder, mission, recipe::is_unblocking(self.recipe)));
            if let Ok(mission) = built {
                let (cells, things, agent) = (builder.cells, builder.things, builder.agent);
                return Ok(self.finish(seed, cells, things, agent, mission));
            }
        }
        let what = format!("{} with seed {seed} could not be generated in {ATTEMPTS} attempts", self.name);
        Err(EnvError::Refused { what })
    }

    fn finish(
        &self,
        seed: u64,
        cells: Vec<Cell>,
        things: Vec<super::thing::Thing>,
        agent: super::thing::Pose,
        mission: Mission,
    ) -> LevelStart {
        let RoomLayout { size, rows, cols } = self.rooms;
        let max_steps = self.rooms.steps_for_one_walk() * mission.walk_count();
        let count = things.len();
        let mut start = LevelStart {
            number: self.number,
            env_id: self.env_id(),
            seed,
            width: (size - 1) * cols + 1,
            height: (size - 1) * rows + 1,
            rooms: self.rooms,
            max_steps: self.max_steps.unwrap_or(max_steps),
            cells: Arc::new(cells),
            things: Arc::new(things),
            agent,
            carrying: None,
            mission: String::new(),
            goal: String::new(),
            instruction: mission,
            known_positions: Arc::new(vec![None; count]),
            stale_view: None,
            subgoals: Vec::new(),
            difficulty: None,
        };
        let held = self.starts_carrying().then(|| moved_thing(&start)).flatten();
        renumber_by_rows(&mut start, held);
        let descriptions = start.instruction.clauses().flat_map(Clause::descriptions).count();
        match_descriptions(&mut start, &vec![true; descriptions]);
        start.mission = start.instruction.text();
        start.goal = goal_text(&start.mission);
        if held.is_some() {
            put_last_thing_in_hand(&mut start);
        }
        start
    }
}

/// Returns the object that the mission asks to move; it is the only one of its kind and colour.
fn moved_thing(start: &LevelStart) -> Option<ThingId> {
    let Some(ClauseAction::PutNext(moved, _)) = start.instruction.clauses().next().map(|c| &c.action) else {
        return None;
    };
    start
        .things
        .iter()
        .position(|t| Some(t.kind) == moved.kind && Some(t.colour) == moved.colour)
        .map(|at| ThingId(at as u16))
}

/// Renumbers objects by position, row by row, followed by objects in boxes and finally the object that will be carried.
fn renumber_by_rows(start: &mut LevelStart, held: Option<ThingId>) {
    let mut order: Vec<ThingId> = start
        .cells
        .iter()
        .filter_map(|cell| match cell {
            Cell::Thing(id) if Some(*id) != held => Some(*id),
            _ => None,
        })
        .collect();
    let thing = |id: ThingId| start.things[usize::from(id.0)];
    let inside: Vec<ThingId> = order.iter().filter_map(|id| thing(*id).contents).collect();
    order.extend(inside);
    order.extend(held);
    let new = |id: ThingId| ThingId(order.iter().position(|old| *old == id).unwrap_or_default() as u16);
    let things = order.iter().map(|id| {
        let mut thing = thing(*id);
        thing.contents = thing.contents.map(new);
        thing
    });
    let things: Vec<_> = things.collect();
    let cells: Vec<_> = start
        .cells
        .iter()
        .map(|cell| match cell {
            Cell::Thing(id) => Cell::Thing(new(*id)),
            other => *other,
        })
        .collect();
    start.known_positions = Arc::new(vec![None; things.len()]);
    (start.things, start.cells) = (Arc::new(things), Arc::new(cells));
}

/// Puts the last object into the agent's hand after the first view has been taken.
fn put_last_thing_in_hand(start: &mut LevelStart) {
    let held = ThingId((start.things.len() - 1) as u16);
    let scene =
        GridView { cells: &start.cells, things: &start.things, width: start.width, height: start.height };
    start.stale_view = Some(scene.view(start.agent, None));
    start.carrying = Some(held);
    for cell in Arc::make_mut(&mut start.cells) {
        if *cell == Cell::Thing(held) {
            *cell = Cell::Empty;
        }
    }
}

/// Rejects missions that are already done, or that would use up a key that opens a door.
fn check_mission(builder: &LevelBuilder, mission: Mission, unblocking: bool) -> Result<Mission, Restart> {
    let context = MatchContext {
        cells: &builder.cells,
        things: &builder.things,
        width: builder.width(),
        rooms: builder.rooms,
        agent: builder.agent,
    };
    let locked: Vec<_> = builder
        .things
        .iter()
        .filter(|t| t.kind == Kind::Door && t.door_state == DoorState::Locked)
        .map(|t| t.colour)
        .collect();
    for clause in mission.clauses() {
        if let ClauseAction::PutNext(moved, fixed) = &clause.action {
            let (moved, fixed) = (context.find_things(moved), context.find_things(fixed));
            let beside = |(ax, ay): (i16, i16), (bx, by): (i16, i16)| ax.abs_diff(bx) + ay.abs_diff(by) == 1;
            for (id, place) in &moved {
                if fixed.iter().any(|(other, at)| other == id || beside(*place, *at)) {
                    return Err(Restart);
                }
            }
        }
        let opens = |d: &super::mission::Description| {
            d.kind == Some(Kind::Key) && d.colour.is_some_and(|colour| locked.contains(&colour))
        };
        if unblocking && clause.descriptions().any(opens) {
            return Err(Restart);
        }
    }
    Ok(mission)
}
