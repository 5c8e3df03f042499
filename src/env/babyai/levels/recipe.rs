//! How each level is made: which things are drawn and laid in which order, and what the mission is.

mod locked;

use self::locked::{add_locked_room, build_unlock};
use super::builder::{LevelBuilder, Restart, RoomIndex};
use super::grammar::{Grammar, LastLockedRoom};
use crate::env::babyai::mission::{
    Clause, ClauseAction, Description, Mission, MissionPart, SequenceOrder, Side,
};
use crate::env::babyai::thing::{Colour, Kind, Thing, ThingId};

/// The makings of a level; numbers are things laid around.
#[derive(Clone, Copy, Debug)]
pub(super) enum Recipe {
    GoToRedBall { distractors: usize, grey_distractors: bool },
    GoToObject,
    GoToLocal { distractors: usize },
    GoToInMaze { distractors: usize },
    GoToBehindLock,
    GoToRedOrBlueBall,
    GoToDoor,
    GoToThingOrDoor,
    Open,
    OpenRedDoor,
    OpenDoorOnSide,
    OpenTwoDoors,
    OpenInOrder { doors: usize },
    PickUp { distractors: usize, is_blocked: bool },
    PickUpOneOfFive,
    PickUpAbove,
    PutNextLocal { things: usize },
    PutNextCarrying { things: usize },
    Unlock,
    UnlockLocal,
    KeyInBox,
    UnlockPickUp,
    BlockedUnlockPickUp,
    UnlockToUnlock,
    AnyAction,
    FindObject,
    KeyCorridor,
    OneRoom,
    MoveTwoAcross { things: usize },
    Random(Grammar),
}

/// The room in the middle of nine.
const MIDDLE: RoomIndex = (1, 1);
/// Sides of a room.
const RIGHT: usize = 0;
const LEFT: usize = 2;
const UP: usize = 3;

/// Keys that open doors must not be spoken of.
pub(super) fn is_unblocking(recipe: Recipe) -> bool {
    matches!(recipe, Recipe::Random(grammar) if grammar.unblocking)
}

/// Builds one attempt. `past` is what a random mission remembers of attempts before.
pub(super) fn build(
    recipe: Recipe,
    site: &mut LevelBuilder,
    past: &mut LastLockedRoom,
) -> Result<Mission, Restart> {
    use Recipe as R;
    match recipe {
        R::GoToRedBall { .. }
        | R::GoToObject
        | R::GoToLocal { .. }
        | R::GoToInMaze { .. }
        | R::GoToBehindLock
        | R::GoToRedOrBlueBall
        | R::GoToDoor
        | R::GoToThingOrDoor => build_go_to(recipe, site),
        R::Open | R::OpenRedDoor | R::OpenDoorOnSide | R::OpenTwoDoors | R::OpenInOrder { .. } => {
            build_open(recipe, site)
        }
        R::PickUp { .. }
        | R::PickUpOneOfFive
        | R::PickUpAbove
        | R::FindObject
        | R::KeyCorridor
        | R::OneRoom
        | R::AnyAction => build_pick_up(recipe, site),
        R::PutNextLocal { .. } | R::PutNextCarrying { .. } | R::MoveTwoAcross { .. } => {
            build_put_next(recipe, site)
        }
        R::Unlock
        | R::UnlockLocal
        | R::KeyInBox
        | R::UnlockPickUp
        | R::BlockedUnlockPickUp
        | R::UnlockToUnlock => build_unlock(recipe, site),
        R::Random(grammar) => grammar.build(site, past),
    }
}

fn lenient_clause(deed: ClauseAction) -> Clause {
    Clause { action: deed, is_strict: false }
}

fn single_clause(deed: ClauseAction) -> Mission {
    Mission::Part(MissionPart::One(lenient_clause(deed)))
}

/// The description that names kind and colour.
fn describe_thing(thing: Thing) -> Description {
    Description::new(Some(thing.kind), Some(thing.colour), None)
}

fn describe_kind(kind: Kind) -> Description {
    Description::new(Some(kind), None, None)
}

