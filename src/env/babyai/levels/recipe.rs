//! Builds each level: draws and places its objects in the original's order, and creates the mission.

mod locked;

use self::locked::{add_locked_room, build_unlock};
use super::builder::{LevelBuilder, Restart, RoomIndex};
use super::grammar::{Grammar, LastLockedRoom};
use crate::env::babyai::mission::{
    Clause, ClauseAction, Description, Mission, MissionPart, SequenceOrder, Side,
};
use crate::env::babyai::thing::{Colour, Kind, Thing, ThingId};

/// The recipe of a level. Numbers are counts of placed objects.
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

/// The middle one of nine rooms.
const MIDDLE: RoomIndex = (1, 1);
/// Sides of a room.
const RIGHT: usize = 0;
const LEFT: usize = 2;
const UP: usize = 3;

/// Returns whether missions must not ask for keys that open doors.
pub(super) fn is_unblocking(recipe: Recipe) -> bool {
    matches!(recipe, Recipe::Random(grammar) if grammar.unblocking)
}

/// Makes one attempt to build a level. `last_locked` carries the last locked room of random missions from attempt to
/// attempt.
pub(super) fn build(
    recipe: Recipe,
    builder: &mut LevelBuilder,
    last_locked: &mut LastLockedRoom,
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
        | R::GoToThingOrDoor => build_go_to(recipe, builder),
        R::Open | R::OpenRedDoor | R::OpenDoorOnSide | R::OpenTwoDoors | R::OpenInOrder { .. } => {
            build_open(recipe, builder)
        }
        R::PickUp { .. }
        | R::PickUpOneOfFive
        | R::PickUpAbove
        | R::FindObject
        | R::KeyCorridor
        | R::OneRoom
        | R::AnyAction => build_pick_up(recipe, builder),
        R::PutNextLocal { .. } | R::PutNextCarrying { .. } | R::MoveTwoAcross { .. } => {
            build_put_next(recipe, builder)
        }
        R::Unlock
        | R::UnlockLocal
        | R::KeyInBox
        | R::UnlockPickUp
        | R::BlockedUnlockPickUp
        | R::UnlockToUnlock => build_unlock(recipe, builder),
        R::Random(grammar) => grammar.build(builder, last_locked),
    }
}

fn lenient_clause(action: ClauseAction) -> Clause {
    Clause { action, is_strict: false }
}

fn single_clause(action: ClauseAction) -> Mission {
    Mission::Part(MissionPart::One(lenient_clause(action)))
}

/// Returns the description with the object's kind and colour.
fn describe_thing(thing: Thing) -> Description {
    Description::new(Some(thing.kind), Some(thing.colour), None)
}

fn describe_kind(kind: Kind) -> Description {
    Description::new(Some(kind), None, None)
}

fn build_go_to(recipe: Recipe, builder: &mut LevelBuilder) -> Result<Mission, Restart> {
    let goal = match recipe {
        Recipe::GoToRedBall { distractors: others, grey_distractors: grey } => {
            builder.place_agent(None)?;
            let ball = builder.place_new_thing((0, 0), Some(Kind::Ball), Some(Colour::Red))?;
            for other in builder.place_distractors(None, others, false)? {
                if grey {
                    builder.things[usize::from(other.0)].colour = Colour::Grey;
                }
            }
            builder.require_reachable()?;
            ball
        }
        Recipe::GoToObject => {
            builder.place_agent(None)?;
            builder.place_distractors(None, 1, true)?[0]
        }
        Recipe::GoToRedOrBlueBall => {
            builder.place_agent(None)?;
            let could_be_goal =
                |t: Thing| t.kind == Kind::Ball && matches!(t.colour, Colour::Red | Colour::Blue);
            if builder
                .place_distractors(None, 7, false)?
                .into_iter()
                .any(|other| could_be_goal(builder.thing(other)))
            {
                return Err(Restart);
            }
            let colour = builder.rng.pick(&[Colour::Red, Colour::Blue]);
            let ball = builder.place_new_thing((0, 0), Some(Kind::Ball), Some(colour))?;
            builder.require_reachable()?;
            ball
        }
        Recipe::GoToDoor => {
            let doors = add_four_doors(builder, None)?;
            builder.place_agent(Some(MIDDLE))?;
            builder.rng.pick(&doors)
        }
        Recipe::GoToThingOrDoor => {
            builder.place_agent(Some(MIDDLE))?;
            let mut goals = builder.place_distractors(Some(MIDDLE), 8, false)?;
            goals.extend(add_four_doors(builder, None)?);
            builder.require_reachable()?;
            builder.rng.pick(&goals)
        }
        Recipe::GoToBehindLock => {
            let (locked, _) = add_locked_room(builder, 2, false)?;
            builder.place_distractors(Some(locked), 1, false)?[0]
        }
        Recipe::GoToLocal { distractors: others } | Recipe::GoToInMaze { distractors: others } => {
            builder.place_agent(None)?;
            if matches!(recipe, Recipe::GoToInMaze { .. }) {
                builder.connect_rooms(&Colour::BY_NAME)?;
            }
            let goals = builder.place_distractors(None, others, false)?;
            builder.require_reachable()?;
            builder.rng.pick(&goals)
        }
        _ => return Err(Restart),
    };
    Ok(single_clause(ClauseAction::GoTo(describe_thing(builder.thing(goal)))))
}

