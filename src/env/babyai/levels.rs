//! The 40 levels, made from a seed as minigrid 2.3.0 makes them.

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

/// How often a level is begun anew before it is given up. The levels need a few attempts, the hardest some hundreds.
const ATTEMPTS: u32 = 100_000;

/// One of the levels.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    /// AgentBoard's number, from 1.
    pub number: u8,
    /// The short name, such as `GoToRedBall`.
    pub name: &'static str,
    /// AgentBoard's test split has tasks of it.
    pub in_test_split: bool,
    rooms: RoomLayout,
    /// Low-level steps, where they do not follow from the mission.
    max_steps: Option<u32>,
    recipe: Recipe,
}

impl Level {
    /// All levels in the order of their numbers.
    pub fn all() -> &'static [Self] {
        catalog::LEVELS
    }

    /// The level of a number, a short name, or a full id such as `BabyAI-GoToRedBall-v0`.
    pub fn from_name(text: &str) -> Option<&'static Self> {
        let short = text.strip_prefix("BabyAI-").and_then(|rest| rest.strip_suffix("-v0")).unwrap_or(text);
        let number = text.parse::<u8>().ok();
        Self::all().iter().find(|level| level.name == short || Some(level.number) == number)
    }

    /// The seeds of AgentBoard's test split; each of its levels has all of them, in this order.
    pub const TEST_SEEDS: std::ops::RangeInclusive<u64> = 1234..=1237;

    /// The tasks of AgentBoard's test split: level by level, seed by seed.
    pub fn test_split() -> impl Iterator<Item = (&'static Self, u64)> {
        let levels = Self::all().iter().filter(|level| level.in_test_split);
        levels.flat_map(|level| Self::TEST_SEEDS.map(move |seed| (level, seed)))
    }

    /// The full id, such as `BabyAI-GoToRedBall-v0`.
    pub fn env_id(&self) -> String {
        format!("BabyAI-{}-v0", self.name)
    }

    /// The agent begins with a thing in its hand, which the first observation still sees lying.
    pub fn starts_carrying(&self) -> bool {
        matches!(self.recipe, Recipe::PutNextCarrying { .. })
    }

    /// The level as a seed makes it.
    ///
    /// # Errors
    /// [`EnvError::BadRequest`] when a seed leads to no level, which has not been seen.
    pub fn generate(&self, seed: u64) -> Result<LevelStart, EnvError> {
        let mut dice = Pcg64::new(seed);
        let mut past = None;
        for _ in 0..ATTEMPTS {
            let mut site = LevelBuilder::new(&mut dice, self.rooms);
            let built = recipe::build(self.recipe, &mut site, &mut past)
                .and_then(|mission| check_mission(&site, mission, recipe::is_unblocking(self.recipe)));
            if let Ok(mission) = built {
                let (cells, things, agent) = (site.cells, site.things, site.agent);
                return Ok(self.finish(seed, cells, things, agent, mission));
            }
        }
        let what = format!("{} with seed {seed} could not be made in {ATTEMPTS} attempts", self.name);
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
        let many = things.len();
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
            known_positions: Arc::new(vec![None; many]),
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

/// The thing that the mission asks to move; there is only one of its kind and colour.
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

/// Numbers things as they lie, row by row; then what lies in boxes; what will be carried comes last.
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

/// Puts the last thing into the hand after the first view was made.
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

/// Refuses missions that would be done already, or would use up a key that opens a door.
fn check_mission(site: &LevelBuilder, mission: Mission, unblocking: bool) -> Result<Mission, Restart> {
    let scope = MatchContext {
        cells: &site.cells,
        things: &site.things,
        width: site.width(),
        rooms: site.rooms,
        agent: site.agent,
    };
    let locked: Vec<_> = site
        .things
        .iter()
        .filter(|t| t.kind == Kind::Door && t.door_state == DoorState::Locked)
        .map(|t| t.colour)
        .collect();
    for clause in mission.clauses() {
        if let ClauseAction::PutNext(moved, fixed) = &clause.action {
            let (moved, fixed) = (scope.find_things(moved), scope.find_things(fixed));
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