fn build_go_to(recipe: Recipe, site: &mut LevelBuilder) -> Result<Mission, Restart> {
    let goal = match recipe {
        Recipe::GoToRedBall { distractors: others, grey_distractors: grey } => {
            site.place_agent(None)?;
            let ball = site.place_new_thing((0, 0), Some(Kind::Ball), Some(Colour::Red))?;
            for other in site.place_distractors(None, others, false)? {
                if grey {
                    site.things[usize::from(other.0)].colour = Colour::Grey;
                }
            }
            site.require_reachable()?;
            ball
        }
        Recipe::GoToObject => {
            site.place_agent(None)?;
            site.place_distractors(None, 1, true)?[0]
        }
        Recipe::GoToRedOrBlueBall => {
            site.place_agent(None)?;
            let rival = |t: Thing| t.kind == Kind::Ball && matches!(t.colour, Colour::Red | Colour::Blue);
            if site.place_distractors(None, 7, false)?.into_iter().any(|other| rival(site.thing(other))) {
                return Err(Restart);
            }
            let colour = site.rng.pick(&[Colour::Red, Colour::Blue]);
            let ball = site.place_new_thing((0, 0), Some(Kind::Ball), Some(colour))?;
            site.require_reachable()?;
            ball
        }
        Recipe::GoToDoor => {
            let doors = add_four_doors(site, None)?;
            site.place_agent(Some(MIDDLE))?;
            site.rng.pick(&doors)
        }
        Recipe::GoToThingOrDoor => {
            site.place_agent(Some(MIDDLE))?;
            let mut goals = site.place_distractors(Some(MIDDLE), 8, false)?;
            goals.extend(add_four_doors(site, None)?);
            site.require_reachable()?;
            site.rng.pick(&goals)
        }
        Recipe::GoToBehindLock => {
            let (locked, _) = add_locked_room(site, 2, false)?;
            site.place_distractors(Some(locked), 1, false)?[0]
        }
        Recipe::GoToLocal { distractors: others } | Recipe::GoToInMaze { distractors: others } => {
            site.place_agent(None)?;
            if matches!(recipe, Recipe::GoToInMaze { .. }) {
                site.connect_rooms(&Colour::BY_NAME)?;
            }
            let goals = site.place_distractors(None, others, false)?;
            site.require_reachable()?;
            site.rng.pick(&goals)
        }
        _ => return Err(Restart),
    };
    Ok(single_clause(ClauseAction::GoTo(describe_thing(site.thing(goal)))))
}

fn add_four_doors(site: &mut LevelBuilder, locked: Option<bool>) -> Result<Vec<ThingId>, Restart> {
    (0..4).map(|_| site.add_door(MIDDLE, None, None, locked)).collect()
}

fn build_open(recipe: Recipe, site: &mut LevelBuilder) -> Result<Mission, Restart> {
    let goal = match recipe {
        Recipe::Open => {
            site.place_agent(None)?;
            site.connect_rooms(&Colour::BY_NAME)?;
            site.place_distractors(None, 18, false)?;
            site.require_reachable()?;
            let rooms = site.rooms_by_column();
            let doors: Vec<ThingId> =
                rooms.into_iter().flat_map(|room| site.doors(room).collect::<Vec<_>>()).collect();
            let door = site.rng.pick(&doors);
            describe_thing(site.thing(door))
        }
        Recipe::OpenRedDoor => {
            site.add_door((0, 0), Some(RIGHT), Some(Colour::Red), Some(false))?;
            site.place_agent(Some((0, 0)))?;
            Description::new(Some(Kind::Door), Some(Colour::Red), None)
        }
        Recipe::OpenDoorOnSide => {
            let colours = site.rng.sample(&Colour::BY_NAME, 4);
            for (side, colour) in colours.into_iter().enumerate() {
                site.add_door(MIDDLE, Some(side), Some(colour), Some(false))?;
            }
            let side = site.rng.pick(&Side::ALL);
            site.place_agent(Some(MIDDLE))?;
            Description::new(Some(Kind::Door), None, Some(side))
        }
        Recipe::OpenTwoDoors => {
            // Two colours are drawn and not used.
            site.rng.sample(&Colour::BY_NAME, 2);
            let mut add =
                |side: usize, colour: Colour| site.add_door(MIDDLE, Some(side), Some(colour), Some(false));
            let (first, second) = (add(LEFT, Colour::Red)?, add(RIGHT, Colour::Blue)?);
            site.place_agent(Some(MIDDLE))?;
            let [a, b] = [(first, true), (second, false)].map(|(door, strict)| {
                MissionPart::One(Clause {
                    action: ClauseAction::Open(describe_thing(site.thing(door))),
                    is_strict: strict,
                })
            });
            return Ok(Mission::Sequence {
                order: SequenceOrder::Before,
                is_strict: false,
                named_first: a,
                named_second: b,
            });
        }
        Recipe::OpenInOrder { doors } => {
            let colours = site.rng.sample(&Colour::BY_NAME, doors);
            let mut all = Vec::new();
            for colour in colours {
                all.push(site.add_door(MIDDLE, None, Some(colour), Some(false))?);
            }
            site.place_agent(Some(MIDDLE))?;
            let chosen = site.rng.sample(&all, 2);
            let mode = site.rng.integer(0, 3);
            let mut parts = chosen.into_iter().map(|door| {
                MissionPart::One(Clause {
                    action: ClauseAction::Open(describe_thing(site.thing(door))),
                    is_strict: true,
                })
            });
            let (a, b) = (parts.next().ok_or(Restart)?, parts.next().ok_or(Restart)?);
            let order = if mode == 1 { SequenceOrder::Before } else { SequenceOrder::After };
            return Ok(if mode == 0 {
                Mission::Part(a)
            } else {
                Mission::Sequence { order, is_strict: false, named_first: a, named_second: b }
            });
        }
        _ => return Err(Restart),
    };
    Ok(single_clause(ClauseAction::Open(goal)))
}