fn add_four_doors(builder: &mut LevelBuilder, locked: Option<bool>) -> Result<Vec<ThingId>, Restart> {
    (0..4).map(|_| builder.add_door(MIDDLE, None, None, locked)).collect()
}

fn build_open(recipe: Recipe, builder: &mut LevelBuilder) -> Result<Mission, Restart> {
    let goal = match recipe {
        Recipe::Open => {
            builder.place_agent(None)?;
            builder.connect_rooms(&Colour::BY_NAME)?;
            builder.place_distractors(None, 18, false)?;
            builder.require_reachable()?;
            let rooms = builder.rooms_by_column();
            let doors: Vec<ThingId> =
                rooms.into_iter().flat_map(|room| builder.doors(room).collect::<Vec<_>>()).collect();
            let door = builder.rng.pick(&doors);
            describe_thing(builder.thing(door))
        }
        Recipe::OpenRedDoor => {
            builder.add_door((0, 0), Some(RIGHT), Some(Colour::Red), Some(false))?;
            builder.place_agent(Some((0, 0)))?;
            Description::new(Some(Kind::Door), Some(Colour::Red), None)
        }
        Recipe::OpenDoorOnSide => {
            let colours = builder.rng.sample(&Colour::BY_NAME, 4);
            for (side, colour) in colours.into_iter().enumerate() {
                builder.add_door(MIDDLE, Some(side), Some(colour), Some(false))?;
            }
            let side = builder.rng.pick(&Side::ALL);
            builder.place_agent(Some(MIDDLE))?;
            Description::new(Some(Kind::Door), None, Some(side))
        }
        Recipe::OpenTwoDoors => {
            // The original draws two colours that it doesn't use.
            builder.rng.sample(&Colour::BY_NAME, 2);
            let mut add =
                |side: usize, colour: Colour| builder.add_door(MIDDLE, Some(side), Some(colour), Some(false));
            let (first, second) = (add(LEFT, Colour::Red)?, add(RIGHT, Colour::Blue)?);
            builder.place_agent(Some(MIDDLE))?;
            let [a, b] = [(first, true), (second, false)].map(|(door, strict)| {
                MissionPart::One(Clause {
                    action: ClauseAction::Open(describe_thing(builder.thing(door))),
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
            let colours = builder.rng.sample(&Colour::BY_NAME, doors);
            let mut all = Vec::new();
            for colour in colours {
                all.push(builder.add_door(MIDDLE, None, Some(colour), Some(false))?);
            }
            builder.place_agent(Some(MIDDLE))?;
            let chosen = builder.rng.sample(&all, 2);
            let mode = builder.rng.integer(0, 3);
            let mut parts = chosen.into_iter().map(|door| {
                MissionPart::One(Clause {
                    action: ClauseAction::Open(describe_thing(builder.thing(door))),
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

fn build_pick_up(recipe: Recipe, builder: &mut LevelBuilder) -> Result<Mission, Restart> {
    let goal = match recipe {
        Recipe::PickUp { distractors: others, is_blocked: blocked } => {
            builder.place_agent(None)?;
            builder.connect_rooms(&Colour::BY_NAME)?;
            let goals = builder.place_distractors(None, others, false)?;
            if builder.all_reachable() == blocked {
                return Err(Restart);
            }
            let goal = builder.rng.pick(&goals);
            describe_thing(builder.thing(goal))
        }
        Recipe::PickUpOneOfFive => {
            let goals = builder.place_distractors(None, 5, true)?;
            builder.place_agent(Some((0, 0)))?;
            let goal = builder.rng.pick(&goals);
            let mut goal = describe_thing(builder.thing(goal));
            match builder.rng.index(3) {
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
            let goal = builder.place_new_thing((1, 0), None, None)?;
            builder.add_door(MIDDLE, Some(UP), None, Some(false))?;
            builder.place_agent(Some(MIDDLE))?;
            builder.connect_rooms(&Colour::BY_NAME)?;
            describe_thing(builder.thing(goal))
        }
        Recipe::FindObject => {
            let at = builder.random_room();
            let goal = builder.place_new_thing(at, None, None)?;
            builder.place_agent(Some(MIDDLE))?;
            builder.connect_rooms(&Colour::BY_NAME)?;
            describe_kind(builder.thing(goal).kind)
        }
        Recipe::KeyCorridor => {
            for row in 1..builder.rooms.rows as usize {
                builder.open_wall((1, row), UP)?;
            }
            let row = builder.random_row();
            let door = builder.add_door((2, row), Some(LEFT), None, Some(true))?;
            let goal = builder.place_new_thing((2, row), Some(Kind::Ball), None)?;
            let (row, colour) = (builder.random_row(), builder.thing(door).colour);
            builder.place_new_thing((0, row), Some(Kind::Key), Some(colour))?;
            builder.place_agent(Some((1, builder.rooms.rows as usize / 2)))?;
            builder.connect_rooms(&Colour::BY_NAME)?;
            describe_kind(builder.thing(goal).kind)
        }
        Recipe::OneRoom => {
            let goal = builder.place_new_thing((0, 0), Some(Kind::Ball), None)?;
            builder.place_agent(None)?;
            describe_kind(builder.thing(goal).kind)
        }
        Recipe::AnyAction => {
            let mut goals = builder.place_distractors(Some(MIDDLE), 5, true)?;
            goals.extend(add_four_doors(builder, Some(false))?);
            builder.place_agent(Some(MIDDLE))?;
            let goal = builder.rng.pick(&goals);
            let goal = describe_thing(builder.thing(goal));
            return Ok(single_clause(match (builder.rng.coin(), goal.kind) {
                (true, _) => ClauseAction::GoTo(goal),
                (false, Some(Kind::Door)) => ClauseAction::Open(goal),
                (false, _) => ClauseAction::PickUp(goal),
            }));
        }
        _ => return Err(Restart),
    };
    Ok(single_clause(ClauseAction::PickUp(goal)))
}

fn build_put_next(recipe: Recipe, builder: &mut LevelBuilder) -> Result<Mission, Restart> {
    let next = |builder: &LevelBuilder, moved: ThingId, fixed: ThingId| {
        ClauseAction::PutNext(describe_thing(builder.thing(moved)), describe_thing(builder.thing(fixed)))
    };
    let things = match recipe {
        Recipe::PutNextLocal { things } => {
            builder.place_agent(None)?;
            let all = builder.place_distractors(None, things, true)?;
            builder.require_reachable()?;
            let two = builder.rng.sample(&all, 2);
            return Ok(single_clause(next(builder, two[0], two[1])));
        }
        Recipe::PutNextCarrying { things } | Recipe::MoveTwoAcross { things } => things,
        _ => return Err(Restart),
    };
    builder.place_agent(Some((0, 0)))?;
    let left = builder.place_distractors(Some((0, 0)), things, true)?;
    let right = builder.place_distractors(Some((1, 0)), things, true)?;
    builder.open_wall((0, 0), RIGHT)?;
    if matches!(recipe, Recipe::PutNextCarrying { .. }) {
        let (a, b) = (builder.rng.pick(&left), builder.rng.pick(&right));
        let (a, b) = if builder.rng.coin() { (b, a) } else { (a, b) };
        return Ok(single_clause(next(builder, a, b)));
    }
    let (left, right) = (builder.rng.sample(&left, 2), builder.rng.sample(&right, 2));
    let a = MissionPart::One(lenient_clause(next(builder, left[0], right[0])));
    let b = MissionPart::One(lenient_clause(next(builder, right[1], left[1])));
    Ok(Mission::Sequence { order: SequenceOrder::Before, is_strict: false, named_first: a, named_second: b })
}