fn build_pick_up(recipe: Recipe, site: &mut LevelBuilder) -> Result<Mission, Restart> {
    let goal = match recipe {
        Recipe::PickUp { distractors: others, is_blocked: blocked } => {
            site.place_agent(None)?;
            site.connect_rooms(&Colour::BY_NAME)?;
            let goals = site.place_distractors(None, others, false)?;
            if site.all_reachable() == blocked {
                return Err(Restart);
            }
            let goal = site.rng.pick(&goals);
            describe_thing(site.thing(goal))
        }
        Recipe::PickUpOneOfFive => {
            let goals = site.place_distractors(None, 5, true)?;
            site.place_agent(Some((0, 0)))?;
            let goal = site.rng.pick(&goals);
            let mut goal = describe_thing(site.thing(goal));
            match site.rng.index(3) {
                0 => goal.colour = None,
                1 => goal.kind = None,
                _ => {}
            }
            return Ok(Mission::Part(MissionPart::One(Clause {
                action: ClauseAction::PickUp(goal),
                is_strict: true,
            })));
        }
        Recipe::PickUpAbove => {
            let goal = site.place_new_thing((1, 0), None, None)?;
            site.add_door(MIDDLE, Some(UP), None, Some(false))?;
            site.place_agent(Some(MIDDLE))?;
            site.connect_rooms(&Colour::BY_NAME)?;
            describe_thing(site.thing(goal))
        }
        Recipe::FindObject => {
            let at = site.random_room();
            let goal = site.place_new_thing(at, None, None)?;
            site.place_agent(Some(MIDDLE))?;
            site.connect_rooms(&Colour::BY_NAME)?;
            describe_kind(site.thing(goal).kind)
        }
        Recipe::KeyCorridor => {
            for row in 1..site.rooms.rows as usize {
                site.open_wall((1, row), UP)?;
            }
            let row = site.random_row();
            let door = site.add_door((2, row), Some(LEFT), None, Some(true))?;
            let goal = site.place_new_thing((2, row), Some(Kind::Ball), None)?;
            let (row, colour) = (site.random_row(), site.thing(door).colour);
            site.place_new_thing((0, row), Some(Kind::Key), Some(colour))?;
            site.place_agent(Some((1, site.rooms.rows as usize / 2)))?;
            site.connect_rooms(&Colour::BY_NAME)?;
            describe_kind(site.thing(goal).kind)
        }
        Recipe::OneRoom => {
            let goal = site.place_new_thing((0, 0), Some(Kind::Ball), None)?;
            site.place_agent(None)?;
            describe_kind(site.thing(goal).kind)
        }
        Recipe::AnyAction => {
            let mut goals = site.place_distractors(Some(MIDDLE), 5, true)?;
            goals.extend(add_four_doors(site, Some(false))?);
            site.place_agent(Some(MIDDLE))?;
            let goal = site.rng.pick(&goals);
            let goal = describe_thing(site.thing(goal));
            return Ok(single_clause(match (site.rng.coin(), goal.kind) {
                (true, _) => ClauseAction::GoTo(goal),
                (false, Some(Kind::Door)) => ClauseAction::Open(goal),
                (false, _) => ClauseAction::PickUp(goal),
            }));
        }
        _ => return Err(Restart),
    };
    Ok(single_clause(ClauseAction::PickUp(goal)))
}

fn build_put_next(recipe: Recipe, site: &mut LevelBuilder) -> Result<Mission, Restart> {
    let next = |site: &LevelBuilder, moved: ThingId, fixed: ThingId| {
        ClauseAction::PutNext(describe_thing(site.thing(moved)), describe_thing(site.thing(fixed)))
    };
    let things = match recipe {
        Recipe::PutNextLocal { things } => {
            site.place_agent(None)?;
            let all = site.place_distractors(None, things, true)?;
            site.require_reachable()?;
            let two = site.rng.sample(&all, 2);
            return Ok(single_clause(next(site, two[0], two[1])));
        }
        Recipe::PutNextCarrying { things } | Recipe::MoveTwoAcross { things } => things,
        _ => return Err(Restart),
    };
    site.place_agent(Some((0, 0)))?;
    let left = site.place_distractors(Some((0, 0)), things, true)?;
    let right = site.place_distractors(Some((1, 0)), things, true)?;
    site.open_wall((0, 0), RIGHT)?;
    if matches!(recipe, Recipe::PutNextCarrying { .. }) {
        let (a, b) = (site.rng.pick(&left), site.rng.pick(&right));
        let (a, b) = if site.rng.coin() { (b, a) } else { (a, b) };
        return Ok(single_clause(next(site, a, b)));
    }
    let (left, right) = (site.rng.sample(&left, 2), site.rng.sample(&right, 2));
    let a = MissionPart::One(lenient_clause(next(site, left[0], right[0])));
    let b = MissionPart::One(lenient_clause(next(site, right[1], left[1])));
    Ok(Mission::Sequence { order: SequenceOrder::Before, is_strict: false, named_first: a, named_second: b })
}
